#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles every public header alone: each must include what it uses. Usage: compile_alone.sh BUILD
set -eu
build=${1:?usage: compile_alone.sh BUILD}
compiler=${CXX:-c++}

cd "$(dirname "$0")/../.."
failed=0
for header in $(find include "$build/generated/include" -name '*.hpp' | sort); do
  if ! echo "#include \"$header\"" |
    "$compiler" -std=c++20 -Wall -Wextra -Werror -fsyntax-only -Iinclude \
      -I"$build/generated/include" -I. -x c++ -; then
    echo "does not compile alone: $header" >&2
    failed=1
  fi
done
exit $failed
