#!/usr/bin/env bash
# Runs the lane's unsafe code under Miri, which finds what no test can see: memory that is read too early, too late, or twice.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if ! version=$(cargo +nightly miri --version 2>&1); then
    echo "SKIP miri: $(tail -n 1 <<<"$version")"
    exit 0
fi
# A folder of its own: another compiler than that of the other stages.
CARGO_TARGET_DIR="$PWD/target/miri" exec cargo +nightly miri test --locked -p leat-script --lib
