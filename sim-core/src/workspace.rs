//! Where the workspace is, whose `regressions`, `corpus` and relative paths are meant.
//!
//! Cargo runs the tests of a package in the package's own folder. As cargo does, this looks upward for
//! the manifest of a workspace that does not exclude that folder; a package without one is its own. A
//! package of fuzz targets belongs to what it is in, though it mostly is a workspace of its own.

use serde::Deserialize;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What a manifest says of the folder that it is in.
#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    workspace: Option<Members>,
}

#[derive(Deserialize)]
struct Package {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Metadata {
    #[serde(default)]
    cargo_fuzz: bool,
}

#[derive(Deserialize)]
struct Members {
    #[serde(default)]
    exclude: Vec<String>,
}

impl Manifest {
    fn of(folder: &Path) -> Option<Manifest> {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).ok()?;
        toml::from_str(&text).ok()
    }

    fn is_of_fuzz_targets(&self) -> bool {
        self.package.as_ref().is_some_and(|package| package.metadata.cargo_fuzz)
    }
}

/// The folder of the workspace; the current one where there is none. It is looked for once: manifests
/// are not read for each failure, and a program that goes to another folder moves nothing.
pub(crate) fn workspace() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    FOUND.get_or_init(|| of(&env::current_dir().unwrap_or_default())).clone()
}

fn of(here: &Path) -> PathBuf {
    let (mut package, mut of_fuzz) = (None, None);
    for folder in here.ancestors() {
        let Some(manifest) = Manifest::of(folder) else { continue };
        if manifest.is_of_fuzz_targets() {
            of_fuzz.get_or_insert(folder);
            continue;
        }
        let package = *package.get_or_insert(folder);
        if let Some(members) = manifest.workspace {
            let is_member = package == folder || !excludes(&members, folder, package);
            return if is_member { folder } else { package }.to_owned();
        }
    }
    package.or(of_fuzz).unwrap_or(here).to_owned()
}

/// Whether a workspace says that a folder in it is none of its members.
fn excludes(members: &Members, root: &Path, folder: &Path) -> bool {
    members.exclude.iter().any(|path| folder.starts_with(root.join(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKAGE: &str = "[package]\nname = \"one\"\n";
    const FUZZ: &str = "[package]\nname = \"f\"\n[package.metadata]\ncargo-fuzz = true\n";
    const OWN: &str = "[workspace]\n";

    /// Makes manifests below a folder of its own, and asks from one of its folders.
    #[track_caller]
    fn check(name: &str, manifests: &[(&str, &str)], from: &str, expected: &str) {
        let root = env::temp_dir().join(format!("sim-workspace-{name}-{}", std::process::id()));
        for (folder, text) in manifests {
            let folder = root.join(folder);
            std::fs::create_dir_all(&folder).expect("it is made");
            std::fs::write(folder.join("Cargo.toml"), text).expect("it is written");
        }
        let found = of(&root.join(from));
        std::fs::remove_dir_all(&root).expect("it is ours");
        assert_eq!(found.strip_prefix(&root).expect("it is below"), Path::new(expected));
    }

    #[test]
    fn a_package_is_of_the_workspace_that_it_is_in() {
        let manifests = [("", OWN), ("core/deep", PACKAGE)];
        check("member", &manifests, "core/deep", "");
        check("inside", &manifests, "core/deep/src", "");
        check("root", &manifests, "", "");
    }

    #[test]
    fn a_package_without_a_workspace_is_its_own_whatever_is_above() {
        check("alone", &[("", PACKAGE), ("one", PACKAGE)], "one", "one");
        let excluded = "[workspace]\nexclude = [\"other\"]\n";
        check("excluded", &[("", excluded), ("other/one", PACKAGE)], "other/one", "other/one");
        let nested = format!("{PACKAGE}{OWN}");
        check("nested", &[("", OWN), ("one", &nested)], "one", "one");
    }

    #[test]
    fn fuzz_targets_are_of_what_they_are_in() {
        let fuzz = format!("{FUZZ}{OWN}");
        check("fuzz", &[("one", PACKAGE), ("one/fuzz", &fuzz)], "one/fuzz", "one");
        check("fuzz-deep", &[("", OWN), ("one", PACKAGE), ("one/fuzz", &fuzz)], "one/fuzz", "");
        check("fuzz-alone", &[("fuzz", &fuzz)], "fuzz", "fuzz");
    }
}
