//! How a search finds what it finds, and what of it helps.
//!
//! libFuzzer begins with nothing and keeps what covers more. Of its own it edits bytes; the front
//! ([`mod@crate::fuzz`]) gives it edits of what the bytes decide: choices, and the operations,
//! faults and events that they belong to. Some go far from an input, as a sweep does: lanes are
//! renewed, or a run is kept up to some choice and goes on otherwise. Others stay near it.
//!
//! Median runs to the bug, by `cargo run --release -p sim-tests --bin ablation -- --cap 3000`, of ten
//! seeds of libFuzzer each; a row has what those above it have. In brackets is how many of the ten
//! found it, where not all did: a search that found nothing counts as 3,000 runs.
//!
//! | search | echo | queue | kv | lease | broker | gateway |
//! |---|---|---|---|---|---|---|
//! | uniform sweep of seeds | 7 | 125 | 61 | 167 | 82 | 71 |
//! | libFuzzer, one flat string | 721 (9) | 2270 (7) | 2987 (5) | 2440 (7) | 1497 (7) | 1457 (6) |
//! | + lanes | 1784 (7) | >3000 (0) | >3000 (0) | >3000 (0) | >3000 (1) | >3000 (0) |
//! | + mutator and crossover | 41 | 123 | 339 | 276 | 114 | 96 |
//! | + marks | 29 | 221 | 460 | 211 | 97 | 151 |
//! | + value profile | 49 | 132 | 215 | 318 | 154 | 133 |
//!
//! So a bug that any rich run may show is found soonest by a sweep: begin with one. libFuzzer's own
//! mutations of one flat string need ten times as many runs as ours, and of lanes far more: they break
//! the lengths that tell lanes apart, so lanes are worth something with a mutator that knows them
//! alone. One mutation in four puts any bytes in every lane, which is a run of a sweep: without it the
//! rows of the mutator took three to six times as long. Between the last three rows no system is
//! like another, and ten seeds tell no difference of them: the value profile is not in the commands.
//! These runs begin with inputs of any length (`-len_control=0`), as with our mutator they always
//! do. With libFuzzer's default, which begins with short ones, the two rows without it found nothing
//! in 3,000 runs of echo and queue. The table is older than the rule that small buffers are on short
//! links ([`swarms`](super::swarms)).
//!
//! What marks are for is a bug that lies many steps deep. The target `sim_maze_planted` with
//! `--search=marks -runs=400000 -seed=1`, and 2, finds its bug after 175,251 and 236,767 runs;
//! with `--search=mutator`, all else being the same, it finds nothing. So marks are on.
