//! The `SIM_*` variables: how a user steers a run from outside.
//!
//! It reads them and says what is wrong with them. It runs nothing, makes no folder, and
//! changes no variable.
//!
//! The list of them, with their values, is in [`crate::manual::variables`].
//!
//! Invariants:
//! - A variable that cannot be read is an error before the run, never a default.
//! - A variable that starts with `SIM_` and is not known is an error, so a slip of the pen
//!   cannot turn a check off. [`RESERVED`] lists those that other parts read.

use core::time::Duration;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::log::{LogFilter, LogFilterError};
use crate::pin::Name;
use crate::workspace::workspace;
use thiserror::Error;

mod seeds;

pub use seeds::Seeds;

/// The variables that are read here.
///
/// ```
/// use sim_core::settings::{RESERVED, Settings, VARIABLES};
///
/// assert!(VARIABLES.contains(&"SIM_SEEDS") && RESERVED.contains(&"SIM_TARGET"));
/// assert_eq!(Settings::from_env()?, Settings::default(), "none is set here");
/// # Ok::<(), sim_core::settings::SettingsError>(())
/// ```
pub const VARIABLES: [&str; 9] = [
    "SIM_SEEDS",
    "SIM_INPUT",
    "SIM_PIN",
    "SIM_TRACE",
    "SIM_LOG",
    "SIM_ARTIFACTS",
    "SIM_WATCHDOG",
    "SIM_BUDGET",
    "SIM_SHRINK",
];

/// The variables that start with `SIM_` and are read elsewhere.
pub const RESERVED: [&str; 2] = ["SIM_CHILD", "SIM_TARGET"];

/// How long one run may take where `SIM_WATCHDOG` says nothing.
const WATCHDOG_DEFAULT: Duration = Duration::from_secs(60);

const SEEDS_FORM: &str = "a number (7), a range (0..1000 or 0..=9), a commit hash \
    (7 to 64 hex digits), or a comma list of those";
const TRACE_FORM: &str = "text, json or html";
const LOG_FORM: &str = "directives of levels and targets, such as info or info,db::store=debug";
const TIME_FORM: &str = "a time above zero as seconds (30) or with a unit (500ms, 30s, 5m)";
const SHRINK_FORM: &str = "`off`, or a time above zero (30, 500ms, 5m)";
const INPUT_FORM: &str = "the path of a file of input bytes";
const PIN_FORM: &str = "a name of lowercase letters, digits, `-` and `_`, such as reply-lost";
const ARTIFACTS_FORM: &str = "the path of a folder";

/// What the `SIM_*` variables say.
///
/// ```
/// use sim_core::settings::{Settings, SettingsError, Shrinking, TraceForm};
/// use std::ffi::OsString;
/// use std::time::Duration;
///
/// let of = |text: &'static [(&str, &str)]| {
///     Settings::parse(|name| {
///         let (_, value) = text.iter().find(|(known, _)| *known == name)?;
///         Some(OsString::from(value))
///     })
/// };
/// let settings = of(&[("SIM_SEEDS", "0..1000"), ("SIM_SHRINK", "off"), ("SIM_TRACE", "text")])?;
/// assert_eq!(settings.seeds.map(|seeds| seeds.len()), Some(1_000));
/// assert_eq!((settings.shrink, settings.trace), (Shrinking::Off, Some(TraceForm::Text)));
/// assert_eq!(settings.watchdog, Duration::from_secs(60), "where nothing is said");
///
/// let wrong = of(&[("SIM_WATCHDOG", "soon")]).unwrap_err();
/// assert!(matches!(wrong, SettingsError::Malformed { variable: "SIM_WATCHDOG", .. }));
/// # Ok::<(), SettingsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The seeds to sweep.
    pub seeds: Option<Seeds>,
    /// The file of the one input to run; it could be opened.
    pub input: Option<PathBuf>,
    /// The name to pin that file by; there is a file then, and it is not shrunk.
    pub pin: Option<Name>,
    /// The form of the trace to show.
    pub trace: Option<TraceForm>,
    /// Which events of `tracing` traces and reports show.
    pub log: LogFilter,
    /// The folder for what a run leaves behind; it need not exist yet.
    pub artifacts: Option<PathBuf>,
    /// How much real time one run may take; above zero.
    pub watchdog: Duration,
    /// How much real time a sweep may take; above zero.
    pub budget: Option<Duration>,
    /// How much real time it may take to shrink one failure.
    pub shrink: Shrinking,
}

