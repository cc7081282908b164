#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A real control plane on loopback: etcd and kube-apiserver with their own certificates, tokens and RBAC.
#
# Usage: cluster.sh start FOLDER   starts it with its data, logs and keys in FOLDER (recreated); prints the path
#                                  of an administrator's kubeconfig
#        cluster.sh stop FOLDER    stops it
#        cluster.sh restart-apiserver FOLDER
#        cluster.sh compact FOLDER compacts the history of the store
# Users: the kubeconfig has the contexts admin (client certificate), root (the same rights, by token), alice (token,
# may only read pods in the namespace default) and nobody (a token that the server does not know).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
usage() {
  sed -n 's/^# \{0,1\}//; 3,11p' "$0" >&2
  exit 2
}
[ $# -eq 2 ] || usage
command=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)

fail() {
  echo "cluster.sh: $1" >&2
  exit 1
}

# free_port: prints a currently free port of loopback.
free_port() {
  while :; do
    port=$(shuf -i 20000-32000 -n 1)
    if ! grep -qi ":$(printf '%04X' "$port") 00000000:0000 0A" /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
      echo "$port"
      return
    fi
  done
}

# certificate NAME SUBJECT [EXTENSION]: creates a key and a certificate signed by the cluster's CA.
certificate() {
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$folder/$1.key" \
    -subj "$2" -out "$folder/$1.csr" 2>/dev/null
  printf '%s\n' "${3:-extendedKeyUsage=clientAuth}" >"$folder/$1.ext"
  openssl x509 -req -in "$folder/$1.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" -CAcreateserial \
    -days 2 -extfile "$folder/$1.ext" -out "$folder/$1.crt" 2>/dev/null
}

make_keys() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$folder/ca.key" \
    -out "$folder/ca.crt" -days 2 -subj /CN=kubecxx-test-ca 2>/dev/null
  certificate server /CN=kube-apiserver \
    'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'
  certificate admin /O=system:masters/CN=admin
  openssl genrsa -out "$folder/service-account.key" 2048 2>/dev/null
  openssl rsa -in "$folder/service-account.key" -pubout -out "$folder/service-account.pub" 2>/dev/null
  printf '%s\n' 'alice-token,alice,alice-uid,"readers"' 'root-token,root,root-uid,"system:masters"' \
    >"$folder/tokens.csv"
}

# wait_for WHAT COMMAND...: waits until the command succeeds, at most a minute.
wait_for() {
  what=$1
  shift
  for _ in $(seq 600); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.1
  done
  tail -n 20 "$folder"/*.log >&2
  fail "$what is not ready after a minute; its log is above"
}

start_etcd() {
  "$binaries/etcd" --data-dir "$folder/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$etcd_port" --advertise-client-urls "http://127.0.0.1:$etcd_port" \
    --listen-peer-urls "http://127.0.0.1:$(free_port)" >"$folder/etcd.log" 2>&1 &
  echo $! >"$folder/etcd.pid"
  wait_for etcd curl -sf "http://127.0.0.1:$etcd_port/health"
}

start_apiserver() {
  "$binaries/kube-apiserver" --etcd-servers "http://127.0.0.1:$etcd_port" \
    --bind-address 127.0.0.1 --secure-port "$port" --service-cluster-ip-range 10.0.0.0/16 \
    --tls-cert-file "$folder/server.crt" --tls-private-key-file "$folder/server.key" \
    --client-ca-file "$folder/ca.crt" --token-auth-file "$folder/tokens.csv" \
    --authorization-mode RBAC --disable-admission-plugins ServiceAccount --allow-privileged \
    --service-account-issuer https://kubernetes.default.svc \
    --service-account-key-file "$folder/service-account.pub" \
    --service-account-signing-key-file "$folder/service-account.key" \
    --runtime-config api/all=true >>"$folder/kube-apiserver.log" 2>&1 &
  echo $! >"$folder/kube-apiserver.pid"
  wait_for kube-apiserver curl -sf --cacert "$folder/ca.crt" "https://127.0.0.1:$port/readyz"
}

write_kubeconfig() {
  cat >"$folder/kubeconfig" <<EOF
apiVersion: v1
kind: Config
current-context: admin
clusters:
- name: test
  cluster: {server: "https://127.0.0.1:$port", certificate-authority: ca.crt}
users:
- name: admin
  user: {client-certificate: admin.crt, client-key: admin.key}
- name: root
  user: {token: root-token}
- name: alice
  user: {token: alice-token}
- name: nobody
  user: {token: not-a-token}
contexts:
- {name: admin, context: {cluster: test, user: admin}}
- {name: root, context: {cluster: test, user: root}}
- {name: alice, context: {cluster: test, user: alice}}
- {name: nobody, context: {cluster: test, user: nobody}}
EOF
}

grant() {
  "$binaries/kubectl" --kubeconfig "$folder/kubeconfig" apply -f - >/dev/null <<EOF
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read-pods, namespace: default}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers-read-pods, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read-pods}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
EOF
}

# end NAME [TENTHS]: ends the process of the pid file and waits for it, at most that many tenths of a second.
end() {
  [ -f "$folder/$1.pid" ] || return 0
  pid=$(cat "$folder/$1.pid")
  rm -f "$folder/$1.pid"
  kill "$pid" 2>/dev/null || return 0
  for _ in $(seq "${2:-100}"); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
}

case $command in
  start)
    binaries=$("$here/build.sh")
    [ ! -e "$folder/ports" ] || fail "$folder holds a cluster already; stop it first"
    rm -rf "$folder/etcd" "$folder/kube-apiserver.log"  # left over from a previous cluster
    etcd_port=$(free_port)
    port=$(free_port)
    printf 'etcd_port=%s\nport=%s\n' "$etcd_port" "$port" >"$folder/ports"
    make_keys
    write_kubeconfig
    start_etcd
    start_apiserver
    grant
    echo "$folder/kubeconfig"
    ;;
  stop)
    end kube-apiserver
    end etcd
    rm -f "$folder/ports"
    ;;
  restart-apiserver)
    binaries=$("$here/build.sh")
    . "$folder/ports"
    end kube-apiserver 20  # it would wait a minute for open watches
    start_apiserver
    ;;
  compact)
    . "$folder/ports"
    revision=$(curl -sf "http://127.0.0.1:$etcd_port/v3/kv/range" -d '{"key":"AA=="}' |
      sed -n 's/.*"revision":"\([0-9]*\)".*/\1/p')
    curl -sf "http://127.0.0.1:$etcd_port/v3/kv/compaction" \
      -d "{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
    ;;
  *) usage ;;
esac
