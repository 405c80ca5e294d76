// SPDX-License-Identifier: GPL-2.0-or-later
//
// What tests of the database layer need: an option registry, the drivers of
// the build tree, a recorder, one user.
#ifndef WORLD_H
#define WORLD_H

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"
#include "db/con.h"

static char modules[PATH_MAX];

struct world {
    struct sb_opts *o;
    struct sb_db_opts opts;
    struct sb_drivers *d;
    struct sb_stats stats;
    struct sb_rec *rec;
    struct sb_clock clock;
    struct sb_db_ctx ctx;
    struct sb_err err;
};

// args: options, separated by spaces.
static inline void world_init(struct world *w, const char *args)
{
    char *argv[16] = { (char *)"test" }, *save = NULL;
    static char text[512]; // the registry keeps pointers into it
    int argc = 1;

    memset(w, 0, sizeof(*w));
    snprintf(text, sizeof(text), "%s", args);
    for (char *a = strtok_r(text, " ", &save); a;
         a = strtok_r(NULL, " ", &save))
        argv[argc++] = a;
    w->o = sb_opts_new();
    CHECK(sb_opts_argv(w->o, argc, argv, &w->err) == 0);
    CHECK(sb_opts_add(w->o, &sb_db_opt_table, &w->opts, &w->err) == 0);
    w->d = sb_drivers_new(modules, w->o, &w->opts);
    CHECK(sb_stats_init(&w->stats, 2, 2, false) == 0);
    w->rec = &w->stats.rec[0];
    sb_clock_init(&w->clock);
    sb_db_ctx_init(&w->ctx, w->d, &w->rec, &w->clock, 0, 1);
}

static inline void world_done(struct world *w)
{
    sb_db_ctx_done(&w->ctx);
    sb_drivers_free(w->d);
    sb_stats_done(&w->stats);
    sb_opts_free(w->o);
}

static inline struct sb_con *world_connect(struct world *w)
{
    struct sb_db *db;
    struct sb_con *con = NULL;

    CHECK(sb_drivers_claim(w->d, &w->err) == 0);
    db = sb_db_get(&w->ctx, NULL);
    if (db)
        con = sb_con_open(&w->ctx, db, NULL, NULL, 0);
    CHECK_STR(sb_db_error(&w->ctx), "");
    CHECK(con != NULL);
    return con;
}

static inline struct sb_rs *run(struct sb_con *con, const char *sql)
{
    return sb_con_query(con, sql, strlen(sql));
}

// Returns the first cell of the first row, or "".
static inline const char *one(struct sb_con *con, const char *sql)
{
    static char out[256];
    struct sb_sql_cell cell[8];
    struct sb_rs *rs = run(con, sql);

    out[0] = '\0';
    if (rs && rs->nrows && sb_rs_fetch(rs, cell) == 1 && cell[0].s)
        snprintf(out, sizeof(out), "%.*s", (int)cell[0].len, cell[0].s);
    if (rs)
        sb_rs_free(rs);
    return out;
}

static inline uint64_t count_of(const struct world *w, const char *op)
{
    sb_rec_flush(w->rec);
    for (unsigned i = 0; i < w->stats.nops; i++) {
        if (strcmp(w->stats.op[i].name, op) == 0)
            return sb_rec_op_tally(w->rec, (int)i)->count;
    }
    return UINT64_MAX;
}

static inline bool find_modules(void)
{
    const char *dir = getenv("SYSBENCH_DRIVER_DIR");
    const char *build = getenv("SB_BUILDDIR");
    char path[PATH_MAX], file[PATH_MAX + 100];

    if (dir && *dir)
        snprintf(path, sizeof(path), "%s", dir);
    else
        snprintf(path, sizeof(path), "%s/src/drivers/.libs",
            build && *build ? build : ".");
    // Tests may change the folder.
    if (!realpath(path, modules)) {
        snprintf(modules, sizeof(modules), "%s", path);
        return false;
    }
    snprintf(file, sizeof(file), "%s/null.so", modules);
    return access(file, F_OK) == 0;
}

static inline bool has_sqlite(void)
{
    char file[PATH_MAX + 100];

    snprintf(file, sizeof(file), "%s/sqlite.so", modules);
    return access(file, F_OK) == 0;
}

#endif
