#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The checks that take longer than `make test`: sanitizers, fuzzing, each header alone, format and
# tidy.
set -eu
jobs=${1:-2}

for preset in asan tsan; do
  echo "== $preset"
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
  cmake --build --preset "$preset" --parallel "$jobs"
  ctest --test-dir "build/$preset" --output-on-failure --parallel "$jobs" -LE slow
done

echo "== torture: every call fails once"
build/asan/tests/torture/torture

echo "== the store against a model, with memory that runs out"
KUBECXX_STORE_STEPS=1000000 build/asan/tests/unit/cache/cache_memory_test --gtest_filter='Store.*'

echo "== fuzz"
[ -f build/fuzz/build.ninja ] || cmake --preset fuzz
cmake --build --preset fuzz --parallel "$jobs" --target tests/fuzz/all
tests/fuzz/run.sh "${FUZZ_SECONDS:-10}" build/fuzz

echo "== each header alone"
tests/headers/compile_alone.sh build/asan

echo "== format"
git ls-files '*.hpp' '*.cpp' '*.h' '*.c' ':!tests/golden' | xargs clang-format --dry-run --Werror

echo "== tidy"
[ -f build/tidy/build.ninja ] || cmake --preset tidy
cmake --build --preset tidy --parallel "$jobs"
