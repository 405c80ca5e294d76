#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Installs the packages that building and testing require.
#
#     third_party/install-deps.sh [--list] [build] [test] [servers]
#                                 [browser] [charts] [cross]
#
# build: to build (default). test: for the whole test suite and the checks of
# .ci/run. servers: the databases that tests/servers/ starts; their system
# services are neither started nor enabled. browser: Chromium, for the tests of
# the HTML report (300 MB), Prometheus, for those of the live view, and Maven.
# charts: Maven, which get-charts needs if there is no npm. cross: compilers for arm64
# and musl, and qemu (only with apt). --list: only print the packages that are missing.
# Works as root or with sudo without a password prompt; otherwise it prints the missing
# packages and exits with status 1. apt is tested; dnf and apk are not.
set -eu

# Of alternatives (a|b), the first one that the suite has is installed; golang-go only
# if it is new enough for FerretDB.
apt_build='gcc libc6-dev make autoconf automake libtool pkg-config
    libluajit-5.1-dev libck-dev libjansson-dev zlib1g-dev libsqlite3-dev
    libmariadb-dev libpq-dev libmongoc-dev libmicrohttpd-dev
    libboost-context-dev liburing-dev'
apt_test='python3-cram python3-jsonschema python3-yaml sqlite3 shellcheck lua-check pmccabe
    clang-format-14 clang-14|clang
    libclang-rt-14-dev|libclang-rt-dev xz-utils zsh
    libopenmpi-dev openmpi-bin libmpich-dev mpich
    openssh-client openssh-server iproute2
    slurmctld slurmd slurm-client munge'
apt_servers='mariadb-server galera-4 rsync iproute2 postgresql pgbouncer
    haproxy openssl procps maven libaio1|libaio1t64 default-jdk-headless mmdebstrap
    python3-pip golang-go'
apt_cross='gcc-aarch64-linux-gnu qemu-user-static musl-tools
    mmdebstrap dpkg-dev tcl'
apt_browser='chromium chromium-driver python3 maven prometheus'
dnf_build='gcc make autoconf automake libtool pkgconf-pkg-config
    luajit-devel ck-devel jansson-devel zlib-devel sqlite-devel
    mariadb-connector-c-devel libpq-devel mongo-c-driver-devel
    libmicrohttpd-devel boost-devel liburing-devel'
dnf_test='python3-cram sqlite ShellCheck clang
    clang-tools-extra compiler-rt zsh openmpi-devel mpich-devel
    openssh-clients openssh-server iproute'
dnf_servers='mariadb-server mariadb-server-galera rsync iproute
    postgresql-server pgbouncer haproxy openssl procps-ng maven libaio
    java-latest-openjdk-devel python3-pip golang'
dnf_browser='chromium chromedriver python3 nodejs-npm'
apk_build='build-base autoconf automake libtool pkgconf luajit-dev
    ck-dev jansson-dev zlib-dev sqlite-dev mariadb-connector-c-dev libpq-dev
    mongo-c-driver-dev libmicrohttpd-dev linux-headers boost-dev
    liburing-dev'
apk_test='sqlite shellcheck luacheck clang
    clang-extra-tools compiler-rt bash zsh openmpi-dev mpich-dev
    openssh-client openssh-server iproute2'
apk_servers='mariadb mariadb-client rsync iproute2 postgresql pgbouncer
    haproxy openssl procps setpriv bash maven openjdk17-jdk py3-pip go'
apk_browser='chromium chromium-chromedriver python3 npm prometheus'

list_only=
sets=
for arg; do
    case $arg in
    --list) list_only=yes ;;
    build | test | servers | browser | charts | cross) sets="$sets $arg" ;;
    *)
        sed -n 's/^# \{0,1\}//; 4,16p' "$0" >&2
        exit 2
        ;;
    esac
done
: "${sets:=build}"

for manager in apt-get dnf apk none; do
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
    esac
}

