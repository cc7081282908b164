#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures kubecxx beside client-go and kube-rs; writes bench/results/peers.txt and charts. Takes half an hour or more.
#   bench/peers/run.sh [build folder] [options of peers.py]
# The build folder (build/release if not given) has to be a release build with the target benchmarks. Needs Go for
# client-go, Rust for kube-rs; says what it leaves out.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/bench/peers
build=${1:-$root/build/release}
[ $# -eq 0 ] || shift
cache=${KUBECXX_CACHE:-$HOME/.cache/kubecxx}/peers
mkdir -p "$cache" "$root/bench/results"

if command -v go >/dev/null; then
  echo "run.sh: building the program with client-go" >&2
  (cd "$here/client-go" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$cache/client-go" .)
  (cd "$here/client-go" && CGO_ENABLED=0 go build -trimpath -o "$cache/sample-controller" k8s.io/sample-controller)
  set -- "$@" --client-go "$cache/client-go" --go-sample "$cache/sample-controller"
else
  echo "run.sh: there is no Go, so nothing to compare with client-go" >&2
fi
if command -v cargo >/dev/null; then
  echo "run.sh: building the program with kube-rs" >&2
  (cd "$here/kube-rs" && CARGO_TARGET_DIR="$cache/target" cargo build --release --locked --quiet)
  set -- "$@" --kube-rs "$cache/target/release/kubecxx-peer-kube-rs"
else
  echo "run.sh: there is no Rust, so nothing to compare with kube-rs" >&2
fi
"$root/bench/facts.sh" "$build" >"$cache/facts.txt"
exec python3 "$here/peers.py" --build "$build" --facts "$cache/facts.txt" --results "$root/bench/results" "$@"
