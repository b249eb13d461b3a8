//! The forms of a trace: text, JSON lines, and one HTML page; and where they go.
//!
//! Text goes to standard error with everything else that is said. The other two are for programs and
//! browsers, so each is a file of its own beside the inputs that failed, and its path is said. What
//! the lines and the page mean is in [`crate::manual::trace`].
//!
//! Invariant: a form is made of a run that is over. It runs nothing and decides nothing.
//!
//! # Example
//! ```
//! use sim_core::run::{Input, run};
//! use sim_core::trace::{SCHEMA, VERSION, lines, page};
//! use sim_core::Target;
//! use std::time::Duration;
//!
//! let target = Target::new("kv", |sim| sim.note("here"));
//! let run = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60));
//! let lines = lines(&target, &run);
//! assert!(lines[0].starts_with(&format!("{{\"schema\":\"{SCHEMA}\",\"version\":{VERSION}")));
//! assert_eq!(lines.len() as u64, 1 + run.history.len(), "a header, and a line an event");
//! assert!(page(&target, &run).contains("<title>kv: passed</title>"));
//! ```

mod json;
mod page;

pub use json::{SCHEMA, VERSION, lines};
pub use page::page;

use crate::failure::Failure;
use crate::identity::{below_workspace, say};
use crate::report;
use crate::run::{Run, Target};
use crate::settings::{Settings, TraceForm};
use std::path::Path;

/// The name of a failing run's trace: that of its input, where that could be written.
pub(crate) fn name(input: Option<&Path>, failure: &Failure) -> String {
    let name = input.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    name.unwrap_or_else(|| failure.class.to_string())
}

/// Shows the trace of a run as `SIM_TRACE` asks, under the name of its input.
pub(crate) fn show(target: &Target, run: &Run, name: &str, settings: &Settings) {
    let (extension, text) = match settings.trace {
        None => return,
        Some(TraceForm::Text) => return say(&text(target, run, name)),
        Some(TraceForm::Json) => ("jsonl", lines(target, run).join("\n") + "\n"),
        Some(TraceForm::Html) => ("html", page(target, run)),
    };
    let written = report::write(settings, target, &format!("{name}.{extension}"), text.as_bytes());
    match written {
        Ok(file) => say(&format!("sim: trace of {name}: {}", below_workspace(&file).display())),
        Err(error) => {
            say(&report::not_written(settings, &format!("the trace of {name}"), &error));
        }
    }
}

/// The text of a trace, below a line that says whose it is.
fn text(target: &Target, run: &Run, name: &str) -> String {
    let trace = run.trace();
    let (target, count) = (target.name(), trace.len());
    format!("sim: trace of {name}: target={target} lines={count}\n{trace}")
}

#[cfg(test)]
mod tests;
