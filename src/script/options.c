// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values of options from the registry to Lua: sysbench.opt.
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "kit/buf.h"
#include "script/script_private.h"

// A component of a mix may have its own value of an option of the program.
// Returns true if the view is such a value, which then replaces the program's.
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

    if (!view->value || !is_mine(s, view) || replace_value(s, view))
        return 0;
    struct sb__value *v = sb_array_room(
        s->values, &s->cap_values, n, 1, sizeof(*v));
    if (!v)
        return SB_ENOMEM;
    s->values = v;
    char *name = strdup(view->plain);
    if (!name)
        return SB_ENOMEM;
    for (char *p = name; *p; p++) {
        if (*p == '-')
            *p = '_';
    }
    v[n] = (struct sb__value){ name, opt, view->value, false };
    s->nvalues = n + 1;
    return 0;
}

bool sb__options_find(
    const struct sb_script *s, const char *name, struct sb_opt_view *view)
{
    char full[320];

    snprintf(full, sizeof(full), "%s.%s",
        s->env.component ? s->env.component : "", name);
    return (s->env.component && sb_opts_find(s->env.opts, full, view)) ||
           sb_opts_find(s->env.opts, name, view);
}

// As add_value(), unless the script has declared an option of the same name.
static int add_idle_value(void *arg, const struct sb_opt_view *view)
{
    struct sb_script *s = arg;
    struct sb_opt_view declared;
    size_t n = s->nvalues;
    int rc = 0;

    if (!sb__options_find(s, view->opt->name, &declared))
        rc = add_value(arg, view);
    if (s->nvalues > n)
        s->values[n].idle = true;
    return rc;
}

int sb__options_read(struct sb_script *s, struct sb_err *err)
{
    assert(!s->ready);
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
    s->nvalues = s->cap_values = 0;
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

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(word, *list) == 0)
            return true;
    }
    return false;
}

// Scripts for 1.0 test an option that was a switch, such as mysql_ssl, as a
// boolean.
static void push_choice(
    lua_State *L, const char *word, const char *const *choices)
{
    static const char *const off[] = { "off", "false", "0", "no", "disabled",
        NULL };
    static const char *const on[] = { "on", "true", "1", "yes", "", NULL };
    bool is_switch = is_one_of("off", choices) && is_one_of("on", choices);

    if (is_switch && (is_one_of(word, off) || is_one_of(word, on)))
        lua_pushboolean(L, is_one_of(word, on));
    else
        lua_pushstring(L, word);
}

static void push_text(lua_State *L, const struct sb_opt *opt, const char *text)
{
    bool on = strcmp(text, "on") == 0;

    if ((opt->flags & SB_OPT_SWITCH) && (on || strcmp(text, "off") == 0))
        lua_pushboolean(L, on);
    else
        lua_pushstring(L, text);
}

void sb__option_push(lua_State *L, const struct sb_opt *opt, const void *value)
{
    const struct sb_opt_list *list = value;

    switch (opt->type) {
    case SB_OPT_BOOL:
        lua_pushboolean(L, *(const bool *)value);
        return;
    case SB_OPT_INT:
    case SB_OPT_SIZE:
        lua_pushnumber(L, (lua_Number) * (const int64_t *)value);
        return;
    case SB_OPT_DOUBLE:
        push_double(L, opt, *(const double *)value);
        return;
    case SB_OPT_DURATION: // in the unit of a number without a suffix
        lua_pushnumber(L, (lua_Number) * (const int64_t *)value /
                              (opt->flags & SB_OPT_USEC ? 1e3 : 1e9));
        return;
    case SB_OPT_STRING:
        push_text(L, opt, *(const char *const *)value);
        return;
    case SB_OPT_LIST:
        if ((opt->flags & SB_OPT_SCALAR) && list->count == 1)
            push_single(L, opt, list->item[0]);
        else
            push_list(L, list);
        return;
    case SB_OPT_ENUM:
        push_choice(L, opt->choices[*(const int *)value], opt->choices);
        return;
    }
    lua_pushnil(L);
}

