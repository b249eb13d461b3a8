//! How a search finds what it finds, and what of it helps.
//!
//! libFuzzer begins with nothing and keeps what covers more. Of its own it edits bytes; the front
//! ([`mod@crate::fuzz`]) gives it edits of what the bytes decide: choices, and the operations,
//! faults and events that they belong to. Some go far from an input, as a sweep does: lanes are
//! renewed, or a run is kept up to some choice and goes on otherwise. Others stay near it.
//!
//! Median runs to the bug, by `cargo run --release -p sim-tests --bin ablation -- --seeds 10 --cap
//! 3000 --target sim_echo_planted --target sim_queue_planted`; each row has what those above it
//! have. Every cell with a number found its bug with all ten seeds, the others with none.
//!
//! | search | `sim_echo_planted` | `sim_queue_planted` |
//! |---|---|---|
//! | uniform sweep of seeds | 7 | 125 |
//! | libFuzzer, one flat string | >3000 | >3000 |
//! | + lanes | >3000 | >3000 |
//! | + mutator and crossover | 38 | 156 |
//! | + marks | 32 | 143 |
//! | + value profile | 42 | 264 |
//!
//! So a bug that any rich run may show is found soonest by a sweep: begin with one. libFuzzer with
//! its own mutations, from an empty corpus, stays with inputs of a few bytes for thousands of
//! runs: it begins with short ones by itself (`-len_control`), and the mutator turns that off. One
//! mutation in four puts any bytes in every lane, which is a run of a sweep: without it the rows
//! of the mutator took three to six times as long. The value profile keeps inputs that lead
//! nowhere here: it is not in the commands.
//!
//! What marks are for is a bug that lies many steps deep. The target `sim_maze_planted` with
//! `--search=marks -runs=400000 -seed=1`, and 2, finds its bug after 175,251 and 236,767 runs;
//! with `--search=mutator`, all else being the same, it finds nothing. So marks are on.
