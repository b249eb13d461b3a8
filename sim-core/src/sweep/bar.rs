//! How far a sweep is, as a bar on a terminal that is drawn anew a few times a second.
//!
//! It shows what [`super::progress`] says and knows no more. It is gone with the sweep.

use super::Sweep;
use super::progress::{facts, failures};
use crate::run::Target;
use crate::screen::bars;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};

/// The bar, its facts below it, and a row for each bug.
const TEMPLATE: &str = "sim: {prefix} {bar:30} {pos} of {len}, {eta} left\n{msg}";

/// The bar of one sweep.
#[derive(Debug)]
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar of a sweep, where there is a terminal.
    pub(super) fn new(sweep: &Sweep, target: &Target) -> Option<Bar> {
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template is right");
        let bar = ProgressBar::hidden().with_finish(ProgressFinish::AndClear).with_style(style);
        let bar = bar.with_prefix(target.name());
        bar.set_length(sweep.asked);
        // Only what is whole is shown.
        Some(Bar(bars()?.add(bar)))
    }

    /// Shows where a sweep is that runs so many inputs a second.
    pub(super) fn show(&self, sweep: &Sweep, target: &Target, rate: u128) {
        let mut lines = vec![format!("     {}", facts(sweep, target, rate).join(", "))];
        lines.extend(failures(sweep).iter().map(|line| format!("     {line}")));
        self.0.set_message(lines.join("\n"));
        self.0.set_position(sweep.runs);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
        if let Some(bars) = bars() {
            bars.remove(&self.0);
        }
    }
}
