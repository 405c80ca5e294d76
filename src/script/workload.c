// SPDX-License-Identifier: GPL-2.0-or-later
//
// The script as a workload: implements workload.h with its hooks.
#include <assert.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "script/script_private.h"

// How long users wait until it is known whether they share a state.
#define WAIT_NS UINT64_C(2000000000)

static int begin(struct sb_workload *w, struct sb_err *err)
{
    struct sb_script *s = w->data;

    if (!sb__state_has(s->main, NULL, "event") &&
        !sb__state_has(s->main, NULL, "thread_run"))
        return sb_err_set(err, SB_ESCRIPT,
            "cannot find the event() function in %s%s%s", s->path,
            s->hidden
                ? ", a file of the current folder that hides the workload "
                : "",
            s->hidden ? s->hidden : "");
    if (!sb__state_has(s->main, NULL, "init"))
        return 0;
    lua_getglobal(s->main->L, "init");
    return sb__state_call(s->main, "init", 0, 0, err);
}

// Users have their own states: of the results of init(), only the sequences are
// passed to them.
static void share(struct sb_workload *w, struct sb_buf *b)
{
    struct sb_script *s = w->data;

    sb_sequences_write(&s->sequences, b);
}

static int adopt(struct sb_workload *w, struct sb_wire *r, struct sb_err *err)
{
    struct sb_script *s = w->data;

    return sb_sequences_read(&s->sequences, r, err);
}

// Runs in a thread of its own. It can use the main state, because the main
// thread waits.
static int check(struct sb_workload *w, struct sb_err *err)
{
    struct sb_script *s = w->data;

    if (!sb__state_push(s->main, "hooks", "check_tables"))
        return 0; // init() has removed it
    // Errors are about the tables, not about the script.
    return sb__state_call(s->main, NULL, 0, 0, err);
}

static void cancel_check(struct sb_workload *w)
{
    struct sb_script *s = w->data;

    atomic_store(&s->main->canceled, true);
    sb_db_ctx_cancel(&s->main->ctx);
}

int sb__workload_attach(struct sb_script *s, struct sb_user *u,
    enum sb__sharing sharing, struct sb__state **out, struct sb_err *err)
{
    struct sb__state *st;
    int rc;

    assert(s->ready); // the state gets the values of options
    rc = sb__state_new(&st, s, u, 0, sharing == SB__SHARES, err);
    *out = NULL;
    if (rc)
        return rc;
    pthread_mutex_lock(&u->part_lock);
    assert(!u->part[s->workload.slot]); // of an earlier visit
    u->part[s->workload.slot] = st;
    pthread_mutex_unlock(&u->part_lock);
    *out = st;
    if (sharing != SB__ALONE && !s->unchanged) {
        rc = sb__state_module(st, "sharing", "changed", err);
        lua_settop(st->L, 0);
    }
    return rc ? rc : sb__state_body(st, err);
}

// Returns SB__SHARES if the user may share a state, otherwise SB__ALONE. While
// this is unknown, one user gets SB__SHARING_TRIED and has to find it out. The
// other users wait for the result for at most WAIT_NS, because a server may not
// answer. If all users start with this workload, user 0 tries, because scripts
// give it special tasks.
static enum sb__sharing sharing_of(struct sb_script *s, struct sb_user *u)
{
    bool may_try = u->id == 0 || !sb_user_all_start(u);
    uint64_t until = sb_clock_monotonic() + WAIT_NS;
    enum sb__sharing sharing;

    if (!sb_user_waiter(u)->fiber)
        return SB__ALONE;
    pthread_mutex_lock(&s->lock);
    while (!sb_user_stopped(u) &&
           (s->sharing == SB__SHARING_TRIED ||
               (s->sharing == SB__SHARING_UNKNOWN && !may_try)) &&
           sb_wait_list_wait(
               &s->sharing_known, &s->lock, sb_user_waiter(u), until))
        ;
    sharing = s->sharing == SB__SHARES ? SB__SHARES : SB__ALONE;
    bool late = s->sharing == SB__SHARING_TRIED && !s->waited_long;
    if (s->sharing == SB__SHARING_UNKNOWN && may_try)
        sharing = s->sharing = SB__SHARING_TRIED;
    s->waited_long |= late;
    pthread_mutex_unlock(&s->lock);
    if (late)
        sb_log(SB_LOG_DEBUG,
            "users of %s have Lua states of their own: the thread_init() of "
            "the first one took more than %u s",
            s->path, (unsigned)(WAIT_NS / 1000000000));
    return sharing;
}

