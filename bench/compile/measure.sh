#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints how long a compiler takes for one file that includes a header: the minimum user CPU time of five runs, beside
# that of the standard headers which such a file includes anyway.
#   bench/compile/measure.sh BUILD
# BUILD is a folder with the generated headers.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt" | head -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=c++20 -I $root/include -I $build/generated/include"

# Sets `best` to user CPU seconds, in hundredths, and `lines` to what the compiler reads.
measure() {
  best=
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    "$compiler" $flags -fsyntax-only -ftime-report "$1" 2>"$work/report"
    taken=$(awk '/^ *TOTAL/ {printf "%.0f", $3 * 100}' "$work/report")
    if [ -z "$best" ] || [ "$taken" -lt "$best" ]; then best=$taken; fi
  done
  # shellcheck disable=SC2086
  lines=$("$compiler" $flags -E "$1" | wc -l)
}
row() {
  printf '%-50s %7s %9s %8s\n' "$1" "$(awk "BEGIN {printf \"%.2f s\", $best / 100}")" "$lines" \
    "$(awk "BEGIN {printf \"%.1f\", $best / $standard}")"
}

printf '%-50s %7s %9s %8s\n' header CPU lines ratio
for header in chrono functional map memory mutex stop_token string thread vector; do
  echo "#include <$header>"
done >"$work/standard.cpp"
measure "$work/standard.cpp"
standard=$best
row "the standard library's"
for header in kube.hpp api/core/v1.hpp client/client.hpp cache/lister.hpp informers/shared_informer_factory.hpp \
  controller/manager.hpp workqueue/work_queue.hpp testkit/api_server.hpp; do
  echo "#include <kube/$header>" >"$work/one.cpp"
  measure "$work/one.cpp"
  row "<kube/$header>"
done
