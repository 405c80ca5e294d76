// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parsed code. Every user runs the same files in its own state. The files are
// parsed once and the states load the bytecode, which takes less time and has a
// much lower peak of memory.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/buf.h"
#include "base/files.h"
#include "kit/limits.h"
#include "script/embed.h"
#include "script/script_private.h"

// Registry key of string.dump(): scripts may replace the global.
#define DUMP "sysbench.dump"

struct sb__code {
    struct sb__code *next;
    char *key;
    // Of a file, which a script may have rewritten, or whose path means another
    // one since it has changed the current folder.
    struct timespec mtime;
    dev_t dev;
    ino_t ino;
    struct sb_buf code;
    bool needs_full; // sb__lazy_unsupported()
};

void sb__codes_init(struct sb__codes *c, const char *workloads)
{
    c->workloads = workloads;
    pthread_mutex_init(&c->lock, NULL);
    c->first = NULL;
    c->needs_full = false;
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

// Checks whether new code supports lazy tables. own: code of the program, which
// always does.
static void check_lazy(struct sb__codes *c, struct sb__code *code, bool own)
{
    if (own)
        return;
    code->needs_full = sb__lazy_unsupported(code->code.data, code->code.len);
    c->needs_full |= code->needs_full;
}

// Keeps the bytecode of the function on the stack top and returns it. NULL is
// not a failure: the next state parses again.
static const struct sb__code *keep_code(struct sb__codes *c, lua_State *L,
    const char *key, const struct stat *st, bool strip, bool own)
{
    struct sb__code *code = calloc(1, sizeof(*code));

    if (!code)
        return NULL;
    sb_buf_init(&code->code, 0);
    code->mtime = st->st_mtim;
    code->dev = st->st_dev;
    code->ino = st->st_ino;
    code->key = strdup(key);
    if (!code->key || dump(L, &code->code, strip) || code->code.failed) {
        sb_buf_done(&code->code);
        free(code->key);
        free(code);
        return NULL;
    }
    pthread_mutex_lock(&c->lock);
    check_lazy(c, code, own);
    code->next = c->first;
    c->first = code;
    pthread_mutex_unlock(&c->lock);
    return code;
}

bool sb__codes_need_full(struct sb__codes *c)
{
    pthread_mutex_lock(&c->lock);
    bool needs_full = c->needs_full;
    pthread_mutex_unlock(&c->lock);
    return needs_full;
}

static int load_code(
    lua_State *L, const struct sb__code *code, const char *chunk)
{
    int rc = luaL_loadbuffer(L, code->code.data, code->code.len, chunk);

    return rc == 0 && code->needs_full ? sb__lazy_fill(L) : rc;
}

// Called after parsing. Code that could not be kept (NULL) was not checked, so
// the tables are filled to be safe.
static int after_parsing(lua_State *L, const struct sb__code *code)
{
    return !code || code->needs_full ? sb__lazy_fill(L) : 0;
}

// True if the file is a module of the installed workloads.
static bool is_own(const struct sb__codes *c, const char *path)
{
    size_t len = strlen(c->workloads);

    return strncmp(path, c->workloads, len) == 0 &&
           strncmp(path + len, "/sb/", 4) == 0;
}

struct chunk {
    int fd;
    int failed; // the error number of read(), or 0
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

// Loads `copy`, which a relative path may find in the folder `dir`; messages
// have the name `path`.
static int load_file(lua_State *L, int dir, const char *path, const char *copy)
{
    struct chunk c = { .fd = openat(dir, copy, O_RDONLY | O_CLOEXEC) };

    if (c.fd < 0)
        return no_file(L, "open", path, errno);
    lua_pushfstring(L, "@%s", path);
    int rc = lua_load(L, read_chunk, &c, lua_tostring(L, -1));
    lua_remove(L, -2);
    close(c.fd);
    if (!c.failed)
        return rc;
    lua_pop(L, 1);
    return no_file(L, "read", path, c.failed);
}

int sb__codes_file(struct sb__codes *c, lua_State *L, int dir, const char *path)
{
    const struct sb__code *code;
    char room[SB_FILE_PATH];
    const char *copy = sb_file_path(path, room);
    struct stat st;
    int rc;

    if (fstatat(dir, copy, &st, 0))
        return no_file(L, "open", path, errno);
    code = lookup(c, path, &st);
    if (code)
        return load_code(L, code, path);
    rc = load_file(L, dir, path, copy);
    if (rc)
        return rc;
    code = keep_code(c, L, path, &st, false, is_own(c, path));
    return after_parsing(L, code);
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
    code = keep_code(c, L, chunk, &none, strip, strip);
    if (!strip || !code)
        return strip ? 0 : after_parsing(L, code);
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

// Returns the end of the statement at p, after its semicolon.
static const char *statement_end(const char *p)
{
    int depth = 0;

    for (; *p; p++) {
        depth += (*p == '{') - (*p == '}');
        if (*p == ';' && depth == 0)
            return p + 1;
    }
    return p;
}

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Finds the name of the function that a statement declares; returns its length,
// 0 if it declares none.
static size_t function_name(const char *p, const char *end, const char **name)
{
    const char *paren = memchr(p, '(', (size_t)(end - p));
    const char *brace = memchr(p, '{', (size_t)(end - p));
    const char *start = paren;

    if (!paren || (brace && brace < paren))
        return 0;
    while (start > p && in_name(start[-1]))
        start--;
    *name = start;
    return (size_t)(paren - start);
}

// True if the name is one of the words.
static bool listed(const char *words, const char *name, size_t len)
{
    for (const char *w = words; *w;) {
        size_t n = strcspn(w, " ");

        if (n == len && memcmp(w, name, len) == 0)
            return true;
        w += n + (w[n] == ' ');
    }
    return false;
}

// Pops a name and marks it as declared; returns false if it was already.
static bool mark_declared(lua_State *L, int table)
{
    bool before;

    lua_pushvalue(L, -1);
    lua_rawget(L, table);
    before = lua_toboolean(L, -1);
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
    lua_rawset(L, table);
    return !before;
}

// True if the function must be declared now; marks it as declared.
static bool is_needed(
    lua_State *L, int done, const char *functions, const char *name, size_t len)
{
    if (functions && !listed(functions, name, len))
        return false;
    lua_pushlstring(L, name, len);
    return mark_declared(L, done);
}

void sb__cdef(lua_State *L, const char *name, const char *functions)
{
    const struct sb__embed *e = embedded(name, ".ffi");
    const char *end, *fn;
    struct sb_buf b; // a luaL_Buffer would need 8 KB of every user's stack

    if (!e)
        luaL_error(L, "no embedded declarations '%s'", name);
    luaL_findtable(L, LUA_REGISTRYINDEX, "sysbench.cdefs", 4);
    int done = lua_gettop(L);
    lua_pushstring(L, name);
    bool types = mark_declared(L, done);
    lua_getfield(L, LUA_REGISTRYINDEX, "sysbench.cdef");
    sb_buf_init(&b, 0);
    for (const char *p = e->text; *p; p = end) {
        end = statement_end(p);
        size_t len = function_name(p, end, &fn);
        if (len ? is_needed(L, done, functions, fn, len) : types)
            sb_buf_add(&b, p, (size_t)(end - p));
    }
    bool failed = b.failed;
    lua_pushlstring(L, b.data ? b.data : "", b.len);
    sb_buf_done(&b);
    if (failed)
        luaL_error(L, "out of memory");
    lua_call(L, 1, 0);
    lua_settop(L, done - 1);
}
