//! Which ids the measured table has, and what becomes of those that no row repeats step by step.
//!
//! The list is kept here so that no fact is left out in silence.

/// The ids of `tcp-facts/TABLE.md`, groups A to F.
pub const IDS: &[&str] = &[
    "A01", "A02", "A03", "A04", "A06", "A07", "A08", "A09", "A10", "A11", "A13", "A14", "A15",
    "A16", "A17", "A18", "A19", "A20", "A22", "A23", "A24", "A25", "A26", "A27", "A28", "A29",
    "A30", "A31", "A32", "A33", "A35", "A36", "A37", "A38", "A39", "A41", "A42", "A43", "A44",
    "B01", "B02", "B03", "B04", "B05", "B07", "B08", "B09", "B11", "B12", "B13", "B14", "B15",
    "B16", "B18", "B19", "B20", "B22", "B23", "B24", "B26", "B27", "B29", "B30", "B31", "B32",
    "B33", "B34", "B35", "C01", "C02", "C03", "C04", "C06", "C07", "C08", "C09", "C10", "C11",
    "C12", "C14", "C15", "C16", "C17", "C18", "C20", "C21", "C22", "C23", "C24", "C25", "C27",
    "C28", "C30", "D01", "D02", "D04", "D05", "D06", "D07", "D08", "D09", "D10", "D12", "D13",
    "D15", "D16", "D17", "D18", "D19", "D21", "D22", "F01", "F02", "F03", "F04", "F05", "F06",
    "F08", "F09", "F11", "F12", "F13", "F15", "F17", "F18", "F19", "F20", "F21", "F22",
];

/// An id that is not tested as the table measured it, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The id.
    pub id: &'static str,
    /// What is otherwise.
    pub reason: &'static str,
}

const fn note(id: &'static str, reason: &'static str) -> Note {
    Note { id, reason }
}

/// Rows that look at the same fact by other steps, because those of the table show something of the
/// machine that it was measured on.
pub const TRANSLATED: &[Note] = &[
    note("A25", "which addresses localhost has is compared with a lookup"),
    note("A27", "the resolver's own words are left out"),
    note("A42", "which address the name has is compared with a lookup"),
    note("A44", "descriptors are used up by copies, in this process, instead of a child's limit"),
    note("D15", "the amount is a range: buffers that grow are no constant"),
];

/// Ids that no row looks at: [`super::crashed`] does, on simulated hosts.
pub const CRASHED: &[Note] = &[
    note("F15", "a process is killed: the far machine is dropped"),
    note("F17", "a process is stopped: the far machine does not run"),
    note("F18", "a silent crash by TCP_REPAIR: the far machine is off the network and back"),
];
