#!/bin/bash -eu
# Builds the fuzz targets for ClusterFuzzLite and OSS-Fuzz into $OUT: a binary, its options and its
# corpus each. The workspace is $SRC/hosts. Targets with a planted bug stay out: they must fail.
cd "$SRC/hosts"
cargo fuzz build --features raft
built="${CARGO_TARGET_DIR:-target}/$(uname -m)-unknown-linux-gnu/release"
for target in $(cargo fuzz list | grep -v '_planted$'); do
    cp "$built/$target" "$OUT/"
    cp .clusterfuzzlite/target.options "$OUT/$target.options"
    rm -f "$OUT/${target}_seed_corpus.zip"
    zip -q -j "$OUT/${target}_seed_corpus.zip" "corpus/$target"/*
done
