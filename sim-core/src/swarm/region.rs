//! Narrower ranges of dimensions: those that a test sets, and churn regions, which a run may be in.
//!
//! A dimension reads the bytes that it reads anyway, and its value is taken into the narrower range:
//! nothing else moves by it.

use super::{Dimension, Plan};
use crate::driver::entropy_root;
use crate::failure::{Class, Failure};
use crate::sim::Sim;
use crate::source::{Choice, Lane, Ratio};
use crate::tape::SpanKind;
use rand_core::Rng;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// The ranges of a churn region, by the names of dimensions.
///
/// ```
/// use sim_core::source::Ratio;
/// use sim_core::swarm::Region;
/// use sim_core::{Sim, Target};
///
/// /// A part of the swarm that deserves more runs than fall into it.
/// fn small_batches(region: &mut Region) {
///     region.narrow("batch", 1..=2);
///     region.narrow("latency", 0..=0);
/// }
///
/// fn body(sim: &mut Sim) {
///     sim.churn("small batches", Ratio::new(1, 1), small_batches);
///     assert!((1..=2).contains(&sim.dimension("batch", 255)));
/// }
/// # sim_core::sweep::test(&Target::new("region", body), 0..4);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    pub(super) ranges: BTreeMap<&'static str, RangeInclusive<u64>>,
}

impl Region {
    /// Draws a dimension from a narrower range of its values. What is past its largest value counts
    /// as that.
    ///
    /// # Panics
    /// Where the range is empty.
    ///
    /// ```
    /// use sim_core::source::Ratio;
    /// # use sim_core::Sim;
    /// # fn build(sim: &mut Sim) {
    /// sim.churn("rebalances", Ratio::new(1, 8), |region| {
    ///     region.narrow("latency", 1..=u64::MAX); // Past its largest value counts as that.
    /// });
    /// sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("example", build), 0..2);
    /// ```
    #[track_caller]
    pub fn narrow(&mut self, dimension: &'static str, range: RangeInclusive<u64>) {
        assert!(!range.is_empty(), "the range of {dimension:?} in a region is empty");
        self.ranges.insert(dimension, range);
    }

    /// The value of a dimension, in its range where it has one.
    pub(super) fn take_in(&self, name: &str, value: u64, max: u64) -> u64 {
        let Some(range) = self.ranges.get(name) else { return value };
        let last = max.min(*range.end());
        let first = last.min(*range.start());
        match last - first {
            u64::MAX => value,
            more => first + value % (more + 1),
        }
    }
}

const CHURN: Choice = Choice::one("churn");

