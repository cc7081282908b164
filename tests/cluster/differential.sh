#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# differential.sh PROGRAM KNOWN: compares the in-process server with the cluster. The requests are the same every
# time, unless KUBECXX_DIFFERENTIAL_SECONDS sets a duration for random ones; KUBECXX_DIFFERENTIAL_SEED repeats a run.
set -eu

if [ -n "${KUBECXX_DIFFERENTIAL_SECONDS:-}" ]; then
  set -- "$1" "$2" --seconds "$KUBECXX_DIFFERENTIAL_SECONDS" --seed "${KUBECXX_DIFFERENTIAL_SEED:-0}"
else
  set -- "$1" "$2" --rounds 18 --seconds 300 --seed "${KUBECXX_DIFFERENTIAL_SEED:-1}"
fi
program=$1 known=$2
shift 2
exec "$program" --kubeconfig "$KUBECXX_TEST_KUBECONFIG" --known "$known" "$@"
