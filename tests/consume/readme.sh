#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Follows README.md literally: builds its CMakeLists.txt and its first program against the installed package and runs it
# on the installed `kubecxx serve`.
#   readme.sh README PREFIX WORK CXX CRD
set -eu

readme=$1 prefix=$2 work=$3 cxx=$4 crd=$5
server=
program=
cleanup() {
  for process in $server $program; do kill -9 "$process" 2>/dev/null || true; done
}
trap cleanup EXIT INT TERM
fail() {
  echo "FAILED  $1"
  shift
  for file in "$@"; do sed 's/^/        /' "$file" | head -n 20; done
  exit 1
}
# wait_for FILE PATTERN: waits until a line of the file matches, for at most 20 s.
wait_for() {
  for _ in $(seq 400); do
    if grep -q -- "$2" "$1"; then return 0; fi
    sleep 0.05
  done
  fail "no line matches $2" "$1"
}
# block LANGUAGE WORD FILE: extracts the first fenced block of that language that contains the word.
block() {
  awk -v start="\`\`\`$1" -v word="$2" '
    $0 == start { inside = 1; text = ""; next }
    inside && /^```$/ { inside = 0; if (index(text, word)) { printf "%s", text; exit } next }
    inside { text = text $0 "\n" }
  ' "$readme" >"$3"
  [ -s "$3" ] || fail "README.md has no $1 block with $2"
}

rm -rf "$work"
mkdir -p "$work"
block cmake find_package "$work/CMakeLists.txt"
block cpp 'int main()' "$work/main.cpp"
cp "$crd" "$work/foo.yaml"
cmake -S "$work" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 &&
  cmake --build "$work/build" >>"$work/log" 2>&1 || fail "README.md's project does not build" "$work/log"

cat >"$work/deployment.yaml" <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: nginx}]}
YAML
"$prefix/bin/kubecxx" serve --simulate --load "$work/deployment.yaml" --kubeconfig-out "$work/kubeconfig" \
  >"$work/server.log" 2>&1 &
server=$!
wait_for "$work/server.log" '^listening on '

# interrupt STATUS: ends the program like Ctrl-C does, and checks its exit status.
interrupt() {
  kill -INT "$program"
  status=0
  wait "$program" || status=$?
  program=
  [ "$status" -eq "$1" ] || fail "the program ends with status $status after Ctrl-C, not with $1" "$work/out"
}

KUBECONFIG=$work/kubeconfig "$work/build/my-program" >"$work/out" 2>&1 &
program=$!
wait_for "$work/out" '^web'
interrupt 0
kill "$server"
wait "$server" || fail "the server does not end cleanly" "$work/server.log"
server=

# Without a server the program reports that, and Ctrl-C ends it with a message.
KUBECONFIG=$work/kubeconfig "$work/build/my-program" >"$work/out" 2>&1 &
program=$!
wait_for "$work/out" ' WARNING reflector: .*Connection refused'
interrupt 1
wait_for "$work/out" '^failed to sync all caches: apps/v1 Deployment (.*Connection refused.*): stopped$'
echo "ok      README.md's project builds, runs and ends"
