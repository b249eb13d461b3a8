//! What an operation does to a state: the models that records are compared with.
//!
//! A model is its own state. It is of one partition: operations with different keys never meet.
//!
//! Invariant: what an operation does is a function of the state; only whether it was done is open.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::marker::PhantomData;

/// A sequential object, as the state that it is in.
///
/// ```
/// use sim_core::oracle::{Linearizable, Model, Recorder, Verdict};
///
/// /// A counter whose increments return the value before them.
/// #[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
/// struct Counter(u64);
///
/// impl Model for Counter {
///     type Op = ();
///     type Ret = u64;
///     type Key = ();
///
///     fn key(_: &()) {}
///
///     fn step(&self, _: &(), ret: Option<&u64>) -> Option<Counter> {
///         ret.is_none_or(|ret| *ret == self.0).then(|| Counter(self.0 + 1))
///     }
/// }
///
/// let record = Recorder::new();
/// record.invoke(0, ()).ok(0);
/// drop(record.invoke(0, ())); // Nobody knows what came of it,
/// record.invoke(1, ()).ok(2); // but this tells: it was done.
/// assert_eq!(Linearizable::new(Counter(0), &record).verdict(), Verdict::Ordered);
/// ```
pub trait Model: Clone + Ord {
    /// What may be asked of it.
    type Op: Debug;
    /// What it may say.
    type Ret: Debug;
    /// What an operation is about; `()` where there is one object.
    type Key: Clone + Ord + Debug;

    /// What an operation is about.
    ///
    /// ```
    /// use sim_core::oracle::{KeyValue, Model, RegisterOp};
    ///
    /// let read = ("k", RegisterOp::<Option<u8>>::Read);
    /// assert_eq!(<KeyValue<&str, u8> as Model>::key(&read), ("k", ()));
    /// ```
    fn key(op: &Self::Op) -> Self::Key;

    /// The state after an operation that returned `ret`, and none where it cannot have returned
    /// that here. Where `ret` is not known, the state after it, whatever it returned.
    ///
    /// ```
    /// use sim_core::oracle::{Model, Register, RegisterOp, RegisterRet};
    ///
    /// let zero = Register::new(0);
    /// let after = zero.step(&RegisterOp::Write(1), Some(&RegisterRet::Written));
    /// assert_eq!(after, Some(Register::new(1)));
    /// assert_eq!(zero.step(&RegisterOp::Read, Some(&RegisterRet::Value(1))), None);
    /// assert_eq!(zero.step(&RegisterOp::Read, None), Some(Register::new(0)), "it may say anything");
    /// ```
    fn step(&self, op: &Self::Op, ret: Option<&Self::Ret>) -> Option<Self>;

    /// Whether an operation with that result changes no state, whichever it was done in. The search
    /// is shorter where it knows; to say no is always right.
    ///
    /// ```
    /// use sim_core::oracle::{Model, Register, RegisterOp, RegisterRet};
    ///
    /// assert!(Register::is_read(&RegisterOp::Read, &RegisterRet::Value(1)));
    /// assert!(!Register::is_read(&RegisterOp::Write(1), &RegisterRet::Written));
    /// ```
    fn is_read(_op: &Self::Op, _ret: &Self::Ret) -> bool {
        false
    }
}

/// One of a model for each key.
///
/// ```
/// use sim_core::oracle::{AppendList, Keyed, Linearizable, ListOp, ListRet, Recorder, Verdict};
///
/// let record = Recorder::new();
/// record.invoke(0, ("a", ListOp::Append(1))).ok(ListRet::Appended);
/// record.invoke(0, ("b", ListOp::Read)).ok(ListRet::Items(vec![]));
/// let lists = Keyed::new(AppendList::new());
/// assert_eq!(Linearizable::new(lists, &record).verdict(), Verdict::Ordered);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Keyed<K, M> {
    model: M,
    key: PhantomData<K>,
}

