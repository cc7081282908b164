#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests check_includes.sh: a small valid tree passes, and each of several invalid trees fails with the expected file
# and line.
#
# Usage: self_test.sh
set -eu

check=$(cd "$(dirname "$0")" && pwd)/check_includes.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
failures=0

# write FILE LINE...: writes a file of the tree, with its license.
write() {
  file=$work/tree/$1
  shift
  mkdir -p "$(dirname "$file")"
  {
    echo '// SPDX-License-Identifier: Apache-2.0'
    for text in "$@"; do echo "$text"; done
  } >"$file"
}

sound_tree() {
  rm -rf "$work/tree"
  write include/kube/object/word.hpp '#pragma once' '#include <cstdint>'
  write include/kube/codec/json.hpp '#pragma once' '#include <kube/object/word.hpp>'
  write include/kube/api/time.hpp '#pragma once' '#include <kube/codec/json.hpp>'
  write include/kube/kube.hpp '#include <kube/api/time.hpp>' '#include <kube/object/word.hpp>'
  write src/codec/json.cpp '#include <kube/codec/json.hpp>' '' '#include "neighbour.hpp"'
  write src/api/time.cpp '#include <kube/api/core/v1.hpp>' '#include <kube/object/word.hpp>'
}

expect_success() {
  if ! "$check" "$work/tree" >"$work/output" 2>&1; then
    echo "FAILED: $1: the check does not pass:"
    cat "$work/output"
    failures=$((failures + 1))
  fi
}

# expect_failure NAME TEXT: checks that the check fails and its output contains TEXT.
expect_failure() {
  if "$check" "$work/tree" >"$work/output" 2>&1; then
    echo "FAILED: $1: the check passes"
    failures=$((failures + 1))
  elif ! grep -qF "$2" "$work/output"; then
    echo "FAILED: $1: \"$2\" is not in the output:"
    cat "$work/output"
    failures=$((failures + 1))
  fi
}

sound_tree
expect_success 'a sound tree'

sound_tree
write include/kube/object/word.hpp '#pragma once' '' '#include <kube/codec/json.hpp>'
expect_failure 'object includes codec' \
  'include/kube/object/word.hpp:4: object/ must not know codec/ (kube/codec/json.hpp)'

sound_tree
write src/codec/json.cpp '#include <kube/codec/json.hpp>' '  #  include "kube/api/core/v1.hpp"  // why'
expect_failure 'codec includes generated types' \
  'src/codec/json.cpp:3: codec/ must not know api/ (kube/api/core/v1.hpp)'

sound_tree
write src/api/time.cpp '#include "../../include/kube/client/client.hpp"'
expect_failure 'a way around' 'src/api/time.cpp:2: ../../include/kube/client/client.hpp goes up'

sound_tree
write src/api/time.cpp '#include <kube/kube.hpp>'
expect_failure 'the collecting header' 'src/api/time.cpp:2: kube/kube.hpp collects all folders'

sound_tree
write src/api/time.cpp '#include <kube/helpers/text.hpp>'
expect_failure 'an include of an unknown folder' \
  'src/api/time.cpp:2: kube/helpers/text.hpp is in an unknown folder'

sound_tree
write include/kube/helpers/text.hpp '#pragma once'
expect_failure 'an unknown folder' 'include/kube/helpers: unknown folder'

sound_tree
echo '#pragma once' >"$work/tree/include/kube/api/bare.hpp"
expect_failure 'no license' 'include/kube/api/bare.hpp:1: no line SPDX-License-Identifier'

rm -rf "$work/tree"
mkdir "$work/tree"
expect_failure 'not a project' 'has no include/kube and src'

[ "$failures" -eq 0 ] || exit 1
echo 'all cases as expected'
