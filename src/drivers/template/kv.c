// SPDX-License-Identifier: GPL-2.0-or-later
//
// An example of a driver with an API of its own and no SQL: a key-value store,
// a sorted array in memory. Scripts use the methods of its Lua module:
//
//     local db = sysbench.driver.kv.connect()
//     db:set("key", "value")       -- adds or replaces
//     db:get("key")                -- the value and its version, or nil
//     db:set("key", "other", 1)    -- only if the version still is 1
//     db:scan("k", 10)             -- the first 10 keys from "k" on
//
// If another user has changed the key, set() with a version fails, and the
// event is repeated as after a deadlock in SQL. See docs/driver-api.md.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/driver.h"
#include "db/sql.ffi.h"

// Declarations for C and for the Lua module ----------------------------------

SB_DRIVER_DECLARE(
    declarations,
    struct kv_args {
        const char *key, *value;
        uint64_t version; // set(): expected, 0: any; get(): of the value
        uint32_t n;       // scan(): the maximum, then the number of keys
    };
    // Make calls on the connection; args: struct kv_args. 0 or SB_E*.
    int kv_get(struct sb_con *con, void *args);
    int kv_set(struct sb_con *con, void *args);
    int kv_scan(struct sb_con *con, void *args););

// The store, which all connections share -------------------------------------

enum { KEY = 64, VALUE = 256, KEYS = 100 };

struct entry {
    char key[KEY], value[VALUE];
    uint64_t version; // 1, 2 ...
};

struct store {
    pthread_mutex_t lock; // held for a moment only: no user waits with it
    struct entry *entry;  // sorted by key
    size_t n, cap;
};

static int kv_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    struct store *s = calloc(1, sizeof(*s));

    if (!s)
        return sb_err_no_memory(err);
    pthread_mutex_init(&s->lock, NULL);
    env->shared = s;
    return 0;
}

static void kv_env_done(struct sb_driver_env *env)
{
    struct store *s = env->shared;

    pthread_mutex_destroy(&s->lock);
    free(s->entry);
    free(s);
}

