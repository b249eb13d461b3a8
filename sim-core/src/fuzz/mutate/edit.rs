//! Edits of the choices of a run.
//!
//! Each takes the draft of a run and gives the lanes of another input, or none where it has nothing
//! to work on. Choices of other lanes between two spans do not matter: lanes are read each by itself.
//!
//! Here a span is an operation, a fault or an event; those of the swarm are dimensions, and their
//! draws always come. A span of one choice that is zero says that there is no further one.

use super::Random;
use crate::shrink::{Cell, Draft, Value};
use crate::source::{Lane, Lanes};
use crate::tape::{Span, SpanKind};
use std::ops::Range;

/// How many spans or choices one edit is about at most.
const COUNT_MAX: usize = 16;

/// How many bytes a lane is given beside twice what was drawn of it.
const SUPPLY: usize = 24;

/// How many bytes a lane is taken to draw in a run of a sweep.
const FRESH: usize = 64;

/// A kind of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Takes spans that follow each other out.
    Drop,
    /// Puts a copy of spans between others of their kind.
    Duplicate,
    /// Exchanges two spans of a kind.
    Swap,
    /// Takes a span out and puts it between others of its kind.
    Move,
    /// Zeroes or raises a dimension of the swarm.
    Dimension,
    /// Sets a choice to 0, 1, its bound, the value beside it, or any other.
    Choice,
    /// Cuts a lane at a choice.
    Cut,
    /// Zeroes choices that follow each other, or puts so many zeros before them.
    Calm,
    /// Puts new spans after the last of a kind, each of the form of one that is there.
    Append,
    /// Gives any bytes to a lane of which the run drew more than there was.
    Supply,
    /// Puts any bytes in place of lanes, each by chance.
    Renew,
    /// Any bytes in every lane, as many as a seed's run would draw of most: a run of a sweep.
    Fresh,
    /// Keeps what the run drew up to some choice, and puts any bytes in place of all after it.
    Branch,
}

impl Edit {
    /// Makes the edit; none where there is nothing to edit or nothing changed.
    pub(super) fn apply(self, draft: &Draft, lanes: &Lanes, random: &mut Random) -> Option<Lanes> {
        let cells = match self {
            Edit::Drop => drop(draft, random),
            Edit::Duplicate => duplicate(draft, random),
            Edit::Swap => swap(draft, random),
            Edit::Move => shift(draft, random),
            Edit::Dimension => dimension(draft, random),
            Edit::Choice => choice(draft, random),
            Edit::Cut => cut(draft, random),
            Edit::Calm => calm(draft, random),
            Edit::Append => append(draft, random),
            Edit::Supply => return supply(draft, lanes, random),
            Edit::Renew => return renew(draft, lanes, random),
            Edit::Fresh => return Some(anew(random)),
            Edit::Branch => return branch(draft, random),
        };
        cells.filter(|cells| *cells != draft.cells).map(|cells| lanes_of(&cells))
    }
}

/// The lanes of choices.
pub(super) fn lanes_of(cells: &[Cell]) -> Lanes {
    let draft = Draft { cells: cells.to_vec(), spans: Vec::new() };
    draft.to_lanes().canonical()
}

/// How many bytes of a lane a run drew.
pub(super) fn drawn(draft: &Draft, lane: Lane) -> usize {
    let cells = draft.cells.iter().filter(|cell| cell.lane == lane);
    let bytes = cells.map(|cell| match &cell.value {
        Value::Number { width, .. } => width.bytes(),
        Value::Bytes(bytes) => bytes.len(),
    });
    bytes.sum()
}

/// The choices with others put in before the one at `at`.
pub(super) fn insert(cells: &[Cell], at: usize, more: &[Cell]) -> Vec<Cell> {
    [&cells[..at], more, &cells[at..]].concat()
}

/// The spans that are there, in their order.
fn spans(draft: &Draft) -> Vec<Span> {
    let is_whole = |span: &&Span| {
        let cells = &draft.cells[span.choices.clone()];
        span.kind != SpanKind::Swarm
            && (cells.len() > 1 || cells.iter().any(|cell| !cell.is_zero()))
    };
    draft.spans.iter().filter(is_whole).cloned().collect()
}

/// The spans of a kind, in their order.
fn spans_of(draft: &Draft, kind: SpanKind) -> Vec<Span> {
    spans(draft).into_iter().filter(|span| span.kind == kind).collect()
}

