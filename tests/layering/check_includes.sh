#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that includes point only upstream: a file under include/kube/<folder> or src/<folder> includes its own folder
# and those before it in the list below. Generated headers (kube/api/...) count as api; everything under
# testkit/ counts as testkit. Also checks that every source has its license line. Prints each violation as
# file:line: problem and then fails.
#
# Usage: check_includes.sh [ROOT]   (ROOT is the top folder of the project; by default the current one)
set -eu

folders="base engine object codec api config transport client server cache informers workqueue controller c testkit"

root=${1:-.}
if ! [ -d "$root/include/kube" ] || ! [ -d "$root/src" ]; then
  echo "check_includes.sh: $root has no include/kube and src" >&2
  exit 2
fi
cd "$root"

list=$(mktemp)
report=$(mktemp)
trap 'rm -f "$list" "$report"' EXIT INT TERM

# Every folder must be in the list, even one without sources.
find include/kube src -mindepth 1 -maxdepth 1 -type d | sort | while read -r path; do
  case " $folders " in
    *" ${path##*/} "*) ;;
    *) echo "$path: unknown folder; give it a place in tests/layering/check_includes.sh" ;;
  esac
done >"$report"

[ ! -d testkit ] || own_house=testkit
find include/kube src ${own_house:-} -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cpp' \) | sort >"$list"
if ! [ -s "$list" ]; then
  echo "check_includes.sh: no sources in $root" >&2
  exit 2
fi
awk -v folders="$folders" '
  BEGIN {
    count = split(folders, names, " ")
    for (i = 1; i <= count; ++i) rank[names[i]] = i
  }
  # Returns the folder of include/kube/<folder>/... and src/<folder>/...; empty for a header directly in
  # include/kube, which is an umbrella header and may include all others.
  function folder_of(path,   parts, n) {
    n = split(path, parts, "/")
    if (parts[1] == "testkit") return "testkit"
    if (parts[1] == "include") return n > 3 ? parts[3] : ""
    return n > 2 ? parts[2] : "?"
  }
  function check(file, line, text,   from, target, parts, n) {
    if (text !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) return
    target = text
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*$/, "", target)
    if (target ~ /(^|\/)\.\.(\/|$)/) {
      print file ":" line ": " target " goes up; write it as <kube/...> or \"<folder>/...\""
      return
    }
    from = folder_of(file)
    n = split(target, parts, "/")
    if (target !~ /^kube\// && text ~ /"/ && n >= 2 && (parts[1] in rank)) {
      # A header of src/ or testkit/ is not installed.
      if (file ~ /^(testkit\/)?include\//) print file ":" line ": " target " is not installed"
      if (from in rank && rank[parts[1]] > rank[from])
        print file ":" line ": " from "/ must not know " parts[1] "/ (" target ")"
      return
    }
    if (target !~ /^kube\//) return  # a sibling file, another library, the standard library
    if (n == 2) {
      if (from != "") print file ":" line ": " target " collects all folders; only users include it"
    } else if (!(parts[2] in rank)) {
      print file ":" line ": " target " is in an unknown folder"
    } else if (from in rank && rank[parts[2]] > rank[from]) {
      print file ":" line ": " from "/ must not know " parts[2] "/ (" target ")"
    }
  }
  {
    line = 0
    while ((got = (getline text < $0)) > 0) check($0, ++line, text)
    close($0)
    if (got < 0) print $0 ": cannot be read"
  }' "$list" >>"$report"

# The license is on the first line, or on one of the first three if the first is reserved (such as #!).
for folder in include src testkit tools examples bench tests schema cmake; do
  [ ! -d "$folder" ] || find "$folder" -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.go' \
    -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt \) ! -path 'tests/golden/*/expected/*'
done | sort | awk '
  {
    lines = $0 ~ /\.(sh|cmake|txt)$/ ? 3 : 1
    found = 0
    while (!found && lines-- > 0 && (getline text < $0) > 0)
      found = text ~ /SPDX-License-Identifier: Apache-2\.0$/
    close($0)
    if (!found) print $0 ":1: no line SPDX-License-Identifier: Apache-2.0"
  }' >>"$report"

if [ -s "$report" ]; then
  cat "$report" >&2
  exit 1
fi