impl Sim {
    /// Sets what a dimension comes out as, whatever is drawn: one of the harness
    /// ([`DECLARED`](super::DECLARED)) or of the test. Before the first node.
    ///
    /// # Panics
    /// Where the run has a node.
    ///
    /// ```
    /// # fn test(sim: &mut sim_core::Sim) {
    /// sim.set_dimension("latency", 0);
    /// sim.set_dimension("send buffer", 0);
    /// # sim.node("server", |_| async {});
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("knock-out", test), 0..4);
    /// ```
    #[track_caller]
    pub fn set_dimension(&mut self, name: &'static str, value: u64) {
        self.assert_no_node();
        let mut region = Region::default();
        region.narrow(name, value..=value);
        self.narrow(region);
    }

    /// Names a churn region: a part of the swarm that deserves more runs than fall into it by chance,
    /// as narrower ranges of dimensions. A run is in it by these odds, and in the first one where it
    /// would be in several; calm is the whole swarm. Before the first node.
    ///
    /// ```
    /// # use sim_core::{Sim, lifecycle::Lifecycle, node::NodeSpec, source::Ratio};
    /// # use std::future::pending;
    /// # fn test(sim: &mut Sim) {
    /// sim.churn("rebalances", Ratio::new(1, 8), |region| {
    ///     region.narrow("lifecycle", 3..=4);
    ///     region.narrow("latency", 0..=2);
    /// });
    /// let group = sim.node(NodeSpec::new("group").replicas(3..=3), |_| pending::<()>());
    /// sim.lifecycle(Lifecycle::of(&group).restarts());
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("swarm", test), 0..4);
    /// ```
    /// # Determinism
    /// One draw of the app lane: the swarm's own bytes mean what they meant without a region.
    ///
    /// # Panics
    /// Where the run has a node, or the denominator is past 256.
    #[track_caller]
    pub fn churn(&mut self, name: &'static str, odds: Ratio, describe: impl FnOnce(&mut Region)) {
        self.assert_no_node();
        let mut region = Region::default();
        describe(&mut region);
        let mut source = self.source.borrow_mut();
        source.open(SpanKind::Swarm, name);
        let is_in = source.chance(Lane::App, CHURN, odds) && !self.plan.is_in_region;
        source.close();
        drop(source);
        let meaning = if is_in { "in" } else { "the whole swarm" }.to_owned();
        self.plan.dimensions.push(Dimension { name, value: u64::from(is_in), meaning });
        self.plan.named.extend(region.ranges.keys());
        if is_in {
            self.plan.is_in_region = true;
            self.narrow(region);
        }
    }

    /// Draws a setting of the application that it documents: any of a range, or its default, which is
    /// calm.
    ///
    /// ```
    /// # use sim_core::{Sim, control::Units};
    /// # fn test(sim: &mut Sim) {
    /// let batch = sim.tune("batch", 100, 1..=1_000);
    /// # }
    /// # sim_core::sweep::test(&sim_core::Target::new("swarm", test), 0..4);
    /// ```
    /// # Panics
    /// Where the range is empty or has more than 65,535 values.
    #[track_caller]
    pub fn tune(&mut self, name: &'static str, default: u64, range: RangeInclusive<u64>) -> u64 {
        let (first, last) = range.into_inner();
        assert!(first <= last && last - first < 65_535, "the range of {name:?} is 1..=65,535 long");
        self.draw(Choice::two(name), last - first + 1, |value| match value {
            0 => (default, format!("{default} by default")),
            value => (first + value - 1, (first + value - 1).to_string()),
        })
    }

    #[track_caller]
    fn assert_no_node(&self) {
        assert!(self.seats.is_empty(), "dimensions are set before the first node of a run");
    }

    /// Narrows dimensions: those that come, and those that every run has drawn already.
    fn narrow(&mut self, region: Region) {
        self.plan.named.extend(region.ranges.keys());
        self.plan.region.ranges.extend(region.ranges);
        let entropy = self.shape.entropy;
        self.shape = self.plan.reshape(&self.shape);
        if entropy != self.shape.entropy {
            self.entropy = entropy_root(self.shape.entropy);
            let mut stream = self.entropy.child("harness").stream();
            self.world.set_entropy(Box::new(move |into| stream.fill_bytes(into)));
        }
    }

    /// The failure of a run whose test narrows a dimension that it does not have.
    pub(crate) fn misnamed(&self) -> Option<Failure> {
        let has = |name: &&str| self.plan.dimensions.iter().any(|one| one.name == *name);
        let name = self.plan.named.iter().find(|name| !has(name))?;
        let names: Vec<&str> = self.plan.dimensions.iter().map(|one| one.name).collect();
        let text = format!("{name:?} is no dimension of this run, which has {}", names.join(", "));
        Some(Failure::new(Class::Panic, "swarm", text))
    }
}

impl Plan {
    /// The shape of a run whose dimensions were drawn and are narrowed now.
    fn reshape(&mut self, shape: &super::Shape) -> super::Shape {
        let mut drawn = std::mem::take(&mut self.dimensions);
        let rest = drawn.split_off(super::SHAPE_COUNT);
        let values: Vec<u64> = drawn.iter().map(|one| one.value).collect();
        let mut values = values.into_iter();
        let fixed_latency = shape.fixed_latency;
        let shape = super::shape_of(self, |_, _| values.next().unwrap_or_default());
        self.dimensions.extend(rest);
        super::Shape { fixed_latency, ..shape }
    }
}
