//! The states of a connection and how they follow one another, as a table.
//!
//! Knows no bytes, no time and no errors. The table is RFC 9293 3.3.2 with the cues that a
//! simulated kernel has; a pair that the table does not name leaves the state as it is.

/// A state of RFC 9293 3.3.2. A listener is a queue of its own, not a state of a connection.
///
/// ```
/// use hostsim::network::WireId;
/// use hostsim::tcp::State;
/// # use hostsim::{address::Domain, network::Network};
/// # let mut network = Network::new();
/// # let host = network.add_host("alone");
/// # let address = std::net::SocketAddr::from(([127, 0, 0, 1], 7));
/// # let listener = network.socket(host, Domain::V4, true)?;
/// # network.bind(listener, address)?;
/// # network.listen(listener, 8)?;
/// # let dialer = network.socket(host, Domain::V4, true)?;
/// # network.connect(dialer, address).unwrap_err();
/// # let (accepted, _) = network.accept(listener, true)?;
/// network.close(dialer)?;
/// let view = network.connection(WireId(0)).expect("an end is held");
/// assert_eq!(view.states, [State::FinWait2, State::CloseWait]);
/// # Ok::<(), hostsim::errno::Errno>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names are those of RFC 9293")]
pub enum State {
    Closed,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// What makes a connection change its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cue {
    /// The program connects.
    Connect,
    /// A SYN came for a listener.
    Syn,
    /// A SYN that acknowledges ours came.
    SynAck,
    /// Our SYN was acknowledged.
    AckOfSyn,
    /// The program ended its direction.
    Shutdown,
    /// Our FIN was acknowledged.
    AckOfFin,
    /// The peer ended its direction.
    Fin,
    /// A RST came or went, or the connection was given up.
    Reset,
}

impl State {
    /// The state that follows on a cue.
    pub(crate) const fn on(self, cue: Cue) -> State {
        use State::{
            CloseWait, Closed, Closing, Established, FinWait1, FinWait2, LastAck, SynReceived,
            SynSent, TimeWait,
        };
        match (self, cue) {
            (Closed, Cue::Connect) => SynSent,
            (Closed, Cue::Syn) | (SynSent, Cue::Syn) => SynReceived,
            (SynSent, Cue::SynAck) | (SynReceived, Cue::AckOfSyn) => Established,
            (SynReceived | Established, Cue::Shutdown) => FinWait1,
            (CloseWait, Cue::Shutdown) => LastAck,
            (Established, Cue::Fin) => CloseWait,
            (FinWait1, Cue::AckOfFin) => FinWait2,
            (FinWait1, Cue::Fin) => Closing,
            (FinWait2, Cue::Fin) | (Closing, Cue::AckOfFin) => TimeWait,
            (LastAck, Cue::AckOfFin) | (_, Cue::Reset) => Closed,
            (state, _) => state,
        }
    }

    /// Whether bytes may be written (Linux `tcp_sendmsg`).
    pub(crate) const fn takes_bytes(self) -> bool {
        matches!(self, State::Established | State::CloseWait)
    }

    /// Whether an abort tells the peer so (Linux `tcp_need_reset`).
    pub(crate) const fn needs_reset(self) -> bool {
        matches!(
            self,
            State::Established
                | State::CloseWait
                | State::FinWait1
                | State::FinWait2
                | State::SynReceived
        )
    }

    /// Whether the connection is over as far as a program can see: Linux keeps TIME_WAIT apart from
    /// the socket, which is closed by then.
    ///
    /// ```
    /// use hostsim::tcp::State;
    ///
    /// assert!(State::Closed.is_over() && State::TimeWait.is_over());
    /// assert!(!State::FinWait2.is_over());
    /// ```
    pub const fn is_over(self) -> bool {
        matches!(self, State::Closed | State::TimeWait)
    }

    /// Whether the handshake goes on.
    pub(crate) const fn is_handshaking(self) -> bool {
        matches!(self, State::SynSent | State::SynReceived)
    }

    /// The name as `ss(8)` prints it.
    ///
    /// ```
    /// use hostsim::tcp::State;
    ///
    /// assert_eq!(State::FinWait1.name(), "fin-wait-1");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::SynSent => "syn-sent",
            State::SynReceived => "syn-recv",
            State::Established => "established",
            State::FinWait1 => "fin-wait-1",
            State::FinWait2 => "fin-wait-2",
            State::CloseWait => "close-wait",
            State::Closing => "closing",
            State::LastAck => "last-ack",
            State::TimeWait => "time-wait",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cue, State};
    use expect_test::expect;

    const STATES: [State; 10] = [
        State::Closed,
        State::SynSent,
        State::SynReceived,
        State::Established,
        State::FinWait1,
        State::FinWait2,
        State::CloseWait,
        State::Closing,
        State::LastAck,
        State::TimeWait,
    ];
    const CUES: [Cue; 8] = [
        Cue::Connect,
        Cue::Syn,
        Cue::SynAck,
        Cue::AckOfSyn,
        Cue::Shutdown,
        Cue::AckOfFin,
        Cue::Fin,
        Cue::Reset,
    ];

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for state in STATES {
            for cue in CUES {
                let next = state.on(cue);
                if next != state {
                    rows += &format!("{} + {cue:?} = {}\n", state.name(), next.name());
                }
            }
        }
        expect![[r#"
            closed + Connect = syn-sent
            closed + Syn = syn-recv
            syn-sent + Syn = syn-recv
            syn-sent + SynAck = established
            syn-sent + Reset = closed
            syn-recv + AckOfSyn = established
            syn-recv + Shutdown = fin-wait-1
            syn-recv + Reset = closed
            established + Shutdown = fin-wait-1
            established + Fin = close-wait
            established + Reset = closed
            fin-wait-1 + AckOfFin = fin-wait-2
            fin-wait-1 + Fin = closing
            fin-wait-1 + Reset = closed
            fin-wait-2 + Fin = time-wait
            fin-wait-2 + Reset = closed
            close-wait + Shutdown = last-ack
            close-wait + Reset = closed
            closing + AckOfFin = time-wait
            closing + Reset = closed
            last-ack + AckOfFin = closed
            last-ack + Reset = closed
            time-wait + Reset = closed
        "#]]
        .assert_eq(&rows);
    }
}
