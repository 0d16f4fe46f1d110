#!/usr/bin/env bash
# Installs what a test (`install.sh test`) or a bench (`install.sh bench`) needs and this machine lacks, through Debian's
# packages, Go, npm and pip. What cannot be had is said in one line, `SKIP what: reason`, and the run goes on.
# With everything in place it only looks, and takes well under a second.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

H2SPEC_VERSION=v2.2.1+incompatible
tools="$PWD/target/tools"
mkdir -p "$tools/bin"
export PATH="$tools/bin:$PATH"
log="$tools/install.log"

has() { command -v "$1" >/dev/null 2>&1; }
skip() { echo "SKIP $1: $2"; }

# Debian packages: debian PROGRAM PACKAGE. The index is fetched only if the package is not known or not to be had.
debian() {
    has "$1" && return 0
    has apt-get || { skip "$1" "not installed, and there is no apt-get; install $2"; return 1; }
    [ "$(id -u)" = 0 ] || { skip "$1" "not installed; run as root: apt-get install $2"; return 1; }
    echo "installing $2"
    local install=(apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=60 "$2")
    export DEBIAN_FRONTEND=noninteractive
    "${install[@]}" >>"$log" 2>&1 </dev/null && return 0
    apt-get update -qq >>"$log" 2>&1 </dev/null
    "${install[@]}" >>"$log" 2>&1 </dev/null && return 0
    skip "$1" "apt-get install $2 failed, see target/tools/install.log"
    return 1
}

components() {
    local tool
    for tool in fmt clippy; do
        # A look at the file is fast; asking cargo is not.
        has "cargo-$tool" && continue
        has rustup && rustup component add "${tool/fmt/rustfmt}" >>"$log" 2>&1 </dev/null && continue
        skip "cargo $tool" "not installed, and rustup cannot add it"
    done
}

# Miri comes with nightly compilers only.
install_miri() {
    has rustup || { skip miri "there is no rustup, and Miri comes with its nightly toolchain"; return 1; }
    cargo +nightly miri --version >/dev/null 2>&1 && [ -d "$(rustc +nightly --print sysroot)/lib/rustlib/src" ] && return 0
    echo "installing Miri"
    rustup toolchain install nightly --profile minimal --component miri --component rust-src >>"$log" 2>&1 </dev/null && return 0
    skip miri "rustup cannot install it, see target/tools/install.log"
    return 1
}

# Not called h2spec: `has` would find the function.
install_h2spec() {
    has h2spec && return 0
    local go_bin
    debian go golang-go || return 1
    go_bin="$(go env GOPATH)/bin/h2spec"
    if [ ! -x "$go_bin" ]; then
        echo "installing h2spec $H2SPEC_VERSION"
        GOBIN="$tools/bin" GOFLAGS=-mod=mod go install "github.com/summerwind/h2spec/cmd/h2spec@$H2SPEC_VERSION" >>"$log" 2>&1 </dev/null && return 0
        skip h2spec "go install failed, see target/tools/install.log"
        return 1
    fi
    ln -sf "$go_bin" "$tools/bin/h2spec"
}

# Node packages of every folder below $1 that has a lock file, again only when the lock file is newer.
node_packages() {
    local lock folder
    while IFS= read -r lock; do
        folder=$(dirname "$lock")
        [ "$folder/node_modules/.package-lock.json" -nt "$lock" ] && continue
        echo "installing the Node packages of $folder"
        npm ci --prefix "$folder" --no-audit --no-fund --loglevel=error >>"$log" 2>&1 </dev/null && continue
        skip "$folder" "npm ci failed, see target/tools/install.log"
    done < <(find "$1" -name node_modules -prune -o -name package-lock.json -print 2>/dev/null)
}

# Python packages in a place of their own: python_packages NAME==VERSION…
python_packages() {
    local wanted="$*" place="$tools/python"
    [ "$(cat "$place/installed" 2>/dev/null)" = "$wanted" ] && return 0
    has python3 || { skip "$wanted" "there is no python3"; return 1; }
    echo "installing $wanted"
    python3 -m venv "$place" >>"$log" 2>&1 && "$place/bin/pip" install -q "$@" >>"$log" 2>&1 </dev/null && echo "$wanted" >"$place/installed" && return 0
    skip "$wanted" "pip install failed, see target/tools/install.log"
    return 1
}

# A program of Go's: go_program NAME MODULE@VERSION
go_program() {
    has "$1" && return 0
    debian go golang-go || return 1
    echo "installing $1"
    GOBIN="$tools/bin" GOFLAGS=-mod=mod go install "$2" >>"$log" 2>&1 </dev/null && return 0
    skip "$1" "go install failed, see target/tools/install.log"
    return 1
}

# Libraries of Java's that a pom.xml names: java_libraries NAME POM
java_libraries() {
    local place="$tools/rpc/$1"
    [ -d "$place" ] && return 0
    has mvn || { skip "$1" "there is no Maven; install maven"; return 1; }
    echo "installing $1"
    mvn -q -f "$2" dependency:copy-dependencies -DoutputDirectory="$place.new" >>"$log" 2>&1 </dev/null && mv "$place.new" "$place" && return 0
    skip "$1" "mvn failed, see target/tools/install.log"
    return 1
}

case "${1:-}" in
    test)
        components
        debian openssl openssl
        debian curl curl
        debian strace strace
        debian nginx nginx-light
        debian redis-server redis-server
        install_h2spec
        go_program grpcurl github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4
        go_program ghz github.com/bojand/ghz/cmd/ghz@v0.93.0
        python_packages grpcio==1.85.1 grpcio-tools==1.85.1
        debian chromium chromium
        go_program connectconformance connectrpc.com/conformance/cmd/connectconformance@v1.0.6
        go_program grpcserver connectrpc.com/conformance/cmd/grpcserver@v1.0.6
        install_miri
        node_packages conformance
        node_packages corpus
        node_packages packages/leat/test
        conformance/autobahn/install.sh
        conformance/protovalidate/install.sh
        node tools/nodes.mjs
        ;;
    bench)
        debian nginx nginx-light
        debian haproxy haproxy
        debian wrk wrk
        debian h2load nghttp2-client
        debian redis-server redis-server
        go_program ghz github.com/bojand/ghz/cmd/ghz@v0.93.0
        go_program protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
        go_program protoc-gen-go-grpc google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2
        python_packages grpcio==1.85.1 grpcio-tools==1.85.1
        bench/rpc/build.sh >>"$log" 2>&1 || skip "rival-grpc-go" "bench/rpc/build.sh failed, see target/tools/install.log"
        java_libraries wiremock bench/rpc/wiremock/pom.xml
        node_packages bench
        node tools/nodes.mjs
        ;;
    *)
        echo "usage: tools/install.sh test|bench" >&2
        exit 2
        ;;
esac
# A skip was printed and is counted by whoever reads it; it is not a failure of this program.
exit 0
