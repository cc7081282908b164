#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# OL-1: runs the programs in examples/own_loop, each with one thread, against `kubecxx serve`.
#   own_loop_test.sh KUBECXX PROGRAM...
set -eu

kubecxx=$1
shift
. "$(dirname "$0")/examples.sh"

serve
for path in "$@"; do
  start "$path"
  map=$(echo "$name" | tr _ -)
  sees '^synced with [0-9]+ config maps$'
  # Its coroutine has written a config map.
  sees '^wrote default/own-loop$'
  sees '^(added|changed) default/own-loop$'
  writer=$(curl -sf "$url/api/v1/namespaces/default/configmaps/own-loop" |
    sed -n 's/.*"writer": *"\([0-9]*\)".*/\1/p')
  [ "$writer" = "$program" ] || fail "the config map was written by '$writer', not by $program"
  api POST /api/v1/namespaces/default/configmaps \
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"'"$map"'"}}'
  sees "^added default/$map\$"
  api DELETE "/api/v1/namespaces/default/configmaps/$map"
  sees "^deleted default/$map\$"
  # GLib starts its own thread for signals. The thread sanitizer starts one beside the first thread of a program.
  expected=1
  if grep -qx gmain "/proc/$program"/task/*/comm && grep -q libtsan "/proc/$program/maps"; then expected=2; fi
  threads=$(cat "/proc/$program"/task/*/comm | grep -cvx gmain)
  [ "$threads" = "$expected" ] || fail "$name has $threads threads"
  stop
done
