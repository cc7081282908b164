#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suite_test.sh controller-runtime|e2e KUBECXX: runs test suites that others have written against a real control plane of
# its own and against `kubecxx serve`, and compares how each spec ends (compare_specs.py). Exits with 1 if a spec that
# passes on the real server fails on ours and SUITE/known_differences.txt does not list it, or if one of that list does
# not come up; with 77 (which CTest counts as skipped) if the suite cannot be built here.
# Environment: KUBECXX_FOREIGN_KEEP, a folder that reports and logs are copied to
#   KUBECXX_FOREIGN_FOCUS, a regular expression for the specs of e2e, or a part of the names of packages of
#     controller-runtime, to run only those; listed differences that do not come up are reported all the same
#   KUBECXX_FOREIGN_SERVER=real|ours, to run against one of them, without a comparison
set -eu

here=$(cd "$(dirname "$0")" && pwd)
suite=$1
if [ "$suite" = e2e ] && [ "${KUBECXX_FOREIGN_E2E:-0}" != 1 ]; then
  echo 'SKIPPED: the e2e tests take long to build and to run; KUBECXX_FOREIGN_E2E=1 runs them'
  exit 77
fi
if [ "$suite" = controller-runtime ] && [ "${KUBECXX_FOREIGN_CONTROLLER_RUNTIME:-0}" != 1 ]; then
  echo 'SKIPPED: the tests of controller-runtime take minutes; KUBECXX_FOREIGN_CONTROLLER_RUNTIME=1 runs them'
  exit 77
fi
. "$here/program.sh"
program_of "$suite"
set -- "$2"
. "$here/serve.sh"
cluster=$here/../cluster/cluster.sh
focus=${KUBECXX_FOREIGN_FOCUS:-}
only=${KUBECXX_FOREIGN_SERVER:-}
kubectl=${KUBECTL:-$("$here/../cluster/build.sh" kubectl)/kubectl}

finish_suite() {
  if [ -n "${KUBECXX_FOREIGN_KEEP:-}" ]; then
    mkdir -p "$KUBECXX_FOREIGN_KEEP"
    cp -r "$work/real" "$work/ours" "$work"/*.log "$KUBECXX_FOREIGN_KEEP/" 2>/dev/null || true
  fi
  "$cluster" stop "$work/cluster" || true
  finish
}
trap finish_suite EXIT

# patterns FILE: its lines but for comments, as one regular expression.
patterns() { sed '/^#/d; /^$/d' "$1" | paste -s -d '|'; }

# memory NAME PID: prints the resident memory of a process, now and at most.
memory() {
  awk -v name="$1" '/^Vm(HWM|RSS)/ { value[$1] = int($2 / 1024) }
    END { printf "%s: %d MB resident, %d MB at most\n", name, value["VmRSS:"], value["VmHWM:"] }' "/proc/$2/status"
}

# start real|ours: starts that server, which has no controllers; $config is the kubeconfig of its administrator.
start() {
  if [ "$1" = real ]; then
    # Flattened, because its paths are relative to its folder.
    "$kubectl" config view --flatten --minify --kubeconfig "$("$cluster" start "$work/cluster")" >"$work/real.kubeconfig"
    config=$work/real.kubeconfig
  else
    serve --no-controllers --rbac
    config=$kubeconfig
  fi
}

# controller_runtime real|ours: each package has a server of its own, as when its tests start one themselves. One package
# after the other, because some listen on fixed ports.
controller_runtime() {
  while read -r package folder; do
    case $package in *"$focus"*) ;; *) continue ;; esac
    name=$(echo "$package" | tr / -)
    start "$1"
    (cd "$folder" && USE_EXISTING_CLUSTER=true KUBECONFIG=$config timeout 600 "$program/$name.test" -test.v \
      -ginkgo.no-color -ginkgo.silence-skips -ginkgo.json-report="$work/$1/$name.json") \
      >"$work/$1/$name.log" 2>&1 </dev/null || true
    if [ "$1" = real ]; then "$cluster" stop "$work/cluster"; else kill "$server"; fi
  done <"$program/packages"
}

# controllers KUBECONFIG LOG: the controllers that the specs rely on, and a node, on which nothing runs.
controllers() {
  "$program/kube-controller-manager" --kubeconfig "$1" --leader-elect=false --secure-port 0 \
    --controllers '*,-node-lifecycle-controller,-node-ipam-controller' >"$2" 2>&1 &
  servers="$servers $!"
  "$kubectl" --kubeconfig "$1" apply -f "$here/e2e/node.yaml" >/dev/null
  # A new node has a taint until a controller has seen it ready.
  "$kubectl" --kubeconfig "$1" patch node e2e --type merge -p '{"spec": {"taints": null}}' >/dev/null
  "$kubectl" --kubeconfig "$1" patch node e2e --subresource status --type merge \
    -p '{"status": {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"pods": "110"}}}' >/dev/null
}

# e2e FOLDER KUBECONFIG: both lists, or only what is asked for.
e2e() {
  for list in api-machinery conformance; do
    (cd "$1" && "$program/ginkgo" --no-color --procs 4 --timeout 40m --silence-skips \
      --json-report "$list.json" --output-dir "$1" --focus "${focus:-$(patterns "$here/e2e/$list.txt")}" \
      --skip "$(patterns "$here/e2e/skip.txt")" "$program/e2e.test" -- \
      --kubeconfig "$2" --provider skeleton --kubectl-path "$kubectl" --num-nodes 1 --allowed-not-ready-nodes -1 \
      --minStartupPods -1 --dump-logs-on-failure=false) >"$1/$list.log" 2>&1 </dev/null || true
    [ -z "$focus" ] || break
  done
}

mkdir "$work/real" "$work/ours"
servers_asked=${only:-real ours}
case $suite in
  controller-runtime)
    for one in $servers_asked; do controller_runtime "$one"; done
    ;;
  e2e)
    waiting=
    for one in $servers_asked; do
      start "$one"
      controllers "$config" "$work/$one.controllers.log"
      e2e "$work/$one" "$config" &  # both at the same time, because most specs wait
      waiting="$waiting $!"
    done
    for one in $waiting; do wait "$one"; done
    if [ "$only" != ours ]; then
      memory kube-apiserver "$(cat "$work/cluster/kube-apiserver.pid")"
      memory etcd "$(cat "$work/cluster/etcd.pid")"
    fi
    [ "$only" = real ] || memory kubecxx "$server"
    ;;
esac
if [ -n "$only" ]; then
  python3 -B "$here/compare_specs.py" "$work/$only"
else
  python3 -B "$here/compare_specs.py" "$work/real" "$work/ours" "$here/$suite/known_differences.txt"
fi
