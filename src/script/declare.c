// SPDX-License-Identifier: GPL-2.0-or-later
//
// Adds the options that a script declares to the registry. A script that
// declares none is an old one: settings without a declaration become its
// globals.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "kit/buf.h"
#include "base/log.h"
#include "base/opts.h"
#include "script/script_private.h"

// Declares an option of this script.
static int declare(struct sb_script *s, const char *name, const char *help,
    enum sb_opt_type type, const char *def, struct sb_err *err)
{
    if (s->env.component)
        return sb_opts_add_component(s->env.opts, s->title, s->env.component,
            name, help, type, def, err);
    return sb_opts_add_script(
        s->env.opts, s->title, name, help, type, def, err);
}

// A setting that no option declares, which becomes a global of a legacy script.
struct undeclared {
    char *name, *value;
    bool bare; // without a value: "on"
    enum sb_opt_source source;
    bool typed; // on the command line or in a config file: may be a typo
    struct undeclared *next;
};

static int collect_undeclared(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *origin)
{
    struct undeclared ***end = arg;
    struct undeclared *l = calloc(1, sizeof(*l));

    if (!l)
        return SB_ENOMEM;
    **end = l;
    *end = &l->next;
    l->name = strdup(name);
    l->value = strdup(value ? value : "on");
    l->bare = !value;
    l->source = source;
    l->typed = source == SB_SRC_CMDLINE || source == SB_SRC_FILE;
    return l->name && l->value ? 0 : SB_ENOMEM;
}

struct sb_opts *sb_script_options_of(
    const struct sb_script_env *env, const char *script)
{
    struct sb_script_env apart = *env;
    struct sb_script *s = NULL;
    struct sb_err err;
    struct sb_buf path;

    sb_buf_init(&path, 0);
    sb_buf_addf(&path, "%s/%s.lua", env->paths->workloads, script);
    apart.opts = path.failed ? NULL : sb_opts_new();
    bool ok = apart.opts &&
              sb_script_load(&s, &apart, path.data, "help", &err) == 0 &&
              sb_script_add_options(s, &err) == 0;
    sb_script_free(s);
    sb_buf_done(&path);
    if (ok)
        return apart.opts;
    sb_opts_free(apart.opts);
    return NULL;
}

// The workloads that declare the options of 1.0 and 0.5. Old scripts use the
// names of these options for their globals.
static const char *const classics[] = { "oltp_common", "oltp" };

#define CLASSICS (sizeof(classics) / sizeof(classics[0]))

// Warns of a name that is similar to that of an option. This is not an error,
// because a script may have a global with a similar name.
static void warn_near(const struct sb_opts *o, struct sb_opts *const *known,
    const struct undeclared *l)
{
    struct sb_opts_unknown u;
    struct sb_opt_view view;

    // An option of exactly this name exists; the script may redeclare it.
    if (sb_opts_find(o, l->name, &view))
        return;
    sb_opts_unknown(o, l->name, !l->bare, &u);
    for (size_t i = 0; i < CLASSICS; i++) {
        if (known[i] && sb_opts_find(known[i], l->name, &view))
            return;
        if (known[i] && !u.meant[0])
            sb_opts_unknown(known[i], l->name, !l->bare, &u);
    }
    if (u.meant[0])
        sb_log(SB_LOG_WARNING,
            "unknown option --%s is passed to the script as a global; did you "
            "mean --%s?",
            u.name, u.meant);
}

static void warn_all(const struct sb_script *s, const struct undeclared *l)
{
    struct sb_opts *known[CLASSICS] = { NULL };

    while (l && !l->typed)
        l = l->next;
    if (!l)
        return;
    for (size_t i = 0; i < CLASSICS; i++)
        known[i] = sb_script_options_of(&s->env, classics[i]);
    for (; l; l = l->next)
        if (l->typed)
            warn_near(s->env.opts, known, l);
    for (size_t i = 0; i < CLASSICS; i++)
        sb_opts_free(known[i]);
}

static int add_string(
    struct sb_script *s, const struct undeclared *l, struct sb_err *err)
{
    int rc = declare(s, l->name, "", SB_OPT_STRING, l->value, err);
    struct sb_opt_view view;

    // Its name is longer in a mix.
    if (rc == 0 && l->bare && sb__options_find(s, l->name, &view))
        rc = sb_opts_set(s->env.opts, view.opt->name, l->value, l->source, err);
    return rc;
}

