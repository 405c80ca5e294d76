// SPDX-License-Identifier: GPL-2.0-or-later
//
// --beside: a command that runs beside the workload (a dump, a backup, a scan).
// A thread starts it, waits for it and notes when it started and ended.
// Functions belong to the main thread, except where stated.
#ifndef SB_BESIDE_H
#define SB_BESIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

#define SB_BESIDE_NAME 32

// "Options of a command beside the run". Durations in nanoseconds.
struct sb_beside_opts {
    const char *command; // for /bin/sh -c; "": none
    const char *name;    // "": from the command
    int64_t start;       // since the begin of the measured part
    bool start_given;    // false: sb_beside_start_time() decides
    const char *output;  // file; "": NAME.beside.log; "-": those of the program
    bool alone;          // run it also before the run, alone
    bool wait;           // the run ends with it
};

extern const struct sb_opt_table sb_beside_opt_table;

// Checks the options. others: the user gave another option than --beside.
// time: --time in ns, 0: no limit. 0 or SB_EUSAGE.
int sb_beside_check(const struct sb_beside_opts *o, bool others, int64_t time,
    struct sb_err *err);

// When the command starts, since the begin of the measured part.
int64_t sb_beside_start_time(const struct sb_beside_opts *o, int64_t time);

// Writes the name in reports: o->name, or the first word of the command that is
// no assignment, without its path, at most 31 bytes; "command" if it is not
// clear which word that is: others may be passwords.
void sb_beside_name(const struct sb_beside_opts *o, char out[SB_BESIDE_NAME]);

// Times of CLOCK_MONOTONIC in ns.
struct sb_beside_state {
    bool started, ended;
    bool stopped;              // it ended after sb_beside_stop()
    uint64_t start_ns, end_ns; // if started; if ended
    int status;                // exit status; -1 if a signal ended it,
                               // or if it is unknown
    int signal;                // that signal, or 0
    uint64_t cpu_user_ns, cpu_system_ns; // of it and the children it waited for
    uint64_t rss;                        // maximum of one process, bytes
};

struct sb_beside;

// Opens the output, whose older content is deleted. o must outlive *out.
// number: of the run in its sweep, part of the default name; 0: none. alone:
// the execution before the run, whose output has a file of its own. 0, SB_ESYS
// or SB_ENOMEM.
int sb_beside_create(struct sb_beside **out, const struct sb_beside_opts *o,
    unsigned number, bool alone, struct sb_err *err);
// Starts the command at this time, or at once if the time has passed, but not
// after sb_beside_stop(). Call it once. 0 or SB_ESYS.
int sb_beside_start(struct sb_beside *b, uint64_t ns, struct sb_err *err);
// Any thread.
void sb_beside_state(struct sb_beside *b, struct sb_beside_state *state);
// Looks at the output, from time to time. SB_ESYS if another process has
// removed, replaced or truncated its file.
int sb_beside_look(struct sb_beside *b, struct sb_err *err);
// Waits until the command has ended or will not be started, at most until this
// time. Returns whether that is so. Any thread.
bool sb_beside_wait(struct sb_beside *b, uint64_t ns);
// Stops the command and the processes of its group: SIGTERM, after grace_ns
// SIGKILL. A command that was not started yet is not started any more. Returns
// when the command has ended. Any thread.
void sb_beside_stop(struct sb_beside *b, uint64_t grace_ns);
// Kills the command of this program and the processes of its group, if there is
// one. For a process that ends without sb_beside_stop(): waits for nothing.
// Any thread, also a signal handler.
void sb_beside_kill(void);
// Stops the command at once. NULL allowed.
void sb_beside_destroy(struct sb_beside *b);

#endif
