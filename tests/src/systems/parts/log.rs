//! A log on the disk: lines that are there after a crash once their append returned.
//!
//! A record is a line: the checksum of its text in hex, a space, the text. What follows the last
//! whole record is what a crash left of an append that never returned, and is cut off when the log
//! is opened.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// The name of the file in its folder.
const NAME: &str = "log";

/// A log and its records.
#[derive(Debug)]
pub struct Log {
    file: File,
    records: Vec<String>,
}

impl Log {
    /// Opens the log of a folder, new where there is none.
    ///
    /// # Errors
    /// What the file system says.
    pub fn open(folder: &Path) -> io::Result<Log> {
        let options = OpenOptions::new().read(true).append(true).create(true).clone();
        let mut file = options.open(folder.join(NAME))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let (records, whole) = records(&bytes);
        if whole < bytes.len() {
            file.set_len(whole as u64)?;
            file.sync_data()?;
        }
        Ok(Log { file, records })
    }

    /// The records, in their order.
    pub fn records(&self) -> &[String] {
        &self.records
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record of one line; it stays once this returned.
    ///
    /// # Panics
    /// Where the file system fails: what is on the disk is not known then.
    pub fn append(&mut self, text: &str) {
        let record = format!("{:016x} {text}\n", checksum(text.as_bytes()));
        self.file.write_all(record.as_bytes()).expect("the disk has room");
        self.file.sync_data().expect("the disk is well");
        self.records.push(text.to_owned());
    }
}

/// The records that a folder's log has, for a judge.
///
/// # Errors
/// What the file system says.
pub fn read(folder: &Path) -> io::Result<Vec<String>> {
    Ok(records(&std::fs::read(folder.join(NAME))?).0)
}

/// The whole records at the beginning of some bytes, and how many bytes those are.
fn records(bytes: &[u8]) -> (Vec<String>, usize) {
    let (mut records, mut whole) = (Vec::new(), 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(text) = record(line) else { break };
        records.push(text);
        whole += line.len();
    }
    (records, whole)
}

/// The text of a line, where it is a whole record.
fn record(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
    let (sum, text) = line.split_once(' ')?;
    let is_whole = u64::from_str_radix(sum, 16) == Ok(checksum(text.as_bytes()));
    is_whole.then(|| text.to_owned())
}

/// FNV-1a of 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_record_is_cut_off_wherever_it_ends() {
        let folder = std::env::temp_dir().join(format!("sim-log-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(NAME);
        let mut log = Log::open(&folder).unwrap();
        log.append("first");
        let whole = std::fs::metadata(&path).unwrap().len();
        log.append("second one");
        let bytes = std::fs::read(&path).unwrap();
        for len in whole as usize..bytes.len() {
            std::fs::write(&path, &bytes[..len]).unwrap();
            let mut log = Log::open(&folder).unwrap();
            assert_eq!(log.records(), ["first"], "{len} bytes");
            log.append("third");
            assert_eq!(read(&folder).unwrap(), ["first", "third"], "{len} bytes");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_record_with_another_checksum_is_none() {
        assert_eq!(record(b"af63dc4c8601ec8c a\n"), Some("a".to_owned()));
        assert_eq!(record(b"af63dc4c8601ec8c b\n"), None);
        assert_eq!(record(b"af63dc4c8601ec8c a"), None);
    }
}
