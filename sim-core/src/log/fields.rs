//! The fields of an event or a span as text.

use super::TEXT_MAX;
use crate::panics::without_ids;
use std::error::Error;
use std::fmt::{self, Write};
use tracing_core::field::{Field, Visit};

/// The field that is an event's message.
const MESSAGE: &str = "message";

/// Reads fields one by one. What they are made of is the program's own code.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) message: String,
    pub(super) others: Vec<(&'static str, String)>,
}

impl Fields {
    /// All of them; a message is one.
    pub(super) fn into_list(self) -> Vec<(&'static str, String)> {
        let message = (!self.message.is_empty()).then_some((MESSAGE, self.message));
        message.into_iter().chain(self.others).collect()
    }

    fn add(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let text = text(value);
        match field.name() {
            MESSAGE => self.message = text,
            name => self.others.push((name, text)),
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == MESSAGE {
            self.add(field, format_args!("{value}"));
        } else {
            self.add(field, format_args!("{value:?}"));
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.add(field, format_args!("{value}"));
    }
}

/// A value on one line.
pub(super) fn text(value: fmt::Arguments<'_>) -> String {
    let mut text = Text(String::new());
    // A value that does not want to be shown, or is too long, is shown as far as it went.
    let _ = text.write_fmt(value);
    without_ids(&text.0).into_owned()
}

/// A text on one line, of [`TEXT_MAX`] bytes at most.
struct Text(String);

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.0.len() >= TEXT_MAX {
                self.0.push('…');
                return Err(fmt::Error);
            }
            if character.is_control() {
                self.0.extend(character.escape_debug());
            } else {
                self.0.push(character);
            }
        }
        Ok(())
    }
}
