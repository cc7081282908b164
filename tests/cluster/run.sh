#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh COMMAND [ARGUMENT]...: runs a test against the cluster in the folder KUBECXX_CLUSTER, with its kubeconfig in
# KUBECXX_TEST_KUBECONFIG and its kubectl in KUBECTL. Exits with 77 (which CTest counts as skipped) without a cluster.
set -eu

if [ -z "${KUBECXX_CLUSTER:-}" ]; then
  echo 'SKIPPED: no cluster; use make test-cluster'
  exit 77
fi
KUBECXX_TEST_KUBECONFIG=$KUBECXX_CLUSTER/kubeconfig
KUBECTL=$("$(dirname "$0")/build.sh" kubectl)/kubectl
export KUBECXX_TEST_KUBECONFIG KUBECTL
exec "$@"