/// Spans of one kind that follow each other: from any on, mostly few.
pub(super) fn some(draft: &Draft, random: &mut Random) -> Option<Vec<Span>> {
    let kind = random.pick(&spans(draft))?.kind;
    let all = spans_of(draft, kind);
    let first = random.below(all.len());
    let count = random.few(COUNT_MAX).min(all.len() - first);
    Some(all[first..first + count].to_vec())
}

/// The choices of spans, one span after the other.
pub(super) fn cells_of(draft: &Draft, spans: &[Span]) -> Vec<Cell> {
    spans.iter().flat_map(|span| draft.cells[span.choices.clone()].to_vec()).collect()
}

/// A place between spans of a kind, before the first and after the last included; none where there
/// is none of the kind.
pub(super) fn place(draft: &Draft, kind: SpanKind, random: &mut Random) -> Option<usize> {
    let all = spans_of(draft, kind);
    let last = all.last()?.choices.end;
    Some(all.get(random.below(all.len() + 1)).map_or(last, |span| span.choices.start))
}

/// The choices without those of spans.
fn without(draft: &Draft, spans: &[Span]) -> Vec<Cell> {
    let is_gone = |at: &usize| spans.iter().any(|span| span.choices.contains(at));
    let kept = (0..draft.cells.len()).filter(|at| !is_gone(at));
    kept.map(|at| draft.cells[at].clone()).collect()
}

fn drop(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    Some(without(draft, &some(draft, random)?))
}

fn duplicate(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let copied = some(draft, random)?;
    let at = place(draft, copied[0].kind, random)?;
    Some(insert(&draft.cells, at, &cells_of(draft, &copied)))
}

/// Two spans of a kind that do not overlap, the first before the second.
fn two(draft: &Draft, random: &mut Random) -> Option<(Range<usize>, Range<usize>)> {
    let kind = random.pick(&spans(draft))?.kind;
    let all = spans_of(draft, kind);
    let (one, other) = (random.pick(&all)?.choices.clone(), random.pick(&all)?.choices.clone());
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    (first.end <= second.start).then_some((first, second))
}

fn swap(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let (first, second) = two(draft, random)?;
    let cells = &draft.cells;
    let between = &cells[first.end..second.start];
    let (before, after) = (&cells[..first.start], &cells[second.end..]);
    Some([before, &cells[second], between, &cells[first], after].concat())
}

fn shift(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let (first, second) = two(draft, random)?;
    let cells = &draft.cells;
    let between = &cells[first.end..second.start];
    let (before, after) = (&cells[..first.start], &cells[second.end..]);
    Some(match random.one_in(2) {
        true => [before, &cells[second], &cells[first], between, after].concat(),
        false => [before, between, &cells[second], &cells[first], after].concat(),
    })
}

/// The choices with one number in place of another.
fn with_number(draft: &Draft, at: usize, number: u64) -> Vec<Cell> {
    let mut cells = draft.cells.clone();
    cells[at].set_number(number);
    cells
}

fn dimension(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let at = *random.pick(&draft.lane(Lane::Swarm))?;
    let (max, value) = (draft.cells[at].max()?, draft.cells[at].number()?);
    let new = if value > 0 && random.one_in(2) { 0 } else { 1 + random.up_to(max - 1) };
    Some(with_number(draft, at, new))
}

fn choice(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let is_chosen = |at: &usize| draft.cells[*at].lane != Lane::Swarm;
    let chosen: Vec<usize> = (0..draft.cells.len()).filter(is_chosen).collect();
    let at = *random.pick(&chosen)?;
    let mut cells = draft.cells.clone();
    match &mut cells[at].value {
        Value::Number { max, value, .. } => *value = near(*value, *max, random),
        Value::Bytes(bytes) => {
            let at = random.below(bytes.len());
            bytes[at] = near(bytes[at].into(), 255, random) as u8;
        }
    }
    Some(cells)
}

/// A value in place of another: 0, 1, the bound, one beside it, or any.
fn near(value: u64, max: u64, random: &mut Random) -> u64 {
    match random.below(8) {
        0 => 0,
        1 => max.min(1),
        2 => max,
        3 => value.saturating_sub(1),
        4 => value.saturating_add(1).min(max),
        _ => random.up_to(max),
    }
}

/// A lane that was drawn from, and a place of its choices.
fn place_in_lane(draft: &Draft, random: &mut Random) -> Option<(Vec<usize>, usize)> {
    let lanes: Vec<Vec<usize>> = Lane::ALL.iter().map(|lane| draft.lane(*lane)).collect();
    let drawn: Vec<&Vec<usize>> = lanes.iter().filter(|places| !places.is_empty()).collect();
    let places = (*random.pick(&drawn)?).clone();
    let from = random.below(places.len());
    Some((places, from))
}

