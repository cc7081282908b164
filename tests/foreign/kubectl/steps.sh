# SPDX-License-Identifier: Apache-2.0
# The steps that both servers have to answer alike. Sourced by kubectl_test.sh, which has `step` and `k` (kubectl), in
# a folder of its own, with $ns, a namespace that does not exist yet, and $kubectl, $group, $objects and $crd.

step version k version
step cluster-info k cluster-info
# Without the custom kinds that other tests may have left on the real server.
step api-versions sh -c '"$kubectl" api-versions | grep -E "^(v1|[a-z]+/.*|.*\.k8s\.io/.*)$"'
step api-resources sh -c '"$kubectl" api-resources --sort-by=name | grep -E " (v1|[a-z]+/v[0-9a-z]+|[a-z.]+\.k8s\.io/v[0-9a-z]+) "'
step get-raw-version k get --raw /version
step get-raw-healthz k get --raw '/healthz?verbose'
step get-raw-livez k get --raw '/livez?verbose'
step get-raw-readyz k get --raw '/readyz?verbose&exclude=ping'
step whoami k auth whoami
step can-i k auth can-i create pods
step can-i-as k auth can-i delete nodes --as=alice
step get-as k get secrets --as=alice
step can-i-anonymous k auth can-i get /healthz --as=system:anonymous
step can-i-anonymous-not k auth can-i get /apis --as=system:anonymous

# Documentation and what goes wrong before anything exists.
step explain k explain deployment
step explain-field k explain deployment.spec.strategy.rollingUpdate
step explain-missing k explain deployment.spec.nonsense
step get-unknown-kind k get unicorns
step get-nothing k get pods -n "$ns"

# Create.
step create-namespace k create namespace "$ns"
"$kubectl" config set-context --current --namespace="$ns" >/dev/null
step get-namespace k get namespace "$ns"
step create-configmap k create configmap plain --from-literal=a=1 --from-literal=b=two
step create-again k create configmap plain --from-literal=a=1
step create-secret k create secret generic hidden --from-literal=password=open
step create-job k create job once --image=busybox:1.36 -- true
step create-cronjob k create cronjob nightly --image=busybox:1.36 --schedule='0 3 * * *' -- true
step create-service-account k create serviceaccount robot
step create-role k create role reader --verb=get,list --resource=pods
step create-role-binding k create rolebinding robot-reads --role=reader --serviceaccount="$ns:robot"
step can-i-robot k auth can-i list pods --as="system:serviceaccount:$ns:robot"
step can-i-robot-not k auth can-i delete pods --as="system:serviceaccount:$ns:robot"
step can-i-robot-list k auth can-i --list --as="system:serviceaccount:$ns:robot"
step can-i-unknown k auth can-i juggle balls --as="system:serviceaccount:$ns:robot"
step get-robot k get pods --as="system:serviceaccount:$ns:robot"
step get-robot-not k get configmaps --as="system:serviceaccount:$ns:robot"
step get-robot-elsewhere k get pods --all-namespaces --as="system:serviceaccount:$ns:robot"
step create-robot-not k create configmap theirs --as="system:serviceaccount:$ns:robot"
cp "$KUBECONFIG" robot.yaml
step get-robot-token sh -c 'token=$("$kubectl" create token robot) && export KUBECONFIG=robot.yaml &&
  "$kubectl" config set-credentials robot --token="$token" >/dev/null &&
  "$kubectl" config set-context --current --user=robot >/dev/null && "$kubectl" get pods,secrets'
