// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "db/load/load_private.h"
#include "db/sql/sql.h"
#include "kit/array.h"
#include "loop/helper.h"

#define BLOCK_ROWS  1000u
#define BLOCK_BYTES (256u * 1024)
#define COMMIT_ROWS 100000u

// The ways to load, fastest first.
enum way {
    WAY_FEED, // one connection for all threads
    WAY_BULK, // bulk operations on the load's own connection
    WAY_TEXT, // multi-row INSERTs
};

struct sb_load {
    struct sb__child child; // first; con is NULL: the connection was closed
    struct sb__handle handle;
    enum way way;
    bool private;         // one transaction on the connection, no feed
    bool begun;           // private, WAY_TEXT: the transaction is open
    bool alone;           // WAY_BULK: a load is open on the connection
    struct sb__seat seat; // WAY_FEED; protected by the context's lock
    char *table, *columns;
    uint32_t ncolumns;
    struct sb_value *values; // BLOCK_ROWS * ncolumns
    uint32_t column, rows;   // position of the next value in the block
    uint32_t block_rows;     // rows of a full block
    char *bytes;             // texts; values hold offsets until sent
    size_t len, cap;
    uint64_t uncommitted;
    struct sb_buf text; // INSERT being built
    int failed;         // the first error, which all later calls return
    struct sb_err why;  // its details
};

static uint32_t count_columns(const char *columns)
{
    uint32_t n = 1;

    for (; *columns; columns++)
        n += *columns == ',';
    return n;
}

static void load_free(struct sb_load *ld)
{
    sb_buf_done(&ld->text);
    free(ld->table);
    free(ld->columns);
    free(ld->values);
    free(ld->bytes);
    free(ld);
}

static struct sb_load *load_new(const char *table, const char *columns)
{
    struct sb_load *ld = calloc(1, sizeof(*ld));

    if (!ld)
        return NULL;
    sb_buf_init(&ld->text, 0);
    ld->ncolumns = count_columns(columns);
    ld->cap = BLOCK_BYTES + 4096;
    ld->block_rows = BLOCK_ROWS;
    ld->table = strdup(table);
    ld->columns = strdup(columns);
    ld->values = malloc(BLOCK_ROWS * ld->ncolumns * sizeof(*ld->values));
    ld->bytes = malloc(ld->cap);
    if (ld->table && ld->columns && ld->values && ld->bytes)
        return ld;
    load_free(ld);
    return NULL;
}

static void drop_feed(struct sb_load *ld)
{
    struct sb__feed *f = ld->seat.feed;
    pthread_mutex_t *lock = &ld->child.con->ctx->lock;

    pthread_mutex_lock(lock);
    ld->seat.feed = NULL;
    pthread_mutex_unlock(lock);
    if (f)
        sb__feed_put(f);
}

// Takes the connection, for this load alone.
static void take_connection(struct sb_load *ld)
{
    assert(!ld->alone);
    ld->alone = true;
    sb__con_enter(ld->child.con, SB__CON_LOADING);
}

// Releases the connection and ends the driver's load, with or without the rows
// since the last commit.
static int end_bulk(struct sb_load *ld, bool commit, struct sb_err *err)
{
    struct sb_con_priv *c = ld->child.con;

    assert(ld->alone);
    ld->alone = false;
    if (c->state == SB__CON_LOADING) // otherwise it was lost
        sb__con_enter(c, SB__CON_OPEN);
    int rc = c->drv->bulk->end(c->conn, commit, err);

    sb__children_free_late(c);
    return rc;
}

static int text_run(struct sb_load *ld, const char *sql, size_t len)
{
    ld->failed = sb__query_execute(ld->child.con, sql, len);
    ld->why = ld->child.con->err;
    return ld->failed;
}

// Undoes the transaction of a private load by text. The error of the load, if
// any, stays that of the connection.
static void text_undo(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;
    struct sb_err unused;

    if (!ld->begun)
        return;
    ld->begun = false;
    sb__result_end(c);
    if (c->state == SB__CON_OPEN && c->drv->generic->reset)
        c->drv->generic->reset(c->conn, &unused);
}

static void give_up(struct sb_load *ld)
{
    struct sb_err err;

    text_undo(ld);
    if (ld->seat.feed)
        sb__feed_abandon(ld->seat.feed, ld->table);
    if (ld->alone)
        end_bulk(ld, false, &err);
}

// Ends the load with the error in con->err. report: logs and counts it (not if
// another thread did). Also ends the transaction and releases the connection,
// because the script may never close the load.
static int load_fail(struct sb_load *ld, bool report)
{
    struct sb_con_priv *c = ld->child.con;
    char what[160];

    if (report) {
        snprintf(what, sizeof(what), "loading table '%.100s'", ld->table);
        sb__error_report(c, what, "", 0);
    } else {
        sb__error_show(c);
    }
    ld->failed = c->err.code;
    ld->why = c->err;
    give_up(ld);
    drop_feed(ld);
    return ld->failed;
}