impl<K, M> Keyed<K, M> {
    /// Each key begins with the same state.
    ///
    /// ```
    /// use sim_core::oracle::{Keyed, Model, Register, RegisterOp, RegisterRet};
    ///
    /// let store = Keyed::<&str, _>::new(Register::new(0));
    /// let read = ("a", RegisterOp::Read);
    /// assert!(store.step(&read, Some(&RegisterRet::Value(0))).is_some(), "each key begins so");
    /// ```
    pub fn new(model: M) -> Keyed<K, M> {
        Keyed { model, key: PhantomData }
    }
}

impl<K: Clone + Ord + Debug, M: Model> Model for Keyed<K, M> {
    type Op = (K, M::Op);
    type Ret = M::Ret;
    type Key = (K, M::Key);

    fn key((key, op): &(K, M::Op)) -> (K, M::Key) {
        (key.clone(), M::key(op))
    }

    fn step(&self, (_, op): &(K, M::Op), ret: Option<&M::Ret>) -> Option<Keyed<K, M>> {
        self.model.step(op, ret).map(Keyed::new)
    }

    fn is_read((_, op): &(K, M::Op), ret: &M::Ret) -> bool {
        M::is_read(op, ret)
    }
}

/// A key-value store: a register for each key, which may have no value.
///
/// ```
/// use sim_core::oracle::{KeyValue, Linearizable, Recorder, Register, RegisterOp, RegisterRet};
/// use sim_core::oracle::Verdict;
///
/// let record = Recorder::new();
/// record.invoke(0, ("a", RegisterOp::Write(Some(1)))).ok(RegisterRet::Written);
/// record.invoke(0, ("b", RegisterOp::Read)).ok(RegisterRet::Value(None));
/// let store: KeyValue<&str, u8> = KeyValue::new(Register::new(None));
/// assert_eq!(Linearizable::new(store, &record).verdict(), Verdict::Ordered);
/// ```
pub type KeyValue<K, V> = Keyed<K, Register<Option<V>>>;

/// A register that is read, written, and compared and swapped.
///
/// ```
/// use sim_core::oracle::{Model, Register, RegisterOp, RegisterRet};
///
/// let swap = RegisterOp::Cas { expected: 1, new: 2 };
/// let after = Register::new(1).step(&swap, Some(&RegisterRet::Swapped(true)));
/// assert_eq!(after, Some(Register::new(2)));
/// assert_eq!(Register::new(3).step(&swap, Some(&RegisterRet::Swapped(true))), None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Register<V>(V);

impl<V> Register<V> {
    /// It begins with a value.
    ///
    /// ```
    /// use sim_core::oracle::{Model, Register, RegisterOp, RegisterRet};
    ///
    /// let read = |value| Register::new(7).step(&RegisterOp::Read, Some(&RegisterRet::Value(value)));
    /// assert!(read(7).is_some() && read(8).is_none());
    /// ```
    pub fn new(value: V) -> Register<V> {
        Register(value)
    }
}

/// An operation of a [`Register`].
///
/// ```
/// use sim_core::oracle::RegisterOp;
///
/// let all = [RegisterOp::Read, RegisterOp::Write(1), RegisterOp::Cas { expected: 1, new: 2 }];
/// assert_eq!(format!("{:?}", all[1]), "Write(1)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterOp<V> {
    /// Reads it.
    Read,
    /// Sets it.
    Write(V),
    /// Sets it, where it has the value that is expected.
    Cas {
        /// What it must be.
        expected: V,
        /// What it becomes.
        new: V,
    },
}

/// What an operation of a [`Register`] returns.
///
/// ```
/// use sim_core::oracle::{Model, Register, RegisterOp, RegisterRet};
///
/// let swapped = RegisterRet::Swapped(true);
/// assert_eq!(Register::new(1).step(&RegisterOp::Read, Some(&swapped)), None, "no read says so");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RegisterRet<V> {
    /// Of a read: the value.
    Value(V),
    /// Of a write.
    Written,
    /// Of a compare and swap: whether it did.
    Swapped(bool),
}

