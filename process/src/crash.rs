//! A token that ends when a process crashes.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

/// Ends when its process crashes: for stand-ins in a test's own memory, such as a database that
/// must forget what was not committed. The token of one life of a process; the next has another.
///
/// Over the real system it never ends: who could ask would be gone.
///
/// ```
/// use sim_process::{CrashToken, Process};
///
/// /// A cache in the test's own memory: what a process lost must not be found by the next one.
/// async fn forget(process: Process, cache: std::sync::Arc<std::sync::Mutex<Vec<u8>>>) {
///     process.crash_token().crashed().await;
///     cache.lock().unwrap().clear();
/// }
///
/// let token = CrashToken::new();
/// assert!(!token.is_crashed());
/// token.crash(); // What a simulator does.
/// assert!(token.is_crashed());
/// ```
#[derive(Clone, Default)]
pub struct CrashToken(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_crashed: bool,
    waiting: Vec<Waker>,
}

impl CrashToken {
    /// A token of a process that has not crashed.
    ///
    /// ```
    /// use sim_process::CrashToken;
    ///
    /// assert!(!CrashToken::new().is_crashed());
    /// ```
    pub fn new() -> CrashToken {
        CrashToken::default()
    }

    /// Whether the process crashed.
    ///
    /// ```
    /// use sim_process::CrashToken;
    ///
    /// let token = CrashToken::new();
    /// let copy = token.clone();
    /// token.crash();
    /// assert!(copy.is_crashed(), "clones are the same token");
    /// ```
    pub fn is_crashed(&self) -> bool {
        self.state().is_crashed
    }

    /// Waits until the process crashes.
    ///
    /// ```
    /// use sim_process::CrashToken;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let token = CrashToken::new();
    /// let crashed = token.crashed();
    /// token.crash();
    /// crashed.await; // Else it would wait for ever.
    /// # Ok(())
    /// # }
    /// ```
    pub fn crashed(&self) -> impl Future<Output = ()> + Send + 'static {
        Crashed(self.clone())
    }

    /// Ends the token; for whoever makes the process crash.
    ///
    /// ```
    /// use sim_process::CrashToken;
    ///
    /// let token = CrashToken::new();
    /// token.crash();
    /// assert!(token.is_crashed());
    /// ```
    pub fn crash(&self) {
        let waiting = {
            let mut state = self.state();
            state.is_crashed = true;
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nobody panics with the state")
    }
}

impl fmt::Debug for CrashToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CrashToken").field("is_crashed", &self.is_crashed()).finish()
    }
}

struct Crashed(CrashToken);

impl Future for Crashed {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state();
        if state.is_crashed {
            return Poll::Ready(());
        }
        let waker = context.waker();
        if !state.waiting.iter().any(|waiting| waiting.will_wake(waker)) {
            state.waiting.push(waker.clone());
        }
        Poll::Pending
    }
}
