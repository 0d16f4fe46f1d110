#!/usr/bin/env bash
# Builds what the RPC scenarios need beside the Rust rivals: the echo service's descriptors, and the rival on grpc-go.
# The compiler of .proto files comes with Python's grpcio-tools, so that no system package has to be there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tools="$PWD/target/tools"
out="$tools/rpc"
python="$tools/python/bin/python"
export PATH="$tools/bin:$PATH"
mkdir -p "$out/go/pb" "$tools/bin"

"$python" -m grpc_tools.protoc -I bench/rpc --include_imports --descriptor_set_out="$out/echo.binpb" echo.proto
[ "$out/rival-grpc-go" -nt bench/rpc/go/main.go ] && [ "$out/rival-grpc-go" -nt bench/rpc/echo.proto ] && exit 0
"$python" -m grpc_tools.protoc -I bench/rpc --go_out="$out/go/pb" --go_opt=paths=source_relative \
    --go-grpc_out="$out/go/pb" --go-grpc_opt=paths=source_relative echo.proto
cp bench/rpc/go/main.go bench/rpc/go/go.mod bench/rpc/go/go.sum "$out/go/"
(cd "$out/go" && go build -o "$out/rival-grpc-go" .)
