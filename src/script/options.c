// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options between the registry and Lua: the options that scripts declare,
// sysbench.opt, and the globals of old scripts.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/buf.h"
#include "base/log.h"
#include "base/opts_component.h"
#include "script/script_private.h"

// A component of a mix has options of its own, some instead of those of the
// program. Returns true if the view replaces such a value.
static bool replace_value(struct sb_script *s, const struct sb_opt_view *view)
{
    char name[256];

    snprintf(name, sizeof(name), "%s", view->plain);
    for (char *p = name; *p; p++)
        *p = *p == '-' ? '_' : *p;
    for (size_t i = 0; view->component && i < s->nvalues; i++) {
        if (strcmp(s->values[i].name, name) != 0)
            continue;
        s->values[i].opt = view->opt;
        s->values[i].value = view->value;
        return true;
    }
    return false;
}

static bool is_mine(const struct sb_script *s, const struct sb_opt_view *view)
{
    return !view->component ||
           (s->env.component && strcmp(view->component, s->env.component) == 0);
}

static int add_value(void *arg, const struct sb_opt_view *view)
{
    struct sb_script *s = arg;
    size_t n = s->nvalues;
    const struct sb_opt *opt = view->opt;

    if (opt->alias_of || !view->value || strcmp(view->plain, "help") == 0 ||
        !is_mine(s, view) || replace_value(s, view))
        return 0;
    if (n % 32 == 0) {
        struct sb__value *v = realloc(
            s->values, (n + 32) * sizeof(struct sb__value));

        if (!v)
            return SB_ENOMEM;
        s->values = v;
    }
    char *name = strdup(view->plain);
    if (!name)
        return SB_ENOMEM;
    for (char *p = name; *p; p++) {
        if (*p == '-')
            *p = '_';
    }
    s->values[n] = (struct sb__value){ name, opt, view->value, false };
    s->nvalues = n + 1;
    return 0;
}

// Finds an option of this script, or of the program.
static bool find_option(
    const struct sb_script *s, const char *name, struct sb_opt_view *view)
{
    char full[320];

    snprintf(full, sizeof(full), "%s.%s",
        s->env.component ? s->env.component : "", name);
    return (s->env.component && sb_opts_find(s->env.opts, full, view)) ||
           sb_opts_find(s->env.opts, name, view);
}

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

// As add_value(), unless the script has declared an option of the same name.
static int add_idle_value(void *arg, const struct sb_opt_view *view)
{
    struct sb_script *s = arg;
    struct sb_opt_view declared;
    size_t n = s->nvalues;
    int rc = 0;

    if (!find_option(s, view->opt->name, &declared))
        rc = add_value(arg, view);
    if (s->nvalues > n)
        s->values[n].idle = true;
    return rc;
}

int sb__options_read(struct sb_script *s, struct sb_err *err)
{
    sb__options_done(s);
    if (sb_opts_each(s->env.opts, add_value, s))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (!s->env.drivers)
        return 0;
    return sb_drivers_idle(s->env.drivers, add_idle_value, s, err);
}

bool sb__options_idle(const struct sb_script *s, const char *name)
{
    for (size_t i = 0; i < s->nvalues; i++) {
        if (s->values[i].idle && strcmp(s->values[i].name, name) == 0)
            return true;
    }
    return false;
}

void sb__options_done(struct sb_script *s)
{
    for (size_t i = 0; i < s->nvalues; i++)
        free(s->values[i].name);
    free(s->values);
    s->values = NULL;
    s->nvalues = 0;
}

static void push_list(lua_State *L, const struct sb_opt_list *list)
{
    lua_createtable(L, (int)list->count, 0);
    for (size_t i = 0; i < list->count; i++) {
        lua_pushstring(L, list->item[i]);
        lua_rawseti(L, -2, (int)i + 1);
    }
}

static void push_single(
    lua_State *L, const struct sb_opt *opt, const char *item)
{
    lua_pushstring(L, item);
    if (isdigit((unsigned char)*opt->def)) {
        lua_pushnumber(L, lua_tonumber(L, -1));
        lua_remove(L, -2);
    }
}

