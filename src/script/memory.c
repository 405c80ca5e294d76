// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ends the run when the system refuses memory to the Lua state of a user. Lua
// reports that as an error, which a script may catch; but versions of LuaJIT
// crash if compiled code needs the memory. So there is a reserve, with which
// the user ends its event; then the run ends as after any other failure.
#include <stdio.h>
#include <stdlib.h>

#include "kit/limits.h"
#include "script/script_private.h"

// No page of it is touched, so it takes only addresses.
#define RESERVE ((size_t)32 << 20)

void sb__memory_init(struct sb_script *s)
{
    pthread_mutex_init(&s->reserve_lock, NULL);
    s->reserve = malloc(RESERVE);
}

void sb__memory_done(struct sb_script *s)
{
    free(s->reserve);
    pthread_mutex_destroy(&s->reserve_lock);
}

// Frees the reserve. Returns false if it was freed before; its memory is free
// in both cases when this returns.
static bool free_reserve(struct sb_script *s)
{
    pthread_mutex_lock(&s->reserve_lock);
    bool had = s->reserve;
    free(s->reserve);
    s->reserve = NULL;
    pthread_mutex_unlock(&s->reserve_lock);
    return had;
}

static void describe(const struct sb__vm *vm, struct sb_err *err)
{
    int kib = lua_gc(vm->L, LUA_GCCOUNT, 0);
    bool large = kib >= 1024;
    char limit[80], who[80];

    sb_limit_of_memory(limit, sizeof(limit));
    if (vm->users > 1)
        snprintf(who, sizeof(who), "%u users", vm->users);
    else
        snprintf(who, sizeof(who), "user %u", vm->now->tid);
    sb_err_set(err, SB_ENOMEM,
        "out of memory: the Lua state of %s has %d %s, and the system refuses "
        "more%s",
        who, large ? kib / 1024 : kib, large ? "MiB" : "KiB", limit);
}

void sb__memory_refused(struct sb__vm *vm)
{
    struct sb_err err = { 0 };

    if (!vm->of_users) // these states have no reserve
        return;
    bool reserve = free_reserve(vm->script);
    describe(vm, &err);
    sb_user_fail_run(vm->now->user, &err);
    // Without a reserve, LuaJIT may crash now. So the reason, which is the
    // first refusal, is reported before that.
    if (!reserve)
        sb_user_tell_failure(vm->now->user);
}
