#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that every statement of docs/spec has a test that quotes its id, a *Here:* note about a deviation, or an entry
# in not_built_yet.txt; and that tests quote only existing ids. Tests write "R-12", "R-12, R-14", "R-12..R-15" or
# "R-12 to R-15".
#
# Usage: ids_test.sh SOURCE-DIRECTORY
set -eu

source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
id='[A-Z][A-Z]?-[0-9]+'

# Statements: list items that begin with an id. Continuation lines belong to the previous item.
for page in informers client apiserver runtime c-abi operators; do
  awk -v id="^- \\**($id)" '
    $0 ~ id { match($0, /[A-Z][A-Z]?-[0-9]+/); current = substr($0, RSTART, RLENGTH); print current }
    /^(#|$)/ { current = "" }
    current != "" && /\*Here:\*/ { print current > here }
  ' here="$work/here.$page" "$source/docs/spec/$page.md" > "$work/stated.$page"
  touch "$work/here.$page"
done
cat "$work"/stated.* | sort > "$work/stated"
cat "$work"/here.* | sort -u > "$work/here"
uniq -d "$work/stated" | sed 's/^/stated twice: /' > "$work/twice"

# Quoted ids, with ranges expanded.
find "$source/tests" "$source/testkit/tests" \( -name fixtures -o -name golden \) -prune -o \
  \( -name '*.cpp' -o -name '*.hpp' -o -name '*.sh' -o -name '*.c' -o -name '*.py' \) ! -name ids_test.sh -print0 |
  xargs -0 grep -ohE "(^|[^A-Za-z0-9-])$id(( to |\.\.)([A-Z][A-Z]?-)?[0-9]+)?" |
  awk '{
    sub(/^[^A-Z]+/, "")
    split($0, part, "-")
    prefix = part[1]
    numbers = $0
    gsub(/[^0-9]+/, " ", numbers)
    n = split(numbers, number, " ")
    for (i = number[1]; i <= (n > 1 ? number[2] : number[1]); ++i) print prefix "-" (i + 0)
  }' | sort -u > "$work/quoted"

sed -n 's/ *#.*//; /./p' "$source/tests/spec/not_built_yet.txt" | sort -u > "$work/later"

sort -u "$work/stated" | comm -23 - "$work/quoted" | comm -23 - "$work/here" > "$work/open"
comm -12 "$work/open" "$work/later" | sed 's/^/not built yet: /'
comm -23 "$work/open" "$work/later" | sed 's/^/neither tested nor explained: /' > "$work/problems"
cat "$work/twice" >> "$work/problems"
comm -23 "$work/later" "$work/open" | sed 's/^/built, so no longer for not_built_yet.txt: /' \
  >> "$work/problems"
# Everything that looks like an id of these pages. (P-256 is a curve.)
sed 's/-.*//' "$work/stated" | sort -u > "$work/prefixes"
sort -u "$work/stated" | comm -13 - "$work/quoted" | grep -vx P-256 | while read -r one; do
  if grep -qx "${one%%-*}" "$work/prefixes"; then echo "quoted, but not stated: $one"; fi
done >> "$work/problems"

cat "$work/problems"
echo "$(sort -u "$work/stated" | wc -l) statements, $(wc -l < "$work/open") open, $(wc -l < "$work/problems") problems"
test ! -s "$work/problems"
