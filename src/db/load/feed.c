// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared loaders: one connection loads the rows that several threads generate.
#include <stdlib.h>

#include "db/link.h"
#include "db/load/load_private.h"
#include "loop/helper.h"

// Loads of a database that another process has locked.

// Attempts to begin a load of a locked database; the driver waits in between.
#define BEGIN_TRIES 60

bool sb__busy_again(int rc, int tries, const char *table)
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

#define COMMIT_ROWS 100000u

struct sb__feed {
    struct sb__feed *next; // this and refs: protected by d->feed_lock
    unsigned refs;
    struct sb__inst *inst;
    char *key; // the table; NULL: all tables of the instance
    struct sb_conn *conn;
    pthread_mutex_t gate; // protects what follows; never held during a call of
                          // the driver except cancel()
    pthread_cond_t opened;
    bool is_open;
    const struct sb__seat *opener; // the place that connects; NULL: none
    bool cancelable;               // cancel() may be called
    unsigned feeding;              // loads that have not committed yet
    pthread_mutex_t lock;          // protects what follows, and calls on conn
    char *table, *columns;         // of the open transaction, NULL: none
    uint64_t rows;                 // in the open transaction
    struct sb_err err;             // code != 0: the loader has failed
};

static const struct sb_bulk_ops *bulk_of(const struct sb__feed *f)
{
    return f->inst->db->drv->bulk;
}

static void feed_free(struct sb__feed *f)
{
    assert(!f->opener && !f->next);
    if (f->is_open)
        f->inst->db->drv->generic->disconnect(f->conn);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->gate);
    pthread_cond_destroy(&f->opened);
    free(f->conn);
    free(f->table);
    free(f->columns);
    free(f->key);
    free(f);
}

static struct sb__feed *feed_new(struct sb__inst *inst, const char *key)
{
    struct sb__feed *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->gate, NULL);
    pthread_cond_init(&f->opened, NULL);
    f->inst = inst;
    f->conn = calloc(1, inst->db->drv->conn_size);
    f->key = key ? strdup(key) : NULL;
    if (f->conn && (f->key || !key))
        return f;
    feed_free(f);
    return NULL;
}

