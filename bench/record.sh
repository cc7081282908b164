#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs a benchmark and writes its environment and its output to bench/results/NAME.txt.
#   bench/record.sh NAME BUILD PROGRAM [ARGUMENT]...
# A result is replaced only by a complete one.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
name=$1 build=$2
shift 2
if [ ! -x "$1" ]; then
  echo "record.sh: no $1; build the target $(basename "$1") in a release build" >&2
  exit 1
fi
mkdir -p "$root/bench/results"
partial=$root/bench/results/$name.txt.tmp
trap 'rm -f "$partial"' EXIT
{
  "$root/bench/facts.sh" "$build"
  echo
  "$@"
} >"$partial"
mv "$partial" "$root/bench/results/$name.txt"
trap - EXIT
cat "$root/bench/results/$name.txt"
