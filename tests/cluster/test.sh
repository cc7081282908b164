#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The cluster tests: starts a control plane in a temporary folder, runs the tests with the label `cluster`, and
# always stops everything.
#
# Usage: test.sh BUILD [ARGUMENT OF CTEST]...   BUILD is a build folder in which everything has been built
#        test.sh --prepare                      only builds the control plane and the foreign clients
# Environment: KUBECXX_CLUSTER_LIMIT, seconds that building the control plane and the foreign clients may take
#   (default 1800; some fifteen minutes the first time, no time afterwards)
#   KUBECXX_FOREIGN_CONTROLLER_RUNTIME=1 also builds and runs the tests of controller-runtime
#   KUBECXX_FOREIGN_E2E=1 also builds and runs the e2e tests of Kubernetes (some ten minutes more for each)
# Exit code 3: Go is not installed, its modules cannot be downloaded, or building takes too long.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
limit=${KUBECXX_CLUSTER_LIMIT:-1800}

unavailable() {
  echo "test.sh: the cluster tests cannot be run: $1" >&2
  exit 3
}

command -v go >/dev/null || unavailable 'there is no Go'
for tool in curl openssl; do
  command -v "$tool" >/dev/null || unavailable "there is no $tool"
done
(cd "$here/control-plane" && timeout 300 go mod download k8s.io/kubernetes go.etcd.io/etcd/server/v3) ||
  unavailable 'the Go modules of Kubernetes cannot be downloaded'
started=$(date +%s)
timeout "$limit" "$here/build.sh" >/dev/null ||
  unavailable "the control plane cannot be built within $limit seconds"
clients='client-go kube-rs client-node kopf helm'
[ "${KUBECXX_FOREIGN_CONTROLLER_RUNTIME:-0}" != 1 ] || clients="$clients controller-runtime"
[ "${KUBECXX_FOREIGN_E2E:-0}" != 1 ] || clients="$clients e2e"
for client in $clients; do
  spent=$(($(date +%s) - started))
  status=0
  timeout $((limit > spent ? limit - spent : 1)) "$here/../foreign/build.sh" "$client" >/dev/null || status=$?
  # If a language is not installed, its test is skipped with a message; code that does not compile is an error.
  case $status in
    0 | 3) ;;
    124) unavailable "$client cannot be built within the $limit seconds" ;;
    *) echo "test.sh: $client cannot be built" >&2; exit 1 ;;
  esac
done

[ "$1" != --prepare ] || exit 0

build=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
finish() {
  "$here/cluster.sh" stop "$work/cluster" || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
"$here/cluster.sh" start "$work/cluster" >/dev/null
# A restarted server has dropped the first versions from its watch cache, like a server that has run for long.
"$here/cluster.sh" restart-apiserver "$work/cluster"
KUBECXX_CLUSTER=$work/cluster ctest --test-dir "$build" --label-regex '^cluster$' --no-tests=error --output-on-failure "$@"
