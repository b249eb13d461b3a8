//! The entries of the logs of both services: `WORD ORDER AMOUNT`, and `by SENDER` after that.
//!
//! The second version writes the sender where it is told it. Either version reads what the other one
//! wrote: words that follow are skipped, a sender that is missing is none.

use std::fmt;

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its units were taken from the shelf.
    Take,
    /// There were not enough units, and never will be for it.
    Refuse,
    /// Its units are sold.
    Keep,
    /// Its units went back.
    Return,
    /// Its cents were charged.
    Charge,
    /// Its cents never will be charged.
    Void,
}

impl Event {
    const ALL: [(&'static str, Event); 6] = [
        ("take", Event::Take),
        ("refuse", Event::Refuse),
        ("keep", Event::Keep),
        ("return", Event::Return),
        ("charge", Event::Charge),
        ("void", Event::Void),
    ];
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What became of the order.
    pub event: Event,
    /// The order.
    pub order: u64,
    /// Units or cents.
    pub amount: u32,
    /// Who sent the request.
    pub sender: Option<u32>,
}

impl Entry {
    /// Reads a line; none where it is no entry.
    pub fn parse(line: &str) -> Option<Entry> {
        let words: Vec<&str> = line.split(' ').collect();
        let [word, order, amount, ref rest @ ..] = words[..] else { return None };
        let (_, event) = Event::ALL.into_iter().find(|(name, _)| *name == word)?;
        let sender = match rest {
            ["by", sender, ..] => sender.parse().ok(),
            _ => None,
        };
        Some(Entry { event, order: order.parse().ok()?, amount: amount.parse().ok()?, sender })
    }

    /// Reads the lines of a log.
    ///
    /// # Panics
    /// Where one is no entry.
    pub fn all(lines: &[String]) -> Vec<Entry> {
        lines.iter().map(|line| Entry::parse(line).expect("a service wrote it")).collect()
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Event::ALL.into_iter().find(|(_, event)| *event == self.event);
        let (word, _) = named.expect("every event has its word");
        write!(f, "{word} {} {}", self.order, self.amount)?;
        self.sender.map_or(Ok(()), |sender| write!(f, " by {sender}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (_, event) in Event::ALL {
            for sender in [None, Some(2)] {
                let entry = Entry { event, order: 7, amount: 3, sender };
                assert_eq!(Entry::parse(&entry.to_string()), Some(entry));
            }
        }
    }

    #[test]
    fn words_of_a_later_version_are_skipped() {
        let entry = Entry { event: Event::Keep, order: 7, amount: 3, sender: None };
        assert_eq!(Entry::parse("keep 7 3 at noon"), Some(entry));
        assert_eq!(Entry::parse("keep 7"), None);
        assert_eq!(Entry::parse("keep all 3"), None);
    }
}
