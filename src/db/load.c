// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "db/internal.h"

#define BLOCK_ROWS  1000u
#define BLOCK_BYTES (256u * 1024)
#define COMMIT_ROWS 100000u
// Attempts to begin a load of a locked database; the driver waits in between.
#define BEGIN_TRIES 60

// The ways to load, fastest first.
enum way {
    WAY_FEED, // one connection for all threads
    WAY_BULK, // bulk operations on the load's own connection
    WAY_TEXT, // multi-row INSERTs
};

struct sb_load {
    struct sb_con_priv *con; // NULL: the connection was closed
    struct sb_load *next;    // of the same connection
    enum way way;
    bool private; // one transaction on the connection, no feed
    bool begun;   // private, WAY_TEXT: the transaction is open
    struct sb__feed *feed;
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
    struct sb__feed *f = ld->feed;

    pthread_mutex_lock(&ld->con->ctx->lock);
    ld->feed = NULL;
    pthread_mutex_unlock(&ld->con->ctx->lock);
    if (f)
        sb__feed_put(f);
}

static int text_run(struct sb_load *ld, const char *sql, size_t len)
{
    ld->failed = sb__con_execute(ld->con, sql, len);
    ld->why = ld->con->err;
    return ld->failed;
}

// Undoes the transaction of a private load by text. The error of the load, if
// any, stays that of the connection.
static void text_undo(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;
    struct sb_err unused;

    if (!ld->begun)
        return;
    ld->begun = false;
    if (c->has_result)
        sb__result_end(c);
    if (c->open && !c->lost && c->drv->generic->reset)
        c->drv->generic->reset(c->conn, &unused);
}

static void give_up(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;
    struct sb_err err;

    text_undo(ld);
    if (ld->feed)
        sb__feed_abandon(ld->feed, ld->table);
    if (c->load != ld)
        return;
    c->load = NULL;
    c->drv->bulk->end(c->conn, false, &err);
}

