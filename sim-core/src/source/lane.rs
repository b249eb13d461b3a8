//! The lanes of an input, and the input format.
//!
//! It is bytes in and bytes out; it does not know what a draw is.
//!
//! The format, which is version 1: for each lane but the last, its length as an LEB128 varint
//! and then its bytes; the last lane takes the rest. There is no header, no version and no
//! checksum in it, so a fuzzer's edit stays inside one lane; the version of a pinned input is in
//! the file beside it.
//!
//! Invariants:
//! - Decoding is total: every string of bytes is an input.
//! - `decode(encode(lanes)) == lanes`, and encoding is canonical: equal lanes, equal bytes.
//! - Zeros at the end of a lane say nothing, because an exhausted lane reads as zeros;
//!   [`Lanes::canonical`] removes them.

use core::fmt;

/// The version of the input format: how bytes become lanes, and lanes become values.
///
/// It is not the version of what a target draws: that has none, and what changes it is named in
/// the changelog. The repository keeps inputs of every version and decodes them in a test.
///
/// ```
/// assert_eq!(sim_core::source::FORMAT, 1);
/// ```
pub const FORMAT: u32 = 1;

/// The most bytes that a varint of 64 bits has.
const VARINT_BYTES_MAX: usize = 10;

/// One dimension of a run's decisions.
///
/// The order is the input format: a new lane changes the meaning of every stored input.
///
/// ```
/// use sim_core::source::Lane;
///
/// assert_eq!((Lane::COUNT, Lane::ALL[Lane::Fault.index()]), (7, Lane::Fault));
/// assert_eq!(Lane::Fault.name(), "fault");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The run's configuration.
    Swarm,
    /// Which operations the clients do.
    Workload,
    /// Starts, stops, crashes, restarts.
    Lifecycle,
    /// What the network and the disk do wrong.
    Fault,
    /// Latencies and how segments are split.
    Network,
    /// Which of several due events is first.
    Schedule,
    /// What the program under test asks for itself, and which churn region the run is in.
    App,
}

impl Lane {
    /// How many lanes there are.
    pub const COUNT: usize = Lane::ALL.len();

    /// All lanes, in the order of the input format.
    pub const ALL: [Lane; 7] = [
        Lane::Swarm,
        Lane::Workload,
        Lane::Lifecycle,
        Lane::Fault,
        Lane::Network,
        Lane::Schedule,
        Lane::App,
    ];

    /// Gives the name, which is also the lane's label in the seed tree.
    ///
    /// ```
    /// use sim_core::source::Lane;
    ///
    /// assert_eq!(Lane::ALL.map(Lane::name)[..2], ["swarm", "workload"]);
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Lane::Swarm => "swarm",
            Lane::Workload => "workload",
            Lane::Lifecycle => "lifecycle",
            Lane::Fault => "fault",
            Lane::Network => "network",
            Lane::Schedule => "schedule",
            Lane::App => "app",
        }
    }

    /// Gives the place in [`Lane::ALL`].
    ///
    /// ```
    /// use sim_core::source::Lane;
    ///
    /// assert!((0..Lane::COUNT).eq(Lane::ALL.map(Lane::index)));
    /// ```
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The bytes of every lane.
///
/// ```
/// use sim_core::source::{Lane, Lanes};
///
/// let mut lanes = Lanes::decode(&[2, 7, 0, 1, 9]);
/// assert_eq!((lanes.lane(Lane::Swarm), lanes.lane(Lane::Workload)), (&[7, 0][..], &[9][..]));
/// lanes.lane_mut(Lane::Workload).clear();
/// assert_eq!(lanes.encode(), [2, 7, 0]);
/// assert_eq!(lanes.canonical().encode(), [1, 7], "a zero at the end says nothing");
/// assert!(Lanes::default().is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lanes([Vec<u8>; Lane::COUNT]);

