#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# OL-1: runs the programs in examples/own_loop, each with one thread, against `kubecxx serve`.
#   own_loop_test.sh KUBECXX PROGRAM...
set -eu

kubecxx=$1
shift
work=$(mktemp -d)
server=
program=
cleanup() {
  for process in $program $server; do kill -9 "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT INT TERM

fail() {
  echo "FAILED  $1"
  sed 's/^/        /' "$work/out"
  exit 1
}
# until_there PATTERN FILE: waits for a matching line.
until_there() {
  for _ in $(seq 400); do
    if grep -Eq -- "$1" "$2"; then return 0; fi
    sleep 0.05
  done
  fail "no line like '$1'"
}
: >"$work/log"
"$kubecxx" serve --no-tls --kubeconfig-out "$work/config" >"$work/log" 2>&1 &
server=$!
: >"$work/out"
until_there '^listening on ' "$work/log"
url=$(sed -n 's/^listening on //p' "$work/log")
# api METHOD PATH [BODY]
api() {
  curl -sf -o /dev/null -X "$1" -H 'Content-Type: application/json' "$url$2" ${3:+-d "$3"}
}

for path in "$@"; do
  name=$(basename "$path")
  map=$(echo "$name" | tr _ -)
  : >"$work/out"
  KUBECONFIG="$work/config" "$path" >"$work/out" 2>&1 &
  program=$!
  until_there '^synced with [0-9]+ config maps$' "$work/out"
  # Its coroutine has written a config map.
  until_there '^wrote default/own-loop$' "$work/out"
  until_there '^(added|changed) default/own-loop$' "$work/out"
  writer=$(curl -sf "$url/api/v1/namespaces/default/configmaps/own-loop" |
    sed -n 's/.*"writer": *"\([0-9]*\)".*/\1/p')
  [ "$writer" = "$program" ] || fail "the config map was written by '$writer', not by $program"
  api POST /api/v1/namespaces/default/configmaps \
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"'"$map"'"}}'
  until_there "^added default/$map\$" "$work/out"
  api DELETE "/api/v1/namespaces/default/configmaps/$map"
  until_there "^deleted default/$map\$" "$work/out"
  # GLib starts its own thread for signals.
  threads=$(cat "/proc/$program"/task/*/comm | grep -cvx gmain)
  [ "$threads" = 1 ] || fail "$name has $threads threads"
  kill -INT "$program"
  wait "$program" || fail "$name ended with $?"
  program=
  echo "ok      $name"
done
