// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parsed code. The files are parsed once, and other states load the bytecode.
// In a state, users run the same functions one after the other.
#define _GNU_SOURCE // memmem
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/buf.h"
#include "base/files.h"
#include "base/sha256.h"
#include "kit/limits.h"
#include "script/embed.h"
#include "script/script_private.h"

// Registry key of string.dump(): scripts may replace the global.
#define DUMP "sysbench.dump"
// Registry keys of two tables: code -> list of its functions that no user runs;
// function -> its code.
#define FREE "sysbench.free"
#define CODE "sysbench.code"

struct sb__code {
    struct sb__code *next;
    char *key;
    // These identify a file: a script may have rewritten it, or changed the
    // current folder, so that the same path names another file.
    struct timespec mtime;
    dev_t dev;
    ino_t ino;
    char sha256[SB_SHA256_TEXT]; // of the file; "" for text
    struct sb_buf code;
};

void sb__codes_init(struct sb__codes *c, const char *const *names)
{
    pthread_mutex_init(&c->lock, NULL);
    c->first = NULL;
    c->names = names;
    c->named = false;
}

void sb__codes_done(struct sb__codes *c)
{
    while (c->first) {
        struct sb__code *code = c->first;

        c->first = code->next;
        sb_buf_done(&code->code);
        free(code->key);
        free(code);
    }
    pthread_mutex_destroy(&c->lock);
}

static bool is_of(const struct sb__code *code, const struct stat *st)
{
    return code->mtime.tv_sec == st->st_mtim.tv_sec &&
           code->mtime.tv_nsec == st->st_mtim.tv_nsec &&
           code->dev == st->st_dev && code->ino == st->st_ino;
}

// Entries are not changed or freed before sb__codes_done(), so they may be read
// without the lock.
static const struct sb__code *lookup(
    struct sb__codes *c, const char *key, const struct stat *st)
{
    struct sb__code *code;

    pthread_mutex_lock(&c->lock);
    for (code = c->first; code; code = code->next) {
        if (strcmp(code->key, key) == 0 && is_of(code, st))
            break;
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

static int append(lua_State *L, const void *data, size_t len, void *arg)
{
    return sb_buf_add(arg, data, len);
}

void sb__codes_begin(lua_State *L)
{
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "dump");
    lua_setfield(L, LUA_REGISTRYINDEX, DUMP);
    lua_pop(L, 1);
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, FREE);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushstring(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, CODE);
}

// Appends the bytecode of the function on the stack top. strip: without line
// numbers and names; string.dump() can do this, lua_dump() cannot. Must not
// raise an error, because the caller would not free its memory.
static int dump(lua_State *L, struct sb_buf *out, bool strip)
{
    size_t len;
    int rc = SB_ENOMEM;

    assert(lua_isfunction(L, -1));
    if (!strip)
        return lua_dump(L, append, out);
    lua_getfield(L, LUA_REGISTRYINDEX, DUMP);
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    if (lua_pcall(L, 2, 1, 0) == 0) {
        const char *code = lua_tolstring(L, -1, &len);

        rc = code ? sb_buf_add(out, code, len) : SB_ENOMEM;
    }
    lua_pop(L, 1);
    return rc;
}

static bool has_name(const struct sb__codes *c, const struct sb__code *code)
{
    const char *const *name = c->names;

    while (name && *name &&
           !memmem(code->code.data, code->code.len, *name, strlen(*name)))
        name++;
    return name && *name;
}

// Keeps the bytecode of the function on the stack top and returns it. NULL is
// not a failure: the next state parses again.
static const struct sb__code *keep_code(struct sb__codes *c, lua_State *L,
    const char *key, const struct stat *st, const char *sha256, bool strip)
{
    struct sb__code *code = calloc(1, sizeof(*code));

    if (!code)
        return NULL;
    sb_buf_init(&code->code, 0);
    code->mtime = st->st_mtim;
    code->dev = st->st_dev;
    code->ino = st->st_ino;
    snprintf(code->sha256, sizeof(code->sha256), "%s", sha256);
    code->key = strdup(key);
    if (!code->key || dump(L, &code->code, strip) || code->code.failed) {
        sb_buf_done(&code->code);
        free(code->key);
        free(code);
        return NULL;
    }
    if (!strip && has_name(c, code))
        atomic_store(&c->named, true);
    pthread_mutex_lock(&c->lock);
    code->next = c->first;
    c->first = code;
    pthread_mutex_unlock(&c->lock);
    return code;
}