// Ends the load with the error in con->err. report: logs and counts it (not if
// another thread did). Also ends the transaction and releases the connection,
// because the script may never close the load.
static int load_fail(struct sb_load *ld, bool report)
{
    struct sb_con_priv *c = ld->con;
    char what[160];

    if (report) {
        snprintf(what, sizeof(what), "loading table '%.100s'", ld->table);
        sb__con_error(c, what, "", 0);
    } else {
        sb__con_failed(c);
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
    if (ld->con->err.code == SB_ERESTART && !ld->private)
        ld->con->err.code = SB_EQUERY;
    return load_fail(ld, report);
}

bool sb__load_wait(int rc, int tries, const char *table)
{
    if (rc != SB_ERESTART || tries == BEGIN_TRIES)
        return false;
    if (tries == 1)
        sb_log(SB_LOG_NOTICE,
            "loading table '%s': waiting for another process or connection "
            "that holds a lock on the database",
            table);
    return true;
}

// A private load does not wait: the event is restarted instead.
static int own_begin(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;
    const struct sb_bulk_ops *ops = c->drv->bulk;
    bool is_short = ld->private && ops->begin_short;
    int rc, tries = 0;

    do {
        rc = (is_short ? ops->begin_short : ops->begin)(
            c->conn, ld->table, ld->columns, ld->ncolumns, &c->err);
    } while (!ld->private && sb__load_wait(rc, ++tries, ld->table));
    if (rc)
        return rc;
    sb_err_clear(&c->err);
    c->load = ld;
    return 0;
}

static int choose_way(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;
    int rc = SB_EUNSUPPORTED;

    if (c->drv->bulk && (c->drv->caps & SB_CAP_ONE_LOADER) && !ld->private) {
        ld->way = WAY_FEED;
        return sb__feed_get(c, ld->table, &ld->feed, &c->err);
    }
    if (c->drv->bulk) {
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

static void list_add(struct sb_con_priv *c, struct sb_load *ld)
{
    pthread_mutex_lock(&c->ctx->lock);
    ld->next = c->loads;
    c->loads = ld;
    pthread_mutex_unlock(&c->ctx->lock);
}

static void list_remove(struct sb_con_priv *c, struct sb_load *ld)
{
    struct sb_load **p = &c->loads;

    pthread_mutex_lock(&c->ctx->lock);
    while (*p != ld)
        p = &(*p)->next;
    *p = ld->next;
    pthread_mutex_unlock(&c->ctx->lock);
}

static struct sb_load *open_load(
    struct sb_con *con, const char *table, const char *columns, bool private)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb_load *ld;
    int rc;

    if (sb__con_begin(c) || sb__pipeline_refuse(c, "load()"))
        return NULL;
    ld = load_new(table, columns);
    if (!ld) {
        sb_err_set(&c->err, SB_ENOMEM, "out of memory");
        sb__con_failed(c);
        return NULL;
    }
    ld->con = c;
    ld->private = private;
    rc = choose_way(ld);
    if (rc) {
        c->err.code = rc;
        if (!ld->failed)
            load_fatal(ld, true);
        load_free(ld);
        return NULL;
    }
    list_add(c, ld);
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
    struct sb_con_priv *c = ld->con;
    const struct sb_bulk_ops *ops = c->drv->bulk;
    int rc = ops->rows(c->conn, ld->values, ld->rows, &c->err);

    ld->uncommitted += ld->rows;
    if (rc == 0 && ld->uncommitted >= COMMIT_ROWS && !ld->private &&
        !(c->drv->caps & SB_CAP_ONE_COMMIT)) {
        c->load = NULL;
        ld->uncommitted = 0;
        rc = ops->end(c->conn, true, &c->err);
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
    struct sb__quoting q = sb__con_quoting(ld->con);
    struct sb_buf *b = &ld->text;

    sb_buf_clear(b);
    sb_buf_addf(b, "INSERT INTO %s (%s) VALUES ", ld->table, ld->columns);
    return sb__quote_rows(
        b, &q, ld->values, ld->rows, ld->ncolumns, &ld->con->err);
}

static int send_text(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;

    if (build_text(ld)) {
        ld->failed = sb__con_failed(c);
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
    int rc = sb__feed_rows(ld->feed, &b, &ld->con->err, &first);

    if (rc != SB_EUNSUPPORTED)
        return rc ? load_fatal(ld, first) : 0;
    drop_feed(ld);
    sb_err_clear(&ld->con->err);
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
    if (!ld || ld->failed || !ld->con)
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
    return ld && !ld->con;
}

static int refused(struct sb_load *ld)
{
    if (!ld || !ld->failed)
        return SB_EUSAGE;
    if (!ld->con)
        return ld->failed;
    // Restores the error, which later calls on the connection have cleared.
    ld->con->err = ld->why;
    return sb__con_failed(ld->con);
}

static int no_integer(struct sb_load *ld, double value)
{
    char text[32] = "NaN"; // printf() would add a sign

    if (value == value)
        snprintf(text, sizeof(text), "%.17g", value);
    sb_err_set(&ld->con->err, SB_ERANGE,
        "%s is not a 64-bit integer (a value for table '%s')", text, ld->table);
    return load_fail(ld, true);
}

int sb_load_refuse(struct sb_load *ld, const char *why)
{
    if (!next_value(ld))
        return refused(ld);
    sb_err_set(&ld->con->err, SB_ERANGE, "%s (a value for table '%s')", why,
        ld->table);
    return load_fail(ld, true);
}

static int add_value(struct sb_load *ld, struct sb_value value)
{
    struct sb_value *v = next_value(ld);

    if (!v)
        return refused(ld);
    if (sb__value_check(ld->con->drv, &value, &ld->con->err))
        return load_fail(ld, true);
    *v = value;
    return value_done(ld);
}

int sb_load_int(struct sb_load *ld, double value)
{
    if (value >= -0x1p63 && value < 0x1p63 && value == floor(value))
        return sb_load_int64(ld, (int64_t)value);
    return next_value(ld) ? no_integer(ld, value) : refused(ld);
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
        return refused(ld);
    *v = (struct sb_value){ .type = SB_VALUE_NULL };
    return value_done(ld);
}

static bool grow(struct sb_load *ld, size_t len)
{
    size_t cap = ld->cap;
    char *p;

    while (cap - ld->len < len)
        cap *= 2;
    if (cap == ld->cap)
        return true;
    p = realloc(ld->bytes, cap);
    if (!p)
        return false;
    ld->bytes = p;
    ld->cap = cap;
    return true;
}

char *sb_load_room(struct sb_load *ld, size_t len)
{
    struct sb_value *v = next_value(ld);
    char *room;

    if (!v)
        return NULL;
    if (len > INT32_MAX || !grow(ld, len)) {
        sb_err_set(&ld->con->err, SB_ENOMEM,
            "no memory for a value of %zu bytes", len);
        load_fail(ld, true);
        return NULL;
    }
    room = ld->bytes + ld->len;
    *v = (struct sb_value){
        .type = SB_VALUE_TEXT, .len = (uint32_t)len, .i = (int64_t)ld->len
    };
    ld->len += len;
    value_done(ld);
    return room;
}

int sb_load_text(struct sb_load *ld, const char *text, size_t len)
{
    char *room = sb_load_room(ld, len);

    if (!room)
        return refused(ld);
    memcpy(room, text, len);
    return 0;
}

static int commit(struct sb_load *ld)
{
    struct sb_con_priv *c = ld->con;
    bool first = true;
    int rc = 0;

    if (ld->column > 0) {
        sb_err_set(&c->err, SB_EUSAGE, "the last row is incomplete");
        return load_fail(ld, true);
    }
    if (send_block(ld))
        return ld->failed;
    if (ld->way == WAY_FEED) {
        rc = sb__feed_commit(ld->feed, &c->err, &first);
        // Another thread detected that the server does not support loads. This
        // one had not sent a row yet, so nothing is missing.
        if (rc == SB_EUNSUPPORTED) {
            sb_err_clear(&c->err);
            rc = 0;
        }
    } else if (ld->way == WAY_BULK) {
        c->load = NULL;
        rc = c->drv->bulk->end(c->conn, true, &c->err);
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

static void detach(struct sb_load *ld)
{
    list_remove(ld->con, ld);
    drop_feed(ld);
    ld->con = NULL;
}

int sb_load_close(struct sb_load *ld, int do_commit)
{
    int rc = 0; // a rollback never fails

    if (do_commit)
        rc = ld->con && !ld->failed ? commit(ld) : refused(ld);
    if (ld->con) {
        if (!do_commit)
            give_up(ld);
        detach(ld);
    }
    load_free(ld);
    return rc;
}

void sb__loads_drop(struct sb_con_priv *c)
{
    while (c->loads) {
        struct sb_load *ld = c->loads;

        give_up(ld);
        detach(ld);
    }
}

void sb__loads_cancel(struct sb_con_priv *c)
{
    for (struct sb_load *ld = c->loads; ld; ld = ld->next) {
        if (ld->feed)
            sb__feed_cancel(ld->feed);
    }
}
