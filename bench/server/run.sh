#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the in-process API server and writes bench/results/server.txt; takes less than a minute.
#   bench/server/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the target server_bench.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
program=$build/bench/server/server_bench
results=$root/bench/results
if [ ! -x "$program" ]; then
  echo "run.sh: no $program; build the target server_bench" >&2
  exit 1
fi
mkdir -p "$results"
partial=$results/server.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo
  "$program"
} | tee "$partial"
mv "$partial" "$results/server.txt"
trap - EXIT
