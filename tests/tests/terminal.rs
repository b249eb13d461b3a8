//! A sweep on a terminal: it shows a bar of how far it is, and what it finds is said above it.
//!
//! The test starts this binary again on a pseudo-terminal, by `script` of util-linux, reads until
//! what it waits for is there, and kills it. Without `script` it says so and passes.

use sim_core::settings::{Seeds, Settings, Shrinking};
use sim_core::{Sim, Target, sweep};
use std::io::Read;
use std::process::{Command, Stdio};

/// The variable that makes this process the one on the terminal.
const VARIABLE: &str = "ON_A_TERMINAL";

/// Fails now and then, long after a bar is there.
fn rare() -> Target {
    Target::new("rare", |sim: &mut Sim| {
        if sim.dimension("luck", 255) == 7 {
            sim.fail("it is seven");
        }
    })
}

/// What the process on the terminal does.
#[test]
fn sweeps_on_the_terminal() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let artifacts = Some(env!("CARGO_TARGET_TMPDIR").into());
    let settings = Settings { artifacts, shrink: Shrinking::Off, ..Settings::default() };
    sweep::sweep(&rare(), &Seeds::range(0..u64::MAX), &settings);
}

#[test]
fn a_sweep_shows_a_bar_and_a_row_for_each_bug() {
    let binary = std::env::current_exe().expect("this binary has a path");
    let command = format!(
        "stty cols 120 rows 40; exec '{}' sweeps_on_the_terminal --exact --nocapture",
        binary.display()
    );
    let script = Command::new("script")
        .args(["--quiet", "--flush", "--command", &command, "/dev/null"])
        .env(VARIABLE, "1")
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut script) = script else {
        eprintln!("a bar is not tested on a terminal: there is no `script`");
        return;
    };
    let mut output = script.stdout.take().expect("it is piped");
    let (mut text, mut bytes) = (String::new(), [0; 4_096]);
    let bar = "of 18446744073709551615";
    let wanted = ["sim: FAILED target=rare", "sim: rare ", bar, "virtual time ", "failures 1"];
    while !wanted.iter().all(|part| text.contains(part)) {
        let count = output.read(&mut bytes).expect("it is a pipe");
        assert!(count > 0, "the sweep ended: {text}");
        text += &String::from_utf8_lossy(&bytes[..count]);
    }
    script.kill().expect("the process is ours");
    script.wait().expect("the process was ours");
    let row = " correctness at tests/tests/terminal.rs:";
    assert!(text.contains(row), "{text}");
}