/// Whether failures are shrunk, and for how long.
///
/// ```
/// use sim_core::settings::{Settings, Shrinking};
/// use std::time::Duration;
///
/// let settings = Settings::parse(|name| (name == "SIM_SHRINK").then(|| "30s".into()))?;
/// assert_eq!(settings.shrink, Shrinking::For(Duration::from_secs(30)));
/// # Ok::<(), sim_core::settings::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shrinking {
    /// Nothing was said: a new failure is, for a few seconds; a file that was asked for is not, and
    /// neither is a bug that is pinned as open.
    #[default]
    Unset,
    /// None is.
    Off,
    /// Each is, for so long at most.
    For(Duration),
}

/// A form of the trace.
///
/// ```
/// use sim_core::settings::{Settings, TraceForm};
///
/// let settings = Settings::parse(|name| (name == "SIM_TRACE").then(|| "json".into()))?;
/// assert_eq!(settings.trace, Some(TraceForm::Json));
/// # Ok::<(), sim_core::settings::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceForm {
    /// Lines for people.
    Text,
    /// One JSON object a line, in a file.
    Json,
    /// A page for a browser, in a file.
    Html,
}

/// Why the `SIM_*` variables cannot be read; each is one line.
///
/// ```
/// use sim_core::settings::{Settings, SettingsError};
///
/// let error = Settings::parse(|name| (name == "SIM_SEEDS").then(|| "many".into())).unwrap_err();
/// assert!(matches!(error, SettingsError::Malformed { variable: "SIM_SEEDS", .. }));
/// assert!(error.to_string().starts_with("cannot read SIM_SEEDS=\"many\": "));
/// ```
#[derive(Debug, Error)]
pub enum SettingsError {
    /// The value is not UTF-8.
    #[error("cannot read {variable}={text:?}: not utf-8; expected {expected}")]
    NotUtf8 {
        /// The variable.
        variable: &'static str,
        /// Its value as it is.
        text: OsString,
        /// What would be right.
        expected: &'static str,
    },
    /// The value does not have the form.
    #[error("cannot read {variable}={text:?}: {reason}; expected {expected}")]
    Malformed {
        /// The variable.
        variable: &'static str,
        /// Its value.
        text: String,
        /// What is wrong with it.
        reason: String,
        /// What would be right.
        expected: &'static str,
    },
    /// The value names a file or folder that cannot be used.
    #[error("cannot use {variable}={text:?}: {reason}; expected {expected}")]
    Path {
        /// The variable.
        variable: &'static str,
        /// Its value.
        text: String,
        /// What the operating system said.
        reason: io::Error,
        /// What would be right.
        expected: &'static str,
    },
    /// The variable asks for something that goes only with another one, or without it.
    #[error("cannot use {variable}={text}: {reason}")]
    Unfit {
        /// The variable.
        variable: &'static str,
        /// Its value.
        text: String,
        /// What is missing or too much.
        reason: &'static str,
    },
    /// The variable is not known.
    #[error("unknown variable {variable}; expected one of {}", known().join(", "))]
    Unknown {
        /// The variable.
        variable: String,
    },
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            seeds: None,
            input: None,
            pin: None,
            trace: None,
            log: LogFilter::default(),
            artifacts: None,
            watchdog: WATCHDOG_DEFAULT,
            budget: None,
            shrink: Shrinking::Unset,
        }
    }
}

impl Settings {
    /// Reads the variables of this process.
    ///
    /// # Errors
    ///
    /// See [`SettingsError`]; of several mistakes, the first in a fixed order.
    ///
    /// ```
    /// use sim_core::settings::Settings;
    ///
    /// let settings = Settings::from_env()?;
    /// assert!(!settings.watchdog.is_zero());
    /// # Ok::<(), sim_core::settings::SettingsError>(())
    /// ```
    pub fn from_env() -> Result<Settings, SettingsError> {
        check_names(env::vars_os().map(|(name, _)| name))?;
        let settings = Settings::parse(|variable| env::var_os(variable))?;
        settings.check_target(env::var_os("SIM_TARGET"))?;
        Ok(settings)
    }

