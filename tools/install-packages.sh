#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the given Debian packages that are missing. Does nothing, and needs no privileges, if all
# are installed.
set -eu

missing=""
for package in "$@"; do
  if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
    missing="$missing $package"
  fi
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "kubecxx: these packages are missing and there is no apt-get to install them:$missing" >&2
  exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
  sudo=""
elif command -v sudo >/dev/null; then
  sudo="sudo"
else
  echo "kubecxx: as root, run: apt-get install$missing" >&2
  exit 1
fi
echo "kubecxx: installing$missing"
$sudo apt-get update -qq
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
