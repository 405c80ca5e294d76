// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bulk insert of sysbench 1.0: collects INSERT text up to a limit.
#include "db/sql/sql.h"

#define BULK_MAX (512u * 1024)

static int misused(struct sb_con_priv *c, const char *text)
{
    sb_log(SB_LOG_ALERT, "%s", text);
    return sb__error_usage(c, "%s", text);
}

int sb_con_bulk_init(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc = sb__call_allowed(c); // nothing is sent: an open result stays open

    if (rc == 0)
        rc = sb__pipe_refuse(c, "bulk_insert_init()");
    if (rc)
        return rc;
    if (len == 0 || len >= BULK_MAX)
        return misused(c, "attempt to begin a bulk insert without a statement");
    sb__error_unsent(c);
    sb_buf_clear(&c->bulk);
    if (sb_buf_add(&c->bulk, sql, len) || sb_buf_adds(&c->bulk, " "))
        return sb__error_no_memory(c);
    c->bulk_head = c->bulk.len;
    c->bulk_rows = 0;
    return 0;
}

static int send_rows(struct sb_con_priv *c)
{
    int rc;

    if (c->bulk_rows == 0)
        return 0;
    rc = sb__call_ready(c);
    if (rc == 0)
        rc = sb__pipe_refuse(c, "a bulk insert");
    if (rc == 0)
        rc = sb__query_run(c, c->bulk.data, c->bulk.len, -1);
    if (rc == 0)
        sb__result_new(c, NULL);
    c->bulk_rows = 0;
    c->bulk.len = c->bulk_head;
    return rc;
}

int sb_con_bulk_next(struct sb_con *con, const char *row, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->bulk_head == 0)
        return misused(
            c, "attempt to call bulk_insert_next() before bulk_insert_init()");
    if (c->bulk_rows > 0 && c->bulk.len + 1 + len > BULK_MAX) {
        int rc = send_rows(c);

        if (rc)
            return rc;
    }
    if (c->bulk_head + len > BULK_MAX) {
        sb_err_set(&c->err, SB_EUSAGE,
            "Query length exceeds the maximum value (%u), aborting", BULK_MAX);
        sb_log(SB_LOG_FATAL, "%s", c->err.msg);
        return sb__error_show(c);
    }
    if (c->bulk_rows++ > 0)
        sb_buf_adds(&c->bulk, ",");
    sb_buf_add(&c->bulk, row, len);
    return c->bulk.failed ? sb__error_no_memory(c) : 0;
}

int sb_con_bulk_done(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc;

    // Scripts call this at their end, even if they have begun no bulk insert.
    if (c->bulk_head == 0)
        return 0;
    rc = send_rows(c);
    // Frees the buffer, because 512 KiB per connection are too much to keep.
    sb_buf_done(&c->bulk);
    sb_buf_init(&c->bulk, 0);
    c->bulk_head = 0;
    return rc;
}
