# SPDX-License-Identifier: Apache-2.0
# The steps for `kubecxx serve --simulate`. The real server has neither controllers nor kubelets, so simulate.expected
# holds what kubectl has to print. Sourced as steps.sh is.

step create-namespace k create namespace "$ns"
"$kubectl" config set-context --current --namespace="$ns" >/dev/null
step apply k apply -f "$objects/1.yaml"
step rollout-status sh -c '"$kubectl" rollout status deployment/web --timeout=60s | tail -n 1'
step wait-available k wait --for=condition=Available deployment/web --timeout=60s
step get-deployment k get deployments -o wide
step get-pods sh -c '"$kubectl" get pods --no-headers | sed "s/^web-[a-z0-9]*-[a-z0-9]*/POD/"'
step rollout-history k rollout history deployment/web
step set-image k set image deployment/web web=nginx:1.30
step rollout-status-again sh -c '"$kubectl" rollout status deployment/web --timeout=60s | tail -n 1'
step rollout-history-again k rollout history deployment/web
step rollout-undo k rollout undo deployment/web
step rollout-undone sh -c '"$kubectl" rollout status deployment/web --timeout=60s | tail -n 1'
step image-undone k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
step rollout-history-undone k rollout history deployment/web
step scale k scale deployment web --replicas=3
step wait-scaled k wait --for=jsonpath='{.status.readyReplicas}'=3 deployment/web --timeout=60s
step create-job k create job once --image=busybox:1.36 -- true
step wait-job k wait --for=condition=Complete job/once --timeout=60s
step get-job k get job once
step logs sh -c '"$kubectl" logs job/once | wc -l'
node=$("$kubectl" get nodes -o 'jsonpath={.items[0].metadata.name}')
step cordon k cordon "$node"
step uncordon k uncordon "$node"
step delete-foreground k delete deployment web --cascade=foreground --timeout=60s
step deleted k get deployments,replicasets
step delete-namespace k delete namespace "$ns" --timeout=60s
step namespace-deleted k get namespace "$ns"
