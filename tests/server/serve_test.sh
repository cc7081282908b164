#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Tests `kubecxx serve` from the outside: options, exit status, signals, and persistence across kill -9.
#   serve_test.sh KUBECXX
set -eu

kubecxx=$1
work=$(mktemp -d)
server=
cleanup() {
  [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT INT TERM

failures=0
# expect NAME STATUS PATTERN COMMAND...: checks the exit status, and that a line of output matches (grep -E).
expect() {
  name=$1 wanted=$2 pattern=$3
  shift 3
  status=0
  case $1 in
    code) "$@" >"$work/out" 2>&1 || status=$? ;;
    *) timeout 20 "$@" >"$work/out" 2>&1 || status=$? ;;
  esac
  if [ "$status" -eq "$wanted" ] && grep -Eq -- "$pattern" "$work/out"; then
    echo "ok      $name"
  else
    failures=$((failures + 1))
    echo "FAILED  $name: status $status, $*"
    sed 's/^/        /' "$work/out" | head -n 12
  fi
}
# start ARGUMENT...: starts the server; sets server and url.
start() {
  : >"$work/log"
  "$kubecxx" serve "$@" >"$work/log" 2>&1 &
  server=$!
  url=
  for _ in $(seq 200); do
    url=$(sed -n 's/^listening on //p' "$work/log")
    if [ -n "$url" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.05
  done
  [ -n "$url" ] || { cat "$work/log"; echo "FAILED  the server does not start"; exit 1; }
}
stop() {
  kill "-$1" "$server"
  status=0
  wait "$server" || status=$?
  server=
}
post() {
  curl -sf -o /dev/null -H 'Content-Type: application/json' "$url/api/v1/namespaces/default/configmaps" \
    -d "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"$1\"}}"
}
names() {
  curl -sf "$url/api/v1/namespaces/default/configmaps" -H 'User-Agent: test' |
    grep -o '"name":"w[0-9]*"' | sort -u | wc -l
}

expect help 0 '--kubeconfig-out' "$kubecxx" serve --help
expect version 0 '^kubecxx [0-9]+\.' "$kubecxx" --version
expect no-command 2 'subcommand' "$kubecxx"
expect unknown-option 2 'not expected|unknown' "$kubecxx" serve --nonsense
expect open-to-others 2 'not a loopback address' "$kubecxx" serve --listen 0.0.0.0
expect open-with-tls-only 2 'not a loopback address' "$kubecxx" serve --listen 0.0.0.0 --tls
expect no-such-folder 2 'does not exist' "$kubecxx" serve --load "$work/none"
expect bad-data 1 'data' "$kubecxx" serve --data "$work/none/data"
printf 'apiVersion: v1\nkind: Unicorn\nmetadata: {name: u}\n' >"$work/bad.yaml"
expect bad-manifest 1 'bad.yaml: u: .*Unicorn' "$kubecxx" serve --load "$work/bad.yaml"

for signal in INT TERM; do
  start
  expect "answers before SIG$signal" 0 '"Namespace"|NamespaceList' curl -sf "$url/api/v1/namespaces"
  stop "$signal"
  expect "clean end after SIG$signal" 0 '^0$' echo "$status"
done

# AU-7 to AU-9: web pages cannot reach a server without authentication.
start --allow-host dev.example
code() { curl -s -o /dev/null -w '%{http_code}\n' "$@"; }
maps="$url/api/v1/namespaces/default/configmaps"
expect rebound-name 0 '^403$' code -H 'Host: rebound.example' "$url/api/v1/secrets"
expect allowed-name 0 '^200$' code -H 'Host: dev.example' "$url/api/v1/secrets"
expect says-how 0 'allow-host' curl -s -H 'Host: rebound.example' "$url/api/v1/secrets"
expect page-of-another 0 '^403$' code -H 'Origin: https://evil.example' -H 'Content-Type: application/json' -d '{}' "$maps"
expect page-without-type 0 '^403$' code -H 'Origin: https://evil.example' -H 'Content-Type:' -d '{}' "$maps"
expect cross-site 0 '^403$' code -H 'Sec-Fetch-Site: cross-site' "$url/api"
expect form 0 '^415$' code -d '{"metadata":{"name":"form"}}' "$maps"
stop TERM

expect port-too-large 2 '99999' "$kubecxx" serve --port 99999
expect port-name 2 'port' "$kubecxx" serve --port http
expect port-negative 2 'port' "$kubecxx" serve --port -1
expect listen-no-address 2 'not an IP address' "$kubecxx" serve --listen 127.0.0.1:80 --tls --token x

mkdir "$work/manifests"
printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: loaded, namespace: default}\n' >"$work/manifests/a.yaml"
start --load "$work/manifests" --kubeconfig-out "$work/config"
expect loads 0 '"loaded"' curl -skf "$url/api/v1/namespaces/default/configmaps/loaded"
expect tls-for-kubectl 0 '^https:' echo "$url"
expect kubeconfig 0 "server: \"?$url" cat "$work/config"
expect private 0 '^600$' stat -c %a "$work/config"
stop TERM
start --no-tls --kubeconfig-out "$work/config" --log-level debug
expect plain-on-request 0 NamespaceList curl -sf "$url/api/v1/namespaces"
expect refuses-other-tokens 0 Unauthorized curl -s -H 'Authorization: Bearer not-a-token' "$url/api/v1/namespaces"
expect metrics 0 '^apiserver_request_total' curl -sf "$url/metrics"
expect logged 0 'request: GET /metrics: 200 in [0-9]+ us' cat "$work/log"
expect no-token-logged 1 '^0$' grep -c not-a-token "$work/log"
stop TERM

