# SPDX-License-Identifier: Apache-2.0
# Sourced by scripts whose first argument is the program kubecxx. Makes a temporary folder, $work, which is removed in
# the end.

kubecxx=$1
work=$(mktemp -d)
servers=
finish() {
  for server in $servers; do kill "$server" 2>/dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# serve OPTION...: starts a server of its own; $kubeconfig is that of its administrator.
serve() {
  kubeconfig=$(mktemp -u "$work/kubeconfig.XXXXXX")
  "$kubecxx" serve --tls "$@" --kubeconfig-out "$kubeconfig" >"$kubeconfig.log" 2>&1 &
  server=$!
  servers="$servers $server"
  for _ in $(seq 100); do
    if [ -s "$kubeconfig" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.1
  done
  [ -s "$kubeconfig" ] || { cat "$kubeconfig.log"; echo 'FAILED: the server does not start'; exit 1; }
}
