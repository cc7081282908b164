# SPDX-License-Identifier: Apache-2.0
# Sourced, with the folder of this file in $here.

# program_of CLIENT: builds a client or suite; $program is what build.sh prints. Exits with 77 (which CTest counts as
# skipped) if it cannot be built here.
program_of() {
  status=0
  program=$("$here/build.sh" "$1") || status=$?
  if [ "$status" -eq 3 ]; then
    echo "SKIPPED: $1 cannot be built here"
    exit 77
  fi
  [ "$status" -eq 0 ] || exit 1
}
