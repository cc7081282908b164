#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the programs in examples/informers against `kubecxx serve`.
#   informers_test.sh KUBECXX FOLDER-OF-EXAMPLES
set -eu

kubecxx=$1
examples=$2
. "$(dirname "$0")/examples.sh"

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
serve --load "$work/objects.yaml"

pod='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-2"},"spec":{"nodeName":"node-b","containers":[{"name":"main","image":"nginx"}]}}'
start "$examples/pods_by_node"
sees '^node-a +2 pods$'
api POST /api/v1/namespaces/default/pods "$pod"
sees '^node-b +1 pods$'
api DELETE '/api/v1/namespaces/default/pods/web-2?gracePeriodSeconds=0'
sees '^node-b +0 pods$'
stop

start "$examples/deployments_from_cache" default
sees '^exists +default/web with 0 of 2 replicas ready$'
sees '^web has 2 pods$'
api PATCH /apis/apps/v1/namespaces/default/deployments/web '{"spec":{"replicas":3}}' application/merge-patch+json
sees '^changed +default/web with 0 of 3 replicas ready$'
stop

start "$examples/first"
sees '^web$'
api PATCH /apis/apps/v1/namespaces/default/deployments/web/status '{"status":{"replicas":1,"readyReplicas":1}}' application/merge-patch+json
sees '^web: 0 -> 1 ready$'
stop

start "$examples/dynamic_informer" apps v1 deployments
sees '^there +web, 3 replicas$'
stop

start "$examples/metadata_informer"
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
