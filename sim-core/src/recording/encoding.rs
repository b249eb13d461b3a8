//! The file of a recording: a magic, a version, and then its encoding. The one place that knows
//! bincode for it, as `history::encoding` is for events.
//!
//! The encoding is compact and not self-describing, so another layout is another version.

use super::{Recording, RecordingError, VERSION};
use bincode::config::{Configuration, Limit, LittleEndian, Varint};

/// What a file begins with.
const MAGIC: &[u8; 8] = b"sim-tape";

/// A recording is at most so long, in bytes.
const BYTES_MAX: usize = 1 << 24;

const CONFIGURATION: Configuration<LittleEndian, Varint, Limit<BYTES_MAX>> =
    bincode::config::standard().with_limit::<BYTES_MAX>();

/// Writes a recording.
pub(super) fn encode(recording: &Recording) -> Vec<u8> {
    let payload = bincode::serde::encode_to_vec(recording, CONFIGURATION);
    let payload = payload.expect("a recording is plain data and a vector takes it");
    [MAGIC.as_slice(), &VERSION.to_le_bytes(), &payload].concat()
}

/// Reads a recording.
pub(super) fn decode(bytes: &[u8]) -> Result<Recording, RecordingError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(RecordingError::Foreign)?;
    let (version, payload) = rest.split_first_chunk::<4>().ok_or(RecordingError::Damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(RecordingError::UnknownVersion { version });
    }
    let decoded = bincode::serde::decode_from_slice(payload, CONFIGURATION);
    let (recording, len) = decoded.map_err(|_| RecordingError::Damaged)?;
    match payload.len() - len {
        0 => Ok(recording),
        count => Err(RecordingError::Trailing { count }),
    }
}
