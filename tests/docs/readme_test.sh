#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the documentation: every C++ block of README.md, docs/*.md and docs/guides occurs, line by line, in one of
# the programs in examples/, which are built and run; YAML blocks and Dockerfiles are in a file of examples/; and
# every make target, preset, file and folder that the pages name exists. Prints each violation as file:line:
# problem and then fails.
#
# Usage: readme_test.sh [ROOT]   (ROOT is the top folder of the project; by default the current one)
set -eu

cd "${1:-.}"
for file in README.md CONTRIBUTING.md Makefile CMakePresets.json examples/readme.cpp; do
  if ! [ -f "$file" ]; then
    echo "readme_test.sh: there is no $file" >&2
    exit 2
  fi
done

report=$(mktemp)
names=$(mktemp)
programs=$(mktemp)
manifests=$(mktemp)
trap 'rm -f "$report" "$names" "$programs" "$manifests"' EXIT INT TERM
find examples -name '*.[ch]pp' -exec cat {} + >"$programs"
find examples \( -name '*.yaml' -o -name Dockerfile \) -exec cat {} + >"$manifests"
for program in $(find examples -name '*.cpp'); do
  name=$(basename "$program" .cpp)
  grep -rq --include=CMakeLists.txt "$name" examples ||
    echo "$program:1: no CMakeLists.txt in examples/ builds it" >>"$report"
done

# 1. Blocks of code: check_blocks LANGUAGES SOURCE WHAT PAGE. SOURCE has what the blocks may quote.
blocks=0
manifest_blocks=0
check_blocks() {
  awk -v source="$2" -v fence="^\`\`\`($1)\$" -v what="$3" '
    FILENAME == source { whole = whole "\n" $0; next }
    $0 ~ fence { inside = 1; block = ""; start = FNR; next }
    inside && /^```$/ {
      inside = 0
      if (index(whole "\n", block "\n") == 0) {
        print FILENAME ":" start ": this block is in none of the " what " in examples/"
      }
      next
    }
    inside { block = block "\n" $0 }
  ' "$2" "$4" >>"$report"
}
for page in README.md docs/*.md docs/guides/*.md; do
  [ -f "$page" ] || continue
  blocks=$((blocks + $(grep -c '^```cpp$' "$page" || true)))
  manifest_blocks=$((manifest_blocks + $(grep -c -E '^```(yaml|dockerfile)$' "$page" || true)))
  check_blocks cpp "$programs" programs "$page"
  check_blocks 'yaml|dockerfile' "$manifests" manifests "$page"
done
[ "$blocks" -gt 0 ] || echo "README.md:1: no C++ block found; has the fence changed?" >>"$report"
[ "$manifest_blocks" -gt 0 ] || echo "docs/guides/deploy.md:1: no YAML block found; has the fence changed?" >>"$report"

# 2. Names. Each line of $names is: kind, page, line, name. A span in `...` counts as a path if its first part is a folder
# of the project, or if it is a file name such as CMakeLists.txt; spans with wildcards or braces do not, nor do paths
# below build/ and bench/results, which are temporary.
for page in README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/*/*.md schema/README.md; do
  [ -f "$page" ] || continue
  awk -v page="$page" '
    function emit(kind, name) { print kind, page, FNR, name }
    # Finds targets and presets in a line of code with make or cmake.
    function commands(code,   words, n, i) {
      n = split(code, words, /[ \t]+/)
      for (i = 1; i < n; ++i) {
        if (words[i] == "make" && words[i + 1] ~ /^[a-z][a-z-]*$/) emit("target", words[i + 1])
        if (words[i] == "--preset" && words[i + 1] ~ /^[a-z]+$/) emit("preset", words[i + 1])
        if (words[i + 1] ~ /^PRESET=[a-z]+$/) emit("preset", substr(words[i + 1], 8))
      }
    }
    /^```/ { fenced = !fenced; language = substr($0, 4); next }
    fenced {
      if (language == "sh") { code = $0; sub(/#.*/, "", code); commands(code) }
      next
    }
    {
      rest = $0
      while (match(rest, /`[^`]+`/)) {
        span = substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
        commands(span)
        if (span ~ /^(\.ci|bench|cmake|docs|examples|include|schema|src|testkit|tests|tools)\/[A-Za-z0-9_.\/-]*$/ ||
            span ~ /^[A-Z][A-Za-z]*\.(md|txt|json)$/ || span ~ /^\.clang-[a-z]+$/) {
          if (span !~ /^bench\/results/) emit("path", span)
        }
      }
      rest = $0
      while (match(rest, /\]\([^)]+\)/)) {
        link = substr(rest, RSTART + 2, RLENGTH - 3)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/#.*/, "", link)
        if (link != "" && link !~ /^[a-z]+:/) emit("link", link)
      }
    }
  ' "$page" >>"$names"
done

while read -r kind page line name; do
  case $kind in
    target)
      grep -q "^$name:" Makefile || echo "$page:$line: the Makefile has no target $name"
      ;;
    preset)
      grep -q "\"name\": \"$name\"" CMakePresets.json || echo "$page:$line: there is no preset $name"
      ;;
    path)
      # Names may be relative to the folder of the page.
      [ -e "$name" ] || [ -e "$(dirname "$page")/$name" ] || echo "$page:$line: there is no $name"
      ;;
    link)
      [ -e "$(dirname "$page")/$name" ] || echo "$page:$line: the link leads nowhere: $name"
      ;;
  esac
done <"$names" >>"$report"

# If no page contains a name of some kind, this test no longer parses the pages correctly.
for kind in target preset path link; do
  grep -q "^$kind " "$names" || echo "readme_test.sh:1: no $kind found in any page" >>"$report"
done

if [ -s "$report" ]; then
  sort -u "$report" >&2
  exit 1
fi
