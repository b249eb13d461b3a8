//! Where a panic came from: the frames of a backtrace that are the program's own.
//!
//! To find them takes some milliseconds, so it is done once for each place that panics and kept for
//! as long as the process lives. Nothing of it is in a history.

use crate::identity::below_workspace;
use hostsim::place::portable;
use hostsim::seam::outside::outside_of_run;
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;

/// The most frames that are shown.
const FRAMES_MAX: usize = 12;

/// What the names of frames begin with that nobody looks for: the language, the runtime, us.
const OTHERS: [&str; 13] = [
    "std::",
    "core::",
    "alloc::",
    "tokio::",
    "hostsim::",
    "sim_core::",
    "rust_begin_unwind",
    "__rust",
    "_rust",
    "<core::",
    "<alloc::",
    "start_thread",
    "clone3",
];

/// The program's own frames of a panic at `origin`, the innermost first.
pub(crate) fn of_panic(origin: &str) -> Vec<String> {
    static KNOWN: Mutex<BTreeMap<String, Vec<String>>> = Mutex::new(BTreeMap::new());
    // std locks for a backtrace, as this does: whoever waits here is no part of the run.
    outside_of_run(|| {
        let Ok(mut known) = KNOWN.lock() else { return Vec::new() };
        let frames = known.entry(origin.to_owned());
        frames.or_insert_with(|| own(&Backtrace::force_capture().to_string())).clone()
    })
}

/// The lines of a backtrace that are of the program: a name, and where it is if that is known.
fn own(text: &str) -> Vec<String> {
    let mut frames: Vec<String> = Vec::new();
    let mut is_own = false;
    // What comes before is the panic's own way to us.
    let begin = text.rfind("core::panicking::").or_else(|| text.find("std::panicking::"));
    for line in text[begin.unwrap_or(0)..].lines().map(str::trim_start) {
        if let Some(place) = line.strip_prefix("at ") {
            let elsewhere = ["/rustc/", "/registry/src/", "sim-core/src/", "hostsim/src/"];
            let is_elsewhere = elsewhere.iter().any(|folder| place.contains(folder));
            match frames.last_mut() {
                Some(_) if is_own && is_elsewhere => drop(frames.pop()),
                Some(last) if is_own => *last += &format!(" ({})", without_column(place)),
                _ => {}
            }
            is_own = false;
        } else if let Some((_, name)) = line.split_once(": ") {
            let name = name.trim_start_matches('<');
            is_own = !OTHERS.iter().any(|other| name.starts_with(other));
            if is_own {
                let name = name.replace("::{{closure}}", "");
                let name = if name.starts_with('{') { "a closure" } else { &name };
                frames.push(format!("in {name}"));
            }
        }
    }
    frames.dedup();
    frames.retain(|frame| frame.ends_with(')'));
    frames.truncate(FRAMES_MAX);
    frames
}

/// A place below the workspace, without its column. A path that is not whole begins at the folder
/// that the process is in.
fn without_column(place: &str) -> String {
    let place = place.rsplit_once(':').map_or(place, |(place, _)| place);
    below_workspace(Path::new(&*portable(place))).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "   0: sim_core::frames::of_panic
             at ./sim-core/src/frames.rs:26:40
   1: std::panicking::panic_with_hook
             at /rustc/0123/library/std/src/panicking.rs:833:13
   2: db::write::{{closure}}
             at ./tests/src/db.rs:7:9
   3: {async_block#0}
             at ./tests/src/db.rs:20:5
   4: <futures::Join as core::future::Future>::poll
             at /home/registry/src/index/futures/src/lib.rs:1:1
   5: tokio::runtime::task::core::Core<T,S>::poll
             at /home/registry/src/index/tokio/src/core.rs:2:2
   6: __libc_start_call_main";

    #[test]
    fn own_frames_stay() {
        assert_eq!(
            own(TEXT),
            [
                "in db::write (sim-core/tests/src/db.rs:7)",
                "in a closure (sim-core/tests/src/db.rs:20)"
            ]
        );
    }
}
