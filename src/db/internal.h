// SPDX-License-Identifier: GPL-2.0-or-later
//
// The drivers of the process and their instances.
#ifndef SB_DB_INTERNAL_H
#define SB_DB_INTERNAL_H

#include "kit/buf.h"
#include "base/log.h"
#include "db/db.h"
#include "db/slots.h"

struct sb__feed;
struct sb__plans;

// An instance: a driver with one set of option values, shared by its
// connections. Protected by the lock of struct sb_drivers.
struct sb__inst {
    struct sb_db *db;
    char *key;  // the overrides as text; NULL: none
    void *opts; // the driver's options struct
    struct sb_driver_env env;
    bool ready;                        // env_init has succeeded
    _Atomic bool used;                 // a user has opened a connection
    bool kept;                         // not freed with its last connection
    unsigned refs;                     // connections
    struct sb__feed *feeds;            // shared loaders, protected by feed_lock
    _Atomic(struct sb__plans *) plans; // NULL: nothing was noted
    struct sb__inst *next;
};

struct sb_db {
    struct sb_drivers *owner;
    const struct sb_driver *drv;
    void *handle; // from dlopen()
    char *file;
    bool given;          // some of its options were given by the user
    _Atomic bool blocks; // the notice that it blocks workers was logged
    struct sb__inst base;
    struct sb__inst *more; // with overrides
    struct sb_db *next;
};

struct sb__idle;

struct sb_drivers {
    const char *dir;
    struct sb_opts *o;
    const struct sb_db_opts *opts;
    struct sb_host host;
    pthread_mutex_t lock;      // of what follows, except slots and the atomics
    pthread_mutex_t feed_lock; // protects the lists of shared loaders
    struct sb__slots slots;    // of --connect-parallel
    struct sb_db *dbs;         // in order of loading
    struct sb_db *fallback;    // for users who chose none; NULL: not needed yet
    struct sb__idle *idle;     // unloaded drivers, see sb_drivers_idle()
    struct sb__texts *texts;   // of operations; NULL: not kept
    bool noticed;              // the chosen default driver was logged
    bool plans; // set before users connect: see sb_drivers_keep_plans()
    _Atomic bool used;
    _Atomic bool used_sql;        // by a driver of an SQL database
    _Atomic bool used_server;     // by a connection to a server
    _Atomic bool piped;           // several statements were sent together
    _Atomic uint64_t connections; // opened so far
    _Atomic unsigned down;        // users that are trying to reconnect
    _Atomic bool crowded;         // a full statement cache was logged
    _Atomic bool uncommitted;     // a transaction left open was logged
    _Atomic bool unsent;          // what was left unsent was logged
    _Atomic bool cut;             // a text that was cut was logged
};

// loader.c ---------------------------------------------------------------

// Opens <dir>/<name>.so and checks its driver. 0, SB_ENOTFOUND (there is no
// such file) or SB_EDRIVER (it cannot be used). The caller frees *out with
// sb__module_close().
int sb__module_open(
    const char *dir, const char *name, struct sb_db **out, struct sb_err *err);
void sb__module_close(struct sb_db *db);
// Checks the struct that a driver exports. 0 or SB_EDRIVER, with an error that
// names the driver and the file.
int sb__driver_check(const struct sb_driver *drv, const char *name,
    const char *file, struct sb_err *err);

// Opens <dir>/<name>-options.so: the options of a driver without the driver.
// NULL if there is no such module, or if it belongs to another build. The
// caller closes *handle with sb__options_close(), which accepts NULL.
const struct sb_driver_options *sb__options_open(
    const char *dir, const char *name, void **handle);
void sb__options_close(void *handle);

// loader.c --------------------------------------------------------------------

// Adds the default options of a driver that is not loaded to d->idle, if it has
// an options module and they are not there yet. 0 or SB_E*.
int sb__idle_add(struct sb_drivers *d, const char *name, struct sb_err *err);
int sb__idle_each(const struct sb_drivers *d, const char *name,
    int (*visit)(void *arg, const struct sb_opt_view *view), void *arg);
void sb__idle_done(struct sb_drivers *d);

// drivers.c, inst.c --------------------------------------------------------

void sb__inst_done(struct sb__inst *i);
// Gets the instance with n option overrides, ready for use, and adds a
// reference. The caller drops it with sb__inst_put(). 0, or SB_E* with NULL in
// *out.
int sb__inst_get(struct sb_db *db, const char *const *names,
    const char *const *values, size_t n, struct sb__inst **out,
    struct sb_err *err);
void sb__inst_put(struct sb__inst *i);
// Keeps the instance until its driver is closed, even without references.
void sb__inst_keep(struct sb__inst *i);
// Adds the instances that users have opened connections with and that are not
// in inst[] yet, with a reference each, to the n in inst[], at most up to
// `most`. Returns how many it added. Any thread.
size_t sb__insts_used(
    struct sb_drivers *d, struct sb__inst **inst, size_t n, size_t most);
// Returns the instance that users are most likely to use, with a reference: the
// first one that was used, or that of the driver that options select. NULL:
// none is known, or it cannot be used. No driver is loaded.
struct sb__inst *sb__inst_likely(struct sb_drivers *d);
// Frees all instances with overrides. No connections may be left.
void sb__insts_free(struct sb_db *db);
// Finds an option by name, with or without the driver's prefix; NULL: none.
const struct sb_opt *sb__opt_find(
    const struct sb_driver *drv, const char *name);

// inst.c ----------------------------------------------------------------

// As sb__inst_get(). If the option for the database names several, the
// instance is the one for the next of them.
int sb__inst_in_turn(struct sb_db_ctx *ctx, struct sb_db *db,
    const char *const *names, const char *const *values, size_t n,
    struct sb__inst **out, struct sb_err *err);
// Returns how many databases the option names; 0 if the driver has no such
// option.
uint64_t sb__inst_databases(const struct sb_db *db);

// own.c ---------------------------------------------------------------------

// Sets the functions for the own API of a driver.
void sb__own_host(struct sb_host *host);

// call.c ----------------------------------------------------------------------

// 0, or SB_EUSAGE with the first invalid entry of --db-ignore-errors.
int sb__ignore_check(const struct sb_opt_list *list, struct sb_err *err);
bool sb__ignored(const struct sb_opt_list *list, const struct sb_err *e);

#endif
