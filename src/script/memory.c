// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ends the run when the system refuses memory to the Lua state of a user. Lua
// reports that as an error, which a script may catch; but versions of LuaJIT
// crash if compiled code needs the memory. So there is a reserve, with which
// the user ends its event; then the run ends as after any other failure.
#include <assert.h>
#include <stdlib.h>

#include "script/script_private.h"

// No page of it is touched, so it takes only addresses.
#define RESERVE ((size_t)32 << 20)

void sb__memory_init(struct sb_script *s)
{
    atomic_store(&s->reserve, (uintptr_t)malloc(RESERVE));
}

void sb__memory_done(struct sb_script *s)
{
    free((void *)atomic_exchange(&s->reserve, 0));
}

static void describe(const struct sb__state *st, struct sb_err *err)
{
    sb_err_set(err, SB_ENOMEM,
        "out of memory: the Lua state of user %u has %d MiB, and the system "
        "refuses more",
        st->tid, lua_gc(st->L, LUA_GCCOUNT, 0) / 1024);
}

void sb__memory_refused(void *state)
{
    struct sb__state *st = state;
    struct sb_err err = { 0 };
    void *reserve;

    if (!st->L) // it is being created, which fails with a message
        return;
    assert(st->user); // other states have no reserve
    reserve = (void *)atomic_exchange(&st->script->reserve, 0);
    describe(st, &err);
    sb_user_fail_run(st->user, &err);
    free(reserve);
    // Without a reserve, LuaJIT may crash now: the reason, which is the first
    // refusal, has to be known before.
    if (!reserve)
        sb_user_tell_failure(st->user);
}
