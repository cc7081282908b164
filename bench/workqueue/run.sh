#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the queues and writes bench/results/workqueue.txt; takes less than a minute.
#   bench/workqueue/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the target workqueue_bench.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
program=$build/bench/workqueue/workqueue_bench
results=$root/bench/results
if [ ! -x "$program" ]; then
  echo "run.sh: no $program; build the target workqueue_bench" >&2
  exit 1
fi
mkdir -p "$results"
partial=$results/workqueue.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo
  "$program"
} >"$partial"
mv "$partial" "$results/workqueue.txt"
trap - EXIT
echo "run.sh: wrote $results/workqueue.txt" >&2