static void push_double(lua_State *L, const struct sb_opt *opt, double value)
{
    if ((opt->flags & SB_OPT_RATE) && value < 0)
        lua_pushfstring(L, "%f%%", -value);
    else if ((opt->flags & SB_OPT_RATE) && isinf(value))
        lua_pushliteral(L, "max");
    else
        lua_pushnumber(L, value);
}

static void push_value(lua_State *L, const struct sb__value *v)
{
    const struct sb_opt_list *list = v->value;

    switch (v->opt->type) {
    case SB_OPT_BOOL:
        lua_pushboolean(L, *(const bool *)v->value);
        return;
    case SB_OPT_INT:
    case SB_OPT_SIZE:
        lua_pushnumber(L, (lua_Number) * (const int64_t *)v->value);
        return;
    case SB_OPT_DOUBLE:
        push_double(L, v->opt, *(const double *)v->value);
        return;
    case SB_OPT_DURATION: // in the unit of a number without a suffix
        lua_pushnumber(L, (lua_Number) * (const int64_t *)v->value /
                              (v->opt->flags & SB_OPT_USEC ? 1e3 : 1e9));
        return;
    case SB_OPT_STRING:
        lua_pushstring(L, *(const char *const *)v->value);
        return;
    case SB_OPT_LIST:
        if ((v->opt->flags & SB_OPT_SCALAR) && list->count == 1)
            push_single(L, v->opt, list->item[0]);
        else
            push_list(L, list);
        return;
    case SB_OPT_ENUM:
        lua_pushstring(L, v->opt->choices[*(const int *)v->value]);
        return;
    }
    lua_pushnil(L);
}

void sb__options_push_one(lua_State *L, const struct sb_script *s, size_t i)
{
    // One number, as in 1.x, because report hooks print it: the first
    // percentile, which is also the one in the classic lines.
    if (strcmp(s->values[i].name, "percentile") == 0)
        lua_pushnumber(L, s->env.npercentiles ? s->env.percentiles[0] : 0);
    else
        push_value(L, &s->values[i]);
}

void sb__options_push(lua_State *L, const struct sb_script *s)
{
    lua_createtable(L, 0, (int)s->nvalues);
    for (size_t i = 0; i < s->nvalues; i++) {
        sb__options_push_one(L, s, i);
        lua_setfield(L, -2, s->values[i].name);
    }
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
    const char *near = sb_opts_nearest(o, l->name);
    struct sb_opt_view view;
    char spelt[80];

    // An option of exactly this name exists; the script may redeclare it.
    if (sb_opts_find(o, l->name, &view))
        return;
    for (size_t i = 0; i < CLASSICS; i++) {
        if (known[i] && sb_opts_find(known[i], l->name, &view))
            return;
        if (known[i] && !near)
            near = sb_opts_nearest(known[i], l->name);
    }
    if (!near)
        return;
    snprintf(spelt, sizeof(spelt), "%s", near);
    for (char *p = spelt; *p; p++)
        if (*p == '_' && !strchr(l->name, '_'))
            *p = '-';
    sb_log(SB_LOG_WARNING,
        "unknown option --%s is passed to the script as a global; did you "
        "mean --%s?",
        l->name, spelt);
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
    if (rc == 0 && l->bare && find_option(s, l->name, &view))
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
    if (lua_isnil(L, -1) || !find_option(s, name, &view) ||
        view.source == SB_SRC_DEFAULT) {
        lua_pop(L, 1);
        return 0;
    }
    lua_pushstring(L, name);
    // view.text may be masked (a password), but the script gets the value.
    lua_pushstring(L, view.opt->type == SB_OPT_STRING
                          ? *(const char *const *)view.value
                          : view.text);
    rc = sb__state_call(s->main, "validate", 2, 1, err);
    if (rc)
        return rc;
    if (!lua_toboolean(L, -1))
        rc = sb_err_set(
            err, SB_EUSAGE, "invalid option: --%s=%s", name, view.text);
    lua_pop(L, 1);
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

    for (int i = 1; i <= n && rc == 0; i++) {
        lua_rawgeti(L, -1, i);
        rc = add_one(s, err);
        lua_pop(L, 1);
    }
    return rc;
}

void sb__options_help(const struct sb_script *s)
{
    fflush(stdout);
    sb_opts_script_help(s->env.opts, s->title, stdout);
    printf("\n");
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
