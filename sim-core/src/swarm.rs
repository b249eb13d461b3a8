//! The swarm: how a run's configuration is drawn, one dimension a draw.
//!
//! Each dimension may be zero, and zero is calm. Those that the harness has of its own are
//! [`DECLARED`]; a test adds its own with [`Sim::dimension`](crate::Sim::dimension) and
//! [`Sim::tune`](crate::Sim::tune). They are drawn in the order in which a test asks for them, each
//! with a fixed width, so that changing one does not move another: to knock one out, set its bytes
//! to zero or call [`Sim::set_dimension`](crate::Sim::set_dimension).

mod fixed;
mod region;
mod table;

pub use region::Region;
pub(crate) use table::{
    CLIENTS, DUPLICATION, FAULTS, IN_FLIGHT, LIFECYCLE, LOSS, OPERATIONS, PAUSE, REORDERING,
    REPLICAS,
};
pub use table::{DECLARED, Declared};

use table::{ENTROPY, LATENCY, PIECES, RECEIVE_BUFFER, SEND_BUFFER};

use crate::source::{Choice, Lane, Source};
use crate::tape::SpanKind;
use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

/// A dimension and what came out.
///
/// ```
/// # use sim_core::Target;
/// # use sim_core::run::{Input, run};
/// # use std::time::Duration;
/// # let minute = Duration::from_secs(60);
/// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
/// let plan = run(&target, &Input::Bytes(Vec::new()), minute).plan;
/// let batch = plan.dimensions.iter().find(|one| one.name == "batch").expect("it was drawn");
/// assert_eq!(batch.value, 0, "calm");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Its name.
    pub name: &'static str,
    /// What was drawn; zero is calm.
    pub value: u64,
    /// What that means, for a person.
    pub meaning: String,
}

/// What came out of the swarm, in the order of the draws.
///
/// ```
/// use sim_core::Target;
/// use sim_core::run::{Input, run};
/// use sim_core::swarm::Dimension;
/// use std::time::Duration;
///
/// let target = Target::new("kv", |sim| {
///     sim.set_dimension("batch", 3);
///     sim.dimension("batch", 9);
/// });
/// let plan = run(&target, &Input::Bytes(Vec::new()), Duration::from_secs(60)).plan;
/// let active: Vec<&Dimension> = plan.active().collect();
/// assert_eq!((active.len(), active[0].name, active[0].value), (1, "batch", 3));
/// assert!(plan.dimensions.len() > 1, "the calm ones too");
/// assert_eq!(plan.to_string(), "batch=3");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Every dimension.
    pub dimensions: Vec<Dimension>,
    /// The ranges that dimensions are taken into.
    region: Region,
    /// The dimensions that the test named, in regions too that the run is not in.
    named: BTreeSet<&'static str>,
    is_in_region: bool,
}

impl Plan {
    /// The dimensions that are not calm.
    ///
    /// ```
    /// # use sim_core::Target;
    /// # use sim_core::run::{Input, run};
    /// # use std::time::Duration;
    /// # let minute = Duration::from_secs(60);
    /// let target = Target::new("kv", |sim| drop(sim.dimension("batch", 9)));
    /// let plan = run(&target, &Input::Bytes(Vec::new()), minute).plan;
    /// assert_eq!(plan.active().count(), 0);
    /// ```
    pub fn active(&self) -> impl Iterator<Item = &Dimension> {
        self.dimensions.iter().filter(|dimension| dimension.value != 0)
    }
}

impl fmt::Display for Plan {
    /// Writes the dimensions that are not calm.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for one in self.active() {
            write!(f, "{before}{}={}", one.name, one.meaning)?;
            before = ", ";
        }
        f.write_str(if before.is_empty() { "calm" } else { "" })
    }
}

/// The longest one-way latencies that a run may have.
///
/// ```
/// use sim_core::swarm::{BUFFERS, CAPACITY_MIN, LATENCIES, PIECE_MIN, PIECES_MAX};
///
/// // The first of each is calm, the others are what a draw chooses from.
/// assert!(LATENCIES[0].is_zero() && BUFFERS[0] == 0 && PIECES_MAX[0] == 0);
/// assert_eq!((LATENCIES[7].as_millis(), BUFFERS[7], PIECES_MAX[7]), (100, 1, PIECE_MIN));
/// assert!(CAPACITY_MIN > BUFFERS[7]);
/// ```
pub const LATENCIES: [Duration; 8] = [
    Duration::ZERO,
    Duration::from_micros(10),
    Duration::from_micros(100),
    Duration::from_micros(500),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(20),
    Duration::from_millis(100),
];

/// The buffers that a run's sockets may have, in bytes; zero leaves the default.
pub const BUFFERS: [usize; 8] = [0, 65_536, 16_384, 4_096, 1_024, 256, 16, 1];

/// The least that the two buffers of a direction hold together, in bytes.
///
/// Programs count on it: both ends of HTTP/2 write their first frames before either reads. With the
/// smallest buffers that Linux gives, a program writes some 2,100 to 4,000 bytes that nobody reads.
pub const CAPACITY_MIN: usize = 2_304;

