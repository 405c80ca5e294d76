#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Generates ./configure from configure.ac. Requires autoconf, automake, libtool
# and pkg-config, which third_party/install-deps.sh installs.
set -eu
cd "$(dirname "$0")"
for tool in autoreconf:autoconf aclocal:automake libtoolize:libtool \
    pkg-config:pkg-config; do
    command -v "${tool%%:*}" >/dev/null || command -v "g${tool%%:*}" \
        >/dev/null || {
        echo "autogen.sh: ${tool%%:*} is missing (package ${tool##*:})" >&2
        exit 1
    }
done
mkdir -p build-aux
exec autoreconf --install "$@"
