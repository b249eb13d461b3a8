//! The systems under test, each a [`Target`] with a name of its own.

pub mod broker;
pub mod broker_planted;
pub mod echo;
pub mod echo_lives;
pub mod echo_planted;
pub mod gateway;
pub mod gateway_planted;
pub mod kv;
pub mod kv_planted;
pub mod leaks;
pub mod lease;
pub mod lease_planted;
pub mod maze;
pub mod parts;
pub mod ping;
pub mod queue;
pub mod queue_planted;
#[cfg(feature = "raft")]
pub mod raft;
#[cfg(feature = "raft")]
pub mod raft_planted;
pub mod streams;

use crate::kernel_fuzz;
use sim_core::Target;

/// The systems that are built with a feature of this package alone: each, and the feature.
const FEATURED: [(&str, &str); 2] = [("sim_raft", "raft"), ("sim_raft_planted", "raft")];

/// The systems that must never fail.
pub fn correct() -> Vec<Target> {
    vec![
        broker::target(),
        echo::target(),
        echo_lives::target(),
        gateway::target(),
        kv::target(),
        lease::target(),
        queue::target(),
        streams::target(),
        ping::target(),
        #[cfg(feature = "raft")]
        raft::target(),
    ]
}

/// The systems with a planted bug that must be found.
pub fn planted() -> Vec<Target> {
    vec![
        broker_planted::target(),
        echo_planted::target(),
        gateway_planted::target(),
        kv_planted::target(),
        lease_planted::target(),
        queue_planted::target(),
        #[cfg(feature = "raft")]
        raft_planted::target(),
    ]
}

/// The systems with a planted bug that a sweep does not find, and a search does.
pub fn deep() -> Vec<Target> {
    vec![maze::target()]
}

/// Every system that files of inputs may belong to.
pub fn all() -> Vec<Target> {
    [correct(), planted(), deep()].concat()
}

/// The feature that a system needs to be built.
pub fn feature_of(name: &str) -> Option<&'static str> {
    FEATURED.iter().find(|(system, _)| *system == name).map(|(_, feature)| *feature)
}

/// The names of the systems that this build is without, as it is without their feature.
pub fn absent() -> Vec<&'static str> {
    let built = all();
    let is_absent = |name: &&str| built.iter().all(|target| target.name() != *name);
    FEATURED.iter().map(|(name, _)| *name).filter(is_absent).collect()
}

/// Every name that a folder of inputs may have: of the systems, of those that this build is without,
/// and of the calls on the kernel.
pub fn folders(targets: &[Target]) -> Vec<&'static str> {
    let others = absent().into_iter().chain([kernel_fuzz::NAME]);
    targets.iter().map(Target::name).chain(others).collect()
}

/// The system of a name.
///
/// # Errors
/// One line on why there is none.
pub fn find(name: &str) -> Result<Target, String> {
    let found = all().into_iter().find(|target| target.name() == name);
    found.ok_or_else(|| why_none(name))
}

/// Why this build has no system of a name.
pub fn why_none(name: &str) -> String {
    match feature_of(name) {
        Some(feature) => format!("{name} needs `--features {feature}`"),
        None => format!("{name} is the name of no target"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The names of the files of fuzz targets, which `fuzz/Cargo.toml` lists.
    fn fuzz_targets() -> BTreeSet<String> {
        let folder = crate::search::workspace().join("fuzz/fuzz_targets");
        let files = folder.read_dir().expect("the folder is there");
        let name = |file: std::io::Result<std::fs::DirEntry>| {
            let path = file.expect("the folder can be read").path();
            path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
        };
        files.map(name).collect()
    }

    #[test]
    fn every_system_is_a_fuzz_target_with_its_feature() {
        let names: BTreeSet<_> = folders(&all()).into_iter().map(str::to_owned).collect();
        assert_eq!(names, fuzz_targets());
        let manifest = crate::search::workspace().join("fuzz/Cargo.toml");
        let manifest = std::fs::read_to_string(manifest).expect("it is there");
        for name in names {
            let start = format!("name = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
            let (_, after) = manifest.split_once(&start).expect("it is listed");
            let line = after.lines().next().expect("it says more");
            let needs = feature_of(&name).map(|name| format!("required-features = [\"{name}\"]"));
            let is_needed = needs.as_ref().is_some_and(|needs| line == needs);
            assert!(is_needed || (needs.is_none() && line == "test = false"), "{name}: {line}");
        }
    }

    #[test]
    fn a_system_that_is_not_there_says_what_it_needs() {
        assert_eq!(why_none("sim_raft"), "sim_raft needs `--features raft`");
        assert_eq!(why_none("sim_rat"), "sim_rat is the name of no target");
        let is_built = |(name, _): &(&str, &str)| find(name).is_ok();
        let expected = if cfg!(feature = "raft") { FEATURED.len() } else { 0 };
        assert_eq!(FEATURED.iter().filter(|one| is_built(one)).count(), expected);
        assert_eq!(absent().len(), FEATURED.len() - expected);
    }
}
