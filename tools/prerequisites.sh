#!/usr/bin/env bash
# Says in one line what is missing and how to get it. The versions are those of Cargo.toml (rust-version) and package engines.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

rust_min=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
node_min=20
missing=0

need() { # what is missing, how to get it
    echo "missing: $1; $2" >&2
    missing=1
}

older() { # version A is older than version B
    [ "$1" != "$2" ] && [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

if ! rust=$(rustc --version 2>/dev/null); then
    need "Rust $rust_min or newer" "see https://rustup.rs"
else
    rust=${rust#rustc }
    older "${rust%% *}" "$rust_min" && need "Rust $rust_min or newer (this is ${rust%% *})" "run: rustup update stable"
fi
command -v cargo >/dev/null || need "cargo" "see https://rustup.rs"

if ! node=$(node --version 2>/dev/null); then
    need "Node.js $node_min or newer" "see https://nodejs.org or your package manager"
else
    older "${node#v}" "$node_min" && need "Node.js $node_min or newer (this is $node)" "see https://nodejs.org"
fi

command -v cc >/dev/null || need "a C compiler (cc)" "on Debian run: apt-get install build-essential"

exit "$missing"
