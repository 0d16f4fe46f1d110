#!/usr/bin/env bash
# cargo-deny where it is installed. It takes minutes to build, so nothing installs it; `layout` checks licences, bans and
# sources without it, which leaves the advisories.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if ! cargo deny --version >/dev/null 2>&1; then
    echo "cargo-deny is not installed, advisories are not looked at; to get it: cargo install cargo-deny --locked"
    exit 0
fi
cargo deny --log-level error check licenses bans sources || exit 1
# The advisories are fetched; without a network the last copy counts, and without one there is nothing to look at.
if cargo deny --log-level off fetch db >/dev/null 2>&1 || compgen -G "${CARGO_HOME:-$HOME/.cargo}/advisory-dbs/*/" >/dev/null; then
    cargo deny --offline --log-level error check advisories
else
    echo "the advisory database cannot be fetched, advisories are not looked at"
fi
