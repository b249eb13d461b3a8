//! Places in source files, written so that they are the same on every machine.
//!
//! A path of this workspace is relative already. One of a published crate begins with the folder that
//! cargo keeps it in, and one of std with the compiler's: both differ between machines, and what is
//! told apart by its place must not.

/// The part of a source file's path that no machine changes: crate, version and file.
///
/// ```
/// use hostsim::place::portable;
///
/// assert_eq!(portable("/home/me/.cargo/registry/src/index-1f2e/tokio-1.48.0/src/lib.rs"), "tokio-1.48.0/src/lib.rs");
/// assert_eq!(portable("/home/me/.cargo/git/checkouts/tokio-1f2e/9a8b7c/src/lib.rs"), "tokio-1f2e/9a8b7c/src/lib.rs");
/// assert_eq!(portable("/rustc/59807616e/library/core/src/option.rs"), "library/core/src/option.rs");
/// assert_eq!(portable("tests/src/systems/kv.rs"), "tests/src/systems/kv.rs");
/// ```
pub fn portable(file: &str) -> &str {
    // What stands before the part that stays, and whether a folder of another name follows it.
    let kept = [("/registry/src/", true), ("/git/checkouts/", false), ("/rustc/", true)];
    let rest = kept.into_iter().find_map(|(before, is_named)| {
        let (_, after) = file.split_once(before)?;
        let (_, inner) = after.split_once('/')?;
        Some(if is_named { inner } else { after })
    });
    rest.unwrap_or(file)
}