    /// Where failing inputs go, each in a folder of its target: that of `SIM_ARTIFACTS`, else `sim` in
    /// cargo's target folder.
    ///
    /// ```
    /// use sim_core::settings::Settings;
    ///
    /// assert!(Settings::default().artifacts_folder().ends_with("sim"));
    /// let settings = Settings { artifacts: Some("night".into()), ..Settings::default() };
    /// assert!(settings.artifacts_folder().ends_with("night"));
    /// ```
    pub fn artifacts_folder(&self) -> PathBuf {
        self.artifacts.clone().unwrap_or_else(crate::identity::artifacts)
    }

    /// A target is of a file, so that no one takes a sweep of something else for one of it; and it has
    /// a name, so that no one takes tests that are all of another target for a replay.
    fn check_target(&self, target: Option<OsString>) -> Result<(), SettingsError> {
        let Some(target) = target else { return Ok(()) };
        let reason = match &self.input {
            None => "it names the target of SIM_INPUT, which is not set",
            Some(_) if target.is_empty() => "it is empty",
            Some(_) => return Ok(()),
        };
        let text = target.to_string_lossy().into_owned();
        Err(SettingsError::Unfit { variable: "SIM_TARGET", text, reason })
    }

    /// Reads the variables that `lookup` gives.
    ///
    /// Only [`VARIABLES`] are looked up, so names that are not known stay unseen. It looks at
    /// the file system, but changes nothing there.
    ///
    /// # Errors
    ///
    /// See [`SettingsError`]; of several mistakes, the first in the order of [`VARIABLES`].
    ///
    /// ```
    /// use sim_core::settings::Settings;
    /// use std::time::Duration;
    ///
    /// let settings = Settings::parse(|name| (name == "SIM_WATCHDOG").then(|| "5m".into()))?;
    /// assert_eq!(settings.watchdog, Duration::from_secs(300));
    /// # Ok::<(), sim_core::settings::SettingsError>(())
    /// ```
    pub fn parse(lookup: impl Fn(&str) -> Option<OsString>) -> Result<Settings, SettingsError> {
        let value = |variable, expected| {
            lookup(variable).map(|text| Value::new(variable, text, expected)).transpose()
        };
        let seeds = value("SIM_SEEDS", SEEDS_FORM)?.map(Value::seeds).transpose()?;
        let input = value("SIM_INPUT", INPUT_FORM)?.map(Value::input).transpose()?;
        let pin = value("SIM_PIN", PIN_FORM)?.map(Value::pin).transpose()?;
        let trace = value("SIM_TRACE", TRACE_FORM)?.map(Value::trace).transpose()?;
        let log = value("SIM_LOG", LOG_FORM)?.map(Value::log).transpose()?.unwrap_or_default();
        let artifacts = value("SIM_ARTIFACTS", ARTIFACTS_FORM)?.map(Value::folder).transpose()?;
        let watchdog = value("SIM_WATCHDOG", TIME_FORM)?.map(Value::time).transpose()?;
        let budget = value("SIM_BUDGET", TIME_FORM)?.map(Value::time).transpose()?;
        let shrink = value("SIM_SHRINK", SHRINK_FORM)?.map(Value::shrink).transpose()?;
        let (watchdog, shrink) = (watchdog.unwrap_or(WATCHDOG_DEFAULT), shrink.unwrap_or_default());
        let settings =
            Settings { seeds, input, pin, trace, log, artifacts, watchdog, budget, shrink };
        settings.check_pin()?;
        Ok(settings)
    }

    /// A file is pinned as it is, so there must be one, and nothing that would make another of it.
    fn check_pin(&self) -> Result<(), SettingsError> {
        let Some(name) = &self.pin else { return Ok(()) };
        let reason = match (&self.input, self.shrink) {
            (None, _) => "it pins the file of SIM_INPUT, which is not set",
            (Some(_), Shrinking::For(_)) => {
                "it pins the file of SIM_INPUT as it is; shrink it first, without SIM_PIN"
            }
            (Some(_), _) => return Ok(()),
        };
        Err(SettingsError::Unfit { variable: "SIM_PIN", text: name.to_string(), reason })
    }
}

/// A variable that is set, and what its value should be.
struct Value {
    variable: &'static str,
    text: String,
    expected: &'static str,
}

impl Value {
    fn new(
        variable: &'static str,
        text: OsString,
        expected: &'static str,
    ) -> Result<Value, SettingsError> {
        match text.into_string() {
            Ok(text) => Ok(Value { variable, text, expected }),
            Err(text) => Err(SettingsError::NotUtf8 { variable, text, expected }),
        }
    }

