#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compiles small programs. A program with a line "// says: <text>" is invalid: the first error has to contain that
# text, and the output has to be short enough to be read. The others are valid. Usage: messages_test.sh <compiler>
# <include folders, separated by ':'> <folder>
set -u
compiler=$1
includes=$(printf '%s' "$2" | tr ':' '\n' | sed 's/^/-I/')
folder=$3
most_lines=25
status=0

for program in "$folder"/*.cpp; do
  name=$(basename "$program")
  text=$(sed -n 's|^// says: ||p' "$program")
  # shellcheck disable=SC2086 # one word for each folder
  output=$(LC_ALL=C "$compiler" -std=c++20 -fsyntax-only $includes "$program" 2>&1)
  result=$?
  if [ -z "$text" ]; then
    [ $result -eq 0 ] && continue
    echo "$name: does not compile"
  elif [ $result -eq 0 ]; then
    echo "$name: compiles, though it is wrong"
  elif ! printf '%s\n' "$output" | grep -m 1 'error:' | grep -qF -- "$text"; then
    echo "$name: the first error does not say: $text"
  elif [ "$(printf '%s\n' "$output" | wc -l)" -gt $most_lines ]; then
    echo "$name: more than $most_lines lines of errors"
  else
    continue
  fi
  printf '%s\n' "$output" | head -40
  status=1
done
exit $status
