#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CA-1: libkubecxx.so exports the functions that kube/c/kubecxx.h declares and nothing else, has its name and is never unloaded;
# every name of the header begins with kubecxx_ or KUBECXX_.
#
# Usage: symbols_test.sh LIBRARY HEADER SONAME
set -eu
library=$1
header=$2
soname=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions: a name before a parenthesis, at the beginning of a declaration.
sed -n 's/^[a-z].*[ *]\(kubecxx_[a-z_]*\)(.*/\1/p' "$header" | grep -v '^kubecxx_str$' | sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >"$work/exported"
if ! [ -s "$work/declared" ]; then
  echo "no functions were found in $header" >&2
  exit 1
fi
if ! diff "$work/declared" "$work/exported"; then
  echo "declared (<) and exported (>) differ" >&2
  exit 1
fi

# Everything the header defines at file scope.
awk '/^typedef struct [a-z_]+ \{/ { print $3 } /^typedef struct [a-z_]+ [a-z_]+;/ { print $3 }
     /^#define/ { sub(/\(.*/, "", $2); print $2 } /^ *KUBECXX_[A-Z_]+ =/ { print $1 }' "$header" |
  grep -vE '^(kubecxx_[a-z_]+|KUBECXX_[A-Z_]+)$' && { echo "foreign names in $header" >&2; exit 1; }
grep -n '^#include' "$header" | grep -vE '<(stddef|stdint|string)\.h>' && { echo "more than standard headers" >&2; exit 1; }

readelf -d "$library" >"$work/dynamic"
grep -q "SONAME.*\[$soname\]" "$work/dynamic" || { echo "the name is not $soname" >&2; exit 1; }
grep -q 'NODELETE' "$work/dynamic" || { echo "the library can be unloaded" >&2; exit 1; }
echo "$(wc -l <"$work/exported") functions"
