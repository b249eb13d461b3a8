//! The tables of the manual and of the README say what the code has.

use crate::settings::{RESERVED, VARIABLES};
use crate::swarm::DECLARED;
use std::collections::BTreeSet;

/// The first cells of the rows of a table whose first cell is code that begins so.
fn names<'t>(text: &'t str, start: &str) -> BTreeSet<&'t str> {
    let cells = text.lines().filter_map(|line| {
        let row = line.trim_start_matches("//!").trim_start().strip_prefix("| `")?;
        row.split_once('`').map(|(name, _)| name)
    });
    cells.filter(|name| name.starts_with(start)).collect()
}

#[test]
fn the_manual_names_every_variable() {
    let known: BTreeSet<&str> = VARIABLES.into_iter().chain(RESERVED).collect();
    assert_eq!(names(include_str!("variables.rs"), "SIM_"), known);
}

/// The README leaves out those that are for the simulator's own use.
#[test]
fn the_readme_names_every_variable_of_users() {
    let known = VARIABLES.into_iter().chain(["SIM_TARGET"]).collect();
    assert_eq!(names(include_str!("../../../README.md"), "SIM_"), known);
}

#[test]
fn the_manual_names_every_dimension() {
    let text = include_str!("swarms.rs");
    let declared: BTreeSet<&str> = DECLARED.iter().map(|one| one.choice.label).collect();
    assert_eq!(names(text, ""), declared);
}
