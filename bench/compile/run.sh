#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the compile time of our headers and writes bench/results/compile.txt; takes two minutes.
#   bench/compile/run.sh [build folder]
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
exec "$root/bench/record.sh" compile "$build" "$root/bench/compile/measure.sh" "$build"