// A load cannot be restarted, because some of its rows may be committed, unless
// it is private.
static int load_fatal(struct sb_load *ld, bool report)
{
    if (ld->child.con->err.code == SB_ERESTART && !ld->private)
        ld->child.con->err.code = SB_EQUERY;
    return load_fail(ld, report);
}

// A private load does not wait: the event is restarted instead.
static int own_begin(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;
    const struct sb_bulk_ops *ops = c->drv->bulk;
    bool is_short = ld->private && ops->begin_short;
    int rc, tries = 0;

    if (sb__con_lost(c)) // begin() may not send anything
        return sb_err_set(&c->err, SB_ELOST, "the connection was lost");
    do {
        rc = (is_short ? ops->begin_short : ops->begin)(
            c->conn, ld->table, ld->columns, ld->ncolumns, &c->err);
    } while (!ld->private && sb__busy_again(rc, ++tries, ld->table));
    if (rc)
        return rc;
    sb_err_clear(&c->err);
    take_connection(ld);
    return 0;
}

static int choose_way(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;
    int rc = SB_EUNSUPPORTED;

    // Users of one thread cannot share a loader, which has a lock.
    if (c->drv->bulk && (c->drv->caps & SB_CAP_ONE_LOADER) && !ld->private &&
        !sb_helper_shared()) {
        ld->way = WAY_FEED;
        rc = sb__feed_get(c, ld->table, &ld->seat, &c->err);
        if (rc == 0)
            rc = sb__feed_open(&ld->seat, c, &c->err);
        if (rc) // otherwise the failure of this load would end other loads
            drop_feed(ld);
        return rc;
    }
    if (c->drv->bulk &&
        !(sb_helper_shared() && (c->drv->caps & SB_CAP_BULK_BLOCKS))) {
        ld->way = WAY_BULK;
        rc = own_begin(ld);
    }
    if (rc == SB_EUNSUPPORTED && c->sql) {
        sb_err_clear(&c->err);
        ld->way = WAY_TEXT;
        rc = ld->private ? text_run(ld, "BEGIN", 5) : 0;
        ld->begun = ld->private && rc == 0;
    }
    return rc;
}

static void detach(struct sb_load *ld)
{
    drop_feed(ld);
    assert(!ld->alone && !ld->begun);
    sb__child_remove(&ld->child);
}

static void abandon_child(struct sb__child *k)
{
    struct sb_load *ld = (struct sb_load *)k;

    give_up(ld);
    detach(ld);
}

// After an error the script could not close its loader.
static void warn_lost(const struct sb__child *k)
{
    const struct sb_load *ld = (const struct sb_load *)k;
    const struct sb_con_priv *c = k->con;
    bool pending = ld->rows > 0 || ld->column > 0 || ld->uncommitted > 0;

    if (!pending || ld->failed || c->pub.error || sb__call_is_refused(c) ||
        atomic_exchange_explicit(
            &c->inst->db->owner->unsent, true, memory_order_relaxed))
        return;
    sb_log(SB_LOG_WARNING,
        "rows for table '%.100s' are lost, because the script did not close "
        "their loader",
        ld->table);
}

static void cancel_child(struct sb__child *k)
{
    struct sb_load *ld = (struct sb_load *)k;

    if (ld->seat.feed)
        sb__feed_cancel(&ld->seat);
}

// The rows of a private load by text are in a transaction.
static bool keeps_connection(const struct sb__child *k)
{
    return ((const struct sb_load *)k)->begun;
}

static const struct sb__child_ops load_ops = { .keeps = keeps_connection,
    .warn = warn_lost,
    .abandon = abandon_child,
    .orphan = abandon_child,
    .cancel = cancel_child };

static void free_dropped(struct sb__handle *h);

static struct sb_load *open_load(
    struct sb_con *con, const char *table, const char *columns, bool private)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_load *ld;
    int rc;

    if (sb__call_ready(c) || sb__pipe_refuse(c, "load()"))
        return NULL;
    ld = load_new(table, columns);
    if (!ld) {
        sb__error_no_memory(c);
        return NULL;
    }
    ld->private = private;
    ld->child.ops = &load_ops;
    sb__child_add(c, &ld->child); // from now on it can be canceled
    rc = choose_way(ld);
    if (rc) {
        c->err.code = rc;
        if (!ld->failed)
            load_fatal(ld, true);
        detach(ld);
        load_free(ld);
        return NULL;
    }
    sb__handle_give(&ld->handle, c->ctx, free_dropped);
    return ld;
}

