//! Puts the toolchain's version into the crate, for the identity of a run.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let version = version.map_or_else(|| "rustc unknown".to_owned(), |v| v.trim().to_owned());
    println!("cargo::rustc-env=TOOLCHAIN_OF_BUILD={version}");
}
