// SPDX-License-Identifier: GPL-2.0-or-later
//
// The event loop of one user, for Lua:
//
//     while C.sb_user_next(u) == 1 do event(tid) end
//
// Only in the user's thread.
#ifndef SB_USER_FFI_H
#define SB_USER_FFI_H

#include <stdint.h>

#include "base/export.h"

struct sb_user;

// Completes the event in progress, if any, waits for the next arrival or think
// time, and starts the next event. 1: an event has started. 0: the run is over
// for this user, or the next event belongs to another workload of a mix: leave
// the loop. Without a wait, the end time of an event is the start time of
// the next; on an event loop, the client delays of the event lie between them.
SB_FFI int sb_user_next(struct sb_user *u);
// The same in two parts, the second of which may wait: sb_user_next_now()
// returns 2 if sb_user_next_wait() must be called.
SB_FFI int sb_user_next_now(struct sb_user *u);
SB_FFI int sb_user_next_wait(struct sb_user *u);
// The same in two steps, for scripts with their own thread_run:
// sb_user_begin() returns 1 or 0 like sb_user_next(); sb_user_end() completes
// the event.
SB_FFI int sb_user_begin(struct sb_user *u);
SB_FFI void sb_user_end(struct sb_user *u);
// Discards the event in progress: it counts as not started (event() returned
// true).
SB_FFI void sb_user_drop(struct sb_user *u);
// Returns the unused pages of the user's stack to the system, in its thread or
// fiber. What users do first (parsing declarations, connecting, preparing
// statements) needs far more stack than their events, and thousands of users
// would keep all of it.
SB_FFI void sb_user_trim(const struct sb_user *u);
// Restarts the event in progress: counts the restart and waits for the
// back-off. 1: call event() again. 0: the event was given up and counts as
// failed; sb_user_next() continues with the next one.
SB_FFI int sb_user_restart(struct sb_user *u);
// The event in progress counts as failed, without another try. Has no effect
// outside of an event.
SB_FFI void sb_user_fail(struct sb_user *u);
// Think time: the next event starts at least ns after the end of this one. Not
// part of any latency.
SB_FFI void sb_user_think(struct sb_user *u, double ns);
// Sleeps ns, in or outside of an event. Returns 1; 0 if the run, or the stage
// of this user, ends before that.
SB_FFI int sb_user_pause(struct sb_user *u, double ns);
// The event in progress is the last one of this user. No effect in
// thread_init().
SB_FFI void sb_user_stop(struct sb_user *u);
// Returns the seconds since the start of the measured part: negative before it,
// by a large number if its start is not known yet; 0 outside of a run.
SB_FFI double sb_user_time(struct sb_user *u);
// Returns the seconds since the start of the run, with all that precedes the
// measured part; 0 outside of a run.
SB_FFI double sb_user_run_time(struct sb_user *u);
// Adds n to the counter with this number in enum sb_counter_type of 1.0.
SB_FFI void sb_user_count(struct sb_user *u, int type, uint64_t n);
SB_FFI uint64_t sb_user_counted(const struct sb_user *u, int type);
// Operations of a script (sysbench.op): a function that returns the number for
// a name; one that returns the current time, without the client delays so far;
// one that records an operation that started at start_ns of that time.
SB_FFI int sb_user_op(struct sb_user *u, const char *name);
SB_FFI uint64_t sb_user_op_now(struct sb_user *u);
SB_FFI void sb_user_op_record(struct sb_user *u, int op, uint64_t start_ns);

// Coordination of commands that all users run at the same time (prepare).
// Waits until every user has called it. 0, or SB_ECANCELED if one failed.
SB_FFI int sb_user_barrier(struct sb_user *u);
// Adds n to the counter with this name, which all users share, and returns what
// it was before. SB_ECANCELED (negative) if a user failed or the run was
// interrupted; SB_ERANGE if the name has more than 95 bytes.
SB_FFI double sb_user_add(struct sb_user *u, const char *name, double n);
// After the command was interrupted: waits until no other user has a call in
// progress, or their calls are no longer waited for. Otherwise returns at
// once.
SB_FFI void sb_user_settle(struct sb_user *u);
// Adds n to the displayed progress; total > 0 sets the total. title "": erases
// the line instead, so that other output can be printed.
SB_FFI void sb_user_progress(
    struct sb_user *u, const char *title, double n, double total);

#endif
