// SPDX-License-Identifier: GPL-2.0-or-later
//
// Initializes every new connection: --db-isolation, --db-init-sql and, after a
// reconnect, the statements of the script.
#include <stdlib.h>

#include "base/opts.h"
#include "db/call.h"
#include "db/link.h"

// A statement of sb_con_init_sql().
struct sb__init_sql {
    struct sb__init_sql *next;
    char sql[];
};

static const char *const levels[] = {
    [SB_DB_READ_UNCOMMITTED] = "READ UNCOMMITTED",
    [SB_DB_READ_COMMITTED] = "READ COMMITTED",
    [SB_DB_REPEATABLE_READ] = "REPEATABLE READ",
    [SB_DB_SERIALIZABLE] = "SERIALIZABLE",
};

// Runs sql and reads all of its results.
static int run_sql(const struct sb_sql_ops *ops, struct sb_conn *conn,
    const char *sql, struct sb_err *err)
{
    struct sb_result res = { 0 };
    int rc = ops->query(conn, sql, strlen(sql), &res, err);

    if (rc)
        return rc;
    while (ops->next_result && (rc = ops->next_result(conn, &res, err)) == 1)
        ;
    ops->free_result(conn, &res);
    return rc;
}

// Adds to the error which option the failed statement came from.
static int name_option(
    const char *option, const char *sql, int rc, struct sb_err *err)
{
    char was[sizeof(err->msg)];

    memcpy(was, err->msg, sizeof(was));
    snprintf(err->msg, sizeof(err->msg), "%s '%.100s': %.300s", option,
        SB_SHOWN(sql), was);
    err->code = rc;
    return rc;
}

static int isolate(const struct sb_driver *drv, struct sb_conn *conn, int level,
    struct sb_err *err)
{
    char sql[128];
    int rc;

    if (!drv->sql || !drv->isolation)
        return sb_err_set(err, SB_EUSAGE,
            "--db-isolation: the %s driver does not support isolation levels",
            drv->name);
    snprintf(sql, sizeof(sql), "%s %s", drv->isolation, levels[level]);
    rc = run_sql(drv->sql, conn, sql, err);
    return rc ? name_option("--db-isolation", sql, rc, err) : 0;
}

int sb__session_begin(
    const struct sb_db *db, struct sb_conn *conn, struct sb_err *err)
{
    const struct sb_db_opts *o = db->owner->opts;
    const struct sb_driver *drv = db->drv;
    int rc = 0;

    if (o->isolation != SB_DB_ISOLATION_DEFAULT)
        rc = isolate(drv, conn, o->isolation, err);
    if (rc || !o->init_sql || !o->init_sql[0])
        return rc;
    if (!drv->sql)
        return sb_err_set(err, SB_EUSAGE,
            "--db-init-sql: the %s driver does not support SQL", drv->name);
    rc = run_sql(drv->sql, conn, o->init_sql, err);
    return rc ? name_option("--db-init-sql", o->init_sql, rc, err) : 0;
}

int sb_con_init_sql(struct sb_con *con, const char *sql, size_t len)
{
    struct sb_con_priv *c = (struct sb_con_priv *)con;
    struct sb__init_sql *own = malloc(sizeof(*own) + len + 1);
    struct sb__init_sql **last = &c->init_sql;

    if (!own) {
        sb_err_set(&c->err, SB_ENOMEM, "out of memory for a statement");
        return sb__error_show(c);
    }
    own->next = NULL;
    memcpy(own->sql, sql, len);
    own->sql[len] = '\0';
    while (*last)
        last = &(*last)->next;
    *last = own;
    return 0;
}

int sb__session_again(struct sb_con_priv *c, struct sb_err *err)
{
    int rc = sb__session_begin(c->inst->db, c->conn, err);

    for (struct sb__init_sql *own = c->init_sql; rc == 0 && own;
         own = own->next) {
        rc = run_sql(c->sql, c->conn, own->sql, err);
        if (rc)
            rc = name_option("the script's statement", own->sql, rc, err);
    }
    return rc;
}

int sb__session_answers(struct sb_con_priv *c, struct sb_err *err)
{
    int rc = c->sql && !c->drv->doc ? run_sql(c->sql, c->conn, "SELECT 1", err)
                                    : 0;

    if (rc == SB_ECANCELED || (rc && sb_err_is_loss(err)))
        return rc;
    sb_err_clear(err);
    return 0;
}

void sb__session_done(struct sb_con_priv *c)
{
    while (c->init_sql) {
        struct sb__init_sql *own = c->init_sql;

        c->init_sql = own->next;
        free(own);
    }
}