struct sb_load *sb_load_open(
    struct sb_con *con, const char *table, const char *columns)
{
    return open_load(con, table, columns, false);
}

struct sb_load *sb_load_open_private(
    struct sb_con *con, const char *table, const char *columns)
{
    return open_load(con, table, columns, true);
}

static int send_bulk(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;
    const struct sb_bulk_ops *ops = c->drv->bulk;
    int rc = ops->rows(c->conn, ld->values, ld->rows, &c->err);

    ld->uncommitted += ld->rows;
    if (rc == 0 && ld->uncommitted >= COMMIT_ROWS && !ld->private &&
        !(c->drv->caps & SB_CAP_ONE_COMMIT)) {
        ld->uncommitted = 0;
        rc = end_bulk(ld, true, &c->err);
        if (rc == 0)
            rc = own_begin(ld);
    }
    if (rc == 0)
        return 0;
    c->err.code = rc;
    return load_fatal(ld, true);
}

static int build_text(struct sb_load *ld)
{
    struct sb__quoting q = sb__query_quoting(ld->child.con);
    struct sb_buf *b = &ld->text;

    sb_buf_clear(b);
    sb_buf_addf(b, "INSERT INTO %s (%s) VALUES ", ld->table, ld->columns);
    return sb__quote_rows(
        b, &q, ld->values, ld->rows, ld->ncolumns, &ld->child.con->err);
}

static int send_text(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;

    if (build_text(ld)) {
        ld->failed = sb__error_show(c);
        ld->why = c->err;
    } else {
        text_run(ld, ld->text.data, ld->text.len);
    }
    if (ld->failed)
        text_undo(ld);
    return ld->failed;
}

static int send_feed(struct sb_load *ld)
{
    struct sb__block b = { ld->table, ld->columns, ld->ncolumns, ld->rows,
        ld->values };
    bool first;
    int rc = sb__feed_rows(ld->seat.feed, &b, &ld->child.con->err, &first);

    if (rc != SB_EUNSUPPORTED)
        return rc ? load_fatal(ld, first) : 0;
    drop_feed(ld);
    sb_err_clear(&ld->child.con->err);
    ld->way = WAY_TEXT;
    return send_text(ld);
}

// Converts offsets to addresses, now that the bytes do not move any more.
static void settle_bytes(struct sb_load *ld)
{
    size_t n = (size_t)ld->rows * ld->ncolumns;

    for (size_t i = 0; i < n; i++) {
        struct sb_value *v = &ld->values[i];

        if (v->type == SB_VALUE_TEXT)
            v->s = ld->bytes + v->i;
    }
}

static int send_block(struct sb_load *ld)
{
    int rc = 0;

    if (ld->rows == 0)
        return 0;
    settle_bytes(ld);
    switch (ld->way) {
    case WAY_FEED:
        rc = send_feed(ld);
        break;
    case WAY_BULK:
        rc = send_bulk(ld);
        break;
    case WAY_TEXT:
        rc = send_text(ld);
        break;
    }
    ld->rows = 0;
    ld->len = 0;
    return rc;
}

// Returns the place of the next value. A full block is not sent after its last
// value, because the caller may still be writing it (sb_load_room()), but
// before the first value of the next block.
static struct sb_value *next_value(struct sb_load *ld)
{
    if (!ld || ld->failed || !ld->child.con)
        return NULL;
    if (ld->column == 0 && ld->rows > 0 &&
        (ld->rows >= ld->block_rows || ld->len >= BLOCK_BYTES) &&
        send_block(ld))
        return NULL;
    return &ld->values[(size_t)ld->rows * ld->ncolumns + ld->column];
}

void sb_load_block(struct sb_load *ld, uint32_t rows)
{
    ld->block_rows = rows < 1 ? 1 : rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
}

static int value_done(struct sb_load *ld)
{
    if (++ld->column == ld->ncolumns) {
        ld->column = 0;
        ld->rows++;
    }
    return 0;
}

int sb_load_detached(const struct sb_load *ld)
{
    return ld && !ld->child.con;
}

static int refused_value(struct sb_load *ld)
{
    if (!ld || !ld->failed)
        return SB_EUSAGE;
    if (!ld->child.con)
        return ld->failed;
    // Restores the error, which later calls on the connection have cleared.
    ld->child.con->err = ld->why;
    return sb__error_show(ld->child.con);
}

static int no_integer(struct sb_load *ld, double value)
{
    char text[32] = "NaN"; // printf() would add a sign

    if (value == value)
        snprintf(text, sizeof(text), "%.17g", value);
    sb_err_set(&ld->child.con->err, SB_ERANGE,
        "%s is not a 64-bit integer (a value for table '%s')", text, ld->table);
    return load_fail(ld, true);
}

