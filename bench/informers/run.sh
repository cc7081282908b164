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
exec "$root/bench/record.sh" informers "$build" "$build/bench/informers/informers_bench" "$@"
