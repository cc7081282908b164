#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests common kubectl commands against `kubecxx serve`.
#   kubectl_test.sh KUBECXX
# Exits with 77 (which CTest counts as skipped) if there is no kubectl.
set -eu

kubecxx=$1
kubectl=${KUBECTL:-kubectl}
if ! command -v "$kubectl" >/dev/null; then
  echo "SKIPPED: kubectl is not installed (Debian: kubernetes-client)"
  exit 77
fi

work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT INT TERM
export HOME="$work" KUBECONFIG="$work/config"

"$kubecxx" serve --tls --simulate --kubeconfig-out "$KUBECONFIG" >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
  [ ! -s "$KUBECONFIG" ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
[ -s "$KUBECONFIG" ] || { cat "$work/server.log"; echo "FAILED: the server does not start"; exit 1; }

failures=0
# check NAME PATTERN COMMAND...: checks that the command succeeds and its output matches PATTERN (grep -E).
check() {
  name=$1 pattern=$2
  shift 2
  if timeout 60 "$@" >"$work/out" 2>&1 && grep -Eq -- "$pattern" "$work/out"; then
    echo "ok      $name"
  else
    failures=$((failures + 1))
    echo "FAILED  $name: $*"
    sed 's/^/        /' "$work/out" | head -n 12
  fi
}
# refuse NAME PATTERN COMMAND...: checks that the command fails and its output matches PATTERN.
refuse() {
  name=$1 pattern=$2
  shift 2
  if ! timeout 60 "$@" >"$work/out" 2>&1 && grep -Eq -- "$pattern" "$work/out"; then
    echo "ok      $name"
  else
    failures=$((failures + 1))
    echo "FAILED  $name: $*"
    sed 's/^/        /' "$work/out" | head -n 12
  fi
}

# Debian 12 has kubectl 1.20, which lacks some of the commands used here.
minor=$("$kubectl" version --client -o json | sed -n 's/.*"minor": "\([0-9]*\).*/\1/p')
check version 'Server Version: .*v1\.' "$kubectl" version
check api-resources '^deployments +deploy +apps/v1 +true +Deployment' "$kubectl" api-resources
check api-versions '^apps/v1$' "$kubectl" api-versions
check cluster-info 'is running at' "$kubectl" cluster-info
check explain 'Deployment' "$kubectl" explain deployments
check explain-field 'replicas' "$kubectl" explain deployments.spec.replicas
check get-namespaces '^default +Active' "$kubectl" get namespaces
check get-nothing 'No resources found' "$kubectl" get pods
refuse get-missing 'NotFound' "$kubectl" get pod nobody
refuse get-unknown "doesn't have a resource type" "$kubectl" get unicorns

check create-namespace 'namespace/team created' "$kubectl" create namespace team
check create-configmap 'configmap/plain created' "$kubectl" create configmap plain --from-literal=a=1
refuse create-twice 'already exists' "$kubectl" create configmap plain --from-literal=a=1
check create-secret 'secret/hidden created' "$kubectl" create secret generic hidden --from-literal=p=x

cat >"$work/web.yaml" <<YAML
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx:1.29
YAML
check apply 'deployment.apps/web created' "$kubectl" apply -f "$work/web.yaml"
check apply-again 'deployment.apps/web unchanged' "$kubectl" apply -f "$work/web.yaml"
check rollout 'successfully rolled out' "$kubectl" rollout status deployment/web --timeout=20s
check wait 'condition met' "$kubectl" wait --for=condition=Available deployment/web --timeout=20s
check get-deployment '^web +2/2 +2 +2' "$kubectl" get deployments
check get-wide 'CONTAINERS' "$kubectl" get deployments -o wide
check get-pods '^web-[a-z0-9]+-[a-z0-9]+ +1/1 +Running' "$kubectl" get pods
check get-selector '^web-' "$kubectl" get pods -l app=web
check get-field '^web-' "$kubectl" get pods --field-selector=status.phase=Running
check get-yaml '^kind: Deployment' "$kubectl" get deployment web -o yaml
check get-json '"kind": "Deployment"' "$kubectl" get deployment web -o json
check get-jsonpath '^2$' "$kubectl" get deployment web -o 'jsonpath={.spec.replicas}'
check get-all 'deployment.apps/web' "$kubectl" get all
check describe-deployment '^Name: +web' "$kubectl" describe deployment web
check describe-pod '^Status: +Running' "$kubectl" describe pods
check describe-token 'TokenExpirationSeconds: +3607' "$kubectl" describe pods
sed -i 's/replicas: 2/replicas: 3/' "$work/web.yaml"
check diff-free-apply 'deployment.apps/web configured' "$kubectl" apply -f "$work/web.yaml"
[ "$minor" -lt 23 ] || check scaled-by-apply 'condition met' "$kubectl" wait --for=jsonpath='{.status.readyReplicas}'=3 deployment/web --timeout=20s
check scale 'deployment.apps/web scaled' "$kubectl" scale deployment web --replicas=1
[ "$minor" -lt 23 ] || check scaled 'condition met' "$kubectl" wait --for=jsonpath='{.status.readyReplicas}'=1 deployment/web --timeout=20s
check set-image 'image updated' "$kubectl" set image deployment/web web=nginx:1.30
check rollout-again 'successfully rolled out' "$kubectl" rollout status deployment/web --timeout=20s
check rollout-restart 'restarted' "$kubectl" rollout restart deployment/web

check patch-merge 'configmap/plain patched' "$kubectl" patch configmap plain --type=merge -p '{"data":{"b":"2"}}'
check patch-json 'configmap/plain patched' "$kubectl" patch configmap plain --type=json -p '[{"op":"remove","path":"/data/b"}]'
check patch-strategic 'deployment.apps/web patched' "$kubectl" patch deployment web -p '{"spec":{"template":{"spec":{"containers":[{"name":"web","env":[{"name":"X","value":"1"}]}]}}}}'
check label 'labeled' "$kubectl" label configmap plain tier=front
check label-again 'labeled' "$kubectl" label --overwrite configmap plain tier=back
refuse label-taken 'already has a value' "$kubectl" label configmap plain tier=front
check annotate 'annotated' "$kubectl" annotate configmap plain note=hello
check replace 'replaced' sh -c "'$kubectl' get configmap plain -o yaml | '$kubectl' replace -f -"

# The server's certificates already count in the namespace, so the quota leaves room for one more. (AD-7, AD-8)
check create-quota 'resourcequota/small created' "$kubectl" -n team create quota small --hard=configmaps=2
check fits-quota 'configmap/one created' "$kubectl" -n team create configmap one
check describe-quota '^configmaps +2 +2' "$kubectl" -n team describe quota small
refuse exceeds-quota 'configmaps "two" is forbidden: exceeded quota: small, requested: configmaps=1, used: configmaps=2, limited: configmaps=2' \
  "$kubectl" -n team create configmap two
check quota-has-room 'configmap "one" deleted' "$kubectl" -n team delete configmap one
check fits-quota-again 'configmap/two created' "$kubectl" -n team create configmap two

cat >"$work/ssa.yaml" <<YAML
apiVersion: v1
kind: ConfigMap
metadata: {name: applied}
data: {a: "1"}
YAML
check apply-server-side 'serverside-applied' "$kubectl" apply --server-side -f "$work/ssa.yaml"
sed -i 's/"1"/"2"/' "$work/ssa.yaml"
refuse apply-conflict 'conflict' "$kubectl" apply --server-side --field-manager=other -f "$work/ssa.yaml"
check apply-force 'serverside-applied' "$kubectl" apply --server-side --force-conflicts --field-manager=other -f "$work/ssa.yaml"
check dry-run 'created \(server dry run\)' "$kubectl" create configmap dry --dry-run=server --from-literal=a=1
refuse dry-run-left-nothing 'NotFound' "$kubectl" get configmap dry
refuse strict 'unknown field' sh -c "printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: typo}\ndatum: {a: b}\n' | '$kubectl' create -f -"

cat >"$work/crd.yaml" <<YAML
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.samplecontroller.example.com
spec:
  group: samplecontroller.example.com
  scope: Namespaced
  names: {plural: foos, singular: foo, kind: Foo, shortNames: [fo]}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    subresources: {status: {}}
    additionalPrinterColumns:
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer, minimum: 1}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
YAML
cat >"$work/foo.yaml" <<YAML
apiVersion: samplecontroller.example.com/v1alpha1
kind: Foo
metadata: {name: one}
spec: {replicas: 3}
YAML
check create-crd 'created' "$kubectl" create -f "$work/crd.yaml"
check wait-crd 'condition met' "$kubectl" wait --for=condition=Established crd/foos.samplecontroller.example.com --timeout=20s
check create-custom 'foo.samplecontroller.example.com/one created' "$kubectl" apply -f "$work/foo.yaml"
check get-custom '^one +3' "$kubectl" get foos
check get-custom-short '^one +3' "$kubectl" get fo
check get-custom-yaml 'replicas: 3' "$kubectl" get foo one -o yaml
check patch-custom 'patched' "$kubectl" patch foo one --type=merge -p '{"spec":{"replicas":4}}'
check explain-custom 'replicas' "$kubectl" explain foos.spec
sed -i 's/replicas: 3/replicas: 0/' "$work/foo.yaml"
refuse invalid-custom 'should be greater than or equal to 1' "$kubectl" apply -f "$work/foo.yaml"
check delete-custom 'deleted' "$kubectl" delete foo one
check delete-crd 'deleted' "$kubectl" delete crd foos.samplecontroller.example.com

