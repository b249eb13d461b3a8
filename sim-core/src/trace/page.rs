//! A run as one HTML file: a space-time diagram, with nothing to load beside it.
//!
//! The files in `page` are put into one: the markup with its style, its scripts, and the JSON lines
//! of the run. The page may be mailed, kept as an artifact of CI and opened from disk.

use super::lines;
use crate::run::{Run, Target};

const MARKUP: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");

/// In the order of their use: what the run means, how it looks, what one does with it.
const SCRIPTS: [&str; 3] =
    [include_str!("page/model.js"), include_str!("page/draw.js"), include_str!("page/control.js")];

/// Writes the page of a run.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// let target = Target::new("kv", |sim| sim.note("here"));
/// let page = sim_core::trace::page(&target, &run(&target, &Input::Seed(7), minute));
/// assert!(page.contains("<title>kv: passed</title>"));
/// ```
pub fn page(target: &Target, run: &Run) -> String {
    let name = target.name().replace('&', "&amp;").replace('<', "&lt;");
    let came = run.class().map_or("passed", |class| class.name());
    let parts = [
        ("<title>Trace</title>", format!("<title>{name}: {came}</title>")),
        ("\"the style goes here\"", STYLE.to_owned()),
        ("\"the run goes here\"", format!("[{}]", embedded(&lines(target, run).join(",\n")))),
        ("\"the script goes here\"", SCRIPTS.join("\n")),
    ];
    let (mut page, mut rest) = (String::new(), MARKUP);
    for (place, part) in parts {
        let (before, after) = rest.split_once(place).expect("the markup has this place");
        page.push_str(before);
        page.push_str(&part);
        rest = after;
    }
    page + rest
}

/// JSON that neither ends nor changes the element of a page that holds it. Outside of its strings
/// JSON has none of these characters.
pub(super) fn embedded(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            _ => text.push(character),
        }
    }
    text
}