// Remembers the code of the function on the stack top.
static void set_code(lua_State *L, const struct sb__code *code)
{
    lua_getfield(L, LUA_REGISTRYINDEX, CODE);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, (void *)code);
    lua_rawset(L, -3);
    lua_pop(L, 1);
}

// Pushes a function of the code that no user runs, with the globals of the
// running one. Returns false if all of them are in use.
static bool push_free(lua_State *L, const struct sb__code *code)
{
    int top = lua_gettop(L), n = 0;

    lua_getfield(L, LUA_REGISTRYINDEX, FREE);
    lua_pushlightuserdata(L, (void *)code);
    lua_rawget(L, -2);
    if (lua_istable(L, -1))
        n = (int)lua_objlen(L, -1);
    if (n > 0) {
        lua_rawgeti(L, -1, n);
        lua_pushnil(L);
        lua_rawseti(L, -3, n);
        lua_pushvalue(L, LUA_GLOBALSINDEX);
        lua_setfenv(L, -2);
        lua_replace(L, top + 1);
    }
    lua_settop(L, n > 0 ? top + 1 : top);
    return n > 0;
}

void sb__codes_give_back(lua_State *L)
{
    int f = lua_gettop(L);

    lua_getfield(L, LUA_REGISTRYINDEX, CODE);
    lua_pushvalue(L, f);
    lua_rawget(L, -2);
    lua_getfield(L, LUA_REGISTRYINDEX, FREE);
    if (lua_islightuserdata(L, -2)) {
        lua_pushvalue(L, -2);
        lua_rawget(L, -2);
        if (!lua_istable(L, -1)) {
            lua_pop(L, 1);
            lua_newtable(L);
            lua_pushvalue(L, -3);
            lua_pushvalue(L, -2);
            lua_rawset(L, -4);
        }
        lua_pushvalue(L, f);
        lua_rawseti(L, -2, (int)lua_objlen(L, -2) + 1);
    }
    lua_settop(L, f - 1);
}

bool sb__codes_all_files(struct sb__codes *c,
    bool (*is)(const char *path, const void *arg), const void *arg)
{
    for (const struct sb__code *code = c->first; code; code = code->next)
        if (code->ino && !is(code->key, arg))
            return false;
    return true;
}

void sb__codes_note(struct sb__codes *c, const char *path, const char *sha256)
{
    struct sb__code *code, *other;

    code = calloc(1, sizeof(*code));
    if (!code)
        return;
    code->key = strdup(path);
    code->mtime.tv_nsec = -1; // lookup() finds no file and no text
    snprintf(code->sha256, sizeof(code->sha256), "%s", sha256);
    pthread_mutex_lock(&c->lock);
    for (other = c->first; other && code->key; other = other->next) {
        if (strcmp(other->key, path) == 0 && strcmp(other->sha256, sha256) == 0)
            break;
    }
    if (code->key && !other) {
        code->next = c->first;
        c->first = code;
        code = NULL;
    }
    pthread_mutex_unlock(&c->lock);
    if (code)
        free(code->key);
    free(code);
}

void sb__codes_each_file(struct sb__codes *c,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg)
{
    const struct sb__code *first, *code;
    unsigned n = 0;

    pthread_mutex_lock(&c->lock);
    first = c->first;
    pthread_mutex_unlock(&c->lock);
    for (code = first; code; code = code->next)
        n++;
    // The last one is the first in the list.
    while (n-- > 0) {
        code = first;
        for (unsigned i = 0; i < n; i++)
            code = code->next;
        if (code->sha256[0])
            visit(arg, code->key, code->sha256);
    }
}

int sb__codes_push_files(struct sb__codes *c, lua_State *L)
{
    int n = 0;

    for (const struct sb__code *code = c->first; code; code = code->next) {
        if (!code->ino || !lua_checkstack(L, 2))
            continue;
        lua_pushstring(L, code->key);
        n++;
    }
    return n;
}

static int load_code(
    lua_State *L, const struct sb__code *code, const char *chunk)
{
    int rc;

    if (push_free(L, code))
        return 0;
    rc = luaL_loadbuffer(L, code->code.data, code->code.len, chunk);
    if (rc == 0)
        set_code(L, code);
    return rc;
}

struct chunk {
    int fd;
    int failed; // the error number of read(), or 0
    struct sb_sha256 sum;
    char data[4096];
};

static const char *read_chunk(lua_State *L, void *arg, size_t *size)
{
    struct chunk *c = arg;
    ssize_t n;

    (void)L;
    do {
        n = read(c->fd, c->data, sizeof(c->data));
    } while (n < 0 && errno == EINTR);
    c->failed = n < 0 ? errno : 0;
    *size = n > 0 ? (size_t)n : 0;
    sb_sha256_add(&c->sum, c->data, *size);
    return n > 0 ? c->data : NULL;
}

