#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# helm_test.sh HELM [simulated]: installs, upgrades, rolls back and uninstalls a chart on the server of the kubeconfig
# that KUBECONFIG names. With `simulated` pods run there, so Helm waits for them and runs the chart's test.
# KUBECTL names the program.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
helm=$1
simulated=${2:-}
kubectl=${KUBECTL:-kubectl}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export HELM_CACHE_HOME="$work/cache" HELM_CONFIG_HOME="$work/config" HELM_DATA_HOME="$work/data"
namespace=helm-$$
wait=
[ -z "$simulated" ] || wait='--wait --timeout 60s'

failures=0
# expect NAME STATUS PATTERN COMMAND...: the command exits with STATUS and prints something that matches PATTERN.
expect() {
  name=$1 status=$2 pattern=$3
  shift 3
  actual=0
  timeout 90 "$@" >"$work/out" 2>&1 || actual=$?
  if [ "$actual" -eq "$status" ] && grep -Eq -- "$pattern" "$work/out"; then
    echo "ok      $name"
  else
    failures=$((failures + 1))
    echo "FAILED  $name: $* (exit $actual)"
    sed 's/^/        /' "$work/out" | head -n 20
  fi
}
# run NAME STATUS PATTERN "ARGUMENT...": the same with helm.
run() { expect "$1" "$2" "$3" "$helm" --namespace "$namespace" $4; }
# is NAME VALUE OBJECT JSONPATH: the object has that value.
is() { expect "$1" 0 "^$2\$" "$kubectl" --namespace "$namespace" get "$3" -o "jsonpath=$4"; }

# $wait is several words or none, and so are the commands of run.
# shellcheck disable=SC2086
{
  run lint 0 '1 chart\(s\) linted, 0 chart\(s\) failed' "lint $here/chart"
  run dry-run 0 'greeting: "hello"' "install shop $here/chart --create-namespace --dry-run=server"
  run install 0 'STATUS: deployed' "install shop $here/chart --create-namespace $wait"
  is capabilities '1 true' configmap/shop-settings '{.data.kubernetes} {.data.deployments}'
  is owner 'shop' deployment/shop '{.metadata.annotations.meta\.helm\.sh/release-name}'
  run install-again 1 'cannot (re-use|reuse) a name that is still in use' "install shop $here/chart"
  run list 0 '^shop.*deployed.*shop-1\.2\.3' list
  run manifest 0 'kind: Deployment' 'get manifest shop'
  run upgrade 0 'REVISION: 2' "upgrade shop $here/chart --set replicas=3,greeting=welcome $wait"
  is upgraded '3 welcome' deployment/shop '{.spec.replicas} {.spec.template.metadata.annotations.greeting}'
  is upgraded-settings welcome configmap/shop-settings '{.data.greeting}'
  run values 0 'greeting: welcome' 'get values shop'
  run upgrade-invalid 1 'must be greater than or equal to 0' "upgrade shop $here/chart --set replicas=-1 $wait"
  run history 0 '^3.*failed' 'history shop'
  run rollback 0 'Rollback was a success' "rollback shop 1 $wait"
  is rolled-back '2 hello' deployment/shop '{.spec.replicas} {.spec.template.metadata.annotations.greeting}'
  run status 0 'REVISION: 4' 'status shop'
  "$kubectl" --namespace "$namespace" create configmap other-settings >/dev/null
  run install-over-another 1 'invalid ownership metadata' "install other $here/chart"
  if [ -n "$simulated" ]; then
    is ready 2 deployment/shop '{.status.readyReplicas}'
    run test 0 'Phase: +Succeeded' 'test shop --timeout 60s'
  fi
  run uninstall 0 'release "shop" uninstalled' "uninstall shop $wait"
  expect nothing-is-left 1 'NotFound' "$kubectl" --namespace "$namespace" get deployment/shop service/shop
  run list-nothing 0 '^NAME' list
}
"$kubectl" delete namespace "$namespace" --wait=false >/dev/null
[ "$failures" -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo 'all checks passed'
