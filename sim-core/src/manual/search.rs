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
//! | search | echo | queue | kv | lease | broker | gateway | maze |
//! |---|---|---|---|---|---|---|---|
//! | uniform sweep of seeds | 11 | 125 | 61 | 167 | 80 | 71 | >300,000 (0) |
//! | libFuzzer, one flat string | 2654 (7) | 2917 (5) | 2954 (5) | 2839 (5) | 1590 (7) | 1855 (9) | >300,000 (0) |
//! | + lanes | >3000 (3) | >3000 (2) | >3000 (0) | >3000 (0) | >3000 (1) | >3000 (0) | >300,000 (0) |
//! | + mutator and crossover | 47 | 149 | 283 | 461 | 91 | 169 | >300,000 (2) |
//! | + marks | 59 | 117 | 248 | 312 | 82 | 77 | 227,849 (4) |
//! | + value profile | 37 | 120 | 163 | 403 | 66 | 126 | >300,000 (2) |
//! | + marks, the harness not covered | 30 | 205 | 278 | 592 | 210 | 122 | 52,898 |
//!
//! The maze is `--seeds 5 --cap 300000 --target sim_maze_planted`: a bug that lies many steps deep.
//!
//! So a bug that any rich run may show is found soonest by a sweep: begin with one. libFuzzer's own
//! mutations of one flat string need ten times as many runs as ours, and of lanes far more: they break
//! the lengths that tell lanes apart, so lanes are worth something with a mutator that knows them
//! alone. One mutation in four puts any bytes in every lane, which is a run of a sweep: without it the
//! rows of the mutator took three to six times as long. Marks are for the maze: with them four of five
//! seeds find its bug, and two without them; all five where the harness is not covered, in a quarter of
//! the runs: what libFuzzer keeps an input for is mostly its states then. Between the rows with our
//! mutator ten seeds tell no difference for the other systems: the value profile is not in the
//! commands.
//!
//! The last row is what `cargo fuzz` builds: no coverage of the harness, tokio and what is below it
//! (`.cargo/rustc-wrap`). The rows above were measured with it. Forty seeds of lease tell no difference
//! in runs (20,404 of all of them together with it, 26,197 without, 21,579 with the kernel not covered
//! either), and 1,500 runs take 7.8 s of processor time with it and 3.3 without; of echo 2.8 and 1.1, of
//! gateway 38 and 25.
//!
//! All these searches begin with inputs of any length (`-len_control=0`), as with our mutator they
//! always do. With libFuzzer's default, which begins with short ones, the two rows without it found
//! nothing in 3,000 runs of echo and queue.
