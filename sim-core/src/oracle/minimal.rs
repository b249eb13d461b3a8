//! The smallest set of operations that cannot be ordered.
//!
//! To leave an operation out is not to forget it: then a read of what it wrote would be out of
//! order for lack of the write. One that is left out may have been done at any time after its call,
//! or never, as if nobody knew what came of it. So what stays cannot be ordered whatever the others
//! did, and the record as a whole cannot either.
//!
//! Invariant: what stays cannot be ordered. Where each search came to an end, no operation of it can
//! be left out.

/// Leaves out one operation after the other, as long as the rest cannot be ordered. `must` are those
/// that were done, in the order of their returns; `fails` says whether those that are marked, of
/// `count`, cannot be ordered. Gives what stays, in the order of the calls.
pub(super) fn smallest(
    count: usize,
    must: &[usize],
    mut fails: impl FnMut(&[bool]) -> bool,
) -> Vec<usize> {
    let mut kept = first_failing(count, must, &mut fails);
    for index in must {
        if std::mem::replace(&mut kept[*index], false) {
            kept[*index] = !fails(&kept);
        }
    }
    (0..count).filter(|index| kept[*index]).collect()
}

/// The shortest beginning that cannot be ordered. With one that cannot, no longer one can.
fn first_failing(
    count: usize,
    must: &[usize],
    fails: &mut impl FnMut(&[bool]) -> bool,
) -> Vec<bool> {
    let marked = |len: usize| {
        let mut kept = vec![false; count];
        must[..len].iter().for_each(|index| kept[*index] = true);
        kept
    };
    let (mut fine, mut failing) = (0, must.len());
    while failing - fine > 1 {
        let middle = fine.midpoint(failing);
        if fails(&marked(middle)) { failing = middle } else { fine = middle }
    }
    marked(failing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_contradicts_stays() {
        let fails = |kept: &[bool]| kept[1] && kept[4];
        assert_eq!(smallest(6, &[0, 2, 1, 5, 4, 3], fails), [1, 4]);
    }

    #[test]
    fn an_operation_that_fails_alone_stays_alone() {
        assert_eq!(smallest(3, &[2, 1, 0], |kept| kept[0]), [0]);
        assert_eq!(smallest(1, &[0], |kept| kept[0]), [0]);
    }
}
