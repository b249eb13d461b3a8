//! What an end says of itself to those who check that nothing is stuck. No program sees it.

use super::{Connection, Owed, State};

impl Connection {
    /// Whether there is something to send at once.
    pub(crate) fn has_to_send(&self) -> bool {
        let Owed { syn, syn_ack, ack, reset } = self.owed;
        let is_open = !matches!(self.state, State::Closed | State::SynSent | State::SynReceived);
        syn || syn_ack || reset || is_open && (ack || self.owes_fin() || self.send.has_sendable())
    }

    /// Whether there are bytes that wait for the peer's window.
    pub(crate) fn has_unsent(&self) -> bool {
        self.send.has_unsent()
    }

    /// Whether the program ended the direction, whatever of it is still to be sent.
    pub(crate) fn has_ended_sending(&self) -> bool {
        self.is_write_shut && !self.state.takes_bytes()
    }

    /// Whether the end is gone without a word, and its peer says nothing to find out.
    pub(crate) fn is_unsaid(&self) -> bool {
        self.is_unsaid
    }

    /// Whether the peer's FIN came.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether somebody waits for room to write, and there is room.
    pub(crate) fn is_wrongly_blocked(&self) -> bool {
        self.is_blocked && !self.is_write_shut && self.send.is_writable()
    }

    /// Whether the peer has no window and would be given one by an acknowledgment.
    pub(crate) fn has_window_to_give(&self) -> bool {
        !self.state.is_over() && self.receive.is_closed() && self.owes_window()
    }

    /// Whether no program holds the end.
    pub(crate) fn is_orphan(&self) -> bool {
        self.is_orphan
    }

    /// The offset of the next byte to send.
    pub(crate) fn sent(&self) -> u64 {
        self.send.sent()
    }

    /// The offset before which the peer takes bytes, as far as the end knows.
    pub(crate) fn peer_edge(&self) -> u64 {
        self.send.edge()
    }

    /// The offset before which the end takes bytes, as it told its peer.
    pub(crate) fn edge(&self) -> u64 {
        self.receive.edge()
    }

    /// Asserts what the type promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self) {
        self.send.check_invariants();
        self.receive.check_invariants();
        assert!(!self.is_fin_sent || self.is_write_shut, "a FIN is sent after a shutdown only");
        assert!(!self.is_fin_acked || self.is_fin_sent, "an acknowledged FIN was sent");
        assert!(!self.is_fin_sent || !self.send.has_unsent(), "a FIN is the last");
        assert!(!self.is_done || self.is_read_shut, "after a FIN there is nothing to wait for");
        let state = self.state;
        assert!(!self.is_unsaid || state == State::Closed, "what is gone is closed");
        let has_ended = !state.is_handshaking() && !state.takes_bytes();
        assert!(!has_ended || self.is_write_shut, "{state:?}: the direction ended");
        assert_eq!(self.is_peer_done(), self.is_done, "{state:?}: the peer's FIN came");
        if state == State::Closed {
            assert!(!self.send.has_unsent(), "what was not sent is given up");
            let Owed { syn, syn_ack, ack, .. } = self.owed;
            assert!(!syn && !syn_ack && !ack, "an end that is closed owes a reset only");
        }
    }

    /// Whether the state says that the peer's FIN came; one that is closed does not say.
    fn is_peer_done(&self) -> bool {
        match self.state {
            State::Closed => self.is_done,
            state => matches!(
                state,
                State::CloseWait | State::Closing | State::LastAck | State::TimeWait
            ),
        }
    }
}
