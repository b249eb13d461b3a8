//! Searches with every fuzz target for bugs: `nightly SECONDS [--jobs N] [--update-corpus] [TARGET…]`.
//!
//! Started at the root of the workspace, by `.ci/nightly`. SECONDS are those of the search; building
//! before it and minimizing of corpora after it come on top. It prints the report; the exit code is
//! that of the worst class that is new, as `sim_tests::nightly` says.

use sim_core::settings::Settings;
use sim_tests::nightly::options::Options;
use sim_tests::nightly::{self, Places};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match night() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("nightly: {error}");
            ExitCode::from(2)
        }
    }
}

fn night() -> Result<u8, String> {
    let settings = Settings::from_env().map_err(|error| error.to_string())?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = Options::parse(std::env::args().skip(1), cores)?;
    let places = places(settings.artifacts)?;
    std::fs::create_dir_all(&places.artifacts).map_err(|error| error.to_string())?;
    let night = nightly::run(&places, &options);
    night.save(&places.artifacts);
    print!("{}", night.text());
    nightly::make_known(&places, &night).map_err(|error| error.to_string())?;
    Ok(night.exit_code())
}

/// The folders of this workspace; `artifacts` is where `SIM_ARTIFACTS` says, else in cargo's folder.
fn places(artifacts: Option<PathBuf>) -> Result<Places, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above");
    let executable = std::env::current_exe().map_err(|error| error.to_string())?;
    let target = executable.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    let target = target.ok_or("this binary is not in a folder of cargo's")?;
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    Ok(Places {
        root: root.to_owned(),
        fuzz_binaries: target.join(triple).join("release"),
        builds: target.join("nightly-builds"),
        artifacts: artifacts.unwrap_or_else(|| target.join("nightly")),
    })
}
