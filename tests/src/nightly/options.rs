//! What a night is asked to do: `SECONDS [--jobs N] [--update-corpus] [TARGET…]`.

/// The arguments of a night.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long all targets search together, in seconds of real time.
    pub seconds: u64,
    /// How many targets search at a time; above zero.
    pub jobs: usize,
    /// Whether `corpus/` becomes what was found.
    pub is_updating: bool,
    /// The targets; where there is none, all but those with a planted bug.
    pub targets: Vec<String>,
}

/// How the arguments are written.
pub const USAGE: &str = "SECONDS [--jobs N] [--update-corpus] [TARGET…]";

impl Options {
    /// Reads the arguments; without `--jobs`, `cores` targets search at a time.
    ///
    /// # Errors
    /// One line on what is wrong.
    pub fn parse(
        arguments: impl IntoIterator<Item = String>,
        cores: usize,
    ) -> Result<Options, String> {
        let mut arguments = arguments.into_iter();
        let seconds = number(arguments.next(), "SECONDS")?;
        let mut options = Options { seconds, jobs: cores, is_updating: false, targets: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--jobs" => options.jobs = number(arguments.next(), "--jobs")? as usize,
                "--update-corpus" => options.is_updating = true,
                option if option.starts_with('-') => {
                    return Err(format!("unknown option {option}; expected {USAGE}"));
                }
                target if options.targets.iter().any(|other| other == target) => {}
                target => options.targets.push(target.to_owned()),
            }
        }
        Ok(options)
    }
}

fn number(text: Option<String>, name: &str) -> Result<u64, String> {
    match text.as_deref().map(str::parse) {
        Some(Ok(number @ 1..)) => Ok(number),
        Some(_) => Err(format!("{name} is a number above zero; expected {USAGE}")),
        None => Err(format!("{name} is missing; expected {USAGE}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        Options::parse(text.split_whitespace().map(str::to_owned), 2)
    }

    #[test]
    fn options_come_in_any_order_after_the_time() {
        let targets = vec!["sim_a".to_owned(), "sim_b".to_owned()];
        let expected = Options { seconds: 60, jobs: 3, is_updating: true, targets };
        assert_eq!(parse("60 sim_a --jobs 3 sim_b --update-corpus sim_a"), Ok(expected));
        let plain = Options { seconds: 1, jobs: 2, is_updating: false, targets: Vec::new() };
        assert_eq!(parse("1"), Ok(plain));
    }

    #[test]
    fn what_cannot_be_read_is_one_line() {
        for (text, start) in [
            ("", "SECONDS is missing"),
            ("0", "SECONDS is a number above zero"),
            ("sim_a", "SECONDS is a number above zero"),
            ("1 --jobs", "--jobs is missing"),
            ("1 --jobs 0", "--jobs is a number above zero"),
            ("1 --job 2", "unknown option --job"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.starts_with(start) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