impl Lanes {
    /// Splits an input into its lanes.
    ///
    /// A length that is more than what is left, or more than a varint can say, takes what is
    /// left; a lane that the input does not reach is empty.
    ///
    /// ```
    /// use sim_core::source::{Lane, Lanes};
    ///
    /// let lanes = Lanes::decode(&[200, 1, 7]);
    /// assert_eq!(lanes.lane(Lane::Swarm), [7], "a length past the end takes what is left");
    /// ```
    pub fn decode(input: &[u8]) -> Lanes {
        let mut lanes = Lanes::default();
        let mut rest = input;
        for lane in Lane::ALL {
            let length = if lane == Lane::App { rest.len() } else { take_varint(&mut rest) };
            let (bytes, after) = rest.split_at(length.min(rest.len()));
            lanes.0[lane.index()] = bytes.to_vec();
            rest = after;
        }
        lanes
    }

    /// Joins the lanes to an input; it stops after the last lane that has bytes.
    ///
    /// So lanes that are all empty are the empty input. It does not remove zeros at a lane's
    /// end: see [`canonical`](Lanes::canonical).
    ///
    /// ```
    /// use sim_core::source::{Lane, Lanes};
    ///
    /// let mut lanes = Lanes::default();
    /// lanes.lane_mut(Lane::Workload).extend([5, 6]);
    /// assert_eq!(lanes.encode(), [0, 2, 5, 6]);
    /// assert_eq!(Lanes::decode(&lanes.encode()), lanes);
    /// ```
    pub fn encode(&self) -> Vec<u8> {
        let used = self.0.iter().rposition(|bytes| !bytes.is_empty()).map_or(0, |last| last + 1);
        let bytes_count: usize = self.0.iter().map(Vec::len).sum();
        let mut input = Vec::with_capacity(bytes_count + 2 * used);
        for (bytes, lane) in self.0.iter().zip(Lane::ALL).take(used) {
            if lane != Lane::App {
                push_varint(&mut input, bytes.len());
            }
            input.extend_from_slice(bytes);
        }
        input
    }

    /// Removes the zeros at the end of each lane, which no draw can tell from exhaustion.
    ///
    /// ```
    /// use sim_core::source::{Lane, Lanes};
    ///
    /// let mut lanes = Lanes::default();
    /// lanes.lane_mut(Lane::Swarm).extend([0, 5, 0, 0]);
    /// assert_eq!(lanes.canonical().lane(Lane::Swarm), [0, 5]);
    /// ```
    #[must_use]
    pub fn canonical(mut self) -> Lanes {
        for bytes in &mut self.0 {
            let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            bytes.truncate(length);
        }
        self
    }

    /// Gives the bytes of a lane.
    ///
    /// ```
    /// use sim_core::source::{Lane, Lanes};
    ///
    /// assert_eq!(Lanes::decode(&[1, 9]).lane(Lane::Swarm), [9]);
    /// ```
    pub fn lane(&self, lane: Lane) -> &[u8] {
        &self.0[lane.index()]
    }

    /// Gives the bytes of a lane, to be changed.
    ///
    /// ```
    /// use sim_core::source::{Lane, Lanes};
    ///
    /// // Knock one dimension of a run out.
    /// let mut lanes = Lanes::decode(&[3, 1, 2, 3]);
    /// lanes.lane_mut(Lane::Swarm)[1] = 0;
    /// assert_eq!(lanes.encode(), [3, 1, 0, 3]);
    /// ```
    pub fn lane_mut(&mut self, lane: Lane) -> &mut Vec<u8> {
        &mut self.0[lane.index()]
    }

    /// Says whether no lane has a byte.
    ///
    /// ```
    /// use sim_core::source::Lanes;
    ///
    /// assert!(Lanes::decode(&[]).is_empty());
    /// assert!(!Lanes::decode(&[1, 0]).is_empty(), "a zero is a byte");
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Gives the bytes of every lane, in order.
    pub(super) fn into_array(self) -> [Vec<u8>; Lane::COUNT] {
        self.0
    }
}

/// Takes a varint off the front; what does not fit `usize` is `usize::MAX`.
fn take_varint(rest: &mut &[u8]) -> usize {
    let mut value: u128 = 0;
    for place in 0..VARINT_BYTES_MAX {
        let Some((&byte, after)) = rest.split_first() else { break };
        *rest = after;
        // Ten groups of seven bits: 70 bits, so a u128 cannot overflow.
        value |= u128::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            break;
        }
    }
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// Appends the shortest varint of `value`.
fn push_varint(output: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        output.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    output.push(value as u8);
}

#[cfg(test)]
mod tests;
