// SPDX-License-Identifier: GPL-2.0-or-later
//
// The connection of the fake driver (fake.h) with a recorder, and with the
// functions that a driver calls for its own API.
#ifndef FAKE_RECORDED_H
#define FAKE_RECORDED_H

#include "db/op.h"
#include "fake.h"

static struct sb_stats stats;
static struct sb_rec *rec;
static int connects;
static bool in_transaction; // what the driver says
static struct sb_host host;
static bool sharing;       // other users run while a call waits
static char log_line[256]; // the last line that the driver has logged

static inline int fake_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *o, const struct sb_conn_info *info, struct sb_err *err)
{
    connects++;
    return 0;
}

static inline void fake_disconnect(struct sb_conn *conn)
{
}

static inline const char *fake_transaction(const struct sb_conn *conn)
{
    return in_transaction ? "" : NULL;
}

static const struct sb_generic_ops generic_ops = {
    .connect = fake_connect,
    .disconnect = fake_disconnect,
    .open_transaction = fake_transaction,
};

static inline void fake_log(int level, const char *text)
{
    snprintf(log_line, sizeof(log_line), "%d: %s", level, text);
}

static inline bool fake_shared(void)
{
    return sharing;
}

static inline void start_recorded(void)
{
    CHECK_INT(sb_stats_init(&stats, 1, 1, false), 0);
    rec = &stats.rec[0];
    drv.generic = &generic_ops;
    start();
    ctx.rec = &rec;
    memset(ctx.op, 0, sizeof(ctx.op));
    host = (struct sb_host){
        .abi = SB_DRIVER_ABI, .log = fake_log, .shared = fake_shared
    };
    sb__own_host(&host);
    c.pub.host = &host;
    log_line[0] = '\0';
    connects = 0;
    in_transaction = sharing = false;
}

static inline void finish_recorded(void)
{
    sb__handles_free(&ctx);
    finish();
    sb__op_names_free(&ctx);
    sb_stats_done(&stats);
    ctx.rec = &no_rec;
    ctx.handles = 0; // those that the end has freed
}

static inline int64_t op_index(const char *op)
{
    sb_rec_flush(rec);
    for (unsigned i = 0; i < stats.nops; i++) {
        if (strcmp(stats.op[i].name, op) == 0)
            return i;
    }
    return -1;
}

static inline int64_t op_count(const char *op)
{
    int64_t i = op_index(op);

    return i < 0 ? -1 : (int64_t)sb_rec_op_tally(rec, (int)i)->count;
}

static inline int64_t op_errors(const char *op)
{
    int64_t i = op_index(op);

    return i < 0 ? -1 : (int64_t)sb_rec_op_tally(rec, (int)i)->errors;
}

#endif
