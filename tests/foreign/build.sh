#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# build.sh client-go|kube-rs|client-node|kopf|helm|fabric8|controller-runtime|e2e: builds or installs that client or test
# suite once for each state of its sources, and prints the path of the program, or of the folder that holds it.
# Environment: KUBECXX_CACHE, folder of the programs (default ~/.cache/kubecxx)
# Exit code 3: the language is not installed, or the packages cannot be downloaded.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
client=$1
cache=${KUBECXX_CACHE:-$HOME/.cache/kubecxx}/foreign
mkdir -p "$cache"

missing() {
  echo "build.sh: $1" >&2
  exit 3
}

case $client in
  # Only what is installed counts, not what is run with it.
  kopf) sources=$here/kopf/requirements.txt ;;
  helm | e2e) sources=$here/$client/go.sum ;;
  controller-runtime) sources="$here/$client/go.sum $here/$client/packages.txt" ;;
  *) sources="$here/$client/*.* $here/$client/src/*" ;;
esac
# shellcheck disable=SC2086
state=$(cat $sources 2>/dev/null | cksum | cut -d ' ' -f 1)
program=$cache/$client-$state
if [ ! -x "$program" ]; then
  rm -rf "$program.new"
  case $client in
    client-go)
      command -v go >/dev/null || missing 'there is no Go'
      (cd "$here/client-go" && go mod download) || exit 3
      echo 'build.sh: building the client written with client-go (minutes, once)' >&2
      (cd "$here/client-go" && CGO_ENABLED=0 go build -trimpath -o "$program.new" .)
      ;;
    kube-rs)
      command -v cargo >/dev/null || missing 'there is no Rust'
      (cd "$here/kube-rs" && cargo fetch --locked --quiet) || exit 3
      echo 'build.sh: building the client written with kube-rs (minutes, once)' >&2
      (cd "$here/kube-rs" && CARGO_TARGET_DIR=$cache/target cargo build --locked --quiet)
      cp "$cache/target/debug/kubecxx-foreign-kube-rs" "$program.new"
      ;;
    client-node)
      { command -v node && command -v npm; } >/dev/null || missing 'there is no Node.js'
      node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || missing 'Node.js is older than 20'
      mkdir "$program.new"
      cp "$here/client-node/package.json" "$here/client-node/package-lock.json" "$here/client-node/main.mjs" "$program.new"
      (cd "$program.new" && npm ci --ignore-scripts --no-audit --no-fund --silent >&2) ||
        missing 'the packages of client-node cannot be downloaded'
      ;;
    kopf)
      python3 -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ||
        missing 'there is no Python 3.10 with venv (Debian: python3-venv)'
      python3 -m venv "$program.new"
      "$program.new/bin/python" -m pip install --quiet --disable-pip-version-check \
        -r "$here/kopf/requirements.txt" >&2 || missing 'the packages of kopf cannot be downloaded'
      ;;
    helm)
      command -v go >/dev/null || missing 'there is no Go'
      (cd "$here/helm" && go mod download) || exit 3
      echo 'build.sh: building Helm (minutes, once)' >&2
      (cd "$here/helm" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$program.new" helm.sh/helm/v4/cmd/helm)
      ;;
    fabric8)
      { command -v mvn && command -v javac; } >/dev/null || missing 'there is no Maven, or no Java compiler'
      javac --release 17 --version >/dev/null 2>&1 || missing 'Java is older than 17'
      mkdir "$program.new"
      mvn -q -B -f "$here/fabric8/pom.xml" dependency:copy-dependencies -DoutputDirectory="$program.new/lib" >&2 ||
        missing 'the packages of fabric8 cannot be downloaded'
      javac --release 17 -Xlint:all,-processing,-classfile -d "$program.new" -cp "$program.new/lib/*" "$here"/fabric8/*.java >&2
      ;;
    controller-runtime)
      command -v go >/dev/null || missing 'there is no Go'
      (cd "$here/controller-runtime" && go mod download) || exit 3
      echo 'build.sh: building the tests of controller-runtime (minutes, once)' >&2
      mkdir "$program.new"
      sed '/^#/d' "$here/controller-runtime/packages.txt" | while read -r package; do
        path=sigs.k8s.io/controller-runtime/$package
        (
          cd "$here/controller-runtime"
          CGO_ENABLED=0 go test -c -vet off -ldflags '-s -w' -o "$program.new/$(echo "$package" | tr / -).test" "$path"
          # The tests read files beside them.
          echo "$package $(go list -f '{{.Dir}}' "$path")" >>"$program.new/packages"
        )
      done
      ;;
    e2e)
      command -v go >/dev/null || missing 'there is no Go'
      (cd "$here/e2e" && go mod download) || exit 3
      echo 'build.sh: building the e2e tests of Kubernetes (some ten minutes, once)' >&2
      version=$(sed -n 's/^[[:space:]]*k8s.io\/kubernetes \(v[0-9.]*\).*/\1/p' "$here/e2e/go.mod")
      mkdir "$program.new"
      (
        cd "$here/e2e"
        flags="-s -w -X k8s.io/component-base/version.gitVersion=$version"
        export CGO_ENABLED=0
        go build -trimpath -o "$program.new/" github.com/onsi/ginkgo/v2/ginkgo
        go build -trimpath -ldflags "$flags" -o "$program.new/" k8s.io/kubernetes/cmd/kube-controller-manager
        go test -c -vet off -trimpath -ldflags "$flags" -o "$program.new/e2e.test" k8s.io/kubernetes/test/e2e
      )
      ;;
    *)
      echo "build.sh: there is no client $client" >&2
      exit 2
      ;;
  esac
  mv "$program.new" "$program"
fi
echo "$program"
