// SPDX-License-Identifier: GPL-2.0-or-later
//
// Adds what a script says of its run to the answers of the run, when it has
// ended.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "measure/answers.h"
#include "script/script_private.h"

// Returns whether the script may answer now; if not, pushes why.
static bool may_answer(
    lua_State *L, const struct sb_script *s, const char *function)
{
    if (s->env.answers && s->answering)
        return true;
    lua_pushfstring(L,
        "sysbench.%s() can only be called when the run has ended: in done(), "
        "in hooks.run_failed, or for the whole run in hooks.report_line or "
        "hooks.report_cumulative",
        function);
    return false;
}

// Takes a text that is printed, one line; shortens it at the end of a
// character.
static void take(char *out, size_t size, lua_State *L, int arg)
{
    sb_escape_line(out, size, luaL_checkstring(L, arg));
}

static const char *workload(const struct sb_script *s)
{
    return s->env.component ? s->env.component : "";
}

// Returns 0 values, or pushes why it failed.
static int outcome(lua_State *L, int rc, const struct sb_err *err)
{
    if (rc == 0)
        return 0;
    lua_pushstring(L, err->msg);
    return 1;
}

int sb__answer_result(lua_State *L, struct sb_script *s)
{
    const char *name = luaL_checkstring(L, 1);
    struct sb_own_result r = { .value = luaL_optnumber(L, 2, NAN),
        .better = sb_better_named(luaL_checkstring(L, 4)),
        .headline = lua_toboolean(L, 6) };
    struct sb_err err = { 0 };

    if (!may_answer(L, s, "result"))
        return 1;
    if (strlen(name) >= sizeof(r.name) || s->env.is_figure(name)) {
        lua_pushfstring(L, "'%s' cannot be the name of a result: it is %s",
            name,
            strlen(name) >= sizeof(r.name) ? "too long"
                                           : "a figure of every run");
        return 1;
    }
    snprintf(r.workload, sizeof(r.workload), "%s", workload(s));
    take(r.name, sizeof(r.name), L, 1);
    take(r.why, sizeof(r.why), L, 3);
    take(r.unit, sizeof(r.unit), L, 5);
    if (isfinite(r.value))
        r.why[0] = '\0';
    return outcome(L, sb_answers_add_result(s->env.answers, &r, &err), &err);
}

int sb__answer_verdict(lua_State *L, struct sb_script *s)
{
    struct sb_own_verdict v = { .passed = lua_isnil(L, 1) ? SB_PASSED_UNKNOWN
                                          : lua_toboolean(L, 1)
                                              ? SB_PASSED_YES
                                              : SB_PASSED_NO };
    const char *name = luaL_checkstring(L, 3);
    struct sb_err err = { 0 };

    if (!may_answer(L, s, "verdict"))
        return 1;
    if (strlen(name) >= sizeof(v.name)) {
        lua_pushfstring(
            L, "'%s' cannot be the name of a verdict: it is too long", name);
        return 1;
    }
    snprintf(v.workload, sizeof(v.workload), "%s", workload(s));
    take(v.text, sizeof(v.text), L, 2);
    take(v.name, sizeof(v.name), L, 3);
    return outcome(L, sb_answers_add_verdict(s->env.answers, &v, &err), &err);
}

bool sb_script_results(
    struct sb_script *s, void (*visit)(void *arg, const char *name), void *arg)
{
    lua_State *L = s->main->L;
    int top = lua_gettop(L);
    bool declared = false;

    lua_getglobal(L, "sysbench");
    if (lua_istable(L, -1)) {
        lua_pushstring(L, "results");
        lua_rawget(L, -2);
        declared = lua_istable(L, -1);
    }
    if (declared) {
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            lua_pop(L, 1);
            if (lua_type(L, -1) == LUA_TSTRING)
                visit(arg, lua_tostring(L, -1));
        }
    }
    lua_settop(L, top);
    return declared;
}

struct names {
    char name[SB_ANSWERS_MAX][SB_ANSWER_NAME];
    unsigned n;
};

static void add_name(void *arg, const char *name)
{
    struct names *all = arg;

    if (all->n < SB_ANSWERS_MAX)
        snprintf(all->name[all->n++], SB_ANSWER_NAME, "%s", name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

void sb__answers_help(struct sb_script *s)
{
    struct names all = { .n = 0 };
    struct sb_buf text = { 0 };

    if (!sb_script_results(s, add_name, &all) || all.n == 0)
        return;
    qsort(all.name, all.n, sizeof(all.name[0]), by_name);
    sb_buf_adds(&text, "Results, for --assert and --headline:");
    for (unsigned i = 0; i < all.n; i++)
        sb_buf_addf(&text, "%s %s", i ? "," : "", all.name[i]);
    if (!text.failed) {
        sb_wrap(stdout, 0, 0, text.data);
        printf("\n");
    }
    sb_buf_done(&text);
}
