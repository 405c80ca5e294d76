// SPDX-License-Identifier: GPL-2.0-or-later
//
// The interface of db/ for the rest of the core: the drivers of this process,
// and the context that connects a user with its connections. The SQL calls
// are in sql.ffi.h, loading is in load.ffi.h.
#ifndef SB_DB_H
#define SB_DB_H

#include <pthread.h>

#include "base/clock.h"
#include "base/opts.h"
#include "base/random.h"
#include "db/driver.h"
#include "db/load.ffi.h"
#include "db/sql.ffi.h"
#include "loop/fiber.h"
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
    const char *driver; // --db-driver, "": chosen by the core
    int ps_mode;        // --db-ps-mode, enum sb_db_ps_mode
    bool debug;         // --db-debug: every statement with its time on stderr
    struct sb_opt_list ignore_errors; // --db-ignore-errors
    bool reconnect;                   // --db-reconnect
    int64_t reconnect_timeout;        // ns, 0: none
    int64_t refresh_events;           // 0: never
    int64_t refresh_ns;               // 0: never
    const char *init_sql;             // "" for none
    int isolation;                    // enum sb_db_isolation
    int64_t statement_cache;          // --db-statement-cache, 0: no limit
    int64_t connect_parallel;         // --connect-parallel, 0: no limit
};

extern const struct sb_opt_table sb_db_opt_table;

// Sets the environment variables that client libraries read when they are
// loaded: those that the modules with options in this folder name, unless they
// are set. Main thread, before there are others and before a driver is loaded.
void sb_environ_set(const char *dir);

// All drivers of the process. Opaque; created by main(), outlives all contexts.
struct sb_drivers;

// dir: folder of the modules. o and opts belong to the caller and must outlive
// the result. The general database options must be in o already.
struct sb_drivers *sb_drivers_new(
    const char *dir, struct sb_opts *o, const struct sb_db_opts *opts);
// Every connection must have been freed.
void sb_drivers_free(struct sb_drivers *d);

// Loads the drivers whose options were given or that --db-driver names, and
// adds their option tables. `mysql-host` selects the driver whose name begins
// with "mysql". Main thread, before workers start. 0, SB_ENOTFOUND or
// SB_EDRIVER, with an error that names the driver, the file and the reason.
int sb_drivers_claim(struct sb_drivers *d, struct sb_err *err);

// For --list and --help: loads every module in the folder, adds its options
// and calls visit, with the reason in `problem` for a module that cannot be
// loaded. visit may be NULL.
int sb_drivers_each(struct sb_drivers *d,
    int (*visit)(void *arg, const char *name, const struct sb_driver *driver,
        const char *problem),
    void *arg);

// Loads the driver of this name and adds its options. Main thread, before
// workers start. 0 or SB_E* as sb_drivers_claim().
int sb_drivers_need(struct sb_drivers *d, const char *name, struct sb_err *err);

// Returns the name of the loaded driver with this table, or NULL. Main thread.
const char *sb_drivers_of(
    const struct sb_drivers *d, const struct sb_opt_table *table);

// Visits the options of the drivers that are built but not loaded, with their
// default values. visit() returns 0 to continue, or an SB_E* that ends the
// visits and is returned. What the views point to is valid until
// sb_drivers_free(). No client library is loaded. Main thread, before
// workers start. 0 or SB_E*.
int sb_drivers_idle(struct sb_drivers *d,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg,
    struct sb_err *err);

// Returns the maximum of loop_users (db/driver.h) over the loaded drivers, and
// in *name a driver that has this value. SB_LOOPS_NEVER: this driver has 0. 0,
// with NULL in *name: no driver is loaded. Main thread, before workers start.
#define SB_LOOPS_NEVER UINT32_MAX
uint32_t sb_drivers_loop_users(const struct sb_drivers *d, const char **name);
// The run wants to know the plans of its statements: notes the first one of
// each operation. Main thread, before users connect.
void sb_drivers_keep_plans(struct sb_drivers *d);
// True after sb_con_open() has opened a connection: the report then shows SQL
// statistics. Any thread.
bool sb_drivers_used(const struct sb_drivers *d);
// The same for connections of drivers of SQL databases. Any thread.
bool sb_drivers_used_sql(const struct sb_drivers *d);
// The same for connections to a server, rather than to a database inside this
// process or to none, in a dry run. Any thread.
bool sb_drivers_used_server(const struct sb_drivers *d);
// Whether statements were sent together, as a pipeline. Any thread.
bool sb_drivers_piped(const struct sb_drivers *d);

// Return the driver's struct and the path of its module, for the driver's own
// Lua module. Valid until sb_drivers_free().
const struct sb_driver *sb_db_driver(const struct sb_db *db);
const char *sb_db_file(const struct sb_db *db);

