#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The sample controller as a program: flags, exit status, and its end on a signal.
#
# Usage: program_test.sh CONTROLLER KUBECXX
set -eu

controller=$1
kubecxx=$2
definition=$(cd "$(dirname "$0")/../../.." && pwd)/examples/sample_controller/crd.yaml
work=$(mktemp -d)
running=
trap 'for one in $running; do kill "$one" 2>/dev/null || true; done; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

fail() {
  echo "program_test.sh: $1" >&2
  cat "$work"/*.log >&2
  exit 1
}

# expect STATUS TEXT ARGUMENT...: the program ends at once with that status and says TEXT.
expect() {
  wanted=$1
  text=$2
  shift 2
  status=0
  "$controller" "$@" >"$work/out.log" 2>&1 </dev/null || status=$?
  [ "$status" -eq "$wanted" ] || fail "$*: exit status $status, not $wanted"
  grep -q -e "$text" "$work/out.log" || fail "$*: no \"$text\""
}

# wait_for FILE TEXT: with a deadline of twenty seconds.
wait_for() {
  for _ in $(seq 200); do
    ! grep -q -e "$2" "$1" || return 0
    sleep 0.1
  done
  fail "no \"$2\" in $1"
}

expect 0 '--leader-elect' --help
expect 2 'workers' --workers 0
expect 2 'nonsense' --nonsense
expect 1 'no-such-file' --kubeconfig "$work/no-such-file"

"$kubecxx" serve --load "$definition" --kubeconfig-out "$work/config" >"$work/server.log" 2>&1 &
running=$!
wait_for "$work/server.log" 'listening on'
"$controller" --kubeconfig "$work/config" --leader-elect --workers 3 2>"$work/controller.log" &
pid=$!
running="$running $pid"
wait_for "$work/controller.log" 'starting 3 workers'
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
[ "$status" -eq 0 ] || fail "exit status $status after SIGTERM"
grep -q 'ended as asked' "$work/controller.log" || fail 'no last word'
