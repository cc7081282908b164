#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures informers and writes bench/results/informers.txt; takes some minutes.
#   bench/informers/run.sh [build folder] [options of informers_bench]
# The build folder (build/release if not given) has to be a release build with the target informers_bench.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
[ $# -eq 0 ] || shift
program=$build/bench/informers/informers_bench
results=$root/bench/results
if [ ! -x "$program" ]; then
  echo "run.sh: no $program; build the target informers_bench" >&2
  exit 1
fi
mkdir -p "$results"
partial=$results/informers.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo
  "$program" "$@"
} >"$partial"
mv "$partial" "$results/informers.txt"
trap - EXIT
cat "$results/informers.txt"
echo "run.sh: wrote $results/informers.txt" >&2