/// The shortest piece that the swarm cuts off a segment, in bytes: the least that a segment of Linux
/// holds of a stream that goes on (`TCP_MIN_SND_MSS`). What is shorter stays whole, and what is left
/// of a segment may be shorter.
///
/// Shorter pieces, one after the other, come from no kernel, and programs take them for an attack:
/// tungstenite refuses a handshake of more than 64 reads that are not 128 bytes each on average, so
/// one of 170 bytes in pieces of two. A window of one byte cuts a stream as finely; so the smallest
/// receive buffers stay, and find the reads that are too short for a program.
pub const PIECE_MIN: u32 = 48;

/// The longest pieces in which segments may arrive, in bytes; zero leaves them whole.
pub const PIECES_MAX: [u32; 8] = [0, 16_384, 1_448, 536, 256, 128, 64, PIECE_MIN];

/// The dimensions that every run has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// Picks the stream of random bytes of the nodes, below the root of the seed tree.
    pub(crate) entropy: u64,
    /// The longest one-way latency.
    pub(crate) latency: Duration,
    /// The latency of every link, where the test overrides it.
    pub(crate) fixed_latency: Option<Duration>,
    /// The send buffer of every socket, in bytes; zero leaves the default.
    pub(crate) send_buffer: usize,
    /// The receive buffer of every socket, in bytes; zero leaves the default.
    pub(crate) receive_buffer: usize,
    /// The longest piece in which a segment between hosts arrives, in bytes; zero leaves it whole.
    pub(crate) piece: u32,
}

const PIECE: Choice = Choice::one("piece");
const LINK: Choice = Choice::one("link");

/// Draws one dimension and puts it into the plan, with what it means.
pub(crate) fn draw<T>(
    source: &mut Source,
    plan: &mut Plan,
    choice: Choice,
    max: u64,
    meaning: impl FnOnce(u64) -> (T, String),
) -> T {
    source.open(SpanKind::Swarm, choice.label);
    let value = source.draw(Lane::Swarm, choice, max);
    source.close();
    plan.put(choice.label, value, max, meaning)
}

impl Plan {
    /// Puts a dimension into the plan that came out as a value, taken into its range.
    fn put<T>(
        &mut self,
        name: &'static str,
        value: u64,
        max: u64,
        meaning: impl FnOnce(u64) -> (T, String),
    ) -> T {
        let value = self.region.take_in(name, value, max);
        let (result, meaning) = meaning(value);
        self.dimensions.push(Dimension { name, value, meaning });
        result
    }
}

/// The meaning of a dimension that is a number.
pub(crate) fn number(value: u64) -> (u64, String) {
    (value, value.to_string())
}

/// The meaning of a number of something of which there are at least `min`.
pub(crate) fn count_from(min: u64) -> impl FnOnce(u64) -> (u64, String) {
    move |extra| number(min + extra)
}

fn latency(level: u64) -> (Duration, String) {
    let latency = LATENCIES[level as usize];
    (latency, format!("{latency:?}"))
}

/// The least that a buffer holds where links take up to `latency`, in bytes: the smaller of the two
/// buffers goes there and back once and again, so no stream is slower than it is between the smallest
/// buffers of Linux over the longest link.
///
/// A program that gives a reply two seconds has a right to 125 bytes in that time: with buffers of one
/// byte they take 2.8 s over links of 11 ms.
fn buffer_min(latency: Duration) -> usize {
    let longest = LATENCIES[LATENCIES.len() - 1].as_nanos();
    (CAPACITY_MIN as u128 * latency.as_nanos() / longest) as usize
}

/// A buffer, at least of what links ask for.
fn buffer(least: usize) -> impl FnOnce(u64) -> (usize, String) {
    move |level| match BUFFERS[level as usize] {
        0 => buffer_of(0),
        bytes => buffer_of(bytes.max(least)),
    }
}

fn buffer_of(bytes: usize) -> (usize, String) {
    (bytes, if bytes == 0 { "default".to_owned() } else { format!("{bytes}B") })
}

/// A receive buffer beside a send buffer: of two small ones it is the larger.
fn buffer_beside(send_buffer: usize, least: usize) -> impl FnOnce(u64) -> (usize, String) {
    let beside = if send_buffer > 0 { CAPACITY_MIN.saturating_sub(send_buffer) } else { 0 };
    buffer(least.max(beside))
}

/// How many dimensions every run has before those of its test.
const SHAPE_COUNT: usize = 5;

/// Draws the dimensions that every run has.
pub(crate) fn shape(source: &mut Source, plan: &mut Plan) -> Shape {
    shape_of(plan, |choice: Choice, max| {
        source.open(SpanKind::Swarm, choice.label);
        let value = source.draw(Lane::Swarm, choice, max);
        source.close();
        value
    })
}

