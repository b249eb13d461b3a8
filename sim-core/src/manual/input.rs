//! The input: bytes, lanes, draws.
//!
//! A file is the lanes of [`crate::source::Lane`] in their order: for each but the last its length
//! as a varint and its bytes; the last takes the rest. Any bytes decode. Empty lanes at the end take
//! no room, so the empty file is the calm run.
//!
//! A draw reads a fixed number of bytes, little-endian, and takes the remainder by the number of
//! choices. So a byte that is small is the choice itself, a changed bound does not re-read what
//! follows, and a fuzzer's compare tables see the value. A lane that ran out gives 0, and 0 is calm:
//! no latency, the default buffer, the first event, no loss, no further operation.
//!
//! Few things are drawn. A run draws its swarm (a byte a dimension, two for entropy and operations),
//! a byte a link where there is latency, three to six bytes an operation, six a fault, and a byte
//! where several events are due. Nothing is drawn a poll or a call; a segment draws a byte only in a
//! run whose swarm has it arrive in pieces, a datagram one for each thing that may befall it.
//!
//! Of a value below 256 choices the remainder is slightly biased toward the small, calm side.
//!
//! ```
//! use sim_core::source::{Choice, Lane, Lanes, Source};
//!
//! const LATENCY: Choice = Choice::one("latency");
//!
//! // One lane has a byte: that it says 5 of 0..=7 can be seen in the file.
//! let mut lanes = Lanes::default();
//! lanes.lane_mut(Lane::Swarm).push(5);
//! assert_eq!(lanes.encode(), [1, 5]);
//! let mut source = Source::from_bytes(&[1, 5]);
//! assert_eq!(source.draw(Lane::Swarm, LATENCY, 7), 5);
//! assert_eq!(source.draw(Lane::Swarm, LATENCY, 7), 0, "and then it is exhausted");
//!
//! // A seed is another source; what it gave is bytes from then on.
//! let mut seeded = Source::from_seed(7);
//! let value = seeded.draw(Lane::Swarm, LATENCY, 7);
//! let mut replay = Source::from_bytes(&seeded.tape().to_bytes());
//! assert_eq!(replay.draw(Lane::Swarm, LATENCY, 7), value);
//! ```
