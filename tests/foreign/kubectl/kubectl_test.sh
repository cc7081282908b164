#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares what kubectl prints against `kubecxx serve` with what it prints against a real server.
#   kubectl_test.sh KUBECXX
# KUBECXX_TEST_KUBECONFIG names the kubeconfig of the real server, KUBECTL the program. Exits with 1 if there is a
# difference that known_differences.txt does not list, or one in the list that does not come up.
# The answers stay in the folder KUBECXX_FOREIGN_KEEP, if it is set.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../serve.sh"
: "${KUBECXX_TEST_KUBECONFIG:?is not set}"
kubectl=${KUBECTL:-kubectl}
group=steps-$$.example.com
ns=steps-$$
crd=$here/crd.yaml
objects=$work/objects
export kubectl ns group objects

mkdir "$objects"
awk -v folder="$objects" 'BEGIN { n = 1 } /^---$/ { n++; next } { print >(folder "/" n ".yaml") }' "$here/objects.yaml"

k() { "$kubectl" "$@"; }

# step NAME COMMAND...: records the exit status of the command and what it prints.
step() {
  count=$((count + 1))
  file=$answers/$(printf %03d "$count")-$1
  shift
  status=0
  if [ "$1" = k ]; then
    shift
    set -- "$kubectl" "$@"
  fi
  timeout 60 "$@" >"$file.out" 2>"$file.err" </dev/null || status=$?
  { echo "exit $status"; cat "$file.out" "$file.err"; } >"$file"
  rm "$file.out" "$file.err"
}

# until_ready COMMAND...: until the command succeeds, at most 30 seconds.
until_ready() {
  for _ in $(seq 150); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.2
  done
}

# take FILE NAME KUBECONFIG: runs the steps of FILE against that server.
take() {
  (
    answers=$work/answers/$2
    count=0
    mkdir -p "$answers" "$work/home/$2"
    cp "$3" "$work/home/$2/kubeconfig"
    export HOME="$work/home/$2" KUBECONFIG="$work/home/$2/kubeconfig"
    cd "$HOME"
    . "$here/$1"
  )
}

serve --empty --rbac
# Makes paths absolute, so that a copy works.
"$kubectl" config view --flatten --minify --kubeconfig "$KUBECXX_TEST_KUBECONFIG" >"$work/real.kubeconfig"
take steps.sh real "$work/real.kubeconfig" &
real=$!
take steps.sh ours "$kubeconfig"
wait "$real"

serve --simulate
take simulate.sh simulated "$kubeconfig"

status=0
python3 "$here/compare.py" "$work/answers/real" "$work/answers/ours" "$here/known_differences.txt" \
  --replace "$ns=NAMESPACE" --replace "$work=WORK" || status=1
python3 "$here/compare.py" --golden "$here/simulate.expected" "$work/answers/simulated" \
  --replace "$ns=NAMESPACE" --replace "$work=WORK" || status=1
if [ -n "${KUBECXX_FOREIGN_KEEP:-}" ]; then
  mkdir -p "$KUBECXX_FOREIGN_KEEP"
  cp -rp "$work/answers/." "$KUBECXX_FOREIGN_KEEP/"
fi
exit "$status"
