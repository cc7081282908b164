#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions of the tests that run example programs against `kubecxx serve`. The sourcing script has set $kubecxx.
# Sets $work, a temporary folder, and after serve() $url.

work=$(mktemp -d)
server=
program=
cleanup() {
  for process in $program $server; do kill -9 "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT INT TERM
: >"$work/out"

# fail PROBLEM: ends the test, and shows the output of the program.
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
# serve ARGUMENT...: starts the server and waits for it.
serve() {
  : >"$work/log"
  "$kubecxx" serve --no-tls --kubeconfig-out "$work/config" "$@" >"$work/log" 2>&1 &
  server=$!
  until_there '^listening on ' "$work/log"
  url=$(sed -n 's/^listening on //p' "$work/log")
}
# start PROGRAM ARGUMENT...: runs it in the background.
start() {
  name=$(basename "$1")
  : >"$work/out"
  KUBECONFIG="$work/config" "$@" >"$work/out" 2>&1 &
  program=$!
}
# sees PATTERN: waits for a line of the program.
sees() { until_there "$1" "$work/out"; }
# stop: ends the program with a signal and checks that it ends cleanly.
stop() {
  kill -INT "$program"
  wait "$program" || fail "$name ended with $?"
  program=
  echo "ok      $name"
}
# api METHOD PATH [BODY [TYPE]]
api() {
  curl -sf -o /dev/null -X "$1" -H "Content-Type: ${4:-application/json}" "$url$2" ${3:+-d "$3"}
}
