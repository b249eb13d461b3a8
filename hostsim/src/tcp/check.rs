//! What an end says of itself to those who check that nothing is stuck. No program sees it.

use super::{Connection, Owed, State};

impl Connection {
    /// Whether there is something to send at once.
    pub fn has_to_send(&self) -> bool {
        let Owed { syn, syn_ack, ack, reset } = self.owed;
        let is_open = !matches!(self.state, State::Closed | State::SynSent | State::SynReceived);
        syn || syn_ack || reset || is_open && (ack || self.owes_fin() || self.send.has_sendable())
    }

    /// Whether there are bytes that wait for the peer's window.
    pub fn has_unsent(&self) -> bool {
        self.send.has_unsent()
    }

    /// Whether the program ended the direction, whatever of it is still to be sent.
    pub fn has_ended_sending(&self) -> bool {
        self.is_write_shut && !self.state.takes_bytes()
    }

    /// Whether the end is gone without a word, and its peer says nothing to find out.
    pub fn is_unsaid(&self) -> bool {
        self.is_unsaid
    }

    /// Whether the peer's FIN came.
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether somebody waits for room to write, and there is room.
    pub fn is_wrongly_blocked(&self) -> bool {
        self.is_blocked && !self.is_write_shut && self.send.is_writable()
    }

    /// Whether the peer has no window and would be given one by an acknowledgment.
    pub fn has_window_to_give(&self) -> bool {
        !self.state.is_over() && self.receive.is_closed() && self.owes_window()
    }

    /// Asserts what the type promises.
    pub fn check_invariants(&self) {
        self.send.check_invariants();
        self.receive.check_invariants();
        assert!(!self.is_fin_sent || self.is_write_shut, "a FIN is sent after a shutdown only");
        assert!(!self.is_fin_acked || self.is_fin_sent, "an acknowledged FIN was sent");
    }
}