// Returns the position of the key, or where it belongs if it does not exist.
static size_t find(const struct store *s, const char *key, bool *exists)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (strcmp(s->entry[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *exists = low < s->n && strcmp(s->entry[low].key, key) == 0;
    return low;
}

// Returns a new entry at position i; NULL: out of memory.
static struct entry *kv_insert(struct store *s, size_t i)
{
    size_t cap = s->n < s->cap ? s->cap : 2 * s->cap + 64;
    struct entry *grown = realloc(s->entry, cap * sizeof(*grown));

    if (!grown)
        return NULL;
    s->entry = grown;
    s->cap = cap;
    memmove(&grown[i + 1], &grown[i], (s->n++ - i) * sizeof(*grown));
    grown[i].version = 0;
    return &grown[i];
}

// Connections ----------------------------------------------------------------

struct kv_conn {
    struct store *store;
    char value[VALUE];     // found by the last get()
    char keys[KEYS * KEY]; // found by the last scan(), each with its NUL
};

static int kv_connect(struct sb_conn *conn, struct sb_driver_env *env,
    const void *opts, const struct sb_conn_info *info, struct sb_err *err)
{
    ((struct kv_conn *)conn)->store = env->shared;
    return 0;
}

static void kv_disconnect(struct sb_conn *conn)
{
}

static const struct sb_generic_ops generic_ops = { .env_init = kv_env_init,
    .env_done = kv_env_done,
    .connect = kv_connect,
    .disconnect = kv_disconnect };

// Calls ----------------------------------------------------------------------
//
// The core times these functions. What they store in *res decides whether a
// call is counted as a read or a write, and whether it has found anything.

static int do_get(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    struct kv_conn *c = (struct kv_conn *)conn;
    struct kv_args *a = arg;
    bool exists;

    pthread_mutex_lock(&c->store->lock);
    size_t i = find(c->store, a->key, &exists);

    if (exists) {
        memcpy(c->value, c->store->entry[i].value, VALUE);
        a->version = c->store->entry[i].version;
    }
    pthread_mutex_unlock(&c->store->lock);
    a->value = exists ? c->value : NULL;
    res->kind = SB_RESULT_ROWS;
    res->nrows = exists;
    return 0;
}

static int set_value(
    struct store *s, const struct kv_args *a, struct sb_err *err)
{
    bool exists;
    size_t i = find(s, a->key, &exists);
    struct entry *e = exists ? &s->entry[i] : NULL;

    if (a->version && (!e || e->version != a->version))
        return sb_err_set(err, SB_ERESTART, "the key '%s' was changed", a->key);
    if (!e)
        e = kv_insert(s, i);
    if (!e)
        return sb_err_no_memory(err);
    snprintf(e->key, KEY, "%s", a->key);
    snprintf(e->value, VALUE, "%s", a->value);
    e->version++;
    return 0;
}

static int do_set(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    struct store *s = ((struct kv_conn *)conn)->store;
    const struct kv_args *a = arg;

    if (strlen(a->key) >= KEY || strlen(a->value) >= VALUE)
        return sb_err_set(err, SB_EUSAGE,
            "a key has at most %d bytes, a value %d", KEY - 1, VALUE - 1);
    pthread_mutex_lock(&s->lock);
    int rc = set_value(s, a, err);
    pthread_mutex_unlock(&s->lock);
    res->kind = SB_RESULT_WRITE;
    res->affected = rc == 0;
    return rc;
}

static int do_scan(
    struct sb_conn *conn, void *arg, struct sb_result *res, struct sb_err *err)
{
    struct kv_conn *c = (struct kv_conn *)conn;
    struct kv_args *a = arg;
    uint32_t most = a->n < KEYS ? a->n : KEYS;
    bool exists;
    char *out = c->keys;

    pthread_mutex_lock(&c->store->lock);
    size_t i = find(c->store, a->key, &exists);

    for (a->n = 0; a->n < most && i < c->store->n; a->n++, i++)
        out = stpcpy(out, c->store->entry[i].key) + 1;
    pthread_mutex_unlock(&c->store->lock);
    a->value = c->keys;
    res->kind = SB_RESULT_ROWS;
    res->nrows = a->n;
    return 0;
}

// The text of a call, for messages and --db-debug.
static char *text(struct sb_conn *conn, void *arg, size_t *len)
{
    *len = strlen(((struct kv_args *)arg)->key);
    return strdup(((struct kv_args *)arg)->key);
}

SB_FFI int kv_get(struct sb_con *con, void *args)
{
    const struct sb_own_call call = { &sb_driver, "get", "get", SB_OWN_READ,
        do_get, text, args };
    return con->host->call(con, &call);
}

SB_FFI int kv_set(struct sb_con *con, void *args)
{
    const struct sb_own_call call = { &sb_driver, "set", "set", SB_OWN_WRITE,
        do_set, text, args };
    return con->host->call(con, &call);
}

SB_FFI int kv_scan(struct sb_con *con, void *args)
{
    const struct sb_own_call call = { &sb_driver, "scan", "scan", SB_OWN_READ,
        do_scan, text, args };
    return con->host->call(con, &call);
}

// Lua ------------------------------------------------------------------------

static const char lua[] =
    "local lib, driver, api = ...\n"
    "local ffi = require('ffi')\n"
    "local methods = {}\n"
    "local meta, kv = { __index = methods }, {}\n"
    "function kv.connect(options)\n"
    "   local con = driver:connect(options)\n"
    "   return setmetatable({ con = con, args = ffi.new('struct kv_args') },"
    " meta)\n"
    "end\n"
    "function methods:get(key)\n"
    "   local a = self.args\n"
    "   api.check_text(key, 'a key')\n"
    "   a.key = key\n"
    "   api.call(self.con, lib.kv_get, a)\n"
    "   if a.value ~= nil then\n"
    "      return ffi.string(a.value), tonumber(a.version)\n"
    "   end\n"
    "end\n"
    "function methods:set(key, value, version)\n"
    "   local a = self.args\n"
    "   api.check_text(key, 'a key')\n"
    "   api.check_text(value, 'a value')\n"
    "   a.key, a.value, a.version = key, value, version or 0\n"
    "   api.call(self.con, lib.kv_set, a)\n"
    "end\n"
    "function methods:scan(key, n)\n"
    "   local a, keys = self.args, {}\n"
    "   api.check_text(key, 'a key')\n"
    "   a.key, a.n = key, n\n"
    "   api.call(self.con, lib.kv_scan, a)\n"
    "   for i = 1, a.n do\n"
    "      keys[i] = ffi.string(a.value)\n"
    "      a.value = a.value + #keys[i] + 1\n"
    "   end\n"
    "   return keys\n"
    "end\n"
    "return kv\n";

SB_DRIVER_EXPORT const struct sb_driver sb_driver = { .abi = SB_DRIVER_ABI,
    .name = "kv",
    .title = "example of a key-value store",
    .caps = SB_CAP_EMBEDDED | SB_CAP_LOOP,
    .conn_size = sizeof(struct kv_conn),
    .generic = &generic_ops,
    .lua = lua,
    .lua_declarations = declarations };
