#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh CLIENT [KUBECXX]: runs a foreign client against `kubecxx serve`, or, without KUBECXX, against the server of
# KUBECXX_TEST_KUBECONFIG. Exits with 77 (which CTest counts as skipped) if the client cannot be built here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
client=$1
status=0
program=$("$here/build.sh" "$client") || status=$?
if [ "$status" -eq 3 ]; then
  echo "SKIPPED: $client cannot be built here"
  exit 77
fi
[ "$status" -eq 0 ] || exit 1

work=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

if [ $# -gt 1 ]; then
  KUBECXX_TEST_KUBECONFIG=$work/kubeconfig
  # Empty like the real server here, which runs without a controller manager.
  "$2" serve --empty --tls --kubeconfig-out "$KUBECXX_TEST_KUBECONFIG" >"$work/server.log" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    if [ -s "$KUBECXX_TEST_KUBECONFIG" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
  done
  [ -s "$KUBECXX_TEST_KUBECONFIG" ] || { cat "$work/server.log"; exit 1; }
fi
case $client in
  client-go) set -- --kubeconfig "$KUBECXX_TEST_KUBECONFIG" ;;
  *) set -- ;;
esac
KUBECONFIG=$KUBECXX_TEST_KUBECONFIG timeout 600 "$program" "$@"
