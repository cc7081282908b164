#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh client-go|kube-rs: builds that client once for each state of its sources, and prints the path of the program.
# Environment: KUBECXX_CACHE, folder of the programs (default ~/.cache/kubecxx)
# Exit code 3: the language is not installed, or the packages cannot be downloaded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
client=$1
cache=${KUBECXX_CACHE:-$HOME/.cache/kubecxx}/foreign
mkdir -p "$cache"
state=$(cat "$here/$client"/*.* "$here/$client"/src/* 2>/dev/null | cksum | cut -d ' ' -f 1)
program=$cache/$client-$state
if [ ! -x "$program" ]; then
  case $client in
    client-go)
      command -v go >/dev/null || { echo 'build.sh: there is no Go' >&2; exit 3; }
      (cd "$here/client-go" && go mod download) || exit 3
      echo 'build.sh: building the client written with client-go (minutes, once)' >&2
      (cd "$here/client-go" && CGO_ENABLED=0 go build -trimpath -o "$program.new" .)
      ;;
    kube-rs)
      command -v cargo >/dev/null || { echo 'build.sh: there is no Rust' >&2; exit 3; }
      (cd "$here/kube-rs" && cargo fetch --locked --quiet) || exit 3
      echo 'build.sh: building the client written with kube-rs (minutes, once)' >&2
      (cd "$here/kube-rs" && CARGO_TARGET_DIR=$cache/target cargo build --locked --quiet)
      cp "$cache/target/debug/kubecxx-foreign-kube-rs" "$program.new"
      ;;
    *)
      echo "build.sh: there is no client $client" >&2
      exit 2
      ;;
  esac
  mv "$program.new" "$program"
fi
echo "$program"
