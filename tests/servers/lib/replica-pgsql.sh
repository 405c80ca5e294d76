# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# PostgreSQL streaming replication; the replica starts as a copy of the primary.

replica_primary() {
    begin_member "$cluster-1" pgsql
    pgsql_up
    finish_member
}

replica_streams() {
    [ "$($ADMIN -c "SELECT status FROM pg_stat_wal_receiver")" = streaming ]
}

replica_second() {
    local port
    port=$(with "$cluster-1" eval 'echo "$PORT"')
    begin_member "$cluster-2" pgsql
    pgsql_place
    cd "$state" || exit
    PGPASSWORD=sbtest quiet "${as[@]}" pg_basebackup -D "$DATADIR" -R -N \
        -c fast -X stream -h 127.0.0.1 -p "$port" -U postgres
    pgsql_configure
    pgsql_start
    await 120 replica_streams
    finish_member
}