step create-role-resource-names k create role one --verb=get --resource=configmaps --resource-name=plain
step create-role-subresource k create role logs --verb=get --resource=pods/log
step create-cluster-role k create clusterrole "$group" --verb=list --resource=nodes
step describe-role k describe role one logs
step bind-boss k create rolebinding boss --clusterrole="$group" --user=boss
step create-writer k create role writer --verb=create,bind --resource=roles,rolebindings
step bind-writer k create rolebinding writer --role=writer --user=writer
until_ready "$kubectl" auth can-i create roles --as=writer
step grant-too-much k create role strong --verb=get,list --resource=secrets,pods --as=writer
step grant-allowed k create role weak --verb=create --resource=roles --as=writer
step bind-allowed k create rolebinding by-writer --role=one --user=friend --as=writer
step bind-missing k create rolebinding nothing --role=absent --user=lost
until_ready "$kubectl" auth can-i get configmaps/plain --as=friend
step get-friend k get configmap plain --as=friend -o name
step get-friend-not k get configmap other --as=friend
step get-lost k get configmap plain --as=lost
step bind-cluster-role k create clusterrolebinding "$group" --clusterrole="$group" --user=watcher
cat >reconcile.yaml <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one, namespace: $ns}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [list]}
EOF
step reconcile k auth reconcile -f reconcile.yaml
step change-role-ref k patch rolebinding by-writer --type=merge -p '{"roleRef":{"name":"logs"}}'
step delete-cluster-roles k delete clusterrole,clusterrolebinding "$group"
step create-quota k create quota few --hard=services=1,configmaps=10
step create-pdb k create poddisruptionbudget careful --selector=app=solo --min-available=1
step create-ingress k create ingress entry --rule='example.test/path*=web:80'
step create-dry-run k create configmap dry --from-literal=a=1 --dry-run=server -o yaml
step create-unknown-field sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatum: {a: b}\n" | "$kubectl" create -f -'
step create-invalid-name k create configmap Not_A_Name
step create-invalid sh -c 'sed "s/app: web}/app: other}/; s/replicas: 2/replicas: -1/" "$objects/1.yaml" | "$kubectl" create -f -'
step run-pod k run solo --image=nginx:1.29 --labels=app=solo --port=80

# Apply, in the client and on the server.
step apply k apply -f "$objects/1.yaml" -f "$objects/2.yaml"
step diff-same k diff -f "$objects/1.yaml"
sed 's/nginx:1.29/nginx:1.30/; s/replicas: 2/replicas: 3/' "$objects/1.yaml" >web.yaml
step diff k diff -f web.yaml
step apply-changed k apply -f web.yaml
step apply-over-quota sh -c 'sed "s/name: web/name: more/" "$objects/2.yaml" | "$kubectl" apply -f -'
step apply-created-object sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\ndata: {a: \"9\"}\n" | "$kubectl" apply -f -'
step apply-server-side k apply --server-side -f "$objects/3.yaml"
sed 's/"1"/"2"/' "$objects/3.yaml" >applied.yaml
step apply-conflict k apply --server-side --field-manager=other -f applied.yaml
step apply-force k apply --server-side --field-manager=other --force-conflicts -f applied.yaml
step managed-fields k get configmap applied -o yaml --show-managed-fields
step apply-immutable sh -c 'sed "s/app: web}/app: new}/" "$objects/1.yaml" | "$kubectl" apply -f -'

# Get, in all forms.
step get k get deployments,services,configmaps
step get-all k get all
step get-show-labels k get configmaps --show-labels
step get-selector k get configmaps -l 'tier in (back,front)' -o name
step get-field-selector k get pods --field-selector=metadata.name=solo,spec.nodeName= -o name
step get-chunks k get configmaps --chunk-size=1 -o name
step get-yaml k get deployment web -o yaml
step get-json k get pod solo -o json
step get-jsonpath k get deployment web -o 'jsonpath={.spec.template.spec.containers[*].image}{"\n"}'
step get-custom-columns k get deployments -o 'custom-columns=NAME:.metadata.name,IMAGE:.spec.template.spec.containers[0].image'
step get-kyaml k get configmap applied -o kyaml
step get-missing k get pod nobody
step get-jobs k get jobs,cronjobs

# Describe.
step describe-deployment k describe deployment web
step describe-pod k describe pod solo
step describe-quota k describe quota few

# Labels, annotations, patches, and other small changes.
step label k label configmap plain tier=front
step label-taken k label configmap plain tier=back
step label-overwrite k label configmap plain tier=back --overwrite
step annotate k annotate configmap plain note=hello
step annotate-stale k annotate configmap plain note=again --overwrite --resource-version=1
step patch-merge k patch configmap plain --type=merge -p '{"data":{"c":"3","b":null}}' -o 'jsonpath={.data}'
step patch-json k patch configmap plain --type=json -p '[{"op":"test","path":"/data/c","value":"3"},{"op":"replace","path":"/data/c","value":"4"}]'
step patch-strategic k patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"X","value":"1"}]}]}}}}' -o 'jsonpath={.spec.template.spec.containers}'
step patch-malformed k patch configmap plain --type=merge -p '{"data":['
step patch-invalid k patch deployment web --type=merge -p '{"spec":{"replicas":-3}}'
step patch-wrong-type k patch deployment web --type=merge -p '{"spec":{"replicas":"many"}}'
step scale k scale deployment web --replicas=4
step scale-precondition k scale deployment web --current-replicas=1 --replicas=2
step set-image k set image deployment/web web=nginx:1.31
step set-env k set env deployment/web MODE=test
step edit env KUBE_EDITOR='sed -i s/hello/edited/' "$kubectl" edit configmap plain
step replace sh -c '"$kubectl" get configmap plain -o yaml | sed "s/edited/replaced/" | "$kubectl" replace -f -'
step replace-stale sh -c '"$kubectl" get configmap plain -o yaml | sed "s/resourceVersion: .*/resourceVersion: \"1\"/" | "$kubectl" replace -f -'

