//! What a search uses, by an argument that libFuzzer passes over: `--search=…`.
//!
//! Without the argument it uses all that was measured to help. The others are for that measurement
//! alone (`manual::search`); they change neither what an input means to a replay nor what fails.

use std::sync::OnceLock;

/// What a search uses; each has what those before it have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Search {
    /// libFuzzer's own mutations on one string of bytes that all lanes are drawn from.
    Flat,
    /// Lanes of their own.
    Lanes,
    /// The mutator and the crossover of [`super::mutate`].
    Mutator,
    /// The counters of marks.
    Marks,
}

impl Search {
    const NAMES: [(&str, Search); 4] = [
        ("flat", Search::Flat),
        ("lanes", Search::Lanes),
        ("mutator", Search::Mutator),
        ("marks", Search::Marks),
    ];

    /// Reads the arguments of a process; the name that is not known where there is one.
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Search, String> {
        let Some(name) = arguments.find_map(|one| one.strip_prefix("--search=").map(str::to_owned))
        else {
            return Ok(Search::Marks);
        };
        let known = Search::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, search)| *search).ok_or(name)
    }
}

/// What this process uses. A name that is not known ends it with one line and exit code 2.
pub(super) fn search() -> Search {
    static SEARCH: OnceLock<Search> = OnceLock::new();
    *SEARCH.get_or_init(|| {
        Search::parse(std::env::args()).unwrap_or_else(|name| {
            let known = Search::NAMES.map(|(known, _)| known).join(", ");
            crate::identity::say(&format!("sim: unknown --search={name}; expected one of {known}"));
            std::process::exit(2);
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_is_read_among_others() {
        let parse = |text: &str| Search::parse(text.split(' ').map(str::to_owned));
        assert_eq!(parse("sim_echo -runs=1 corpus"), Ok(Search::Marks));
        assert_eq!(parse("sim_echo --search=flat -runs=1"), Ok(Search::Flat));
        assert_eq!(parse("sim_echo --search=lanes"), Ok(Search::Lanes));
        assert_eq!(parse("sim_echo --search=mutator"), Ok(Search::Mutator));
        assert_eq!(parse("sim_echo --search="), Err(String::new()));
        assert_eq!(parse("sim_echo --search=maze"), Err("maze".to_owned()));
    }
}
