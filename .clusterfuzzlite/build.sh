#!/usr/bin/env bash
# Builds the fuzz targets, all or those named, into the directory OUT, each with an archive of its inputs from fuzz/corpus.txt, as
# ClusterFuzzLite and OSS-Fuzz expect them. Runs in the root of the repository; `.ci/check fuzz` calls it too.
source .ci/lib

command -v zip >/dev/null || install_packages zip || fail "zip is not installed"
host=$(rustc -vV | sed -n 's/^host: //p')
cargo fuzz build --target "$host"
targets=("$@")
[ $# -gt 0 ] || mapfile -t targets < <(cargo fuzz list)
[ ${#targets[@]} -gt 0 ] || fail "cargo fuzz lists no targets"
for target in "${targets[@]}"; do
    expand_corpus "$target" "fuzz/target/corpus/$target"
    rm -f "$OUT/${target}_seed_corpus.zip"
    zip -jqr "$OUT/${target}_seed_corpus.zip" "fuzz/target/corpus/$target"
    cp --remove-destination "${CARGO_TARGET_DIR:-fuzz/target}/$host/release/$target" "$OUT"
done