# Rollouts. What a controller would do is done by hand, so that both servers have it.
uid=$("$kubectl" get deployment web -o 'jsonpath={.metadata.uid}')
for revision in 1 2; do
  cat <<YAML
apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-$revision
  labels: {app: web, pod-template-hash: "$revision"}
  annotations: {deployment.kubernetes.io/revision: "$revision", kubernetes.io/change-cause: step $revision}
  ownerReferences:
  - {apiVersion: apps/v1, kind: Deployment, name: web, uid: $uid, controller: true, blockOwnerDeletion: true}
spec:
  replicas: 0
  selector: {matchLabels: {app: web, pod-template-hash: "$revision"}}
  template:
    metadata: {labels: {app: web, pod-template-hash: "$revision"}}
    spec: {containers: [{name: web, image: "nginx:1.2$revision"}]}
---
YAML
done >revisions.yaml
step create-revisions k create -f revisions.yaml
step rollout-history k rollout history deployment/web
step rollout-history-revision k rollout history deployment/web --revision=2
step rollout-undo k rollout undo deployment/web --to-revision=1
step rollout-undone k get deployment web -o 'jsonpath={.spec.template.spec.containers[0].image}'
step rollout-restart k rollout restart deployment/web
step rollout-pause k rollout pause deployment/web
step rollout-resume k rollout resume deployment/web
generation=$("$kubectl" get deployment web -o 'jsonpath={.metadata.generation}')
step patch-status k patch deployment web --subresource=status --type=merge -p '{"status":{"observedGeneration":'"$generation"',"replicas":4,"updatedReplicas":4,"readyReplicas":4,"availableReplicas":4,"conditions":[{"type":"Available","status":"True","reason":"Steps","message":"done by hand","lastUpdateTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}'
step rollout-status k rollout status deployment/web --timeout=10s
step wait-condition k wait --for=condition=Available deployment/web --timeout=10s
step wait-jsonpath k wait --for=jsonpath='{.status.readyReplicas}'=4 deployment/web --timeout=10s
step wait-in-vain k wait --for=condition=Progressing deployment/web --timeout=1s

