//! `SIM_SEEDS`: which seeds to sweep, as the user wrote it.
//!
//! It names seeds; what a seed means is the seed tree's.
//!
//! Invariants:
//! - There is at least one seed, and their number fits a `u64`.
//! - Ranges are never written out, so a million seeds cost as much as one.
//! - The order is the order of the text, and a seed that is named twice comes twice.

use core::fmt;
use core::iter::FusedIterator;
use core::ops::RangeInclusive;

/// How many hex digits of a commit hash make a seed: as many as fit a `u64`.
const HASH_DIGITS_USED: usize = 16;

/// Seeds to sweep.
///
/// A comma list of:
/// - a number in decimal: `7`;
/// - a range, half-open or closed: `0..1000`, `0..=9`;
/// - a commit hash: 7 to 64 hex digits with at least one letter, or 40 or 64 digits without
///   one. Its first 16 digits, read as a hexadecimal number, are the seed; a shorter hash is
///   read whole. So a pipeline that passes its full hash sweeps other seeds at every commit,
///   and the same again for the same commit. A short hash without a letter is a number.
///
/// Spaces around an item do not count.
///
/// ```
/// use sim_core::settings::Seeds;
///
/// let seeds = Seeds::range(7..10);
/// assert_eq!(seeds.iter().collect::<Vec<_>>(), [7, 8, 9]);
/// assert_eq!((seeds.len(), seeds.is_empty(), seeds.to_string()), (3, false, "7..10".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    text: String,
    /// Not empty, and none of them is.
    ranges: Vec<RangeInclusive<u64>>,
    count: u64,
}

impl Seeds {
    /// Reads the text; the error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Seeds, String> {
        let ranges: Vec<_> =
            text.split(',').map(|item| parse_item(item.trim())).collect::<Result<_, _>>()?;
        let count = ranges.iter().try_fold(0_u64, |count, range| {
            count.checked_add(range.end() - range.start())?.checked_add(1)
        });
        let count = count.ok_or("more than 2^64 - 1 seeds")?;
        Ok(Seeds { text: text.to_owned(), ranges, count })
    }

    /// Makes the seeds from `start` to below `end`, of which there is at least one.
    ///
    /// # Panics
    /// Where the range is empty.
    ///
    /// ```
    /// use sim_core::settings::Seeds;
    ///
    /// assert_eq!(Seeds::range(0..1_000).to_string(), "0..1000");
    /// ```
    #[track_caller]
    pub fn range(range: core::ops::Range<u64>) -> Seeds {
        assert!(range.start < range.end, "a sweep has at least one seed");
        let text = format!("{}..{}", range.start, range.end);
        let count = range.end - range.start;
        Seeds { text, ranges: vec![range.start..=range.end - 1], count }
    }

    /// Gives the number of seeds; never 0.
    ///
    /// ```
    /// use sim_core::settings::Seeds;
    ///
    /// assert_eq!(Seeds::range(5..9).len(), 4);
    /// ```
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Says whether there is no seed, which is never so.
    ///
    /// ```
    /// use sim_core::settings::Seeds;
    ///
    /// assert!(!Seeds::range(0..1).is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Iterates over the seeds in the order of the text.
    ///
    /// ```
    /// use sim_core::settings::Settings;
    ///
    /// let settings = Settings::parse(|name| (name == "SIM_SEEDS").then(|| "7, 0..=2".into()))?;
    /// let seeds = settings.seeds.expect("they were set");
    /// assert_eq!(seeds.iter().collect::<Vec<_>>(), [7, 0, 1, 2]);
    /// # Ok::<(), sim_core::settings::SettingsError>(())
    /// ```
    pub fn iter(&self) -> impl FusedIterator<Item = u64> + Clone + '_ {
        self.ranges.iter().cloned().flatten()
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads one item of the list as a closed range.
fn parse_item(item: &str) -> Result<RangeInclusive<u64>, String> {
    if let Some((start, end)) = item.split_once("..") {
        return parse_range(start, end)
            .ok_or_else(|| format!("{item:?} is not a range"))?
            .ok_or_else(|| format!("the range {item:?} is empty"));
    }
    if is_commit_hash(item) {
        let used = &item[..item.len().min(HASH_DIGITS_USED)];
        let seed = u64::from_str_radix(used, 16).map_err(|error| error.to_string())?;
        return Ok(seed..=seed);
    }
    match parse_number(item) {
        Some(seed) => Ok(seed..=seed),
        None => Err(format!("{item:?} is no seed")),
    }
}

/// Reads a range; the outer `None` is no range, the inner one an empty range.
fn parse_range(start: &str, end: &str) -> Option<Option<RangeInclusive<u64>>> {
    let start = parse_number(start)?;
    let last = match end.strip_prefix('=') {
        Some(last) => Some(parse_number(last)?),
        None => parse_number(end)?.checked_sub(1),
    };
    Some(last.map(|last| start..=last).filter(|range| !range.is_empty()))
}

/// Reads decimal digits; `str::parse` alone would take a sign as well.
fn parse_number(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_commit_hash(item: &str) -> bool {
    let has_letter = item.bytes().any(|byte| byte.is_ascii_alphabetic());
    let has_length =
        if has_letter { (7..=64).contains(&item.len()) } else { matches!(item.len(), 40 | 64) };
    has_length && item.bytes().all(|byte| byte.is_ascii_hexdigit())
}
