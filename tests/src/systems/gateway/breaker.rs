//! A circuit breaker: who was not answered several times in a row asks no more for a while.
//!
//! | state | a call | is answered | is not answered |
//! |---|---|---|---|
//! | closed | goes through | the count of failures is zero | the count grows; at [`FAILURES`]: open |
//! | open, for [`REST`] | is refused | nothing: it went before | nothing |
//! | open, later | goes through as the probe: half-open | | |
//! | half-open | is refused | closed | open |
//!
//! A probe of which nothing is heard, because its caller went away, does not keep the breaker
//! half-open: after [`REST`] there is another one. While it is half-open, what becomes of a call that
//! went before counts as well.

use sim_core::{observe, reached, sometimes};
use std::time::Duration;
use tokio::time::Instant;

/// How many calls in a row are not answered until it opens.
pub const FAILURES: u32 = 3;

/// How long it is open.
pub const REST: Duration = Duration::from_secs(3);

/// What it lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    HalfOpen { until: Instant },
}

/// The breaker of the calls to one service.
#[derive(Debug)]
pub struct Breaker(State);

impl Default for Breaker {
    /// It is closed.
    fn default() -> Breaker {
        Breaker(State::Closed { failures: 0 })
    }
}

impl Breaker {
    /// Whether a call may be made now; one that may is to say what became of it.
    pub fn admits(&mut self, now: Instant) -> bool {
        match self.0 {
            State::Closed { .. } => true,
            State::Open { until } | State::HalfOpen { until } if until <= now => {
                self.become_state(State::HalfOpen { until: now + REST });
                true
            }
            State::Open { .. } | State::HalfOpen { .. } => {
                reached!("an open breaker refuses a call");
                false
            }
        }
    }

    /// A call was answered.
    pub fn on_answer(&mut self) {
        sometimes!(matches!(self.0, State::HalfOpen { .. }), "a probe closes a breaker");
        if !matches!(self.0, State::Open { .. }) {
            self.become_state(State::Closed { failures: 0 });
        }
    }

    /// A call was not answered.
    pub fn on_failure(&mut self, now: Instant) {
        let open = State::Open { until: now + REST };
        match self.0 {
            State::Closed { failures } if failures + 1 < FAILURES => {
                self.become_state(State::Closed { failures: failures + 1 });
            }
            State::Closed { .. } => {
                reached!("a breaker opens");
                self.become_state(open);
            }
            State::HalfOpen { .. } => {
                reached!("a probe fails, and its breaker opens again");
                self.become_state(open);
            }
            State::Open { .. } => {}
        }
    }

    fn become_state(&mut self, state: State) {
        self.0 = state;
        observe(("breaker", std::mem::discriminant(&state)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        (0..FAILURES).for_each(|_| breaker.on_failure(now));
        breaker
    }

    #[test]
    fn only_failures_in_a_row_open_it() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..3 {
            (1..FAILURES).for_each(|_| breaker.on_failure(now));
            assert!(breaker.admits(now), "one more is allowed");
            breaker.on_answer();
        }
        (0..FAILURES).for_each(|_| breaker.on_failure(now));
        assert!(!breaker.admits(now));
    }

    #[test]
    fn it_lets_one_probe_through_after_its_rest() {
        let now = Instant::now();
        let mut breaker = opened(now);
        breaker.on_answer();
        assert!(!breaker.admits(now + REST / 2), "a call that went before does not close it");
        assert!(breaker.admits(now + REST));
        assert!(!breaker.admits(now + REST), "there is one probe");
        breaker.on_answer();
        assert_eq!(breaker.0, State::Closed { failures: 0 });
    }

    #[test]
    fn a_probe_that_fails_opens_it_and_one_that_is_not_heard_of_is_followed_by_another() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(breaker.admits(now + REST));
        breaker.on_failure(now + REST);
        assert!(!breaker.admits(now + REST + REST / 2));
        assert!(breaker.admits(now + 2 * REST));
        assert!(!breaker.admits(now + 2 * REST));
        assert!(breaker.admits(now + 3 * REST));
    }
}
