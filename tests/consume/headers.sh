#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles the installed headers like users do, without a warning at a strict level: all in one file; and each
# hand-written one alone, because it must include everything that it needs. Warnings that only one compiler has show
# in the combined file as well, so headers are compiled alone by one compiler only.
#
# Usage: headers.sh PREFIX WORK CXX [alone]   (PREFIX is the folder in which kubecxx is installed)
set -eu
prefix=$1
work=$2
cxx=$3
what=${4:-together}

if ! command -v "$cxx" >/dev/null; then
  echo "headers.sh: $cxx is not installed; nothing is checked with it"
  exit 0
fi
mkdir -p "$work"
include=$prefix/include
strict="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

if [ "$what" = alone ]; then
  # Headers of the API are generated from one template; two of them represent all.
  (cd "$include" && find kube -name '*.hpp' ! -path 'kube/api/*/*' -o -path kube/api/core/v1.hpp \
    -o -path kube/api/apps/v1.hpp) | sort >"$work/list"
  # Two at a time, because it takes a minute.
  xargs -P 2 -I HEADER sh -c \
    'echo "#include <HEADER>" | "$0" -std=c++20 -fsyntax-only $2 -I "$1" -x c++ - ||
       { echo "HEADER does not compile alone" >&2; exit 255; }' "$cxx" "$include" "$strict" <"$work/list"
  echo "$(wc -l <"$work/list") headers compile alone with $cxx"
  exit 0
fi

(cd "$include" && find kube -name '*.hpp' | sort | sed 's/.*/#include <&>/') >"$work/all.cpp"
# shellcheck disable=SC2086
"$cxx" -std=c++20 -fsyntax-only $strict -I "$include" "$work/all.cpp"
echo "$(wc -l <"$work/all.cpp") headers compile together with $cxx"