static bool same_key(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

int sb__feed_get(struct sb_con_priv *c, const char *table,
    struct sb__seat *seat, struct sb_err *err)
{
    struct sb_drivers *d = c->inst->db->owner;
    const char *key = c->drv->caps & SB_CAP_ONE_WRITER ? NULL : table;
    struct sb__feed *f;

    // The lock of a loader is held while its connection waits. A fiber that
    // wants it would block the one that holds it.
    assert(!sb_helper_shared());
    pthread_mutex_lock(&d->feed_lock);
    f = c->inst->feeds;
    while (f && !same_key(f->key, key))
        f = f->next;
    if (!f && (f = feed_new(c->inst, key)) != NULL) {
        f->next = c->inst->feeds;
        c->inst->feeds = f;
    }
    if (f)
        f->refs++;
    pthread_mutex_unlock(&d->feed_lock);
    if (!f)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    pthread_mutex_lock(&c->ctx->lock);
    *seat = (struct sb__seat){ .feed = f };
    pthread_mutex_unlock(&c->ctx->lock);
    return 0;
}

static void set_cancelable(struct sb__feed *f, bool on)
{
    pthread_mutex_lock(&f->gate);
    f->cancelable = on;
    pthread_mutex_unlock(&f->gate);
}

// As sb__link_open(), without any lock: a server may not answer.
static int feed_connect(
    struct sb__feed *f, const struct sb_con_priv *c, struct sb_err *err)
{
    const struct sb_driver *drv = f->inst->db->drv;
    int rc;

    memset(f->conn, 0, drv->conn_size);
    set_cancelable(f, drv->caps & SB_CAP_CANCEL_CONNECT);
    rc = drv->generic->connect(
        f->conn, &f->inst->env, f->inst->opts, &c->info, err);
    set_cancelable(f, rc == 0);
    if (rc == 0)
        rc = sb__session_begin(f->inst->db, f->conn, err);
    if (rc == 0)
        return 0;
    set_cancelable(f, false);
    drv->generic->disconnect(f->conn);
    return rc;
}

int sb__feed_open(
    struct sb__seat *seat, const struct sb_con_priv *c, struct sb_err *err)
{
    struct sb__feed *f = seat->feed;
    int rc = 0;

    pthread_mutex_lock(&f->gate);
    while (!f->is_open && f->opener && !seat->canceled)
        pthread_cond_wait(&f->opened, &f->gate);
    if (f->is_open) {
        f->feeding++;
    } else if (seat->canceled) {
        rc = sb_err_set(err, SB_ECANCELED, "connecting was canceled");
    } else {
        f->opener = seat;
        pthread_mutex_unlock(&f->gate);
        rc = feed_connect(f, c, err);
        pthread_mutex_lock(&f->gate);
        assert(f->opener == seat && !f->is_open);
        f->opener = NULL;
        f->is_open = rc == 0;
        f->feeding += rc == 0;
        // After a failure, one of the threads that wait connects.
        pthread_cond_broadcast(&f->opened);
    }
    pthread_mutex_unlock(&f->gate);
    return rc;
}

void sb__feed_put(struct sb__feed *f)
{
    struct sb_drivers *d = f->inst->db->owner;
    struct sb__feed **p = &f->inst->feeds;

    pthread_mutex_lock(&d->feed_lock);
    assert(f->refs > 0);
    if (--f->refs > 0) {
        pthread_mutex_unlock(&d->feed_lock);
        return;
    }
    while (*p != f)
        p = &(*p)->next;
    *p = f->next;
    f->next = NULL;
    pthread_mutex_unlock(&d->feed_lock);
    feed_free(f);
}

// f->lock is held in the following functions, up to keep_failure().

static int end_part(struct sb__feed *f, bool commit)
{
    if (!f->table)
        return 0;
    free(f->table);
    free(f->columns);
    f->table = f->columns = NULL;
    f->rows = 0;
    return bulk_of(f)->end(f->conn, commit, &f->err);
}

static int begin_part(struct sb__feed *f, const struct sb__block *b)
{
    int rc, tries = 0;

    do {
        rc = bulk_of(f)->begin(
            f->conn, b->table, b->columns, b->ncolumns, &f->err);
    } while (sb__busy_again(rc, ++tries, b->table));
    if (rc)
        return rc;
    sb_err_clear(&f->err);
    f->table = strdup(b->table);
    f->columns = strdup(b->columns);
    if (f->table && f->columns)
        return 0;
    bulk_of(f)->end(f->conn, false, &f->err);
    return sb_err_set(&f->err, SB_ENOMEM, "out of memory");
}

static bool one_commit(const struct sb__feed *f)
{
    return f->inst->db->drv->caps & SB_CAP_ONE_COMMIT;
}

static int send_block(struct sb__feed *f, const struct sb__block *b)
{
    int rc = 0;

    if (f->table && (strcmp(f->table, b->table) != 0 ||
                        strcmp(f->columns, b->columns) != 0))
        rc = end_part(f, true);
    if (rc == 0 && !f->table)
        rc = begin_part(f, b);
    if (rc == 0)
        rc = bulk_of(f)->rows(f->conn, b->values, b->nrows, &f->err);
    if (rc)
        return rc;
    f->rows += b->nrows;
    return f->rows >= COMMIT_ROWS && !one_commit(f) ? end_part(f, true) : 0;
}

// Rolls back the open transaction and keeps the error for all callers.
static int keep_failure(struct sb__feed *f, int rc)
{
    struct sb_err cause = f->err;

    end_part(f, false);
    f->err = cause;
    if (f->err.code == 0)
        sb_err_set(&f->err, rc, "%s", sb_err_text(rc));
    f->err.code = rc;
    return rc;
}

int sb__feed_rows(struct sb__feed *f, const struct sb__block *b,
    struct sb_err *err, bool *first)
{
    int rc;

    pthread_mutex_lock(&f->lock);
    *first = f->err.code == 0;
    rc = f->err.code;
    if (*first && (rc = send_block(f, b)) != 0)
        keep_failure(f, rc);
    *err = f->err;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

// Returns whether no other load may send further rows.
static bool leave_feed(struct sb__feed *f)
{
    bool last;

    pthread_mutex_lock(&f->gate);
    assert(f->feeding > 0);
    last = --f->feeding == 0;
    pthread_mutex_unlock(&f->gate);
    return last;
}

int sb__feed_commit(struct sb__feed *f, struct sb_err *err, bool *first)
{
    int rc;

    pthread_mutex_lock(&f->lock);
    *first = f->err.code == 0;
    rc = f->err.code;
    bool last = leave_feed(f) || !one_commit(f);
    if (*first && last && (rc = end_part(f, true)) != 0)
        keep_failure(f, rc);
    *err = f->err;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

void sb__feed_abandon(struct sb__feed *f, const char *table)
{
    pthread_mutex_lock(&f->lock);
    if (f->err.code == 0) {
        sb_err_set(&f->err, SB_ECANCELED,
            "loading table '%s' was canceled by another thread", table);
        keep_failure(f, SB_ECANCELED);
    }
    pthread_mutex_unlock(&f->lock);
}

// Does not take f->lock, because the thread to be canceled may hold it.
void sb__feed_cancel(struct sb__seat *seat)
{
    struct sb__feed *f = seat->feed;
    const struct sb_generic_ops *g = f->inst->db->drv->generic;

    pthread_mutex_lock(&f->gate);
    seat->canceled = true;
    // While another thread connects, only the cancel of that thread ends the
    // connecting; this thread just stops waiting for it.
    if (f->cancelable && (f->is_open || f->opener == seat) && g->cancel)
        g->cancel(f->conn);
    pthread_cond_broadcast(&f->opened);
    pthread_mutex_unlock(&f->gate);
}
