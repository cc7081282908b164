#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Prints the environment of a benchmark: the head of every file in bench/results.
#   bench/facts.sh BUILD
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
echo "date      $(date -u +%Y-%m-%dT%H:%M:%SZ)"
echo "revision  $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
echo "cpu       $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
echo "memory    $(awk '/^MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)"
echo "kernel    $(uname -sr), huge pages $(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null || echo unknown)"
echo "libc      $(getconf GNU_LIBC_VERSION 2>/dev/null || echo unknown)"
echo "compiler  $(sed -n 's/^CMAKE_CXX_COMPILER:[^=]*=//p' "$build/CMakeCache.txt" | head -n 1 | xargs -I{} sh -c '{} --version | head -n 1')"
echo "build     $(sed -n 's/^CMAKE_BUILD_TYPE:[^=]*=//p' "$build/CMakeCache.txt")"
if command -v curl >/dev/null; then echo "curl      $(curl --version | head -n 1 | cut -d ' ' -f 1-4)"; fi
echo "load      $(cut -d ' ' -f 1-3 /proc/loadavg) (at the start; other work on the machine spoils the times)"
