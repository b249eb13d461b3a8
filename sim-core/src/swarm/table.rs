//! The dimensions that the harness has of its own: each is declared here and nowhere else.
//!
//! The order of the table is that of no draw: a run draws the first five, then what its test asks
//! for as it asks, then the last three.

use crate::source::Choice;

/// A dimension of the harness.
///
/// ```
/// use sim_core::swarm::{DECLARED, Declared};
///
/// let latency: &Declared = DECLARED.iter().find(|one| one.choice.label == "latency").unwrap();
/// assert_eq!((latency.max, latency.zero), (Some(7), Some("0ns")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name, which the plan prints, and how many bytes it reads.
    pub choice: Choice,
    /// The largest value; none where the test says how many there are.
    pub max: Option<u64>,
    /// What the plan prints where it is zero; none where that depends on the test.
    pub zero: Option<&'static str>,
    /// What it is, and how a test sets it otherwise than by
    /// [`Sim::set_dimension`](crate::Sim::set_dimension).
    pub text: &'static str,
}

/// Declares a dimension.
const fn declare(
    choice: Choice,
    max: Option<u64>,
    zero: Option<&'static str>,
    text: &'static str,
) -> Declared {
    Declared { choice, max, zero, text }
}

pub(crate) const ENTROPY: Choice = Choice::two("entropy");
pub(crate) const LATENCY: Choice = Choice::one("latency");
pub(crate) const SEND_BUFFER: Choice = Choice::one("send buffer");
pub(crate) const RECEIVE_BUFFER: Choice = Choice::one("receive buffer");
pub(crate) const PIECES: Choice = Choice::one("pieces");
pub(crate) const REPLICAS: Choice = Choice::one("replicas");
pub(crate) const CLIENTS: Choice = Choice::one("clients");
pub(crate) const OPERATIONS: Choice = Choice::two("operations");
pub(crate) const IN_FLIGHT: Choice = Choice::one("in flight");
pub(crate) const PAUSE: Choice = Choice::one("pause");
pub(crate) const FAULTS: Choice = Choice::one("faults");
pub(crate) const LIFECYCLE: Choice = Choice::one("lifecycle");
pub(crate) const LOSS: Choice = Choice::one("loss");
pub(crate) const DUPLICATION: Choice = Choice::one("duplication");
pub(crate) const REORDERING: Choice = Choice::one("reordering");

/// Every dimension of the harness.
pub const DECLARED: [Declared; 15] = [
    declare(ENTROPY, Some(0xffff), Some("0"), "the random bytes of nodes"),
    declare(LATENCY, Some(7), Some("0ns"), "the longest one-way latency; Sim::set_latency"),
    declare(SEND_BUFFER, Some(7), Some("default"), "of sockets; Sim::set_send_buffer"),
    declare(RECEIVE_BUFFER, Some(7), Some("default"), "of sockets; Sim::set_receive_buffer"),
    declare(PIECES, Some(7), Some("whole"), "in which segments arrive; Sim::set_pieces"),
    declare(REPLICAS, None, None, "beyond the fewest; NodeSpec::replicas"),
    declare(CLIENTS, None, None, "beyond the fewest; WorkloadSpec::clients"),
    declare(OPERATIONS, None, Some("0"), "at most; WorkloadSpec::operations"),
    declare(IN_FLIGHT, None, Some("1"), "operations at once; WorkloadSpec::in_flight"),
    declare(PAUSE, Some(3), Some("0ns"), "before an operation; WorkloadSpec::pause"),
    declare(FAULTS, None, Some("0"), "at most, of the network; FaultSpec::count"),
    declare(LIFECYCLE, None, Some("0"), "events at most; Lifecycle::count"),
    declare(LOSS, Some(7), Some("none"), "of datagrams; Sim::set_loss"),
    declare(DUPLICATION, Some(7), Some("none"), "of datagrams; Sim::set_duplication"),
    declare(REORDERING, Some(7), Some("none"), "of datagrams; Sim::set_reordering"),
];
