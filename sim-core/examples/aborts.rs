//! A run whose node panics, for builds that end a process at its first panic: what such a process
//! still says is checked by the canary of the fuzz targets.

use sim_core::settings::{Seeds, Settings};
use sim_core::{Sim, Target, sweep};

fn main() {
    let target = Target::new("aborts", |sim: &mut Sim| {
        sim.client("client", |_| async { panic!("a client broke") });
    });
    sweep::sweep(&target, &Seeds::range(0..1), &Settings::default());
}
