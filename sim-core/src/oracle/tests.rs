//! What each oracle finds, what it shows of it, and what it lets pass.

use super::*;
use crate::check::{Checker, Violation};
use crate::failure::{Class, Failure};
use expect_test::{Expect, expect};

/// The failure of a checker at the end, without the place where it was made.
#[track_caller]
fn failure(checker: &mut impl Checker) -> Failure {
    let found = checker.step().and_then(|()| checker.end());
    let mut failure = found.map_err(Violation::into_failure).expect_err("it is not content");
    let (place, kind) = failure.origin.split_once(' ').expect("a place and a kind");
    assert!(place.contains("oracle/tests.rs:"), "{place} is where the checker was made");
    failure.origin = kind.to_owned();
    failure
}

#[track_caller]
fn check(checker: &mut impl Checker, expected: &Expect) {
    let Failure { class, origin, message, details } = failure(checker);
    let lines: Vec<String> = std::iter::once(format!("{class}, {origin}: {message}"))
        .chain(details.iter().map(|line| format!("  {line}")))
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[track_caller]
fn content(checker: &mut impl Checker) {
    let judged = checker.step().and_then(|()| checker.end());
    assert_eq!(judged, Ok(()));
}

type Registers = Recorder<(&'static str, RegisterOp<u64>), RegisterRet<u64>>;

fn registers(record: &Registers) -> Linearizable<Keyed<&'static str, Register<u64>>> {
    Linearizable::new(Keyed::new(Register::new(0)), record)
}

fn write(record: &Registers, client: usize, key: &'static str, value: u64) {
    record.invoke(client, (key, RegisterOp::Write(value))).ok(RegisterRet::Written);
}

fn read(record: &Registers, client: usize, key: &'static str, value: u64) {
    record.invoke(client, (key, RegisterOp::Read)).ok(RegisterRet::Value(value));
}

#[test]
fn a_stale_read_is_shown_with_the_writes_that_it_is_at_odds_with() {
    let record = Registers::new();
    for value in 1..20 {
        write(&record, 0, "a", value);
        write(&record, 1, "b", value);
        read(&record, 2, "a", value);
    }
    let late = record.invoke(3, ("a", RegisterOp::Write(50)));
    read(&record, 2, "a", 18);
    late.indeterminate();
    let shown = expect![[r#"
        correctness, linearizable: not linearizable: no order explains these 3 of 59 operations
          client  operation    result     invoked  returned
          2       ("a", Read)  Value(18)  106      107
          2       ("a", Read)  Value(19)  112      113
          2       ("a", Read)  Value(18)  115      116
          whatever the others did between their calls and the end"#]];
    check(&mut registers(&record), &shown);
}

#[test]
fn a_value_that_nobody_wrote_is_shown_alone() {
    let record = Registers::new();
    write(&record, 0, "a", 1);
    read(&record, 1, "a", 2);
    let shown = expect![[r#"
        correctness, linearizable: not linearizable: no order explains 1 of 2 operations
          client  operation    result    invoked  returned
          1       ("a", Read)  Value(2)  2        3
          whatever the others did between their calls and the end"#]];
    check(&mut registers(&record), &shown);
}

#[test]
fn a_failed_operation_has_no_effect_and_an_indeterminate_one_any() {
    let record = Registers::new();
    record.invoke(0, ("a", RegisterOp::Write(1))).indeterminate();
    read(&record, 1, "a", 0);
    read(&record, 1, "a", 1);
    content(&mut registers(&record));
    record.invoke(0, ("a", RegisterOp::Write(2))).failed();
    read(&record, 1, "a", 2);
    assert!(registers(&record).end().is_err());
}

#[test]
fn an_indeterminate_operation_is_resolved_by_a_read() {
    let record = Registers::new();
    record.invoke(0, ("a", RegisterOp::Write(1))).indeterminate();
    read(&record, 1, "a", 1);
    content(&mut registers(&record));
    read(&record, 1, "a", 0);
    assert!(registers(&record).end().is_err(), "it was done, and is not undone");
}

#[test]
fn an_operation_has_no_effect_before_its_call() {
    let record = Registers::new();
    read(&record, 1, "a", 1);
    drop(record.invoke(0, ("a", RegisterOp::Write(1))));
    assert!(registers(&record).end().is_err());
}

#[test]
fn a_limit_of_steps_is_inconclusive_for_the_run() {
    let record = Registers::new();
    write(&record, 0, "a", 1);
    let shown = expect![
        "inconclusive, linearizable: whether this is linearizable is not known after 0 steps"
    ];
    check(&mut registers(&record).steps(0), &shown);
}

/// Without the rule of the search about those that may be left out, there are 2 to the power of 40
/// sets of them to look at.
#[test]
fn many_indeterminate_writes_are_judged_in_few_steps() {
    let record = Registers::new();
    for value in 1..=40 {
        drop(record.invoke(0, ("a", RegisterOp::Write(value))));
    }
    read(&record, 1, "a", 7);
    assert_eq!(registers(&record).steps(20_000).verdict(), Verdict::Ordered);
    read(&record, 1, "a", 41);
    let all_but_one = Verdict::Unordered { smallest: vec![41] };
    assert_eq!(registers(&record).steps(20_000).verdict(), all_but_one);
}

#[test]
fn clients_may_be_behind_each_other_where_only_their_own_order_counts() {
    let record = Registers::new();
    write(&record, 0, "a", 1);
    write(&record, 0, "b", 1);
    read(&record, 1, "a", 0);
    let model = Keyed::new(Register::new(0));
    content(&mut Sequential::new(model.clone(), &record));
    // With this it saw the second write and then not the first: of each key alone that is right.
    read(&record, 2, "b", 1);
    read(&record, 2, "a", 0);
    let shown = expect![[r#"
        correctness, sequentially consistent: not sequentially consistent: no order explains these 3 of 5 operations
          client  operation        result    invoked  returned
          0       ("a", Write(1))  Written   0        1
          2       ("b", Read)      Value(1)  6        7
          2       ("a", Read)      Value(0)  8        9
          whatever the others did between their calls and the end"#]];
    check(&mut Sequential::new(model, &record), &shown);
}

type Versions = Recorder<bool, u64>;

/// Operations say whether they write, results are versions, and there is one key.
fn sessions(guarantee: Guarantee, record: &Versions) -> Sessions<bool, u64, &'static str, u64> {
    Sessions::new(guarantee, record, |is_write, version| {
        let (key, version) = ("k", *version);
        Some(if *is_write { Access::Wrote { key, version } } else { Access::Read { key, version } })
    })
}

#[test]
fn each_guarantee_is_broken_by_its_own_two_operations() {
    let (reads, writes) = (false, true);
    let rows = [
        (Guarantee::ReadYourWrites, [(writes, 2), (reads, 1)]),
        (Guarantee::MonotonicReads, [(reads, 2), (reads, 1)]),
        (Guarantee::MonotonicWrites, [(writes, 2), (writes, 2)]),
        (Guarantee::WritesFollowReads, [(reads, 2), (writes, 2)]),
    ];
    for (guarantee, operations) in rows {
        let record = Versions::new();
        operations.iter().for_each(|(op, version)| record.invoke(0, *op).ok(*version));
        for (other, _) in rows {
            let is_broken = sessions(other, &record).end().is_err();
            assert_eq!(is_broken, other == guarantee, "{other} of {operations:?}");
        }
    }
}

#[test]
fn sessions_owe_each_other_nothing_and_operations_at_once_have_no_order() {
    let record = Versions::new();
    record.invoke(0, true).ok(2);
    record.invoke(1, false).ok(1);
    let early = record.invoke(2, false);
    record.invoke(2, true).ok(3);
    early.ok(1);
    record.invoke(0, true).indeterminate();
    record.invoke(0, false).ok(2);
    content(&mut sessions(Guarantee::ReadYourWrites, &record));
    record.invoke(2, false).ok(2);
    let shown = expect![[r#"
        correctness, read-your-writes: not read-your-writes: client 2 went back to an older version of "k"
          client  operation  result  invoked  returned
          2       true       3       5        6
          2       false      2       12       13"#]];
    check(&mut sessions(Guarantee::ReadYourWrites, &record), &shown);
}

/// Items that were submitted, accepted, rejected and delivered so often.
fn delivery(times: Times, [submitted, accepted, rejected, delivered]: [u64; 4]) -> Delivery<u8> {
    let mut oracle = Delivery::new(times);
    (0..submitted).for_each(|_| oracle.submit(7));
    (0..accepted).for_each(|_| oracle.accept(7));
    (0..rejected).for_each(|_| oracle.reject(7));
    (0..delivered).for_each(|_| oracle.deliver(7));
    oracle
}

#[test]
fn items_arrive_as_often_as_they_may() {
    let all = [Times::AtMostOnce, Times::AtLeastOnce, Times::ExactlyOnce];
    let rows = [
        ([0, 0, 0, 0], [true, true, true]),
        ([1, 1, 0, 1], [true, true, true]),
        ([1, 1, 0, 0], [true, false, false]),
        ([1, 1, 0, 2], [false, true, false]),
        ([1, 0, 0, 0], [true, true, true]),
        ([1, 0, 0, 1], [true, true, true]),
        ([1, 0, 1, 0], [true, true, true]),
        ([1, 0, 1, 1], [false, false, false]),
        ([0, 0, 0, 1], [false, false, false]),
        ([3, 2, 1, 2], [true, true, true]),
        ([3, 2, 1, 1], [true, false, false]),
        ([3, 2, 1, 3], [false, true, false]),
        ([3, 1, 0, 3], [true, true, true]),
    ];
    for (counts, expected) in rows {
        let is_content = |times: Times| {
            let mut oracle = delivery(times, counts);
            oracle.step().and_then(|()| oracle.end()).is_ok()
        };
        assert_eq!(all.map(is_content), expected, "{counts:?}");
    }
}

#[test]
fn a_delivery_that_is_wrong_says_how_often_it_was() {
    let once = Times::ExactlyOnce;
    let shown = expect!["correctness, again: 7 arrived twice and was sent once"];
    check(&mut delivery(once, [1, 1, 0, 2]), &shown);
    let shown = expect!["correctness, lost: 7 was accepted 3 times and arrived never"];
    check(&mut delivery(once, [3, 3, 0, 0]), &shown);
    let shown = expect!["correctness, invented: 7 arrived and was never sent"];
    check(&mut delivery(once, [0, 0, 0, 1]), &shown);
    let shown = expect!["correctness, rejected: 7 arrived and was certainly not sent"];
    check(&mut delivery(once, [1, 0, 1, 1]), &shown);
}

#[test]
fn what_is_rejected_after_it_arrived_is_found() {
    let mut oracle = Delivery::new(Times::AtLeastOnce);
    oracle.submit(7);
    oracle.deliver(7);
    content(&mut oracle);
    oracle.reject(7);
    assert_eq!(failure(&mut oracle).origin, "rejected");
}

#[test]
#[should_panic(expected = "an item is submitted before it is accepted or rejected")]
fn more_are_not_accepted_than_submitted() {
    delivery(Times::ExactlyOnce, [1, 1, 1, 0]);
}

/// An order of one key, in which items were sent one after the other.
fn sent(repeats: Repeats, items: &[u8]) -> KeyOrder<&'static str, u8> {
    let mut oracle = KeyOrder::new(repeats);
    for item in items {
        oracle.submit("k", *item);
        oracle.accept("k", *item);
    }
    oracle
}

#[test]
fn an_item_that_overtakes_another_of_its_key_is_found() {
    let mut oracle = sent(Repeats::Ignored, &[1, 2, 3]);
    [1, 3, 2].into_iter().for_each(|item| oracle.deliver("k", item));
    let shown = expect![[r#"
        correctness, order: of "k", 2 arrived after 3, and was accepted before 3 was submitted"#]];
    check(&mut oracle, &shown);
}

#[test]
fn what_was_sent_at_once_or_to_another_key_has_no_order() {
    let mut oracle = sent(Repeats::Ignored, &[1]);
    oracle.submit("k", 2); // Nobody knows whether it was sent before the third.
    oracle.submit("k", 3);
    oracle.accept("k", 3);
    oracle.submit("other", 0);
    oracle.accept("other", 0);
    oracle.deliver("other", 0);
    [1, 3, 2, 9].into_iter().for_each(|item| oracle.deliver("k", item));
    content(&mut oracle);
}

#[test]
fn what_was_accepted_before_another_was_submitted_is_first_whatever_came_between() {
    let mut oracle = KeyOrder::new(Repeats::Ignored);
    let both = |oracle: &mut KeyOrder<_, _>, [one, other]: [u8; 2]| {
        oracle.submit("k", one);
        oracle.submit("k", other);
    };
    // The second is accepted before the third is submitted; the first at once with all others.
    both(&mut oracle, [1, 2]);
    oracle.accept("k", 2);
    both(&mut oracle, [3, 4]);
    [1, 3, 4].into_iter().for_each(|item| oracle.accept("k", item));
    [4, 3, 1].into_iter().for_each(|item| oracle.deliver("k", item));
    content(&mut oracle);
    oracle.deliver("k", 2);
    assert!(failure(&mut oracle).message.starts_with("of \"k\", 2 arrived after 4,"));
}

#[test]
fn the_first_item_that_is_out_of_order_is_shown() {
    let mut oracle = sent(Repeats::Ignored, &[1, 2, 3]);
    [3, 2, 1].into_iter().for_each(|item| oracle.deliver("k", item));
    assert!(failure(&mut oracle).message.starts_with("of \"k\", 2 arrived after 3,"));
}

#[test]
fn repeats_count_where_they_are_judged() {
    let deliver = |repeats| {
        let mut oracle = sent(repeats, &[1, 2]);
        [1, 1, 2, 2, 1].into_iter().for_each(|item| oracle.deliver("k", item));
        oracle.end().is_ok()
    };
    assert!(deliver(Repeats::Ignored));
    assert!(!deliver(Repeats::Judged));
}

type Bank = Recorder<Option<i128>, i128>;

/// Operations are deposits, or looks at everything.
fn bank(record: &Bank) -> Conservation<Option<i128>, i128> {
    Conservation::new(100, record, |op, ret| match op {
        Some(amount) => Some(Sum::Change(*amount)),
        None => ret.map(|sum| Sum::Read(*sum)),
    })
}

#[test]
fn a_sum_is_right_with_any_of_the_changes_that_were_open() {
    let record = Bank::new();
    record.invoke(0, Some(1)).ok(0);
    record.invoke(0, Some(1_000)).failed();
    record.invoke(0, Some(10)).indeterminate();
    let open = record.invoke(0, Some(-3));
    for sum in [101, 111, 98, 108, 101] {
        record.invoke(1, None).ok(sum);
    }
    content(&mut bank(&record));
    open.ok(0);
    record.invoke(1, None).ok(101);
    let shown = expect![[r#"
        correctness, total: the total is 98 or 108, and 101 was read
          client  operation  result  invoked  returned
          1       None       101     15       16
          1       None       101     18       19"#]];
    check(&mut bank(&record), &shown);
}

#[test]
fn a_change_may_or_may_not_be_in_a_sum_that_was_read_meanwhile() {
    for sum in [100, 105] {
        let record = Bank::new();
        let look = record.invoke(1, None);
        record.invoke(0, Some(5)).ok(0);
        look.ok(sum);
        record.invoke(0, Some(7)).ok(0);
        content(&mut bank(&record));
    }
}

#[test]
fn a_sum_has_no_change_that_came_after_it() {
    let record = Bank::new();
    record.invoke(1, None).ok(107);
    record.invoke(0, Some(7)).ok(0);
    assert_eq!(failure(&mut bank(&record)).message, "the total is 100, and 107 was read");
}

#[test]
fn more_totals_than_can_be_looked_at_are_inconclusive() {
    let record = Bank::new();
    (0..20).for_each(|bit| record.invoke(0, Some(1 << bit)).indeterminate());
    record.invoke(1, None).ok(100);
    assert_eq!(failure(&mut bank(&record)).class, Class::Inconclusive);
}
