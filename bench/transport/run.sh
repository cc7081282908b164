#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compares the transport with curl and writes bench/results/transport.txt.
#   bench/transport/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the target transport_bench, and curl has
# to be installed.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
exec "$root/bench/record.sh" transport "$build" "$build/bench/transport/transport_bench"