# A watch receives the changes after its start.
timeout 20 "$kubectl" get configmaps -w --output-watch-events >"$work/watch" 2>&1 &
watch=$!
for _ in $(seq 50); do
  ! grep -q plain "$work/watch" || break
  sleep 0.1
done
check watched-change 'configmap/seen created' "$kubectl" create configmap seen --from-literal=a=1
for _ in $(seq 50); do
  ! grep -q '^ADDED.*seen' "$work/watch" || break
  sleep 0.1
done
kill "$watch" 2>/dev/null || true
check watch 'ADDED +seen' cat "$work/watch"

check delete-deployment 'deleted' "$kubectl" delete deployment web --timeout=20s
check pods-are-gone 'No resources found' sh -c "for i in \$(seq 50); do '$kubectl' get pods 2>&1 | grep -q 'No resources' && break; sleep 0.1; done; '$kubectl' get pods"
check delete-selector 'deleted' "$kubectl" delete configmap -l tier=back
check delete-namespace 'deleted' "$kubectl" delete namespace team --timeout=20s
refuse delete-protected 'forbidden' "$kubectl" delete namespace default
check can-i '^yes' "$kubectl" auth can-i create pods
[ "$minor" -lt 26 ] || check events 'No (events|resources) found|LAST SEEN' "$kubectl" events

kill -TERM "$server"
if wait "$server"; then echo "ok      clean end"; else
  failures=$((failures + 1))
  echo "FAILED  clean end: exit status $?"
  cat "$work/server.log"
fi
server=

[ "$failures" -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo "all checks passed ($("$kubectl" version --client 2>/dev/null | head -n 1))"
