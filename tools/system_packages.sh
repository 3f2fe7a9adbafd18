#!/bin/bash
# Installs the Debian packages that are missing: with apt-get, and with sudo unless root.
# With a second argument "tests", also what only tests need: a browser, and locales of other languages.
# It asks for what is needed, not for package names, so that compilers or Pythons from elsewhere count too.
set -euo pipefail

python=${1:-python3}
missing=()

need() { # need PACKAGE COMMAND...: PACKAGE is missing when COMMAND fails
    local package=$1
    shift
    "$@" >/dev/null 2>&1 </dev/null || missing+=("$package")
}

has_header() {
    echo "#include <$1>" | g++ -x c++ -E - -o /dev/null
}

need git command -v git
need g++ command -v g++
need cmake command -v cmake
need ninja-build command -v ninja
need libboost-dev has_header boost/version.hpp
need python3 "$python" -c 'import sys; assert sys.version_info >= (3, 11)'
need python3-venv "$python" -c 'import ensurepip, venv'
need python3-dev "$python" -c \
    'import os, sysconfig; assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))'

if [ "${2:-}" = tests ]; then
    need locales test -e /usr/share/i18n/locales/tr_TR
    need chromium command -v chromium
    need chromium-driver command -v chromedriver
fi

if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

install=(apt-get install --yes --no-install-recommends "${missing[@]}")
sudo=()
if [ "$(id -u)" -ne 0 ]; then
    sudo=(sudo)
fi
echo "Missing: ${missing[*]}. Installing: ${sudo[*]} ${install[*]}"
if ! command -v apt-get >/dev/null; then
    echo "No apt-get here; docs/installation.md names other distributions' packages for what Debian calls: ${missing[*]}" >&2
    exit 1
fi
if [ ${#sudo[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    echo "Not root, and no sudo; run as root: apt-get update && ${install[*]}" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
if ! { "${sudo[@]}" apt-get update && "${sudo[@]}" "${install[@]}"; } </dev/null; then
    echo "The packages could not be installed; try: ${sudo[*]} apt-get update && ${sudo[*]} ${install[*]}" >&2
    exit 1
fi