// Returns the earlier decision.
static enum sb__sharing decide(struct sb_script *s, enum sb__sharing sharing)
{
    enum sb__sharing before;

    pthread_mutex_lock(&s->lock);
    before = s->sharing;
    s->sharing = sharing;
    sb_wait_list_wake(&s->sharing_known);
    pthread_mutex_unlock(&s->lock);
    return before;
}

// Returns what the script has changed that users of a state share; NULL:
// nothing. Leaves the text on the stack.
static const char *what_changed(struct sb__state *st, struct sb_err *err)
{
    if (atomic_load(&st->script->codes.named))
        return "it calls C functions that wait";
    if (sb__state_module(st, "sharing", "changed", err) ||
        sb__state_call(st, "sharing", 0, 1, err))
        return err->msg;
    return lua_tostring(st->L, -1);
}

// Called when the user with SB__SHARING_TRIED has ended its thread_init(), or
// has failed: decides whether users share states.
static void find_out(struct sb_script *s, struct sb__state *st, bool failed)
{
    struct sb_err err = { 0 };
    const char *why = failed ? "its first user failed" : what_changed(st, &err);

    if (why)
        sb_log(SB_LOG_DEBUG, "each user of %s has a Lua state of its own: %s",
            s->path, why);
    decide(s, why ? SB__ALONE : SB__SHARES);
    if (!failed)
        lua_settop(st->L, 0);
}

// Called when a user has ended its thread_init() in a shared state: warns if it
// has changed something that the first user did not change.
static void look_again(struct sb_script *s, struct sb__state *st)
{
    struct sb_err err = { 0 };
    const char *why = s->unchanged ? NULL : what_changed(st, &err);

    if (why && decide(s, SB__ALONE) == SB__SHARES)
        sb_log(SB_LOG_WARNING,
            "%s, user %u: %s; this affects all users that share its Lua state "
            "(--workers=users gives each user its own)",
            s->path, st->tid, why);
    lua_settop(st->L, 0);
}

static int init_state(struct sb_script *s, struct sb_user *u,
    enum sb__sharing sharing, struct sb__state **out, struct sb_err *err)
{
    struct sb__state *st;
    int rc = sb__workload_attach(s, u, sharing, &st, err);

    *out = st;
    if (rc == 0)
        rc = sb__state_hook(st, "thread_init", 0, err);
    if (rc == 0)
        rc = sb__state_module(st, "user", "run", err);
    if (rc)
        return rc;
    assert(lua_isfunction(st->L, -1));
    st->run = luaL_ref(st->L, LUA_REGISTRYINDEX);
    st->own_loop = sb__state_has(st, NULL, "thread_run");
    sb__state_trim(st);
    return 0;
}

static int user_init(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb_script *s = w->data;
    enum sb__sharing sharing = sharing_of(s, u);
    struct sb__state *st;
    int rc = init_state(s, u, sharing, &st, err);

    if (sharing == SB__SHARING_TRIED)
        find_out(s, st, rc != 0);
    else if (sharing == SB__SHARES && rc == 0)
        look_again(s, st);
    return rc;
}

static int user_run(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb__state *st = u->part[w->slot];

    assert(st && st->user == u && st->run != LUA_NOREF);
    lua_rawgeti(st->L, LUA_REGISTRYINDEX, st->run);
    return sb__state_call(st, "thread_run", 0, 0, err);
}

static int user_done(
    struct sb_workload *w, struct sb_user *u, struct sb_err *err)
{
    struct sb__state *st = u->part[w->slot];
    int rc = sb__state_hook(st, "thread_done", 1, err);

