// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a server that is too old says about itself. The fake one does not send
// its version.
#include "fake_pgsql.h"

static char told[SB_PARTS][600];

static void tell(void *arg, enum sb_inspect_part part, const char *source,
    const struct sb_err *why)
{
    snprintf(told[part], sizeof(told[part]), "%s: %s", source,
        why ? why->msg : "known");
}

static void an_old_server(void)
{
    const struct sb_inspect_sink to = { .parts = 1u << SB_PART_SIZE |
                                                 1u << SB_PART_STATISTICS |
                                                 1u << SB_PART_LOG,
        .part = tell };

    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.info->inspect(conn, &to, &err), 0);
    CHECK_STR(told[SB_PART_SIZE], "pg_stat_user_tables: needs PostgreSQL 12");
    CHECK_STR(
        told[SB_PART_STATISTICS], "pg_stat_user_tables: needs PostgreSQL 12");
    CHECK_STR(
        told[SB_PART_LOG], "pg_current_wal_insert_lsn(): needs PostgreSQL 10");
    CHECK_STR(told[SB_PART_CACHE], "");
    CHECK_STR(server.queries, "");
    finish();
}

CHECK_FILE
{
    RUN(an_old_server);
    return check_done();
}
