#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Installs what building and testing need from the system's own packages.
#
#     third_party/install-deps.sh [--list] [build] [test]
#
# build: to build (default). test: for the whole test suite and the checks of
# .ci/run. --list: only print the packages that are missing. Works as root,
# or by sudo without a password prompt; otherwise it says what is missing and
# ends with status 1. apt is tested; dnf, apk and brew are not.
set -eu

apt_build='gcc libc6-dev make autoconf automake libtool pkg-config
    libluajit-5.1-dev libck-dev libsqlite3-dev'
apt_test='python3-cram sqlite3 shellcheck lua-check pmccabe clang-format-14
    clang-14 libclang-rt-14-dev xz-utils'
dnf_build='gcc make autoconf automake libtool pkgconf-pkg-config
    luajit-devel ck-devel sqlite-devel'
dnf_test='python3-cram sqlite ShellCheck luacheck pmccabe clang
    clang-tools-extra compiler-rt'
apk_build='build-base autoconf automake libtool pkgconf luajit-dev
    concurrencykit-dev sqlite-dev linux-headers'
apk_test='py3-cram sqlite shellcheck luacheck pmccabe clang
    clang-extra-tools compiler-rt bash'
brew_build='autoconf automake libtool pkg-config luajit concurrencykit sqlite'
brew_test='cram shellcheck luacheck pmccabe clang-format'

list_only=
sets=
for arg; do
    case $arg in
    --list) list_only=yes ;;
    build | test) sets="$sets $arg" ;;
    *)
        sed -n 's/^# \{0,1\}//; 4,10p' "$0" >&2
        exit 2
        ;;
    esac
done
: "${sets:=build}"

for manager in apt-get dnf apk brew none; do
    ! command -v "$manager" >/dev/null || break
done

installed() {
    case $manager in
    apt-get)
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = \
            installed ]
        ;;
    dnf) rpm -q --quiet "$1" ;;
    apk) apk info -q -e "$1" >/dev/null 2>&1 ;;
    brew) brew list --versions "$1" >/dev/null 2>&1 ;;
    esac
}

missing=
for set in $sets; do
    case $manager:$set in
    apt-get:build) packages=$apt_build ;;
    apt-get:test) packages=$apt_test ;;
    dnf:build) packages=$dnf_build ;;
    dnf:test) packages=$dnf_test ;;
    apk:build) packages=$apk_build ;;
    apk:test) packages=$apk_test ;;
    brew:build) packages=$brew_build ;;
    brew:test) packages=$brew_test ;;
    *)
        echo "no apt-get, dnf, apk or brew here: install by hand what" \
            "third_party/README.md lists" >&2
        exit 1
        ;;
    esac
    for package in $packages; do
        installed "$package" || missing="$missing $package"
    done
done

[ -n "$missing" ] || exit 0
if [ -n "$list_only" ]; then
    echo "$missing"
    exit 0
fi

case $manager in
apt-get) install="apt-get install -y --no-install-recommends$missing" ;;
dnf) install="dnf install -y$missing" ;;
apk) install="apk add$missing" ;;
brew) install="brew install$missing" ;;
esac

become=
if [ "$manager" != brew ] && [ "$(id -u)" != 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
        become=sudo
    else
        echo "missing packages:$missing" >&2
        echo "install them as root: $install" >&2
        exit 1
    fi
fi

if [ "$manager" = apt-get ]; then
    install="env DEBIAN_FRONTEND=noninteractive $install"
    # The package lists of a new system are empty, those of an old one stale.
    # shellcheck disable=SC2086
    $become $install </dev/null && exit 0
    $become apt-get update </dev/null
fi
# shellcheck disable=SC2086
$become $install </dev/null
