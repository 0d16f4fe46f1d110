#!/usr/bin/env bash
# Builds protovalidate's conformance suite, of the version that suite/go.mod names, into the tools' folder.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

tools="$PWD/target/tools"
program="$tools/bin/protovalidate-conformance"
wanted=conformance/protovalidate/suite/go.mod
mkdir -p "$tools/bin"

# The copy of the file tells whether what is built is what is wanted.
[ -x "$program" ] && cmp -s "$wanted" "$tools/protovalidate.mod" && exit 0
if ! command -v go >/dev/null 2>&1; then
    echo "SKIP protovalidate: needs Go"
    exit 0
fi
echo "building protovalidate's conformance suite"
if ! (cd conformance/protovalidate/suite && GOFLAGS=-mod=readonly go build -o "$program" github.com/bufbuild/protovalidate/tools/protovalidate-conformance) >>"$tools/install.log" 2>&1 </dev/null; then
    echo "SKIP protovalidate: go build failed, see target/tools/install.log"
    exit 0
fi
cp "$wanted" "$tools/protovalidate.mod"
