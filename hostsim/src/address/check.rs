//! The claims of a host, for those who check whose they are.

use super::{ClaimId, Ports};
use std::net::IpAddr;

impl ClaimId {
    /// The port that is claimed.
    pub(crate) fn port(self) -> u16 {
        self.port
    }
}

impl Ports {
    /// Every claim that stands, with its address and the file that listens there.
    pub(crate) fn claims(&self) -> impl Iterator<Item = (ClaimId, IpAddr, Option<u32>)> {
        self.claims.iter().map(|(id, claim)| (*id, claim.ip, claim.listener))
    }

    /// Asserts what the type promises.
    ///
    /// # Panics
    /// Where it is not so.
    pub(crate) fn check_invariants(&self) {
        assert!(self.claims.keys().all(|id| id.port != 0), "a claim is on a port");
        assert!(
            self.claims.keys().all(|id| id.serial <= self.serial),
            "no claim is twice the same"
        );
        for (index, waiting) in self.waiting.iter().enumerate() {
            let is_same =
                |other: &super::Waiting| (other.port, other.claim) == (waiting.port, waiting.claim);
            assert!(!self.waiting[..index].iter().any(is_same), "one waits for all of its kind");
            assert!(!waiting.claim.is_dialed, "a port that the host chose does not wait");
        }
    }
}