# has_candidate package: whether apt can install it.
has_candidate() {
    version=$(apt-cache policy "$1" 2>/dev/null |
        sed -n 's/^ *Candidate: *//p')
    case $1:$version in
    *: | *:'(none)') return 1 ;;
    golang-go:*) dpkg --compare-versions "$version" ge 2:1.22 ;;
    esac
}

# choose alternatives: prints the first that is installed, otherwise the first that
# can be. Prints nothing if the suite has none of them. A new system does not know
# its packages yet.
choose() {
    first=${1%%|*}
    if [ "$manager" != apt-get ] || ! has_candidate gcc; then
        echo "$first"
        return
    fi
    for package in $(echo "$1" | tr '|' ' '); do
        ! installed "$package" || { echo "$package" && return; }
    done
    for package in $(echo "$1" | tr '|' ' '); do
        ! has_candidate "$package" || { echo "$package" && return; }
    done
    echo "install-deps.sh: this suite has no usable package $first: the tests or" \
        "checks that need it are skipped" >&2
}

become=
if [ "$(id -u)" != 0 ] && command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    become=sudo
fi
if [ "$manager" = apt-get ] && [ -z "$list_only" ] && ! has_candidate gcc &&
    { [ -n "$become" ] || [ "$(id -u)" = 0 ]; }; then
    $become apt-get update </dev/null
fi

missing=
for set in $sets; do
    case $manager:$set in
    apt-get:build) packages=$apt_build ;;
    apt-get:test) packages=$apt_test ;;
    apt-get:servers) packages=$apt_servers ;;
    dnf:build) packages=$dnf_build ;;
    dnf:test) packages=$dnf_test ;;
    dnf:servers) packages=$dnf_servers ;;
    apk:build) packages=$apk_build ;;
    apk:test) packages=$apk_test ;;
    apk:servers) packages=$apk_servers ;;
    apt-get:charts | dnf:charts | apk:charts) packages=maven ;;
    apt-get:browser) packages=$apt_browser ;;
    apt-get:cross) packages=$apt_cross ;;
    dnf:cross | apk:cross) packages= ;;
    dnf:browser) packages=$dnf_browser ;;
    apk:browser) packages=$apk_browser ;;
    *)
        echo "none of apt-get, dnf and apk is available: install the" \
            "packages in third_party/README.md manually" >&2
        exit 1
        ;;
    esac
    for alternatives in $packages; do
        package=$(choose "$alternatives")
        [ -z "$package" ] || installed "$package" ||
            missing="$missing $package"
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
esac

if [ "$(id -u)" != 0 ] && [ -z "$become" ]; then
    echo "missing packages:$missing" >&2
    echo "install them as root: $install" >&2
    exit 1
fi

# Debian starts installed services, also at boot. policy-rc.d prevents that and
# is removed afterwards. Services that were installed before are not changed.
policy=/usr/sbin/policy-rc.d
no_services() {
    if [ ! -e "$policy" ]; then
        trap '$become rm -f "$policy"' EXIT
        trap 'exit 130' INT TERM
        printf '#!/bin/sh\nexit 101\n' | $become tee "$policy" >/dev/null
        $become chmod 755 "$policy"
    fi
}

not_at_boot() {
    command -v systemctl >/dev/null || return 0
    for service in mariadb:mariadb-server postgresql:postgresql \
        pgbouncer:pgbouncer haproxy:haproxy prometheus:prometheus \
        ssh:openssh-server munge:munge slurmctld:slurmctld slurmd:slurmd; do
        case " $missing " in
        *" ${service#*:} "*)
            $become systemctl disable "${service%:*}" >/dev/null 2>&1 || : ;;
        esac
    done
}

if [ "$manager" = apt-get ]; then
    no_services
    install="env DEBIAN_FRONTEND=noninteractive $install"
    # The package lists may be empty (new system) or outdated.
    # shellcheck disable=SC2086
    $become $install </dev/null || {
        $become apt-get update </dev/null
        # shellcheck disable=SC2086
        $become $install </dev/null
    }
    not_at_boot
    exit 0
fi
# shellcheck disable=SC2086
$become $install </dev/null