    return rc ? rc : sb__results_keep(st, err);
}

static enum sb_held user_held(struct sb_workload *w, struct sb_user *u,
    const struct sb_hold *hold, char *what, size_t size)
{
    return sb__lines_held(u->part[w->slot], hold, what, size);
}

static enum sb_held user_stuck(struct sb_workload *w, struct sb_user *u,
    pthread_t thread, char *what, size_t size)
{
    struct sb__state *st;
    enum sb_held held = SB_HELD_UNKNOWN;

    // The state is not freed meanwhile.
    pthread_mutex_lock(&u->part_lock);
    st = u->part[w->slot];
    if (st && sb__stuck_line(st->vm, thread, what, size))
        held = SB_HELD_LINE;
    else if (st)
        snprintf(what, size, "%s() of %s",
            st->own_loop ? "thread_run" : "event", st->script->path);
    pthread_mutex_unlock(&u->part_lock);
    return held;
}

static bool user_connected(struct sb_workload *w, const struct sb_user *u)
{
    const struct sb__state *st = u->part[w->slot];

    return st && st->ctx.opened > 0;
}

static void user_free(struct sb_workload *w, struct sb_user *u)
{
    struct sb__state *st;

    pthread_mutex_lock(&u->part_lock);
    st = u->part[w->slot];
    u->part[w->slot] = NULL;
    pthread_mutex_unlock(&u->part_lock);
    assert(!st || st->user == u);
    sb__state_free(st);
    sb__compat_enter(NULL);
}

static void cancel(struct sb_workload *w, struct sb_user *u)
{
    pthread_mutex_lock(&u->part_lock);
    struct sb__state *st = u->part[w->slot];
    if (st) {
        atomic_store(&st->canceled, true);
        // A command removes what it has created.
        if (sb_user_has_task(u))
            sb_db_ctx_cancel(&st->ctx);
        else
            sb_db_ctx_end(&st->ctx);
    }
    pthread_mutex_unlock(&u->part_lock);
}

static int end(struct sb_workload *w, struct sb_err *err)
{
    struct sb_script *s = w->data;

    // sysbench.report_json() ends its array when the state is closed.
    sb__state_free(s->report);
    s->report = NULL;
    if (!sb__state_has(s->main, NULL, "done"))
        return 0;
    lua_getglobal(s->main->L, "done");
    int rc = sb__results_push(s, err);

    s->answering = true;
    rc = rc ? rc : sb__state_call(s->main, "done", 1, 0, err);
    s->answering = false;
    return rc;
}

bool sb_script_ends(struct sb_script *s)
{
    struct sb_err err = { 0 };

    if (!sb__state_push(s->main, "hooks", "ends_by_itself"))
        return false;
    if (sb__state_call(s->main, "ends_by_itself", 0, 1, &err)) {
        sb_log(SB_LOG_WARNING, "%s", err.msg);
        return false;
    }
    bool ends = lua_toboolean(s->main->L, -1);

    lua_pop(s->main->L, 1);
    return ends;
}

// Calls the hook run_failed. Its errors are only logged, because the run has
// already failed.
static void failed(struct sb_workload *w, const char *why)
{
    struct sb_script *s = w->data;
    struct sb_err err = { 0 };

    sb__state_free(s->report);
    s->report = NULL;
    if (!sb__state_push(s->main, "hooks", "run_failed"))
        return;
    lua_pushstring(s->main->L, why);
    s->answering = true;
    if (sb__results_push(s, &err) ||
        sb__state_call(s->main, "run_failed", 2, 0, &err))
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    s->answering = false;
}

const struct sb_workload_ops sb__script_ops = {
    .begin = begin,
    .share = share,
    .adopt = adopt,
    .check = check,
    .cancel_check = cancel_check,
    .user_init = user_init,
    .user_run = user_run,
    .user_done = user_done,
    .user_held = user_held,
    .user_stuck = user_stuck,
    .user_connected = user_connected,
    .user_free = user_free,
    .cancel = cancel,
    .give_results = sb__results_give,
    .take_results = sb__results_take,
    .end = end,
    .failed = failed,
};
