//! What a test holds of the controls that it gave.

use super::Control;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A control that was given to a run.
///
/// ```
/// use sim_core::control::{Control, Handle, Units, Until};
/// use tokio::net::TcpStream;
/// # use sim_core::Sim;
/// # fn build(sim: &mut Sim) {
/// # let server = sim.node("server", |process| async move {
/// #     let listener = process.host().listen((process.address(), 7)).await.unwrap();
/// #     while let Ok((mut stream, _)) = listener.accept().await {
/// #         tokio::task::spawn_local(async move {
/// #             let (mut from, mut to) = stream.split();
/// #             let _ = tokio::io::copy(&mut from, &mut to).await;
/// #         });
/// #     }
/// # });
/// let refusal: Handle = sim.at(0.s(), Control::refuse(&server).until(Until::Released));
/// sim.client("client", move |_| {
///     let refusal = refusal.clone();
///     async move {
///         tokio::time::sleep(1.s()).await;
///         TcpStream::connect("server:7").await.expect_err("it is refused");
///         refusal.release();
///         tokio::time::sleep(1.s()).await;
///         TcpStream::connect("server:7").await.expect("it is over");
///     }
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Handle {
    is_released: Rc<Cell<bool>>,
    is_active: Rc<Cell<bool>>,
}

impl Handle {
    /// Ends the control, whatever it was to wait for; one that has not begun never does.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let pause = sim.at(9.s(), Control::pause(&db));
    /// pause.release(); // It has not begun, and never does.
    /// sim.client("client", move |_| {
    ///     let pause = pause.clone();
    ///     async move {
    ///         tokio::time::sleep(10.s()).await;
    ///         assert!(!pause.is_active());
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn release(&self) {
        self.is_released.set(true);
    }

    /// Whether the control is in force.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let pause = sim.at(1.s(), Control::pause(&db));
    /// assert!(!pause.is_active());
    /// sim.client("client", move |_| {
    ///     let pause = pause.clone();
    ///     async move {
    ///         tokio::time::sleep(2.s()).await;
    ///         assert!(pause.is_active());
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    pub fn is_active(&self) -> bool {
        self.is_active.get()
    }

    pub(crate) fn is_released(&self) -> bool {
        self.is_released.get()
    }

    pub(crate) fn set_active(&self, is_active: bool) {
        self.is_active.set(is_active);
    }
}

/// Gives controls from inside a run: from operations, checkers and nodes.
///
/// ```
/// # use sim_core::Sim;
/// use sim_core::control::{Control, Controls, Handle, Units};
///
/// # fn build(sim: &mut Sim) {
/// let db = sim.node("db", |_| std::future::pending::<()>());
/// let controls: Controls = sim.controls();
/// sim.client("operator", move |_| {
///     let (db, controls) = (db.clone(), controls.clone());
///     async move {
///         let isolated: Handle = controls.apply(Control::refuse(&db));
///         tokio::time::sleep(1.s()).await;
///         assert!(isolated.is_active());
///         isolated.release();
///     }
/// });
/// # }
/// # sim_core::sweep::test(&sim_core::Target::new("operator", build), 0..4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Controls(Rc<RefCell<Vec<(Control, Handle)>>>);

impl Controls {
    /// Puts a control in force once every machine is idle, before the next event.
    ///
    /// What the destructors of a process that is over ask for does not come.
    ///
    /// # Panics
    /// Where it is about a host that is not of the run.
    ///
    /// ```
    /// use sim_core::control::{Control, Units};
    /// use sim_core::lifecycle::Crash;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// # let db = sim.node("db", |_| std::future::pending::<()>());
    /// let controls = sim.controls();
    /// sim.client("operator", move |_| {
    ///     let (db, controls) = (db.clone(), controls.clone());
    ///     async move {
    ///         controls.apply(Control::crash(&db, Crash::Power));
    ///         tokio::time::sleep(1.s()).await;
    ///         assert!(!db.is_up(0));
    ///     }
    /// });
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn apply(&self, control: Control) -> Handle {
        let handle = Handle::default();
        let world = hostsim::seam::current();
        if world.as_ref().is_some_and(|world| world.is_over()) {
            return handle;
        }
        if let Some(world) = world {
            let count = world.network().hosts().count();
            control.check_hosts(count);
        }
        self.0.borrow_mut().push((control, handle.clone()));
        handle
    }

    pub(crate) fn take_all(&self) -> Vec<(Control, Handle)> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}