impl<V: Clone + Ord + Debug> Model for Register<V> {
    type Op = RegisterOp<V>;
    type Ret = RegisterRet<V>;
    type Key = ();

    fn key(_: &RegisterOp<V>) {}

    fn step(&self, op: &RegisterOp<V>, ret: Option<&RegisterRet<V>>) -> Option<Register<V>> {
        match (op, ret) {
            (RegisterOp::Read, None) => Some(self.clone()),
            (RegisterOp::Read, Some(RegisterRet::Value(value))) => {
                (*value == self.0).then(|| self.clone())
            }
            (RegisterOp::Write(value), None | Some(RegisterRet::Written)) => {
                Some(Register(value.clone()))
            }
            (RegisterOp::Cas { expected, new }, None | Some(RegisterRet::Swapped(_))) => {
                let is_swapped = *expected == self.0;
                let is_right = ret.is_none_or(|ret| *ret == RegisterRet::Swapped(is_swapped));
                let after = if is_swapped { Register(new.clone()) } else { self.clone() };
                is_right.then_some(after)
            }
            _ => None,
        }
    }

    fn is_read(_: &RegisterOp<V>, ret: &RegisterRet<V>) -> bool {
        matches!(ret, RegisterRet::Value(_) | RegisterRet::Swapped(false))
    }
}

/// A list that is appended to and read whole. A value may be in it more than once.
///
/// ```
/// use sim_core::oracle::{AppendList, Linearizable, ListOp, ListRet, Recorder, Verdict};
///
/// let record = Recorder::new();
/// record.invoke(0, ListOp::Append('a')).ok(ListRet::Appended);
/// record.invoke(1, ListOp::Read).ok(ListRet::Items(vec!['a', 'a'])); // It was done twice.
/// let oracle = Linearizable::new(AppendList::new(), &record);
/// assert_eq!(oracle.verdict(), Verdict::Unordered { smallest: vec![1] });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AppendList<V>(Vec<V>);

impl<V> AppendList<V> {
    /// It begins empty.
    ///
    /// ```
    /// use sim_core::oracle::{AppendList, ListOp, ListRet, Model};
    ///
    /// let empty = AppendList::<u8>::new();
    /// assert!(empty.step(&ListOp::Read, Some(&ListRet::Items(vec![]))).is_some());
    /// ```
    pub fn new() -> AppendList<V> {
        AppendList(Vec::new())
    }
}

impl<V> Default for AppendList<V> {
    fn default() -> AppendList<V> {
        AppendList::new()
    }
}

/// An operation of an [`AppendList`].
///
/// ```
/// use sim_core::oracle::{AppendList, ListOp, ListRet, Model};
///
/// let after = AppendList::new().step(&ListOp::Append(1), Some(&ListRet::Appended)).unwrap();
/// assert!(after.step(&ListOp::Read, Some(&ListRet::Items(vec![1]))).is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListOp<V> {
    /// Adds a value at the end.
    Append(V),
    /// Reads all.
    Read,
}

/// What an operation of an [`AppendList`] returns; [`ListOp`] shows both.
///
/// ```
/// use sim_core::oracle::{AppendList, ListOp, ListRet, Model};
///
/// let one = AppendList::new().step(&ListOp::Append(1), Some(&ListRet::Appended)).expect("it may");
/// assert_eq!(one.step(&ListOp::Read, Some(&ListRet::Items(vec![2]))), None, "it holds 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListRet<V> {
    /// Of an append.
    Appended,
    /// Of a read: all, the oldest first.
    Items(Vec<V>),
}

impl<V: Clone + Ord + Debug> Model for AppendList<V> {
    type Op = ListOp<V>;
    type Ret = ListRet<V>;
    type Key = ();

    fn key(_: &ListOp<V>) {}

