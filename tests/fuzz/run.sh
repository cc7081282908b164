#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer for a while, seeded with recorded objects and the files of corpus/TARGET, and fails on a finding.
# Usage: run.sh [SECONDS] [BUILD] [TARGET...]
set -eu
seconds=${1:-10}
build=${2:-build/fuzz}
[ $# -gt 2 ] && shift 2 || set --
case $build in /*) ;; *) build=$(pwd)/$build ;; esac
cd "$(dirname "$0")/../.."

all="json_decode protobuf_decode list_reader watch_reader yaml text kubegen http1_session http2_session tunnel
  kubeconfig exec_credential manager_http patch watch_log cel"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/tests/fuzz/fuzz_seeds" tests/fixtures/v1.36.4 "$work"
find tests/golden tests/consume -name '*.yaml' -exec cp {} "$work/kubegen" \;

for target in ${@:-$all}; do
  mkdir -p "$work/$target"
  if [ -d "tests/fuzz/corpus/$target" ]; then cp "tests/fuzz/corpus/$target"/* "$work/$target"; fi
  echo "fuzzing $target for $seconds s"
  if ! "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 \
    -max_len=65536 -print_final_stats=0 -verbosity=0 -artifact_prefix="$work/" \
    "$work/$target" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    kept=$(mktemp -d)
    cp "$work"/crash-* "$work"/timeout-* "$work"/oom-* "$work"/leak-* "$kept" 2>/dev/null || true
    echo "$target: a finding; the input is in $kept" >&2
    exit 1
  fi
done