    fn seeds(self) -> Result<Seeds, SettingsError> {
        Seeds::parse(&self.text).map_err(|reason| self.malformed(reason))
    }

    fn trace(self) -> Result<TraceForm, SettingsError> {
        match self.text.as_str() {
            "text" => Ok(TraceForm::Text),
            "json" => Ok(TraceForm::Json),
            "html" => Ok(TraceForm::Html),
            _ => Err(self.malformed("no such form".to_owned())),
        }
    }

    fn log(self) -> Result<LogFilter, SettingsError> {
        self.text.parse().map_err(|error: LogFilterError| self.malformed(error.to_string()))
    }

    fn pin(self) -> Result<Name, SettingsError> {
        Name::parse(&self.text).map_err(|reason| self.malformed(reason.to_owned()))
    }

    fn time(self) -> Result<Duration, SettingsError> {
        parse_time(&self.text).map_err(|reason| self.malformed(reason.to_owned()))
    }

    fn shrink(self) -> Result<Shrinking, SettingsError> {
        if self.text == "off" { Ok(Shrinking::Off) } else { self.time().map(Shrinking::For) }
    }

    /// Takes the path of a file that can be opened now, so a run does not fail late.
    fn input(self) -> Result<PathBuf, SettingsError> {
        if self.text.is_empty() {
            return Err(self.malformed("empty".to_owned()));
        }
        let path = existing(PathBuf::from(&self.text));
        match path.metadata() {
            Err(error) => return Err(self.unusable(error)),
            Ok(metadata) if metadata.is_dir() => {
                return Err(self.unusable(io::ErrorKind::IsADirectory.into()));
            }
            // Opening a pipe could wait for ever, and reading it twice is not possible.
            Ok(metadata) if !metadata.is_file() => {
                return Err(self.malformed("not a regular file".to_owned()));
            }
            Ok(_) => {}
        }
        File::open(&path).map_err(|error| self.unusable(error))?;
        Ok(path)
    }

    /// Takes the path of a folder, which whoever writes to it makes.
    fn folder(self) -> Result<PathBuf, SettingsError> {
        if self.text.is_empty() {
            return Err(self.malformed("empty".to_owned()));
        }
        let path = workspace().join(&self.text);
        match path.metadata() {
            Ok(metadata) if !metadata.is_dir() => {
                Err(self.unusable(io::ErrorKind::NotADirectory.into()))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.unusable(error)),
            Ok(_) | Err(_) => Ok(path),
        }
    }

    fn malformed(self, reason: String) -> SettingsError {
        let Value { variable, text, expected } = self;
        SettingsError::Malformed { variable, text, reason, expected }
    }

    fn unusable(&self, reason: io::Error) -> SettingsError {
        let &Value { variable, ref text, expected } = self;
        SettingsError::Path { variable, text: text.clone(), reason, expected }
    }
}

/// A path as it is, or below the workspace where only that exists.
fn existing(path: PathBuf) -> PathBuf {
    let below = workspace().join(&path);
    if !path.exists() && below.exists() { below } else { path }
}

/// Reads a time: digits, and then nothing or a unit.
fn parse_time(text: &str) -> Result<Duration, &'static str> {
    let digits_count = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(digits_count);
    if digits.is_empty() {
        return Err("no digits at the start");
    }
    let count: u64 = digits.parse().map_err(|_| "too long")?;
    let time = match unit {
        "ms" => Duration::from_millis(count),
        "" | "s" => Duration::from_secs(count),
        "m" => Duration::from_secs(count.checked_mul(60).ok_or("too long")?),
        _ => return Err("no such unit"),
    };
    if time.is_zero() { Err("zero") } else { Ok(time) }
}

/// Finds the first name, in the order of bytes, that looks like ours and is not.
fn check_names(names: impl Iterator<Item = OsString>) -> Result<(), SettingsError> {
    let unknown = names
        .filter(|name| name.as_encoded_bytes().starts_with(b"SIM_"))
        .filter(|name| !known().iter().any(|known| name == OsStr::new(known)))
        .min();
    match unknown {
        Some(name) => Err(SettingsError::Unknown {
            variable: name.to_string_lossy().escape_debug().to_string(),
        }),
        None => Ok(()),
    }
}

/// Gives all names that may start with `SIM_`.
fn known() -> Vec<&'static str> {
    [VARIABLES.as_slice(), RESERVED.as_slice()].concat()
}

#[cfg(test)]
mod tests;
