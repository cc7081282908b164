#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the queues and writes bench/results/workqueue.txt; takes less than a minute.
#   bench/workqueue/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the target workqueue_bench.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
exec "$root/bench/record.sh" workqueue "$build" "$build/bench/workqueue/workqueue_bench"
