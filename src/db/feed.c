// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared loaders: one connection loads the rows that several threads generate.
#include <stdlib.h>

#include "db/internal.h"

#define COMMIT_ROWS 100000u

struct sb__feed {
    struct sb__feed *next; // this and refs: protected by d->feed_lock
    unsigned refs;
    struct sb__inst *inst;
    char *key;            // the table; NULL: all tables of the instance
    pthread_mutex_t lock; // protects what follows
    struct sb_conn *conn;
    char *table, *columns; // of the open transaction, NULL: none
    uint64_t rows;         // in the open transaction
    unsigned feeding;      // loads that have not committed yet
    struct sb_err err;     // code != 0: the loader has failed
};

static const struct sb_bulk_ops *bulk_of(const struct sb__feed *f)
{
    return f->inst->db->drv->bulk;
}

static void feed_free(struct sb__feed *f)
{
    if (f->conn)
        f->inst->db->drv->generic->disconnect(f->conn);
    pthread_mutex_destroy(&f->lock);
    free(f->conn);
    free(f->table);
    free(f->columns);
    free(f->key);
    free(f);
}

static int feed_connect(
    struct sb__feed *f, const struct sb_con_priv *c, struct sb_err *err)
{
    const struct sb_driver *drv = f->inst->db->drv;

    f->conn = calloc(1, drv->conn_size);
    if (!f->conn)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    int rc = drv->generic->connect(
        f->conn, &f->inst->env, f->inst->opts, &c->info, err);
    return rc ? rc : sb__session_begin(f->inst->db, f->conn, err);
}

static int feed_new(struct sb_con_priv *c, const char *key,
    struct sb__feed **out, struct sb_err *err)
{
    struct sb__feed *f = calloc(1, sizeof(*f));
    int rc;

    if (!f)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    pthread_mutex_init(&f->lock, NULL);
    f->inst = c->inst;
    if (key && !(f->key = strdup(key)))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else
        rc = feed_connect(f, c, err);
    if (rc) {
        feed_free(f);
        return rc;
    }
    f->next = c->inst->feeds;
    c->inst->feeds = f;
    *out = f;
    return 0;
}

static bool same_key(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

int sb__feed_get(struct sb_con_priv *c, const char *table,
    struct sb__feed **out, struct sb_err *err)
{
    struct sb_drivers *d = c->inst->db->owner;
    const char *key = c->drv->caps & SB_CAP_ONE_WRITER ? NULL : table;
    struct sb__feed *f;
    int rc = 0;

    pthread_mutex_lock(&d->feed_lock);
    f = c->inst->feeds;
    while (f && !same_key(f->key, key))
        f = f->next;
    if (!f)
        rc = feed_new(c, key, &f, err);
    if (rc == 0) {
        f->refs++;
        pthread_mutex_lock(&f->lock);
        f->feeding++;
        pthread_mutex_unlock(&f->lock);
    }
    pthread_mutex_unlock(&d->feed_lock);
    *out = rc ? NULL : f;
    return rc;
}

void sb__feed_put(struct sb__feed *f)
{
    struct sb_drivers *d = f->inst->db->owner;
    struct sb__feed **p = &f->inst->feeds;

    pthread_mutex_lock(&d->feed_lock);
    if (--f->refs > 0) {
        pthread_mutex_unlock(&d->feed_lock);
        return;
    }
    while (*p != f)
        p = &(*p)->next;
    *p = f->next;
    pthread_mutex_unlock(&d->feed_lock);
    feed_free(f);
}

// f->lock is held in the following functions, up to fail().

static int end(struct sb__feed *f, bool commit)
{
    if (!f->table)
        return 0;
    free(f->table);
    free(f->columns);
    f->table = f->columns = NULL;
    f->rows = 0;
    return bulk_of(f)->end(f->conn, commit, &f->err);
}

static int begin(struct sb__feed *f, const struct sb__block *b)
{
    int rc, tries = 0;

    do {
        rc = bulk_of(f)->begin(
            f->conn, b->table, b->columns, b->ncolumns, &f->err);
    } while (sb__load_wait(rc, ++tries, b->table));
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

static int send(struct sb__feed *f, const struct sb__block *b)
{
    int rc = 0;

    if (f->table && (strcmp(f->table, b->table) != 0 ||
                        strcmp(f->columns, b->columns) != 0))
        rc = end(f, true);
    if (rc == 0 && !f->table)
        rc = begin(f, b);
    if (rc == 0)
        rc = bulk_of(f)->rows(f->conn, b->values, b->nrows, &f->err);
    if (rc)
        return rc;
    f->rows += b->nrows;
    return f->rows >= COMMIT_ROWS && !one_commit(f) ? end(f, true) : 0;
}

// Rolls back the open transaction and keeps the error for all callers.
static int fail(struct sb__feed *f, int rc)
{
    struct sb_err cause = f->err;

    end(f, false);
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
    if (*first && (rc = send(f, b)) != 0)
        fail(f, rc);
    *err = f->err;
    pthread_mutex_unlock(&f->lock);
    return rc;
}

int sb__feed_commit(struct sb__feed *f, struct sb_err *err, bool *first)
{
    int rc;

    pthread_mutex_lock(&f->lock);
    *first = f->err.code == 0;
    rc = f->err.code;
    bool last = --f->feeding == 0 || !one_commit(f);
    if (*first && last && (rc = end(f, true)) != 0)
        fail(f, rc);
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
        fail(f, SB_ECANCELED);
    }
    pthread_mutex_unlock(&f->lock);
}

// Does not take f->lock, because the thread to be canceled holds it. conn does
// not change while the loader has references.
void sb__feed_cancel(struct sb__feed *f)
{
    const struct sb_generic_ops *g = f->inst->db->drv->generic;

    if (g->cancel)
        g->cancel(f->conn);
}
