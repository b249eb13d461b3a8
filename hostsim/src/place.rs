//! Places in source files, written so that they are the same on every machine.
//!
//! A path of this workspace is relative already. One of a published crate begins with the folder that
//! cargo keeps it in, and one of std with the compiler's: both differ between machines, and what is
//! told apart by its place must not. A file that several crates include, such as a test and a fuzz
//! target, has a path of each: with `..` in it, and as seen from the workspace of each.

use std::borrow::Cow;

/// The part of a source file's path that no machine changes: crate, version and file.
///
/// ```
/// use hostsim::place::portable;
///
/// assert_eq!(portable("/home/me/.cargo/registry/src/index-1f2e/tokio-1.48.0/src/lib.rs"), "tokio-1.48.0/src/lib.rs");
/// assert_eq!(portable("/home/me/.cargo/git/checkouts/tokio-1f2e/9a8b7c/src/lib.rs"), "tokio-1f2e/9a8b7c/src/lib.rs");
/// assert_eq!(portable("/rustc/59807616e/library/core/src/option.rs"), "library/core/src/option.rs");
/// assert_eq!(portable("tests/src/systems/kv.rs"), "tests/src/systems/kv.rs");
/// // The file system is not asked.
/// assert_eq!(portable("fuzz/fuzz_targets/../../tests/./kv.rs"), "tests/kv.rs");
/// assert_eq!(portable("../tests/kv.rs"), "tests/kv.rs");
/// ```
pub fn portable(file: &str) -> Cow<'_, str> {
    // What stands before the part that stays, and whether a folder of another name follows it.
    let kept = [("/registry/src/", true), ("/git/checkouts/", false), ("/rustc/", true)];
    let rest = kept.into_iter().find_map(|(before, is_named)| {
        let (_, after) = file.split_once(before)?;
        let (_, inner) = after.split_once('/')?;
        Some(if is_named { inner } else { after })
    });
    without_dots(rest.unwrap_or(file))
}

/// A path without `.` and `..`: each of those takes away the folder before it, where there is one.
fn without_dots(path: &str) -> Cow<'_, str> {
    if !path.split('/').any(|part| [".", ".."].contains(&part)) {
        return Cow::Borrowed(path);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            // What is before the root, or before the folder it begins at, has no name.
            ".." if parts.last().is_some_and(|last| !last.is_empty()) => drop(parts.pop()),
            ".." => {}
            name => parts.push(name),
        }
    }
    Cow::Owned(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_taken_away_by_words_alone() {
        let cases = [
            ("fuzz_targets/../../tests/targets/mod.rs", "tests/targets/mod.rs"),
            ("../../tests/kv.rs", "tests/kv.rs"),
            ("./src/./kv.rs", "src/kv.rs"),
            ("/home/me/kv/fuzz/../src/kv.rs", "/home/me/kv/src/kv.rs"),
            ("/../kv.rs", "/kv.rs"),
            ("src/..hidden/a..b.rs", "src/..hidden/a..b.rs"),
        ];
        for (path, expected) in cases {
            assert_eq!(portable(path), expected, "{path}");
        }
    }
}
