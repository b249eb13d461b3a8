//! A few operations as aligned lines, for the details of a failure.
//!
//! It chooses nothing: who calls it says which operations.

use super::record::{Entry, Outcome, Recorder};
use std::fmt::Debug;

/// How many characters a cell has at most; what is longer loses its middle.
const CELL_MAX: usize = 48;

/// The titles of the columns.
const TITLES: [&str; 5] = ["client", "operation", "result", "invoked", "returned"];

/// Operations of a record as a table, in the order that they are given in.
pub(super) fn table<'a, Op, Ret>(
    record: &Recorder<Op, Ret>,
    entries: impl IntoIterator<Item = &'a Entry<Op, Ret>>,
) -> Vec<String>
where
    Op: Debug + 'a,
    Ret: Debug + 'a,
{
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(entries.into_iter().map(|entry| row(record.named(entry.client), entry)));
    aligned(&rows)
}

fn row<Op: Debug, Ret: Debug>(client: String, entry: &Entry<Op, Ret>) -> [String; 5] {
    let result = match &entry.outcome {
        Outcome::Ok(ret) => format!("{ret:?}"),
        Outcome::Failed => "failed".to_owned(),
        Outcome::Indeterminate => "indeterminate".to_owned(),
    };
    let returned = entry.returned.map_or_else(|| "never".to_owned(), |stamp| stamp.to_string());
    [
        client,
        clipped(&format!("{:?}", entry.op)),
        clipped(&result),
        entry.invoked.to_string(),
        returned,
    ]
}

fn clipped(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= CELL_MAX {
        return text.to_owned();
    }
    let half = (CELL_MAX - 1) / 2;
    let (head, tail) = (&chars[..half], &chars[chars.len() - half..]);
    head.iter().chain(['…'].iter()).chain(tail).collect()
}

/// Rows whose columns are as wide as their widest cell.
fn aligned(rows: &[[String; 5]]) -> Vec<String> {
    let width_of = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 5] = std::array::from_fn(|column| width_of(column).unwrap_or(0));
    let line = |row: &[String; 5]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn columns_are_aligned_and_long_cells_lose_their_middle() {
        let record = Recorder::new();
        record.name(1, "auditor");
        record.invoke(12, "w".repeat(60)).ok(Some(1));
        record.invoke(0, "read".to_owned()).failed();
        drop(record.invoke(1, "read".to_owned()));
        let lines = table(&record, record.entries().iter()).join("\n");
        expect![[r#"
            client   operation                                        result         invoked  returned
            12       "wwwwwwwwwwwwwwwwwwwwww…wwwwwwwwwwwwwwwwwwwwww"  Some(1)        0        1
            0        "read"                                           failed         2        3
            auditor  "read"                                           indeterminate  4        never"#]]
        .assert_eq(&lines);
    }
}
