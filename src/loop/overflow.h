// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fiber or thread whose stack has overflowed ends the process with a message.
// Other faults end it as they would without this.
#ifndef SB_LOOP_OVERFLOW_H
#define SB_LOOP_OVERFLOW_H

#include "loop/context.h"

struct sb_loop;

// From now on, if the stack of a fiber overflows, say(arg) is called in a
// signal handler, and then the process ends with status 1. arg: of the fiber,
// see sb_loop_add(). Only async-signal-safe functions may be used. Has no
// effect in builds with sanitizers, which handle faults themselves. Before
// sb_loop_run(), once or more often.
void sb_overflow_catch(void (*say)(void *arg));
// The same for the stack of the calling thread, which runs no loop, until
// sb_overflow_unguard(): say(arg). The thread calls both. If the system refuses
// what this needs, an overflow has no message. Overflows that skip the thread's
// guard (see pthread_attr_setguardsize()) are not found.
void sb_overflow_guard(void *arg);
void sb_overflow_unguard(void);

// For loop.c. Called before and after the calling thread runs the fibers of the
// loop.
void sb__overflow_begin(struct sb_loop *l);
void sb__overflow_end(struct sb_loop *l);

#endif