// Settings of a component of a mix.
struct sb_db_own {
    const char *prefix; // of names of its operations: "report/"
    const char *driver; // its --db-driver, or NULL
    // Its values of options of drivers; options of other drivers are skipped.
    const char *const *names, *const *values;
    size_t n;
};

// The number of an operation, which is looked up again when the statistics of
// the recorder have changed.
struct sb__op {
    const struct sb_stats *stats; // where it is registered, NULL at first
    int number;
};

#define SB_DB_KEYWORDS 20 // first words of SQL texts that have operations
#define SB_DB_NOTED    64 // statements

// The user that connections belong to. Owned by the caller, one per Lua state.
// The recorder may change between calls (warm-up, then the measured run), but
// a new struct sb_stats must not have the address of an earlier one: create a
// new context for the next run.
struct sb_db_ctx {
    struct sb_drivers *drivers;
    const struct sb_db_own *own; // NULL: nothing; set by the owner after init
    struct sb_rec *const *rec;   // the user's current recorder; pointing to
                                 // NULL: nothing is recorded
    const struct sb_clock *clock;
    unsigned user;
    // The operation of a call was looked up for the first time, or it is a SET,
    // or nothing is recorded: the statement is to be noted (db/plans.h).
    bool op_is_new;
    // Hashes of statements that were noted, so that one which is prepared in
    // each event is not noted in each.
    uint64_t noted[SB_DB_NOTED];
    uint64_t seed; // of the run
    // Sleeps ns and returns true; returns false early if the run ends. NULL: a
    // plain sleep.
    bool (*wait)(void *arg, uint64_t ns);
    // True if the user starts while the run is in progress (--stages). With
    // --db-reconnect=on, it then waits for a server that is unavailable. NULL:
    // never.
    bool (*late)(void *arg);
    // The user's waiter, and a function that returns whether the run was
    // stopped; a stop wakes the waiter. NULL: there is no run.
    struct sb_waiter *waiter;
    bool (*over)(void *arg);
    void *wait_arg; // of these three
    // How the waits of the user's fiber ended; NULL: it has a thread of its
    // own. Set by the owner after init. delayed: the number of the wait whose
    // delay was recorded last.
    const struct sb_fiber_waits *waits;
    uint64_t delayed;
    struct sb_prefetch *prefetch; // of the fiber; NULL as `waits`
    _Atomic bool ended;           // sb_db_ctx_end() was called
    pthread_mutex_t lock; // of the next two and what other threads cancel
    struct sb__slot_wait *slot_wait; // in progress, for --connect-parallel
    struct sb_con_priv *cons;
    struct sb_con_priv *idle_cons; // freed, to be reused
    struct sb__child *idle_stmts;  // freed, to be reused
    struct sb__child *orphans;     // children without a connection
    struct sb__handle *dropped;    // by the collector: to be freed
    bool keeps_dropped;            // not now: `cons` is being walked
    unsigned handles;              // that Lua has
    bool left;                     // sb_db_ctx_leave() was called
    struct sb_err err;             // of sb_db_get() and sb_con_open()
    unsigned opened, freed;        // connections so far
    unsigned held;                 // connections in `cons`
    uint64_t turns;     // connections to the next of several databases
    unsigned failed_at; // `freed` at the last failed connect
    struct sb__op op[SB_DB_KEYWORDS];
    struct sb__op_names *op_names; // of calls of drivers' own APIs, or NULL
};

// Initializes *c as the context of user number `user`, the only one that uses
// it. The arguments must exist until sb_db_ctx_done(). rec: points to the
// user's current recorder; NULL, or a pointer to NULL: nothing is counted.
// seed: of the run.
void sb_db_ctx_init(struct sb_db_ctx *c, struct sb_drivers *d,
    struct sb_rec *const *rec, const struct sb_clock *clock, unsigned user,
    uint64_t seed);
// Closes and frees every remaining connection. Handles to connections,
// statements and results stay readable until then, so the Lua state is closed
// first.
void sb_db_ctx_done(struct sb_db_ctx *c);
// The user leaves a Lua state that others use: closes its connections. Handles
// stay readable until Lua's collector has dropped them: the owner calls
// sb_db_ctx_done() when sb_db_ctx_unused() returns true, or when the Lua state
// is closed.
void sb_db_ctx_leave(struct sb_db_ctx *c);
bool sb_db_ctx_unused(const struct sb_db_ctx *c);
// Makes calls in progress return SB_ECANCELED. Any thread.
void sb_db_ctx_cancel(struct sb_db_ctx *c);
// The same for those that begin later: the user has nothing more to execute. An
// event that makes many short calls ends in this way. Any thread.
void sb_db_ctx_end(struct sb_db_ctx *c);

#endif
