#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds kube-apiserver, kubectl and etcd from their published Go modules and caches them: this takes minutes
# the first time and no time afterwards. Prints the folder of the binaries.
#
# Usage: build.sh [etcd|kube-apiserver|kubectl]...   (all of them if none is named)
# Environment: KUBECXX_CACHE, folder of the binaries (default ~/.cache/kubecxx)
# Exit code 3: Go is not installed, or the modules cannot be downloaded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
modules=$here/control-plane
if ! command -v go >/dev/null; then
  echo 'build.sh: no Go on this machine; the cluster tests need it (https://go.dev/dl)' >&2
  exit 3
fi

version=$(sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$modules/go.mod" | head -n 1)
folder=${KUBECXX_CACHE:-$HOME/.cache/kubecxx}/control-plane/$version-$(cksum <"$modules/go.sum" | cut -d ' ' -f 1)
mkdir -p "$folder"

minor=${version#v1.}
package=k8s.io/component-base/version
flags="-s -w -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=${minor%%.*}"

[ $# -gt 0 ] || set -- etcd kube-apiserver kubectl
for program in "$@"; do
  [ ! -x "$folder/$program" ] || continue
  case $program in
    etcd) source=./etcd ;;
    *) source=k8s.io/kubernetes/cmd/$program ;;
  esac
  echo "build.sh: building $program $version (minutes, once)" >&2
  (cd "$modules" && CGO_ENABLED=0 go build -trimpath -ldflags "$flags" -o "$folder/$program.new" "$source") || exit 3
  mv "$folder/$program.new" "$folder/$program"
done
echo "$folder"
