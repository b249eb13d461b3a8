//! The canonical encoding of events. The one place that knows bincode for them.
//!
//! bincode is final and no longer maintained; whoever replaces it replaces this file. The encoding
//! is compact and not self-describing. Hashes are of what this wrote, never of foreign bytes.

use super::Record;
use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::enc::write::Writer;
use bincode::error::EncodeError;

/// One record is at most so long, in bytes.
const RECORD_MAX: usize = 1 << 20;

const CONFIGURATION: Configuration<LittleEndian, Varint, Limit<RECORD_MAX>> =
    bincode::config::standard().with_limit::<RECORD_MAX>();

/// Appends a record.
pub(super) fn encode(record: &Record<'_>, into: &mut Vec<u8>) {
    let written = bincode::serde::encode_into_writer(record, Appender(into), CONFIGURATION);
    written.expect("a record is plain data and a vector takes it");
}

/// Appends to a vector, without the detour over `std::io`.
struct Appender<'a>(&'a mut Vec<u8>);

impl Writer for Appender<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// Reads the first record; gives it with the rest.
pub(super) fn decode(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let (record, len) = bincode::serde::borrow_decode_from_slice(bytes, CONFIGURATION).ok()?;
    Some((record, &bytes[len..]))
}
