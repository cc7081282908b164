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

facts() {
  echo "date      $(date -u +%Y-%m-%dT%H:%M:%SZ)"
  echo "revision  $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
  echo "cpu       $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
  echo "memory    $(awk '/^MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)"
  echo "kernel    $(uname -sr), huge pages $(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo unknown)"
  echo "libc      $(getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown)"
  echo "compiler  $(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt" | head -n 1 | xargs -I{} sh -c '{} --version | head -n 1')"
  echo "build     $(sed -n 's/^CMAKE_BUILD_TYPE:[^=]*=//p' "$build/CMakeCache.txt")"
  echo "load      $(cut -d ' ' -f 1-3 /proc/loadavg) (at the start; other work on the machine spoils the times)"
}

mkdir -p "$results"
partial=$results/codec.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  facts
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
