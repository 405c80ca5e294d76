// SPDX-License-Identifier: GPL-2.0-or-later
//
// A fiber whose stack has overflowed ends the process with a message. Other
// faults end it as they would without this.
#ifndef SB_LOOP_OVERFLOW_H
#define SB_LOOP_OVERFLOW_H

// From now on, if the stack of a fiber overflows, say(arg) is called in a
// signal handler, and then the process ends with status 1. arg: of the fiber,
// see sb_loop_add(). Only async-signal-safe functions may be used. Has no
// effect in builds with sanitizers, which handle faults themselves. Before
// sb_loop_run(), once or more often.
void sb_overflow_catch(void (*say)(void *arg));

#endif