fn cut(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let (places, from) = place_in_lane(draft, random)?;
    let (lane, first) = (draft.cells[places[from]].lane, places[from]);
    let is_kept = |(at, cell): &(usize, &Cell)| cell.lane != lane || *at < first;
    Some(draft.cells.iter().enumerate().filter(is_kept).map(|(_, cell)| cell.clone()).collect())
}

fn calm(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let (places, from) = place_in_lane(draft, random)?;
    let count = (1 + random.below(COUNT_MAX)).min(places.len() - from);
    let places = &places[from..from + count];
    let mut cells = draft.cells.clone();
    let lane = cells[places[0]].lane;
    // Where spans are, a zero may mean that there is no further one.
    let has_spans = draft
        .spans
        .iter()
        .any(|span| draft.cells.get(span.choices.start).is_some_and(|cell| cell.lane == lane));
    if has_spans || random.one_in(2) {
        places.iter().for_each(|at| cells[*at].zero());
        return Some(cells);
    }
    let mut zeros: Vec<Cell> = places.iter().map(|at| cells[*at].clone()).collect();
    zeros.iter_mut().for_each(Cell::zero);
    Some(insert(&cells, places[0], &zeros))
}

fn append(draft: &Draft, random: &mut Random) -> Option<Vec<Cell>> {
    let form = random.pick(&spans(draft))?.clone();
    let last = spans_of(draft, form.kind).last()?.choices.end;
    let mut new = Vec::new();
    for _ in 0..random.few(COUNT_MAX) {
        let first = new.len();
        new.extend(draft.cells[form.choices.clone()].iter().map(|cell| fresh(cell, random)));
        // A span that begins with zero may be none.
        if new[first].number() == Some(0) {
            new[first].set_number(1);
        }
    }
    Some(insert(&draft.cells, last, &new))
}

/// A choice of the same kind with any value.
fn fresh(cell: &Cell, random: &mut Random) -> Cell {
    let mut cell = cell.clone();
    match &mut cell.value {
        Value::Number { max, value, .. } => *value = random.up_to(*max),
        Value::Bytes(bytes) => bytes.fill_with(|| random.up_to(255) as u8),
    }
    cell
}

fn supply(draft: &Draft, lanes: &Lanes, random: &mut Random) -> Option<Lanes> {
    let is_short = |lane: &Lane| drawn(draft, *lane) > lanes.lane(*lane).len();
    let short: Vec<Lane> = Lane::ALL.into_iter().filter(is_short).collect();
    let lane = *random.pick(&short)?;
    let more = any(drawn(draft, lane), random);
    let mut lanes = lanes.clone();
    lanes.lane_mut(lane).extend(more);
    Some(lanes)
}

fn renew(draft: &Draft, lanes: &Lanes, random: &mut Random) -> Option<Lanes> {
    let mut lanes = lanes.clone();
    for lane in Lane::ALL {
        if random.one_in(3) {
            *lanes.lane_mut(lane) = any(drawn(draft, lane), random);
        }
    }
    Some(lanes)
}

/// Lanes are long more often than not, so that few of them end before the run does.
fn anew(random: &mut Random) -> Lanes {
    let mut lanes = Lanes::default();
    for lane in Lane::ALL {
        *lanes.lane_mut(lane) = any(FRESH, random);
    }
    lanes
}

/// The run goes as before up to the choice, since every draw before it reads what it read.
fn branch(draft: &Draft, random: &mut Random) -> Option<Lanes> {
    let is_later = |at: &usize| draft.cells[*at].lane != Lane::Swarm;
    let later: Vec<usize> = (0..draft.cells.len()).filter(is_later).collect();
    let kept = &draft.cells[..*random.pick(&later)?];
    let kept = Draft { cells: kept.to_vec(), spans: Vec::new() };
    let mut lanes = kept.to_lanes();
    for lane in Lane::ALL {
        let rest = drawn(draft, lane) - drawn(&kept, lane);
        lanes.lane_mut(lane).extend(any(rest, random));
    }
    Some(lanes)
}

/// Any bytes for a lane of which so many were drawn; mostly more than that.
fn any(drawn: usize, random: &mut Random) -> Vec<u8> {
    let count = 1 + random.below(2 * drawn + SUPPLY);
    (0..count).map(|_| random.up_to(255) as u8).collect()
}