# Custom resources.
sed "s/GROUP/$group/" "$crd" >crd.yaml
printf 'apiVersion: %s/v1\nkind: Sprocket\nmetadata: {name: one}\nspec: {replicas: 3}\n' "$group" >sprocket.yaml
step create-crd k create -f crd.yaml
step wait-crd k wait --for=condition=Established "crd/sprockets.$group" --timeout=10s
# A real server publishes the new kind to discovery and OpenAPI a moment later.
until_ready "$kubectl" get sprockets
until_ready "$kubectl" explain sprocket.spec
step custom-apply k apply -f sprocket.yaml
step custom-get k get sprockets
step custom-get-yaml k get sprocket one -o yaml
step custom-explain k explain sprocket.spec
step custom-scale k scale sprocket one --replicas=5
step custom-invalid sh -c 'sed "s/replicas: 3/replicas: 12/" sprocket.yaml | "$kubectl" apply -f -'
step custom-invalid-rule k patch sprocket one --type=merge -p '{"spec":{"mode":"fast","replicas":1}}'
step custom-unknown-field sh -c 'sed "s/replicas: 3/replicas: 3, colour: red/; s/name: one/name: two/" sprocket.yaml | "$kubectl" apply -f -'
step custom-describe k describe sprocket one
step custom-delete k delete sprocket one
step delete-crd k delete crd "sprockets.$group" --wait=false

# Nodes, pods, and what a kubelet would answer.
node=node-$ns
cat >node.yaml <<YAML
apiVersion: v1
kind: Node
metadata: {name: $node, labels: {kubernetes.io/hostname: $node}}
YAML
step create-node k create -f node.yaml
step bind-pod sh -c 'printf "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"solo\"},\"target\":{\"kind\":\"Node\",\"name\":\"node-%s\"}}" "$ns" | "$kubectl" create --raw "/api/v1/namespaces/$ns/pods/solo/binding" -f - | grep -o "\"status\": *\"[A-Za-z]*\""'
step cordon k cordon "$node"
step uncordon k uncordon "$node"
step pod-runs k patch pod solo --subresource=status --type=merge -p '{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}'
step drain-refused k drain "$node"
step budget-is-used k patch poddisruptionbudget careful --subresource=status --type=merge -p \
  '{"status":{"observedGeneration":1,"expectedPods":1,"currentHealthy":1,"desiredHealthy":1,"disruptionsAllowed":0}}'
step drain-budget k drain "$node" --force --grace-period=0 --timeout=2s
step delete-pdb k delete poddisruptionbudget careful
step drain k drain "$node" --force --grace-period=0 --timeout=20s
step describe-node sh -c '"$kubectl" describe node "node-$ns" | sed -n "1,/^Conditions/p"'
step delete-node k delete node "$node"
step run-unscheduled k run idle --image=nginx:1.29
step logs k logs idle
step exec k exec idle -- true
step top-pods k top pods
step create-event sh -c 'cat <<YAML | "$kubectl" create -f -
apiVersion: v1
kind: Event
metadata: {name: idle.1}
involvedObject: {apiVersion: v1, kind: Pod, name: idle, namespace: $ns}
reason: Stepped
message: a step was taken
type: Normal
count: 2
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-01T00:00:00Z"
source: {component: steps}
YAML'
step events k events --for=pod/idle
step debug k debug idle --image=busybox:1.36 --container=helper
step debugged k get pod idle -o 'jsonpath={.spec.ephemeralContainers[*].name}'

# Delete.
step delete-missing k delete configmap nobody
step delete-selector k delete configmaps -l tier=back
step delete-pod-now k delete pod idle --now --wait=false
step delete-pod-force k delete pod idle --force --grace-period=0 --ignore-not-found
step delete-orphan k delete deployment web --cascade=orphan --wait=false
step orphan-finalizer k get deployment web -o 'jsonpath={.metadata.finalizers}'
step orphaned k get replicasets
step delete-foreground k delete job once --cascade=foreground --wait=false
step foreground-finalizer k get job once -o 'jsonpath={.metadata.finalizers}'
step delete-background k delete cronjob nightly --cascade=background
step delete-finalizer sh -c 'printf "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, finalizers: [example.test/hold]}\n" | "$kubectl" create -f -'
step delete-held k delete configmap held --wait=false
step held k get configmap held -o 'jsonpath={.metadata.finalizers}'
step release k patch configmap held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
step delete-all k delete secrets,serviceaccounts,roles,rolebindings,ingresses,horizontalpodautoscalers,resourcequotas --all
step delete-protected-namespace k delete namespace default
step delete-namespace k delete namespace "$ns" --wait=false
