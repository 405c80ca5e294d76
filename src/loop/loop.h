// SPDX-License-Identifier: GPL-2.0-or-later
//
// An event loop with fibers: one thread runs many users. A fiber runs until it
// waits; then the thread runs the next one that is ready. io_uring or epoll
// report what fibers wait for.
//
//     sb_loop_new() in any thread; sb_loop_add() for each fiber;
//     sb_loop_open() and sb_loop_run() in its own thread;
//     sb_loop_close() and sb_loop_free() after that.
//
// Fibers that are ready run in the order in which they became ready, each once
// before any of them runs again.
#ifndef SB_LOOP_H
#define SB_LOOP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "loop/fiber.h"

enum sb_loop_kind {
    SB_LOOP_ANY,   // io_uring if the system allows it, otherwise epoll
    SB_LOOP_URING, // SB_EUNSUPPORTED if it is refused
    SB_LOOP_EPOLL,
};

struct sb_loop;
struct sb_helpers;

// max: the largest number of fibers. exact: sleeping ends at its time and not,
// as timers do, some time later; the thread busy-waits for the last part. NULL:
// out of memory.
struct sb_loop *sb_loop_new(unsigned max, bool exact);
// Gives the loop threads for what blocks (helper.h); several loops may share
// them. Before sb_loop_run(). The helpers outlive the fibers, but not the loop:
// their threads wake its fibers.
void sb_loop_helpers(struct sb_loop *l, struct sb_helpers *h);
// The loop is not running. Frees its fibers. NULL is allowed.
void sb_loop_free(struct sb_loop *l);
// Adds a fiber, which is ready to run run(arg) on a stack of `stack` bytes.
// Before sb_loop_run(), or in a fiber of this loop. NULL: out of memory.
struct sb_fiber *sb_loop_add(
    struct sb_loop *l, size_t stack, void (*run)(void *arg), void *arg);

// Any thread, after sb_loop_run(), when no thread wakes the fibers any more. A
// loop that is not open is allowed.
void sb_loop_close(struct sb_loop *l);

// The functions below: in the thread of the loop.

// 0; SB_EUNSUPPORTED; SB_ENOMEM, or SB_ELIMIT if the system refuses descriptors
// or memory.
int sb_loop_open(struct sb_loop *l, enum sb_loop_kind kind, struct sb_err *err);
// Runs the fibers until all of them are over.
void sb_loop_run(struct sb_loop *l);
// "io_uring" or "epoll", after sb_loop_open().
const char *sb_loop_kind_name(const struct sb_loop *l);

#endif
