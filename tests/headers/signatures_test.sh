#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that no public header shows a type of a namespace `detail` in a signature; see signatures.awk. The checker
# itself is tested first, with a header of which exactly the marked lines have to be reported.
#
# Usage: signatures_test.sh ROOT   (ROOT is the top folder of the project)
set -eu
root=${1:?usage: signatures_test.sh ROOT}
folder=$(cd "$(dirname "$0")" && pwd)

expected=$(grep -n '// seen$' "$folder/signatures_sample.hpp" | cut -d: -f1)
found=$(awk -f "$folder/signatures.awk" "$folder/signatures_sample.hpp" | sed 's/^[^:]*:\([0-9]*\):.*/\1/') || true
if [ "$expected" != "$found" ]; then
  echo "signatures.awk reports lines" $found "of signatures_sample.hpp instead of" $expected >&2
  exit 1
fi

cd "$root"
if ! find include/kube testkit/include/kube -name '*.hpp' -exec awk -f "$folder/signatures.awk" {} +; then
  echo "give these types a public name, or make the declarations private and kube::detail::Inside a friend" >&2
  exit 1
fi
