#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the benchmarks of the codec and writes bench/results/codec.txt.
#   bench/codec/run.sh [--quick] [build folder]
# The build folder (build/release if not given) has to be a release build with the benchmarks in it.
set -eu

quick=
if [ "${1:-}" = --quick ]; then
  quick=--quick
  shift
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
programs=$build/bench/codec
results=$root/bench/results
if [ ! -x "$programs/codec_bench" ]; then
  echo "run.sh: no benchmarks in $build; build the target bench-codec" >&2
  exit 1
fi

mkdir -p "$results"
partial=$results/codec.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo
  echo "Do all models hold the same data?"
  "$programs/verify_codec_bench"
  echo
  echo "CPU time, least of three"
  "$programs/codec_bench" --benchmark_repetitions=3
  echo
  echo "Memory"
  "$programs/codec_memory" $quick
} >"$partial"
mv "$partial" "$results/codec.txt"
trap - EXIT
echo "run.sh: wrote $results/codec.txt" >&2
