// SPDX-License-Identifier: GPL-2.0-or-later
//
// The database side as the rest of the core sees it: the drivers of this
// process, and the context that ties connections to a user. The SQL calls
// themselves are in sql.ffi.h, loading in load.ffi.h.
#ifndef SB_DB_H
#define SB_DB_H

#include <pthread.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/opts.h"
#include "base/random.h"
#include "db/driver.h"
#include "db/load.ffi.h"
#include "db/sql.ffi.h"
#include "measure/stats.h"

enum sb_db_ps_mode { SB_DB_PS_AUTO, SB_DB_PS_DISABLE };

enum sb_db_isolation {
    SB_DB_ISOLATION_DEFAULT,
    SB_DB_READ_UNCOMMITTED,
    SB_DB_READ_COMMITTED,
    SB_DB_REPEATABLE_READ,
    SB_DB_SERIALIZABLE,
};

// "General database options"
struct sb_db_opts {
    const char *driver; // --db-driver, "" to choose
    int ps_mode;        // --db-ps-mode, enum sb_db_ps_mode
    bool debug;         // --db-debug: every statement with its time on stderr
    struct sb_opt_list ignore_errors; // --db-ignore-errors
    bool reconnect;                   // --db-reconnect
    int64_t reconnect_timeout;        // ns, 0: none
    int64_t refresh_events;           // 0: never
    int64_t refresh_ns;               // 0: never
    const char *init_sql;             // "" for none
    int isolation;                    // enum sb_db_isolation
    int64_t statement_cache; // most prepared ones a connection, 0: no bound
};

extern const struct sb_opt_table sb_db_opt_table;

// All drivers of the process. Opaque; made by main, outlives all contexts.
struct sb_drivers;

// dir: folder of the modules. o and opts stay the caller's and must outlive
// it. The general database options must be in the registry already.
struct sb_drivers *sb_drivers_new(
    const char *dir, struct sb_opts *o, const struct sb_db_opts *opts);
// Every connection must be freed before.
void sb_drivers_free(struct sb_drivers *d);

// Loads the drivers whose options were given or that --db-driver names, and
// adds their option tables. `mysql-host` means a driver whose name begins
// with "mysql". Main thread, before workers start. SB_ENOTFOUND / SB_EDRIVER
// name the driver, the file and what is wrong with it.
int sb_drivers_claim(struct sb_drivers *d, struct sb_err *err);

// For --list and --help: every module in the folder, loaded (with its options
// added) or with the reason why it cannot be. visit may be NULL.
int sb_drivers_each(struct sb_drivers *d,
    int (*visit)(void *arg, const char *name, const struct sb_driver *driver,
        const char *problem),
    void *arg);

// The options of the drivers that are built but not loaded, with their default
// values. visit() returns 0 to go on, else an SB_E* that is returned. What the
// views point to is valid until the next call or sb_drivers_free(). No client
// library is loaded. Main thread, before workers start. 0 or SB_E*.
int sb_drivers_idle(struct sb_drivers *d,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err);

// Prints every module of the folder with its title or its problem; what
// --db-driver=help asks for (sb_drivers_claim() lets that name pass).
void sb_drivers_list(struct sb_drivers *d, FILE *out);

// True once some connection was opened by sb_con_open(): the report then
// shows SQL statistics. Any thread.
bool sb_drivers_used(const struct sb_drivers *d);
// True once one was opened with a driver that is not for documents. Any thread.
bool sb_drivers_used_sql(const struct sb_drivers *d);

// The module behind a driver and the path of its file, for the driver's own
// Lua module. Valid until sb_drivers_free().
const struct sb_driver *sb_db_driver(const struct sb_db *db);
const char *sb_db_file(const struct sb_db *db);

#define SB_DB_DOC_NAMES 16 // lists of names of operations on documents
#define SB_DB_KEYWORDS  20 // first words of text queries that get operations

// Which user connections belong to. Caller-owned, one a Lua state. The
// recorder may change between calls (warm-up, then the measured run), but no
// struct sb_stats may come to lie where an earlier one lay: make the context
// anew for the next run.
struct sb_db_ctx {
    struct sb_drivers *drivers;
    struct sb_rec *const *rec; // the user's recorder of the moment; NULL, or
                               // pointing to NULL: nothing is recorded
    const struct sb_clock *clock;
    unsigned user;
    uint64_t seed; // of the run
    // Sleeps ns, or less when the run ends: false then. NULL: plain sleep.
    bool (*wait)(void *arg, uint64_t ns);
    void *wait_arg;
    pthread_mutex_t lock; // guards the list against cancel from outside
    struct sb_con_priv *cons;
    struct sb_con_priv *idle_cons;     // freed, to be used again
    struct sb_stmt_handle *idle_stmts; // likewise
    struct sb_stmt_handle *orphans;    // without their connection
    struct sb_err err;                 // of sb_db_get() and sb_con_open()
    unsigned opened, freed;            // connections so far
    uint64_t turns;            // those that took the next of several databases
    unsigned failed_at;        // `freed` when a connect failed last
    struct sb_stats *op_stats; // where op[] is registered, NULL at first
    int op[SB_DB_KEYWORDS];    // -1: not yet
    struct sb_doc_name *doc_names[SB_DB_DOC_NAMES]; // by hash
    unsigned ndoc_names;
    struct sb__doc_kept *doc_orphans; // without their connection
};

void sb_db_ctx_init(struct sb_db_ctx *c, struct sb_drivers *d,
    struct sb_rec *const *rec, const struct sb_clock *clock, unsigned user,
    uint64_t seed);
// Closes and frees every connection that is left; handles to connections,
// statements and results are void only afterwards, so a Lua state is closed
// first.
void sb_db_ctx_done(struct sb_db_ctx *c);
// Makes calls under way return (SB_ECANCELED). From any thread.
void sb_db_ctx_cancel(struct sb_db_ctx *c);

// The full error behind con->error, e.g. to tell a restart from a loss.
const struct sb_err *sb_con_err(const struct sb_con *con);

#endif