    fn step(&self, op: &ListOp<V>, ret: Option<&ListRet<V>>) -> Option<AppendList<V>> {
        match (op, ret) {
            (ListOp::Append(value), None | Some(ListRet::Appended)) => {
                let mut after = self.clone();
                after.0.push(value.clone());
                Some(after)
            }
            (ListOp::Read, None) => Some(self.clone()),
            (ListOp::Read, Some(ListRet::Items(items))) => (*items == self.0).then(|| self.clone()),
            _ => None,
        }
    }

    fn is_read(op: &ListOp<V>, _: &ListRet<V>) -> bool {
        matches!(op, ListOp::Read)
    }
}

/// A queue, first in, first out.
///
/// ```
/// use sim_core::oracle::{Linearizable, Queue, QueueOp, QueueRet, Recorder, Verdict};
///
/// let record = Recorder::new();
/// record.invoke(0, QueueOp::Push(1)).ok(QueueRet::Pushed);
/// record.invoke(0, QueueOp::Pop).ok(QueueRet::Popped(Some(1)));
/// record.invoke(0, QueueOp::Pop).ok(QueueRet::Popped(None));
/// assert_eq!(Linearizable::new(Queue::new(), &record).verdict(), Verdict::Ordered);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue<V>(VecDeque<V>);

impl<V> Queue<V> {
    /// It begins empty.
    ///
    /// ```
    /// use sim_core::oracle::{Model, Queue, QueueOp, QueueRet};
    ///
    /// let empty = Queue::<u8>::new();
    /// assert!(empty.step(&QueueOp::Pop, Some(&QueueRet::Popped(None))).is_some());
    /// ```
    pub fn new() -> Queue<V> {
        Queue(VecDeque::new())
    }
}

impl<V> Default for Queue<V> {
    fn default() -> Queue<V> {
        Queue::new()
    }
}

/// An operation of a [`Queue`].
///
/// ```
/// use sim_core::oracle::{Model, Queue, QueueOp, QueueRet};
///
/// let two = [1, 2].iter().try_fold(Queue::new(), |queue, value| {
///     queue.step(&QueueOp::Push(*value), Some(&QueueRet::Pushed))
/// });
/// assert!(two.unwrap().step(&QueueOp::Pop, Some(&QueueRet::Popped(Some(2)))).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueOp<V> {
    /// Adds a value at the end.
    Push(V),
    /// Takes the first value, where there is one.
    Pop,
}

/// What an operation of a [`Queue`] returns; [`QueueOp`] shows both.
///
/// ```
/// use sim_core::oracle::{Model, Queue, QueueOp, QueueRet};
///
/// let one = Queue::new().step(&QueueOp::Push(1), Some(&QueueRet::Pushed)).expect("it may");
/// assert_eq!(one.step(&QueueOp::Pop, Some(&QueueRet::Popped(None))), None, "it holds 1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum QueueRet<V> {
    /// Of a push.
    Pushed,
    /// Of a pop: the value, none where the queue is empty.
    Popped(Option<V>),
}

impl<V: Clone + Ord + Debug> Model for Queue<V> {
    type Op = QueueOp<V>;
    type Ret = QueueRet<V>;
    type Key = ();

    fn key(_: &QueueOp<V>) {}

    fn step(&self, op: &QueueOp<V>, ret: Option<&QueueRet<V>>) -> Option<Queue<V>> {
        let mut after = self.clone();
        match (op, ret) {
            (QueueOp::Push(value), None | Some(QueueRet::Pushed)) => {
                after.0.push_back(value.clone());
                Some(after)
            }
            (QueueOp::Pop, None) => {
                after.0.pop_front();
                Some(after)
            }
            (QueueOp::Pop, Some(QueueRet::Popped(value))) => {
                (after.0.pop_front() == *value).then_some(after)
            }
            _ => None,
        }
    }

    fn is_read(_: &QueueOp<V>, ret: &QueueRet<V>) -> bool {
        matches!(ret, QueueRet::Popped(None))
    }
}