int sb_load_refuse(struct sb_load *ld, const char *why)
{
    if (!next_value(ld))
        return refused_value(ld);
    sb_err_set(&ld->child.con->err, SB_ERANGE, "%s (a value for table '%s')",
        why, ld->table);
    return load_fail(ld, true);
}

static int add_value(struct sb_load *ld, struct sb_value value)
{
    struct sb_value *v = next_value(ld);

    if (!v)
        return refused_value(ld);
    if (sb__value_check(ld->child.con, &value))
        return load_fail(ld, true);
    *v = value;
    return value_done(ld);
}

int sb_load_int(struct sb_load *ld, double value)
{
    if (value >= -0x1p63 && value < 0x1p63 && value == floor(value))
        return sb_load_int64(ld, (int64_t)value);
    return next_value(ld) ? no_integer(ld, value) : refused_value(ld);
}

int sb_load_int64(struct sb_load *ld, int64_t value)
{
    return add_value(ld, (struct sb_value){ .type = SB_VALUE_INT, .i = value });
}

int sb_load_uint64(struct sb_load *ld, uint64_t value)
{
    return add_value(
        ld, (struct sb_value){
                .type = value > INT64_MAX ? SB_VALUE_UINT : SB_VALUE_INT,
                .u = value });
}

int sb_load_double(struct sb_load *ld, double value)
{
    return add_value(
        ld, (struct sb_value){ .type = SB_VALUE_DOUBLE, .d = value });
}

int sb_load_null(struct sb_load *ld)
{
    struct sb_value *v = next_value(ld);

    if (!v)
        return refused_value(ld);
    *v = (struct sb_value){ .type = SB_VALUE_NULL };
    return value_done(ld);
}

char *sb_load_room(struct sb_load *ld, size_t len)
{
    struct sb_value *v = next_value(ld);
    char *bytes;

    if (!v)
        return NULL;
    bytes = len > INT32_MAX
                ? NULL
                : sb_array_room(ld->bytes, &ld->cap, ld->len, len, 1);
    if (!bytes) {
        sb_err_set(&ld->child.con->err, SB_ENOMEM,
            "no memory for a value of %zu bytes", len);
        load_fail(ld, true);
        return NULL;
    }
    ld->bytes = bytes;
    bytes += ld->len;
    *v = (struct sb_value){
        .type = SB_VALUE_TEXT, .len = (uint32_t)len, .i = (int64_t)ld->len
    };
    ld->len += len;
    value_done(ld);
    return bytes;
}

int sb_load_text(struct sb_load *ld, const char *text, size_t len)
{
    char *room = sb_load_room(ld, len);

    if (!room)
        return refused_value(ld);
    memcpy(room, text, len);
    return 0;
}

static int commit(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->child.con;
    bool first = true;
    int rc = 0;

    if (ld->column > 0) {
        sb_err_set(&c->err, SB_EUSAGE, "the last row is incomplete");
        return load_fail(ld, true);
    }
    if (send_block(ld))
        return ld->failed;
    if (ld->way == WAY_FEED) {
        rc = sb__feed_commit(ld->seat.feed, &c->err, &first);
        // Another thread detected that the server does not support loads. This
        // one had not sent a row yet, so nothing is missing.
        if (rc == SB_EUNSUPPORTED) {
            sb_err_clear(&c->err);
            rc = 0;
        }
    } else if (ld->way == WAY_BULK) {
        rc = end_bulk(ld, true, &c->err);
        c->err.code = rc;
    } else if (ld->begun) {
        rc = text_run(ld, "COMMIT", 6);
        if (rc)
            text_undo(ld);
        ld->begun = false;
        return rc;
    }
    return rc ? load_fatal(ld, first) : 0;
}

int sb_load_close(struct sb_load *ld, int do_commit)
{
    int rc = 0; // a rollback never fails

    if (do_commit)
        rc = ld->child.con && !ld->failed ? commit(ld) : refused_value(ld);
    if (ld->child.con) {
        if (!do_commit)
            give_up(ld);
        detach(ld);
    }
    sb__handle_end(&ld->handle);
    load_free(ld);
    return rc;
}

static void free_dropped(struct sb__handle *h)
{
    struct sb_load *ld = (struct sb_load *)((char *)h -
                                            offsetof(struct sb_load, handle));

    if (ld->child.con)
        warn_lost(&ld->child);
    sb_load_close(ld, 0);
}

void sb_load_drop(struct sb_load *ld)
{
    sb__handle_drop(&ld->handle);
}
