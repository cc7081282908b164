#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh CLIENT [KUBECXX]: runs a foreign client against `kubecxx serve`, or, without KUBECXX, against the server of
# KUBECXX_TEST_KUBECONFIG. Exits with 77 (which CTest counts as skipped) if the client cannot be built here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
client=$1
. "$here/program.sh"
program_of "$client"

simulated=
if [ $# -gt 1 ]; then
  set -- "$2"
  . "$here/serve.sh"
  case $client in
    helm | fabric8)
      simulated=simulated
      serve --simulate
      ;;
    # Empty like the real server here, which runs without a controller manager.
    *) serve --empty ;;
  esac
  KUBECXX_TEST_KUBECONFIG=$kubeconfig
fi
case $client in
  client-go) set -- "$program" --kubeconfig "$KUBECXX_TEST_KUBECONFIG" ;;
  client-node) set -- node "$program/main.mjs" ;;
  kopf) set -- "$program/bin/python" "$here/kopf/main.py" ;;
  fabric8) set -- java -cp "$program:$program/lib/*" Main $simulated ;;
  helm) set -- "$here/helm/helm_test.sh" "$program" $simulated ;;
  *) set -- "$program" ;;
esac
KUBECONFIG=$KUBECXX_TEST_KUBECONFIG timeout 600 "$@"
