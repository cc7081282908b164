#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the benchmark of the transport and writes bench/results/transport.txt.
#   bench/transport/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the benchmarks in it, and curl
# has to be installed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
program=$build/bench/transport/transport_bench
results=$root/bench/results
if [ ! -x "$program" ]; then
  echo "run.sh: no benchmark in $build; build the target bench-transport" >&2
  exit 1
fi

mkdir -p "$results"
partial=$results/transport.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo "curl      $(curl --version | head -n 1 | cut -d ' ' -f 1-4)"
  echo
  "$program"
} >"$partial"
mv "$partial" "$results/transport.txt"
trap - EXIT
echo "run.sh: wrote $results/transport.txt" >&2
