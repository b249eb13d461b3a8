//! Built-in oracles: checkers of what distributed systems are said to promise.
//!
//! An oracle judges what clients and nodes saw, never how the system works inside. Operations are
//! kept by a [`Recorder`], each with what came of it: [`Outcome`]. From a record
//!
//! - [`Linearizable`] says whether all operations could have happened one at a time, each between
//!   its call and its return; [`Sequential`] the same where only the order of each client counts;
//! - [`Sessions`] says whether a client's versions go back: read-your-writes, monotonic reads and
//!   their kin;
//! - [`Conservation`] says whether a total stays.
//!
//! [`Delivery`] counts items that are sent and arrive, [`KeyOrder`] looks at the order of those with
//! a key; both are told by the nodes as it happens.
//!
//! Not here: bounds in virtual time, and what holds at one moment only, which is
//! [`always!`](crate::always).
//!
//! # What may or may not have been done
//! An operation that is indeterminate may have been done at any time after its call, also after the
//! end, or never. Each oracle accepts both, until something that was read allows only one of them.
//!
//! # Determinism
//! No oracle draws, and none looks at a clock: a record is in the order of its calls.
//!
//! # Invariants
//! What an oracle cannot decide within its steps is inconclusive: never a pass, never a failure.

mod conservation;
mod consistency;
mod delivery;
mod key_order;
mod minimal;
mod model;
mod record;
mod search;
mod session;
mod table;
#[cfg(test)]
mod tests;

pub use conservation::{Conservation, Sum};
pub use consistency::{Linearizable, Sequential, Verdict};
pub use delivery::{Delivery, Times};
pub use key_order::{KeyOrder, Repeats};
pub use model::{
    AppendList, KeyValue, Keyed, ListOp, ListRet, Model, Queue, QueueOp, QueueRet, Register,
    RegisterOp, RegisterRet,
};
pub use record::{Call, Entry, Outcome, Recorder, Stamp, Struck};
pub use session::{Access, Guarantee, Sessions};
