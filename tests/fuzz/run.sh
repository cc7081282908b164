#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer for a while, from recorded objects as seeds. Usage: run.sh [SECONDS] [BUILD]
set -eu
seconds=${1:-10}
build=${2:-build/fuzz}
cd "$(dirname "$0")/../.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fixtures=tests/fixtures/v1.36.4

# seed TARGET FILE...: files for a fuzzer to start from. Some take a byte of their own first.
seed() {
  target=$1
  shift
  mkdir -p "$work/$target"
  for file in "$@"; do
    case $target in
      list_reader | watch_reader | protobuf_decode)
        { printf '\007'; cat "$file"; } >"$work/$target/$(basename "$file")" ;;
      *) cp "$file" "$work/$target/" ;;
    esac
  done
}
seed json_decode $fixtures/core_v1_pods.json $fixtures/pods_partial.json $fixtures/notfound.json
seed protobuf_decode $fixtures/core_v1_pods.pb $fixtures/core_v1_podtemplates.pb
seed list_reader $fixtures/core_v1_configmaps.json $fixtures/core_v1_configmaps.pb
seed watch_reader $fixtures/watch_configmaps.json $fixtures/watch_configmaps.pb
seed yaml tests/consume/foo.yaml
seed kubegen tests/consume/foo.yaml
mkdir -p "$work/text"
for text in 'app in (a,b),!c,d!=e' 'metadata.name=x,spec.nodeName!=y' '1.5Gi' '-12e3' \
  '2026-01-31T12:00:00.5+02:00' '1h2m3.5s' "a.b[3]['c.d']"; do
  printf '%s' "$text" >"$work/text/$(printf '%s' "$text" | cksum | cut -d' ' -f1)"
done

for target in json_decode protobuf_decode list_reader watch_reader yaml text kubegen; do
  echo "fuzzing $target for $seconds s"
  if ! "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -max_len=65536 -print_final_stats=0 -verbosity=0 -artifact_prefix="$work/" \
    "$work/$target" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    kept=$(mktemp -d)
    cp "$work"/crash-* "$work"/timeout-* "$work"/oom-* "$kept" 2>/dev/null || true
    echo "$target: a finding; the input is in $kept" >&2
    exit 1
  fi
done
