//! Every file in `regressions/` and `corpus/` as a test of its name, `SIM_INPUT` and `SIM_PIN`.
//!
//! Those of `sim_kernel` are calls on the simulated kernel and no runs of a system. The corpus has a
//! minute, or `SIM_BUDGET`: an input whose turn comes later is passed over, and that is said. Those of
//! systems that need a feature which this build is without are ignored.

use hostsim::seam::outside;
use libtest_mimic::{Arguments, Failed, Trial};
use sim_core::replay::{Case, cases, input, is_due, target_of, test_case};
use sim_core::settings::Settings;
use sim_core::sweep::settings_or_exit;
use sim_core::{Target, child, pin};
use sim_tests::{kernel_fuzz, systems};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

fn main() -> ExitCode {
    let targets = systems::all();
    child::serve_any(&targets);
    let settings = settings_or_exit();
    if let Some(file) = &settings.input {
        return replay_input(&targets, file, &settings);
    }
    let names = systems::folders(&targets);
    let found: Result<Vec<_>, _> =
        ["regressions", "corpus"].iter().map(|folder| cases(root(), folder, &names)).collect();
    let found = match found {
        Ok(found) => found.concat(),
        Err(error) => {
            eprintln!("sim: {error}");
            return ExitCode::from(2);
        }
    };
    let start = outside::monotonic();
    let trials = found.into_iter().map(|case| trial(&targets, case, settings.clone(), start));
    let trials = trials.collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The folder of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace is above")
}

fn trial(targets: &[Target], case: Case, settings: Settings, start: Duration) -> Trial {
    if case.target == kernel_fuzz::NAME {
        return Trial::test(case.name, move || {
            let bytes = std::fs::read(&case.file).map_err(|error| error.to_string())?;
            kernel_fuzz::free::run(&bytes, false).map_err(|failure| failure.to_string())?;
            Ok(())
        });
    }
    let Some(target) = targets.iter().find(|target| target.name() == case.target).cloned() else {
        let why = systems::why_none(&case.target);
        return Trial::test(case.name, move || Err(why.into())).with_ignored_flag(true);
    };
    Trial::test(case.name.clone(), move || {
        if !is_due(&case, outside::monotonic() - start, &settings) {
            eprintln!("sim: {} is not run: the budget of the corpus ended; SIM_BUDGET", case.name);
            return Ok(());
        }
        test_case(&target, &case, &settings).map_err(Failed::from)
    })
}

fn replay_input(targets: &[Target], file: &Path, settings: &Settings) -> ExitCode {
    let name = target_of(file);
    if name == kernel_fuzz::NAME {
        return ExitCode::from(kernel_fuzz::replay::input(file, settings));
    }
    if systems::absent().contains(&name.as_str()) {
        eprintln!("sim: SIM_INPUT={}: {}", file.display(), systems::why_none(&name));
        return ExitCode::from(2);
    }
    let Some(target) = targets.iter().find(|target| target.name() == name) else {
        let names: Vec<_> = targets.iter().map(Target::name).collect();
        let names = names.join(", ");
        eprintln!(
            "sim: SIM_INPUT={}: the folder \"{name}\" has the name of no target, which are \
             {names}; SIM_TARGET names one",
            file.display()
        );
        return ExitCode::from(2);
    };
    match &settings.pin {
        Some(name) if pin::input(target, file, name, root(), settings) => ExitCode::SUCCESS,
        Some(_) => ExitCode::from(2),
        None => ExitCode::from(input(target, file, settings).exit_code()),
    }
}
