#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the in-process API server and writes bench/results/server.txt; takes less than a minute.
#   bench/server/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the target server_bench.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
exec "$root/bench/record.sh" server "$build" "$build/bench/server/server_bench"
