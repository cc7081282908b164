#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the programs in examples/informers against `kubecxx serve`.
#   informers_test.sh KUBECXX FOLDER-OF-EXAMPLES
set -eu

kubecxx=$1
examples=$2
work=$(mktemp -d)
server=
program=
cleanup() {
  for process in $program $server; do kill -9 "$process" 2>/dev/null || true; done
  rm -rf "$work"
}
trap cleanup EXIT INT TERM

# until_there PATTERN FILE: waits for a matching line.
until_there() {
  for _ in $(seq 400); do
    if grep -Eq -- "$1" "$2"; then return 0; fi
    sleep 0.05
  done
  echo "FAILED  no line like '$1':"
  sed 's/^/        /' "$2"
  exit 1
}
# start EXAMPLE ARGUMENT...: runs it in the background.
start() {
  name=$1
  shift
  : >"$work/out"
  KUBECONFIG="$work/config" "$examples/$name" "$@" >"$work/out" 2>&1 &
  program=$!
}
sees() { until_there "$1" "$work/out"; }
# stop: ends the program with a signal and checks that it ends cleanly.
stop() {
  kill -INT "$program"
  wait "$program"
  program=
  echo "ok      $name"
}
# api METHOD PATH [BODY [TYPE]]
api() {
  curl -sf -o /dev/null -X "$1" -H "Content-Type: ${4:-application/json}" "$url$2" ${3:+-d "$3"}
}

cat >"$work/objects.yaml" <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: web-0, namespace: default, labels: {app: web}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u1}]}
spec: {nodeName: node-a, containers: [{name: main, image: nginx}]}
---
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: default, labels: {app: web}}
spec: {nodeName: node-a, containers: [{name: main, image: nginx}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: nginx}]}}
YAML
: >"$work/log"
"$kubecxx" serve --no-tls --load "$work/objects.yaml" --kubeconfig-out "$work/config" >"$work/log" 2>&1 &
server=$!
until_there '^listening on ' "$work/log"
url=$(sed -n 's/^listening on //p' "$work/log")

pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-2"},"spec":{"nodeName":"node-b","containers":[{"name":"main","image":"nginx"}]}}'
start pods_by_node
sees '^node-a +2 pods$'
api POST /api/v1/namespaces/default/pods "$pod"
sees '^node-b +1 pods$'
api DELETE '/api/v1/namespaces/default/pods/web-2?gracePeriodSeconds=0'
sees '^node-b +0 pods$'
stop

start deployments_from_cache default
sees '^exists +default/web with 0 of 2 replicas ready$'
sees '^web has 2 pods$'
api PATCH /apis/apps/v1/namespaces/default/deployments/web '{"spec":{"replicas":3}}' application/merge-patch+json
sees '^changed +default/web with 0 of 3 replicas ready$'
stop

start first
sees '^web$'
api PATCH /apis/apps/v1/namespaces/default/deployments/web/status '{"status":{"replicas":1,"readyReplicas":1}}' application/merge-patch+json
sees '^web: 0 -> 1 ready$'
stop

start dynamic_informer apps v1 deployments
sees '^there +web, 3 replicas$'
stop

start metadata_informer
sees '^pods of ReplicaSet: 1$'
sees '^pods of nobody: 1$'
stop

KUBECONFIG="$work/config" "$examples/projection" >"$work/out"
sees '^default/web-0 on node-a$'
whole=$(sed -n 's/^\([0-9]*\) bytes whole.*/\1/p' "$work/out")
part=$(sed -n 's/.* \([0-9]*\) bytes in part$/\1/p' "$work/out")
[ "$part" -gt 0 ] && [ "$part" -lt "$whole" ]
echo "ok      projection: $part of $whole bytes"

status=0
KUBECONFIG="$work/none" "$examples/pods_by_node" >"$work/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q 'pods_by_node: .*configuration' "$work/out"
echo "ok      a configuration that is not there"
