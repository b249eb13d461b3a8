//! Cases that measure a shrinker: predicates over draws, each with failing inputs that ought to
//! become one and the same.
//!
//! They are those of the shrinking challenge of property-based testing libraries, stated on draws:
//! lists say before each item that they go on, numbers are drawn with a bound. Two more are of a
//! toy of a store, see the module `toy`.

use sim_core::source::{Choice, Lane, Source};
use sim_core::tape::SpanKind;

mod toy;

/// A case.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in the challenge.
    pub name: &'static str,
    /// Whether the draws of a source fail.
    pub fails: fn(&mut Source) -> bool,
    /// What other shrinkers are published to take: distinct results of a hundred, mean runs.
    pub published: &'static str,
}

/// Every case.
pub const CASES: [Case; 14] = [
    Case { name: "bound5", fails: bound5, published: "Hypothesis 1, 136.9; rapid 81" },
    Case { name: "large union list", fails: union, published: "Hypothesis 1, 341.0; rapid 12" },
    Case { name: "calculator", fails: calculator, published: "Hypothesis 1, 341.4" },
    Case { name: "length list", fails: length, published: "Hypothesis 1, 85.1; rapid 1" },
    Case { name: "reverse", fails: reverse, published: "Hypothesis 1, 46.0; rapid 2" },
    Case { name: "nested lists", fails: nested, published: "rapid 16" },
    Case { name: "coupling", fails: coupling, published: "rapid 13" },
    Case { name: "deletion", fails: deletion, published: "rapid 10" },
    Case { name: "distinct", fails: distinct, published: "rapid 2" },
    Case { name: "difference not zero", fails: not_zero, published: "" },
    Case { name: "difference small", fails: small, published: "" },
    Case { name: "difference one", fails: one, published: "rapid 20" },
    Case { name: "lost-write", fails: toy::lost_write, published: "" },
    Case { name: "stale-read", fails: toy::stale_read, published: "" },
];

const MORE: Choice = Choice::one("more");
const ITEM: Choice = Choice::two("item");
const KIND: Choice = Choice::one("kind");

/// The most items of a list.
const ITEMS_MAX: usize = 100;

/// Draws a list: each item behind a draw that says that it goes on.
fn list<T>(source: &mut Source, mut item: impl FnMut(&mut Source) -> T) -> Vec<T> {
    let mut items = Vec::new();
    loop {
        source.open(SpanKind::Operation, "item");
        let goes_on = items.len() < ITEMS_MAX && source.draw(Lane::Workload, MORE, 7) > 0;
        if goes_on {
            items.push(item(source));
        }
        source.close();
        if !goes_on {
            return items;
        }
    }
}

fn number(source: &mut Source, max: u64) -> u64 {
    source.draw(Lane::Workload, ITEM, max)
}

/// A number of sixteen bits: 0, -1, 1, -2, ….
fn signed(source: &mut Source) -> i16 {
    let drawn = number(source, 65_535) as u16;
    (drawn >> 1) as i16 ^ -((drawn & 1) as i16)
}

fn bound5(source: &mut Source) -> bool {
    let lists: [Vec<i16>; 5] = std::array::from_fn(|_| list(source, signed));
    let sum = |items: &[i16]| items.iter().fold(0_i16, |sum, item| sum.wrapping_add(*item));
    if lists.iter().any(|items| sum(items) >= 256) {
        return false;
    }
    sum(&lists.concat()) >= 5 * 256
}

fn union(source: &mut Source) -> bool {
    let mut all = list(source, |source| list(source, signed)).concat();
    all.sort_unstable();
    all.dedup();
    all.len() > 4
}

/// An expression of a calculator.
enum Term {
    Number(i64),
    Sum(Box<[Term; 2]>),
    Quotient(Box<[Term; 2]>),
}

fn term(source: &mut Source, depth: u32) -> Term {
    source.open(SpanKind::Operation, "term");
    let kind = if depth == 0 { 0 } else { source.draw(Lane::Workload, KIND, 2) };
    let term = match kind {
        0 => Term::Number(i64::from(signed(source))),
        1 => Term::Sum(Box::new([term(source, depth - 1), term(source, depth - 1)])),
        _ => Term::Quotient(Box::new([term(source, depth - 1), term(source, depth - 1)])),
    };
    source.close();
    term
}

impl Term {
    /// Whether something is divided by the number zero as it stands.
    fn divides_by_zero(&self) -> bool {
        match self {
            Term::Number(_) => false,
            Term::Sum(parts) => parts.iter().any(Term::divides_by_zero),
            Term::Quotient(parts) => {
                matches!(parts[1], Term::Number(0)) || parts.iter().any(Term::divides_by_zero)
            }
        }
    }

    fn value(&self) -> Option<i64> {
        match self {
            Term::Number(number) => Some(*number),
            Term::Sum(parts) => Some(parts[0].value()?.wrapping_add(parts[1].value()?)),
            Term::Quotient(parts) => parts[0].value()?.checked_div(parts[1].value()?),
        }
    }
}

fn calculator(source: &mut Source) -> bool {
    let term = term(source, 5);
    !term.divides_by_zero() && term.value().is_none()
}

fn length(source: &mut Source) -> bool {
    list(source, |source| number(source, 1_000)).iter().any(|item| *item >= 900)
}

fn reverse(source: &mut Source) -> bool {
    let items = list(source, signed);
    items.iter().rev().ne(items.iter())
}

fn nested(source: &mut Source) -> bool {
    list(source, |source| list(source, signed)).concat().len() > 10
}

/// A list of places in itself: two that name each other.
fn coupling(source: &mut Source) -> bool {
    let items = list(source, |source| number(source, 10) as usize);
    if items.iter().any(|item| *item >= items.len()) {
        return false;
    }
    (0..items.len()).any(|at| items[at] != at && items[items[at]] == at)
}

/// An item is taken out of a list once, and is in it still.
fn deletion(source: &mut Source) -> bool {
    let mut items = list(source, |source| number(source, 20));
    let item = number(source, 20);
    if let Some(at) = items.iter().position(|other| *other == item) {
        items.remove(at);
        return items.contains(&item);
    }
    false
}

fn distinct(source: &mut Source) -> bool {
    let mut items = list(source, signed);
    items.sort_unstable();
    items.dedup();
    items.len() >= 3
}

fn difference(source: &mut Source) -> (u64, u64) {
    let first = number(source, 1_000);
    (first, first.abs_diff(number(source, 1_000)))
}

fn not_zero(source: &mut Source) -> bool {
    let (first, difference) = difference(source);
    first >= 10 && difference == 0
}

fn small(source: &mut Source) -> bool {
    let (first, difference) = difference(source);
    first >= 10 && (1..=4).contains(&difference)
}

fn one(source: &mut Source) -> bool {
    let (first, difference) = difference(source);
    first >= 10 && difference == 1
}