start --tls --token secret
expect needs-the-token 22 '401' curl -sfk "$url/api/v1/namespaces" -w '%{http_code}'
expect takes-the-token 0 'NamespaceList' curl -sfk -H 'Authorization: Bearer secret' "$url/api/v1/namespaces"
expect keeps-the-token-to-itself 1 '^0$' grep -c secret "$work/log"
stop TERM

# RB-1, RB-17: roles are enforced; the token is that of an administrator.
start --rbac --token secret --kubeconfig-out "$work/config"
expect tls-with-rbac 0 '^https:' echo "$url"
expect administrator 0 NamespaceList curl -sfk -H 'Authorization: Bearer secret' "$url/api/v1/namespaces"
expect no-binding 0 '^403$' code -k -H 'Authorization: Bearer secret' -H 'Impersonate-User: amy' "$url/api/v1/namespaces"
expect discovery 0 '^200$' code -k -H 'Authorization: Bearer secret' -H 'Impersonate-User: amy' "$url/apis"
stop TERM

# After kill -9, every acknowledged write is stored and no write is partially stored.
start --data "$work/data.sqlite"
(
  i=0
  while post "w$i"; do
    i=$((i + 1))
    echo "$i" >"$work/counting" && mv "$work/counting" "$work/acknowledged"
  done
) 2>/dev/null &
writer=$!
for _ in $(seq 600); do
  [ "$(cat "$work/acknowledged" 2>/dev/null || echo 0)" -lt 20 ] || break
  sleep 0.05
done
stop KILL
wait "$writer" || true
acknowledged=$(cat "$work/acknowledged")
start --data "$work/data.sqlite"
found=$(names)
if [ "$acknowledged" -ge 20 ] && [ "$found" -ge "$acknowledged" ] && [ "$found" -le $((acknowledged + 1)) ]; then
  echo "ok      kill -9: $acknowledged writes acknowledged, $found found"
else
  failures=$((failures + 1))
  echo "FAILED  kill -9: $acknowledged writes acknowledged, $found found"
fi
expect one-server-per-file 1 'locked|data.sqlite' "$kubecxx" serve --data "$work/data.sqlite"
post after || { failures=$((failures + 1)); echo "FAILED  write after the restart"; }
stop TERM

[ "$failures" -eq 0 ] || { echo "$failures checks failed"; exit 1; }
echo "all checks passed"
