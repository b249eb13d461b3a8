//! The corpus of a target: what it had, what it found, and the least that covers as much.

use super::Places;
use super::fuzzer::{Build, CORPUS, binary, prepared};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// How many inputs a folder has; none where it is not there.
pub fn count(folder: &Path) -> usize {
    inputs(folder).map_or(0, |inputs| inputs.len())
}

/// The inputs of a folder by their bytes.
fn inputs(folder: &Path) -> io::Result<BTreeMap<Vec<u8>, PathBuf>> {
    let mut inputs = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() {
            inputs.insert(std::fs::read(&path)?, path);
        }
    }
    Ok(inputs)
}

/// Makes the corpus in the artifact folder of a target the least that covers as much as it and
/// `corpus/` do; `corpus/` too, where `is_updating`. Inputs that fail are left out.
///
/// # Errors
/// One line on what went wrong; then everything is as it was.
pub fn minimize(
    places: &Places,
    name: &str,
    folder: &Path,
    is_updating: bool,
) -> Result<(), String> {
    let (found, least) = (folder.join(CORPUS), folder.join("corpus.new"));
    let crashes = folder.join("corpus.crashes");
    let pinned = places.root.join("corpus").join(name);
    let error = |error: io::Error| format!("{name}: its corpus cannot be minimized: {error}");
    for new in [&least, &crashes] {
        drop(std::fs::remove_dir_all(new));
        std::fs::create_dir_all(new).map_err(error)?;
    }
    let mut command = prepared(&binary(places, Build::Plain, name), places);
    // Without `--keep-going`: an input that fails ends its process, and so is left out.
    command.env("SIM_SHRINK", "off");
    command.arg("-merge=1").arg(format!("-artifact_prefix={}/", crashes.display()));
    command.arg(&least).arg(&found).args(pinned.is_dir().then_some(&pinned));
    let log = std::fs::File::create(folder.join("log-merge.txt")).map_err(error)?;
    let status = command.stderr(log).status().map_err(error)?;
    drop(std::fs::remove_dir_all(&crashes));
    if !status.success() {
        drop(std::fs::remove_dir_all(&least));
        return Err(format!(
            "{name}: its corpus cannot be minimized: libFuzzer ended with {status}"
        ));
    }
    std::fs::remove_dir_all(&found).map_err(error)?;
    std::fs::rename(&least, &found).map_err(error)?;
    if is_updating { update(&found, &pinned).map_err(error) } else { Ok(()) }
}

/// Makes `pinned` have the inputs of `found`; what both have keeps its name.
fn update(found: &Path, pinned: &Path) -> io::Result<()> {
    std::fs::create_dir_all(pinned)?;
    let (new, old) = (inputs(found)?, inputs(pinned)?);
    for (bytes, path) in &new {
        if !old.contains_key(bytes) {
            std::fs::write(pinned.join(path.file_name().unwrap_or_default()), bytes)?;
        }
    }
    let gone = old.iter().filter(|(bytes, _)| !new.contains_key(*bytes));
    gone.map(|(_, path)| path).try_for_each(std::fs::remove_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_keeps_the_names_of_what_stays() {
        let root = std::env::temp_dir().join(format!("nightly-corpus-{}", std::process::id()));
        let (found, pinned) = (root.join("found"), root.join("pinned"));
        for folder in [&found, &pinned] {
            std::fs::create_dir_all(folder).expect("the folder can be made");
        }
        let files = [
            (&found, "1", "stays"),
            (&found, "2", "new"),
            (&pinned, "named", "stays"),
            (&pinned, "old", "goes"),
        ];
        for (folder, name, text) in files {
            std::fs::write(folder.join(name), text).expect("the file can be written");
        }
        update(&found, &pinned).expect("both are folders");
        let names: Vec<_> = inputs(&pinned).expect("it is a folder").into_values().collect();
        assert_eq!(names, [pinned.join("2"), pinned.join("named")]);
        assert_eq!((count(&pinned), count(&root.join("none"))), (2, 0));
        std::fs::remove_dir_all(root).expect("the folder is ours");
    }
}
