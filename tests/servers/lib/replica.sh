# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A primary server, NAME-1, and its replica, NAME-2, of MariaDB or PostgreSQL.
. "$servers/lib/$ARG.sh"
. "$servers/lib/cluster.sh"
. "$servers/lib/replica-$ARG.sh"

replica_needs() {
    "${ARG}_needs"
}

replica_up() {
    replica_needs
    cluster=$name
    MEMBERS="$cluster-1 $cluster-2"
    save
    (replica_primary) && (replica_second) || abandon
    OPTIONS=$(with "$cluster-1" eval 'echo "$OPTIONS"')
    OPTIONS_TCP=$(with "$cluster-1" eval 'echo "$OPTIONS_TCP"')
    HOST=127.0.0.1
    PORT=$(of_members PORT)
    LOG=$(of_members LOG)
}

replica_again() {
    local member
    for member in $MEMBERS; do
        with "$member" start_again || exit
    done
}
