// SPDX-License-Identifier: GPL-2.0-or-later
//
// The event loop of one user, as Lua calls it:
//
//     while C.sb_user_next(u) == 1 do event(tid) end
//
// Owner thread only.
#ifndef SB_USER_FFI_H
#define SB_USER_FFI_H

#include <stdint.h>

#include "base/export.h"

struct sb_user;

// Ends the event in progress as completed, if there is one, and begins the
// next: waits for its arrival or think time. 1: an event has begun. 0: the
// run is over for this user. The end stamp of one event is the start of the
// next where nothing lies between.
SB_FFI int sb_user_next(struct sb_user *u);
// The same in two steps, for scripts with a thread_run of their own: begin
// says 1 or 0 as sb_user_next() does; end completes the event.
SB_FFI int sb_user_begin(struct sb_user *u);
SB_FFI void sb_user_end(struct sb_user *u);
// Forgets the event in progress: it was never begun (event() returned true).
SB_FFI void sb_user_drop(struct sb_user *u);
// The event in progress must be tried again: counts the restart, waits the
// back-off. 1: call event() again, 0: given up, the event has failed and
// sb_user_next() goes on with the next one.
SB_FFI int sb_user_restart(struct sb_user *u);
// The user's next event begins no earlier than ns from the end of this one:
// think time, in no latency.
SB_FFI void sb_user_think(struct sb_user *u, double ns);
// Adds n to a counter under its old name: enum sb_counter_type.
SB_FFI void sb_user_count(struct sb_user *u, int type, uint64_t n);
SB_FFI uint64_t sb_user_counted(const struct sb_user *u, int type);
// Named operations of a script's own (sysbench.op): the number for a name;
// now; and a recording of an operation that began at start_ns.
SB_FFI int sb_user_op(struct sb_user *u, const char *name);
SB_FFI uint64_t sb_user_now(struct sb_user *u);
SB_FFI void sb_user_op_record(struct sb_user *u, int op, uint64_t start_ns);

// Coordination of commands that all users run at once (prepare).
// Waits until every user has come here. 0, or SB_ECANCELED when one failed.
SB_FFI int sb_user_barrier(struct sb_user *u);
// The next number of the shared counter `key` (0, 1, ... 63), from 0 on.
// SB_ECANCELED (negative) when one failed or the run was interrupted.
SB_FFI double sb_user_ticket(struct sb_user *u, int key);
// After the command was interrupted: waits until no user is at a call any more
// or a second has passed. Returns at once otherwise.
SB_FFI void sb_user_settle(struct sb_user *u);
// Adds n to what progress shows; total > 0 sets what n is out of. what "":
// wipes the line instead, so that something else can be printed.
SB_FFI void sb_user_progress(
    struct sb_user *u, const char *what, double n, double total);

#endif
