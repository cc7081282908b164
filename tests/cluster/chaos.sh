#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# chaos.sh PROGRAM: injects faults into informers and controllers of the cluster for KUBECXX_CHAOS_SECONDS (default 60).
set -eu

exec "$1" --seconds "${KUBECXX_CHAOS_SECONDS:-60}" --cluster "$KUBECXX_CLUSTER" \
  --cluster-script "$(dirname "$0")/cluster.sh"
