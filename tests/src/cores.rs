//! Work on all cores of the machine.
//!
//! For measuring alone: what is counted in runs does not hang on how many of them go at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// Does the same with each item, as many at a time as there are cores; the results in the items'
/// order.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let some = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return done };
            done.push((at, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(some)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("it ends")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_items() {
        let items: Vec<u64> = (0..100).collect();
        let results = map(&items, |item| {
            // The first ones take longest.
            (0..(100 - item) * 1_000).map(std::hint::black_box).sum::<u64>();
            item * 2
        });
        assert_eq!(results, (0..100).map(|item| item * 2).collect::<Vec<_>>());
        assert!(map(&[], |item: &u64| *item).is_empty());
    }
}