void sb__options_push(lua_State *L, const struct sb_script *s)
{
    lua_createtable(L, 0, (int)s->nvalues);
    for (size_t i = 0; i < s->nvalues; i++) {
        // One number, as in 1.x, because report hooks print it: the first
        // percentile, which is also the one in the classic lines.
        if (strcmp(s->values[i].name, "percentile") == 0)
            lua_pushnumber(L, s->env.npercentiles ? s->env.percentiles[0] : 0);
        else
            sb__option_push(L, s->values[i].opt, s->values[i].value);
        lua_setfield(L, -2, s->values[i].name);
    }
}

void sb__options_help(struct sb_script *s)
{
    fflush(stdout);
    sb_opts_script_help(s->env.opts, s->title, stdout);
    printf("\n");
    sb__answers_help(s);
}

// A command line --------------------------------------------------------------

struct words {
    const struct sb_script *script;
    bool own; // also the options of the script
    struct sb_buf text;
};

// Adds a word as a shell reads it. Hidden parts of secrets become "...".
static void add_quoted(struct sb_buf *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=.,:/@%";
    bool quoted;
    struct sb_buf shown = { 0 };

    for (const char *p = word; *p;) {
        const char *secret = strstr(p, "***");

        sb_buf_add(&shown, p, secret ? (size_t)(secret - p) : strlen(p));
        sb_buf_adds(&shown, secret ? "..." : "");
        p = secret ? secret + 3 : "";
    }
    word = shown.data ? shown.data : "";
    quoted = !*word || word[strspn(word, plain)];
    sb_buf_adds(b, quoted ? " '" : " ");
    for (; *word; word++) {
        if (quoted && *word == '\'')
            sb_buf_adds(b, "'\\''");
        else
            sb_buf_add(b, word, 1);
    }
    sb_buf_adds(b, quoted ? "'" : "");
    b->failed |= shown.failed;
    sb_buf_done(&shown);
}

// Returns whether another command on the same database needs the option: an
// option of the database or its driver, the config file, or an option of the
// script.
static bool is_needed(const struct words *w, const char *name)
{
    const struct sb_script *s = w->script;
    struct sb_opt_view view;

    if (!sb__options_find(s, name, &view))
        return w->own && s->legacy; // a global of the script
    if (view.table == &sb_db_opt_table ||
        strcmp(view.opt->name, "config-file") == 0 ||
        (s->env.drivers && sb_drivers_of(s->env.drivers, view.table)))
        return true;
    return w->own && strcmp(view.table->title, s->title) == 0;
}

static int add_setting(
    void *arg, const char *name, const char *value, enum sb_opt_source source)
{
    struct words *w = arg;
    const char *component = w->script->env.component;
    size_t len = component ? strlen(component) : 0;
    struct sb_buf word = { 0 };

    // The other sources are there for the next command as well.
    if (source != SB_SRC_CMDLINE)
        return 0;
    if (len && strncmp(name, component, len) == 0 && name[len] == '.')
        name += len + 1;
    if (!is_needed(w, name))
        return 0;
    sb_buf_addf(&word, *value ? "--%s=%s" : "--%s", name, value);
    if (!word.failed)
        add_quoted(&w->text, word.data);
    w->text.failed |= word.failed;
    sb_buf_done(&word);
    return w->text.failed ? SB_ENOMEM : 0;
}

int sb__options_command(lua_State *L, const struct sb_script *s)
{
    const char *command = luaL_checkstring(L, 1);
    const char *other = luaL_optstring(L, 2, NULL);
    struct words w = { .script = s, .own = !other };
    int rc;

    sb_buf_adds(&w.text, "sysbench");
    if (other)
        sb_buf_addf(&w.text, " %s", other);
    else
        add_quoted(&w.text, s->given ? s->given : "-");
    rc = sb_opts_settings(s->env.opts, add_setting, &w);
    sb_buf_addf(&w.text, " %s", command);
    if (rc == 0 && !w.text.failed)
        lua_pushlstring(L, w.text.data, w.text.len);
    else
        rc = SB_ENOMEM;
    sb_buf_done(&w.text);
    return rc ? luaL_error(L, "out of memory") : 1;
}
