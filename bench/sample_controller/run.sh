#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Measures the resource usage of the sample controller on an idle API server and writes bench/results/sample_controller.txt; takes
# less than a minute.
#   bench/sample_controller/run.sh [build folder]
# The build folder (build/release if not given) has to be a release build with the targets sample_controller,
# sample_controller_builder and kubecxx. The controllers are separate processes, stripped as they would be in an
# image.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/release}
examples=$build/examples/sample_controller
server=$build/tools/kubecxx/kubecxx
results=$root/bench/results
for program in "$examples/sample_controller" "$examples/sample_controller_builder" "$server"; do
  if [ ! -x "$program" ]; then
    echo "run.sh: no $program; build the target $(basename "$program")" >&2
    exit 1
  fi
done

work=$(mktemp -d)
partial=$results/sample_controller.txt.tmp
running=
trap 'for one in $running; do kill "$one" 2>/dev/null || true; done; rm -rf "$work" "$partial"' EXIT
trap 'exit 1' INT TERM

# wait_for_line FILE TEXT: waits until the file contains that text.
wait_for_line() {
  for _ in $(seq 100); do
    grep -q "$2" "$1" && return
    sleep 0.1
  done
  echo "run.sh: no \"$2\" after ten seconds:" >&2
  cat "$1" >&2
  exit 1
}

# serve NAME FLAG...: starts a server with the definition of Foos, and writes $work/NAME.config for its clients.
serve() {
  name=$1
  shift
  "$server" serve --empty --load "$root/examples/sample_controller/crd.yaml" \
    --kubeconfig-out "$work/$name.config" "$@" >"$work/$name.log" 2>&1 &
  running="$running $!"
  wait_for_line "$work/$name.log" 'listening on'
}

# memory PID FIELD: prints a field of smaps_rollup, in kB.
memory() { awk -v field="$2:" '$1 == field { print $2 }' "/proc/$1/smaps_rollup"; }

# measure LABEL READY COMMAND...: prints one line about a process, measured after it has written READY.
measure() {
  label=$1
  ready=$2
  shift 2
  "$@" 2>"$work/program.log" &
  pid=$!
  running="$running $pid"
  wait_for_line "$work/program.log" "$ready"
  sleep 1
  rss=$(memory $pid Rss)
  pss=$(memory $pid Pss)
  own=$(memory $pid Anonymous)
  threads=$(awk '/^Threads:/ { print $2 }' "/proc/$pid/status")
  kill "$pid"
  printf '%-34s %8s %8s %8s %8s\n' "$label" "$rss" "$pss" "$own" "$threads"
}

mkdir -p "$results"
{
  "$root/bench/facts.sh" "$build"
  echo
  printf '%-34s %10s %10s\n' 'program' 'size' 'stripped'
  for program in sample_controller sample_controller_builder; do
    strip -o "$work/$program" "$examples/$program"
    printf '%-34s %10s %10s\n' "$program" "$(stat -c %s "$examples/$program")" "$(stat -c %s "$work/$program")"
  done
  echo
  echo 'Memory in kB after all caches are filled, with no Foo and no Deployment. "own" is of the process alone: heap,'
  echo 'stacks, data. The rest are pages of program and libraries, which the system keeps once for all who use them.'
  printf '%-34s %8s %8s %8s %8s\n' '' rss pss own threads
  serve plain --no-tls
  serve tls --tls
  measure 'sample_controller' workers "$work/sample_controller" --kubeconfig "$work/plain.config"
  measure 'sample_controller_builder' workers "$work/sample_controller_builder" \
    --kubeconfig "$work/plain.config"
  measure 'sample_controller, TLS' workers "$work/sample_controller" --kubeconfig "$work/tls.config"
  measure 'sample_controller, TLS, election' workers "$work/sample_controller" --kubeconfig "$work/tls.config" \
    --leader-elect
} >"$partial"  # no pipe: in a subshell, the trap would not know the running processes
mv "$partial" "$results/sample_controller.txt"
cat "$results/sample_controller.txt"