static int add_undeclared(struct sb_script *s, struct sb_err *err)
{
    struct undeclared *first = NULL, **end = &first;
    int rc = s->env.component
                 ? sb_opts_undeclared(
                       s->env.opts, s->env.component, collect_undeclared, &end)
                 : sb_opts_unclaimed(s->env.opts, collect_undeclared, &end);

    if (rc)
        sb_err_set(err, rc, "out of memory");
    if (rc == 0)
        warn_all(s, first);
    for (struct undeclared *l = first; l && rc == 0; l = l->next)
        rc = add_string(s, l, err);
    while (first) {
        struct undeclared *l = first;

        first = l->next;
        free(l->name);
        free(l->value);
        free(l);
    }
    return rc;
}

static const char *field(lua_State *L, const char *name)
{
    const char *text;

    lua_getfield(L, -1, name);
    text = lua_tostring(L, -1);
    lua_pop(L, 1); // the table keeps it
    return text;
}

// Calls the validation function of an option that the script declares with the
// value that the user gave. The declaration is on the stack top.
static int validate(struct sb_script *s, const char *name, struct sb_err *err)
{
    lua_State *L = s->main->L;
    struct sb_opt_view view;
    int rc;

    lua_getfield(L, -1, "validate");
    if (lua_isnil(L, -1) || !sb__options_find(s, name, &view) ||
        view.source == SB_SRC_DEFAULT) {
        lua_pop(L, 1);
        return 0;
    }
    lua_pushstring(L, name);
    // view.text may be masked (a password), but the script gets the value.
    lua_pushstring(L, view.opt->type == SB_OPT_STRING
                          ? *(const char *const *)view.value
                          : view.text);
    sb__option_push(L, view.opt, view.value);
    rc = sb__state_call(s->main, "validate", 3, 2, err);
    if (rc)
        return rc;
    const char *message = lua_tostring(L, -1); // of cmdline.lua

    if (!lua_toboolean(L, -2) && message)
        rc = sb_err_set(err, SB_ESCRIPT, "%s", message);
    else if (!lua_toboolean(L, -2))
        rc = sb_err_set(
            err, SB_EUSAGE, "invalid option: --%s=%s", name, view.text);
    lua_pop(L, 2);
    return rc;
}

static int add_one(struct sb_script *s, struct sb_err *err)
{
    lua_State *L = s->main->L;
    const char *name = field(L, "name");
    int rc;

    lua_getfield(L, -1, "type");
    enum sb_opt_type type = (enum sb_opt_type)lua_tointeger(L, -1);
    lua_pop(L, 1);
    rc = declare(s, name, field(L, "help"), type, field(L, "default"), err);
    return rc ? rc : validate(s, name, err);
}

// Adds the declared options in the list on the stack top, from cmdline.lua.
static int add_declared(struct sb_script *s, struct sb_err *err)
{
    lua_State *L = s->main->L;
    int n = (int)lua_objlen(L, -1), rc = 0;

    assert(s->main && lua_istable(L, -1));
    for (int i = 1; i <= n && rc == 0; i++) {
        lua_rawgeti(L, -1, i);
        rc = add_one(s, err);
        lua_pop(L, 1);
    }
    return rc;
}

static void add_types(lua_State *L)
{
    static const struct {
        const char *name;
        enum sb_opt_type type;
    } types[] = {
        { "BOOL", SB_OPT_BOOL },
        { "INT", SB_OPT_INT },
        { "SIZE", SB_OPT_SIZE },
        { "DOUBLE", SB_OPT_DOUBLE },
        { "STRING", SB_OPT_STRING },
        { "LIST", SB_OPT_LIST },
    };

    lua_createtable(L, 0, 6);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        lua_pushinteger(L, types[i].type);
        lua_setfield(L, -2, types[i].name);
    }
}

int sb_script_add_options(struct sb_script *s, struct sb_err *err)
{
    lua_State *L = s->main->L;
    int rc = sb__state_module(s->main, "cmdline", "declared", err);

    if (rc)
        return rc;
    add_types(L);
    rc = sb__state_call(
        s->main, "sysbench.cmdline.read_cmdline_options", 1, 1, err);
    if (rc)
        return rc;
    s->legacy = !lua_istable(L, -1);
    rc = s->legacy ? add_undeclared(s, err) : add_declared(s, err);
    lua_settop(L, 0);
    return rc;
}
