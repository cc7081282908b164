#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes docs/demo.svg, which the README shows, from a run of the demo; takes half a minute.
#   docs/make_recording.sh [build folder]
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
program=${1:-$root/build/dev}/examples/demo_program/demo
if [ ! -x "$program" ]; then
  echo "make_recording.sh: no $program; run make build" >&2
  exit 1
fi
trap 'rm -f "$root/docs/demo.svg.tmp"' EXIT
"$program" --record "$root/docs/demo.svg.tmp"
mv "$root/docs/demo.svg.tmp" "$root/docs/demo.svg"
