// SPDX-License-Identifier: GPL-2.0-or-later
//
// The bulk insert of sysbench 1.0: collects INSERT text up to a limit.
#include "db/internal.h"

#define BULK_MAX (512u * 1024)

static int usage(struct sb_con_priv *c, const char *text)
{
    sb_log(SB_LOG_ALERT, "%s", text);
    sb_err_set(&c->err, SB_EUSAGE, "%s", text);
    return sb__con_failed(c);
}

static int no_memory(struct sb_con_priv *c)
{
    sb_err_set(&c->err, SB_ENOMEM, "out of memory");
    return sb__con_failed(c);
}

int sb_con_bulk_init(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc = sb__con_begin(c);

    if (rc == 0)
        rc = sb__pipeline_refuse(c, "bulk_insert_init()");
    if (rc)
        return rc;
    if (len == 0 || len >= BULK_MAX)
        return usage(c, "attempt to begin a bulk insert without a statement");
    sb_buf_clear(&c->bulk);
    if (sb_buf_add(&c->bulk, sql, len) || sb_buf_adds(&c->bulk, " "))
        return no_memory(c);
    c->bulk_head = c->bulk.len;
    c->bulk_rows = 0;
    return 0;
}

static int flush(struct sb_con_priv *c)
{
    int rc;

    if (c->bulk_rows == 0)
        return 0;
    rc = sb__con_begin(c);
    if (rc == 0)
        rc = sb__pipeline_refuse(c, "a bulk insert");
    if (rc == 0)
        rc = sb__con_run(c, c->bulk.data, c->bulk.len, -1);
    if (rc == 0)
        sb__con_result(c, NULL);
    c->bulk_rows = 0;
    c->bulk.len = c->bulk_head;
    return rc;
}

int sb_con_bulk_next(struct sb_con *con, const char *row, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;

    if (c->bulk_head == 0)
        return usage(
            c, "attempt to call bulk_insert_next() before bulk_insert_init()");
    if (c->bulk_rows > 0 && c->bulk.len + 1 + len > BULK_MAX) {
        int rc = flush(c);

        if (rc)
            return rc;
    }
    if (c->bulk_head + len > BULK_MAX) {
        sb_err_set(&c->err, SB_EUSAGE,
            "Query length exceeds the maximum value (%u), aborting", BULK_MAX);
        sb_log(SB_LOG_FATAL, "%s", c->err.msg);
        return sb__con_failed(c);
    }
    if (c->bulk_rows++ > 0)
        sb_buf_adds(&c->bulk, ",");
    sb_buf_add(&c->bulk, row, len);
    return c->bulk.failed ? no_memory(c) : 0;
}

int sb_con_bulk_done(struct sb_con *con)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    int rc;

    // Scripts call this at their end, even if they have begun no bulk insert.
    if (c->bulk_head == 0)
        return 0;
    rc = flush(c);
    // Frees the buffer, because 512 KiB per connection are too much to keep.
    sb_buf_done(&c->bulk);
    sb_buf_init(&c->bulk, 0);
    c->bulk_head = 0;
    return rc;
}