static int no_file(lua_State *L, const char *verb, const char *path, int number)
{
    char limit[80];

    lua_pushfstring(L, "cannot %s %s: %s", verb, path, strerror(number));
    if (number == EMFILE) {
        sb_limit_of_files(limit, sizeof(limit));
        lua_pushstring(L, limit);
        lua_concat(L, 2);
    }
    return LUA_ERRFILE;
}

// Loads the file `copy`. A relative path starts at the folder `dir`. Messages
// contain the name `path`.
static int load_file(lua_State *L, int dir, const char *path, const char *copy,
    char sha256[SB_SHA256_TEXT])
{
    struct chunk c = { .fd = openat(dir, copy, O_RDONLY | O_CLOEXEC) };

    sb_sha256_init(&c.sum);
    if (c.fd < 0)
        return no_file(L, "open", path, errno);
    lua_pushfstring(L, "@%s", path);
    int rc = lua_load(L, read_chunk, &c, lua_tostring(L, -1));
    lua_remove(L, -2);
    close(c.fd);
    sb_sha256_text(&c.sum, sha256);
    if (!c.failed)
        return rc;
    lua_pop(L, 1);
    return no_file(L, "read", path, c.failed);
}

int sb__codes_file(struct sb__codes *c, lua_State *L, int dir, const char *path)
{
    const struct sb__code *code;
    char room[SB_FILE_PATH], sha256[SB_SHA256_TEXT];
    const char *copy = sb_file_path(path, room);
    struct stat st;
    int rc;

    if (fstatat(dir, copy, &st, 0))
        return no_file(L, "open", path, errno);
    code = lookup(c, path, &st);
    if (code)
        return load_code(L, code, path);
    rc = load_file(L, dir, path, copy, sha256);
    if (rc)
        return rc;
    code = keep_code(c, L, path, &st, sha256, false);
    if (code)
        set_code(L, code);
    return 0;
}

static int from_text(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len, bool strip)
{
    const struct stat none = { 0 };
    const struct sb__code *code = lookup(c, chunk, &none);
    int rc;

    if (code)
        return load_code(L, code, chunk);
    rc = luaL_loadbuffer(L, text, len, chunk);
    if (rc)
        return rc;
    code = keep_code(c, L, chunk, &none, "", strip);
    if (!code)
        return 0;
    if (!strip) {
        set_code(L, code);
        return 0;
    }
    // Load the stripped code also in the state that parsed it, so that errors
    // are the same in all states.
    lua_pop(L, 1);
    return load_code(L, code, chunk);
}

int sb__codes_text(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len)
{
    return from_text(c, L, chunk, text, len, false);
}

static const struct sb__embed *embedded(const char *name, const char *suffix)
{
    size_t len = strlen(name);
    const struct sb__embed *e;

    for (e = sb__embed_table; e->name; e++) {
        if (strncmp(e->name, name, len) == 0 &&
            strcmp(e->name + len, suffix) == 0)
            return e;
    }
    return NULL;
}

int sb__codes_own(struct sb__codes *c, lua_State *L, const char *chunk,
    const char *text, size_t len)
{
    return from_text(c, L, chunk, text, len, true);
}

int sb__codes_module(struct sb__codes *c, lua_State *L, const char *name)
{
    const struct sb__embed *e = embedded(name, "");

    if (!e) {
        lua_pushfstring(L, "no embedded module '%s'", name);
        return LUA_ERRRUN;
    }
    lua_pushfstring(L, "=[%s]", name);
    int rc = from_text(c, L, lua_tostring(L, -1), e->text, e->len, true);
    lua_remove(L, -2);
    return rc;
}

void sb__cdef(lua_State *L, const char *name)
{
    const struct sb__embed *e = embedded(name, ".ffi");
    int top = lua_gettop(L);

    if (!e)
        luaL_error(L, "no embedded declarations '%s'", name);
    luaL_findtable(L, LUA_REGISTRYINDEX, "sysbench.cdefs", 8);
    lua_getfield(L, -1, name);
    if (lua_isnil(L, -1)) {
        lua_pushboolean(L, 1);
        lua_setfield(L, -3, name);
        lua_getfield(L, LUA_REGISTRYINDEX, "sysbench.cdef");
        lua_pushlstring(L, e->text, e->len);
        lua_call(L, 1, 0);
    }
    lua_settop(L, top);
}
