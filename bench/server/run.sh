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
  echo "date      $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "revision  $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
  echo "cpu       $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
  echo "build     $(sed -n 's/^CMAKE_BUILD_TYPE:[^=]*=//p' "$build/CMakeCache.txt")"
  echo "load      $(cut -d ' ' -f 1-3 /proc/loadavg) (at the start; other work on the machine spoils the numbers)"
  echo
  "$program"
} | tee "$partial"
mv "$partial" "$results/server.txt"
trap - EXIT