/// Makes the dimensions that every run has of values, in their order.
fn shape_of(plan: &mut Plan, mut value: impl FnMut(Choice, u64) -> u64) -> Shape {
    let level_max = LATENCIES.len() as u64 - 1;
    let drawn = value(ENTROPY, 0xffff);
    let entropy = plan.put(ENTROPY.label, drawn, 0xffff, number);
    let drawn = value(LATENCY, level_max);
    let latency = plan.put(LATENCY.label, drawn, level_max, latency);
    let level_max = BUFFERS.len() as u64 - 1;
    let drawn = value(SEND_BUFFER, level_max);
    let least = buffer_min(latency);
    let send_buffer = plan.put(SEND_BUFFER.label, drawn, level_max, buffer(least));
    let drawn = value(RECEIVE_BUFFER, level_max);
    let beside = buffer_beside(send_buffer, least);
    let receive_buffer = plan.put(RECEIVE_BUFFER.label, drawn, level_max, beside);
    let level_max = PIECES_MAX.len() as u64 - 1;
    let drawn = value(PIECES, level_max);
    let piece = plan.put(PIECES.label, drawn, level_max, piece);
    Shape { entropy, latency, fixed_latency: None, send_buffer, receive_buffer, piece }
}

fn piece(level: u64) -> (u32, String) {
    let bytes = PIECES_MAX[level as usize];
    (bytes, if bytes == 0 { "whole".to_owned() } else { format!("{bytes}B") })
}

/// Draws how many bytes of a segment come first, at most the run's longest piece; zero is all of
/// it. A run without pieces draws nothing, and neither does a segment that stays whole.
pub(crate) fn cut(source: &mut Source, shape: &Shape, len: u32) -> Option<u32> {
    // A test that asks for shorter pieces gets them.
    let shortest = if shape.piece < PIECE_MIN { 1 } else { PIECE_MIN };
    if shape.piece == 0 || len <= shortest {
        return None;
    }
    let value = source.draw(Lane::Network, PIECE, 255) as u32;
    let longest = shape.piece.min(len - 1);
    value.checked_sub(1).map(|part| shortest + part * (longest - shortest) / 254)
}

/// Draws the latency of one link, up to the run's longest; a run without latency draws nothing.
pub(crate) fn link(source: &mut Source, shape: &Shape) -> Duration {
    if let Some(latency) = shape.fixed_latency {
        return latency;
    }
    if shape.latency.is_zero() {
        return Duration::ZERO;
    }
    source.part(Lane::Network, LINK, shape.latency)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Lanes;

    #[test]
    fn two_small_buffers_hold_what_a_program_counts_on() {
        for send_buffer in BUFFERS {
            for level in 0..BUFFERS.len() as u64 {
                let (receive_buffer, _) = buffer_beside(send_buffer, 0)(level);
                let is_default = send_buffer == 0 || receive_buffer == 0;
                assert!(is_default || send_buffer + receive_buffer >= CAPACITY_MIN);
                assert!(receive_buffer >= BUFFERS[level as usize]);
                assert_eq!(BUFFERS[level as usize] == 0, receive_buffer == 0);
            }
        }
        assert_eq!(buffer_beside(1, 0)(7), (2_303, "2303B".to_owned()));
        assert_eq!(buffer_beside(4_096, 0)(7), (1, "1B".to_owned()));
    }

    #[test]
    fn no_stream_is_slower_than_between_the_smallest_buffers_of_linux() {
        assert_eq!(LATENCIES.map(buffer_min), [0, 0, 2, 11, 23, 115, 460, CAPACITY_MIN]);
        for latency in LATENCIES {
            let least = buffer_min(latency);
            for level in 1..BUFFERS.len() as u64 {
                let (send_buffer, _) = buffer(least)(level);
                let (receive_buffer, _) = buffer_beside(send_buffer, least)(level);
                assert!(
                    send_buffer >= least.max(BUFFERS[level as usize]) && receive_buffer >= least
                );
            }
            assert_eq!([buffer(least)(0).0, buffer_beside(1, least)(0).0], [0; 2]);
        }
        assert_eq!(buffer(buffer_min(Duration::from_millis(20)))(7), (460, "460B".to_owned()));
        assert_eq!(buffer(buffer_min(Duration::ZERO))(7), (1, "1B".to_owned()));
    }

    /// The first and the last cut, where there is one.
    fn cuts(piece: u32, len: u32) -> [Option<u32>; 3] {
        [0, 1, 255].map(|byte| {
            let mut lanes = Lanes::default();
            *lanes.lane_mut(Lane::Network) = vec![byte];
            let shape = Shape { piece, ..Shape::default() };
            cut(&mut Source::from_bytes(&lanes.encode()), &shape, len)
        })
    }

    #[test]
    fn pieces_are_as_short_as_linux_makes_them_or_a_test_asks() {
        for piece in PIECES_MAX {
            assert!(piece == 0 || piece >= PIECE_MIN);
            assert_eq!(cuts(piece, PIECE_MIN), [None; 3]);
        }
        assert_eq!(cuts(48, 49), [None, Some(48), Some(48)]);
        assert_eq!(cuts(1_448, 60), [None, Some(48), Some(59)]);
        assert_eq!(cuts(1_448, 70_000), [None, Some(48), Some(1_448)]);
        assert_eq!(cuts(1, 2), [None, Some(1), Some(1)]);
        assert_eq!(cuts(4, 1), [None; 3]);
        assert_eq!(cuts(4, 48), [None, Some(1), Some(4)]);
    }
}
