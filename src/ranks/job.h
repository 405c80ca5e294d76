// SPDX-License-Identifier: GPL-2.0-or-later
//
// A job: several processes (ranks), started by a launcher of MPI, that carry
// out one command together. This file exchanges messages between them; the
// contents of the messages are defined by the files that use it. Rank 0
// decides, the others follow. Only the main thread uses a job.
// docs/internals/job.md.
#ifndef SB_JOB_H
#define SB_JOB_H

#include <stdint.h>

#include "base/wire.h"
#include "ranks/transport.h"

// How often messages are polled, in ns: in a run; in a parallel command, whose
// users wait for answers.
#define SB_JOB_POLL         UINT64_C(5000000)
#define SB_JOB_POLL_COMMAND UINT64_C(2000000)

// The kind of a message; its first byte.
enum sb_job_what {
    SB_JOB_HELLO,    // to 0: version and host of a rank
    SB_JOB_SETUP,    // from 0: what the command line is
    SB_JOB_GET_FILE, // to 0: a rank needs this file
    SB_JOB_FILE,     // from 0: its content
    SB_JOB_GO,       // from 0: init() has returned, create the users
    SB_JOB_READY,    // to 0: all users of a rank are ready
    SB_JOB_PING,     // to 0: what is the time?
    SB_JOB_PONG,     // from 0: the time
    SB_JOB_SYNC,     // from 0: compare the clocks; to 0: the result
    SB_JOB_START,    // from 0: when the run begins
    SB_JOB_STATE,    // to 0: figures of a rank so far
    SB_JOB_INTERVAL, // to the parent: figures of an interval
    SB_JOB_PART,     // from 0: a part of a search begins; to 0: its figures
    SB_JOB_SECTION,  // to 0: figures of a stage, or up to a checkpoint
    SB_JOB_STOP,     // from 0: end the run
    SB_JOB_RESULTS,  // to 0: what users have returned, before FINAL
    SB_JOB_FINAL,    // to 0: all figures of a rank
    // Of parallel commands, in both directions:
    SB_JOB_BARRIER,  // all users of a rank are there; it opens
    SB_JOB_TICKET,   // a user waits for one; its number
    SB_JOB_SETTLED,  // after a stop: no calls are left on a rank; on all ranks
    SB_JOB_PROGRESS, // to 0: what a rank has done
    SB_JOB_ENDED,    // to 0: the users of a rank have ended
    SB_JOB_FAILED,   // to 0: why a rank cannot go on
    SB_JOB_QUIT,     // from 0: leave the job
    SB_JOB_BYE,      // to 0: a rank leaves the job
    SB_JOB_END,      // from 0: its last message to a rank
    SB_JOB_WHATS
};

struct sb_job;
typedef void sb_job_handler(void *arg, unsigned from, struct sb_wire *w);

// What rank 0 knows about a rank.
struct sb_job_rank {
    char host[256];
    bool hello, left, failed;
    char why[400];  // it failed
    uint64_t heard; // monotonic time of its last message; 0: none
};

struct sb_job {
    struct sb_transport t;
    unsigned rank, ranks;
    struct {
        sb_job_handler *call;
        void *arg;
    } handler[SB_JOB_WHATS];
    struct sb_transport_message early[2]; // without a handler: GO, STOP
    void (*each_poll)(void *arg);
    void *each_poll_arg;
    struct sb_job_rank *of; // of rank 0: ranks entries; else NULL
    bool quit, end;         // QUIT, END has arrived
    bool lost;              // a rank is silent: do not wait for it at the end
    // sb_job_tell_all() skips ranks that have sent no message since this time,
    // ns.
    uint64_t wary_since;
    struct sb_err broken; // the transport does not work any more
};

// Makes a job of a transport that is open, and takes it over. host: the name of
// this host. NULL if out of memory.
struct sb_job *sb_job_new(const struct sb_transport *t, const char *host);
// Frees the job; the transport must have been closed.
void sb_job_free(struct sb_job *j);

// Calls call() in sb_job_poll() for each message of this kind; replaces what
// was set before. GO and STOP that have arrived before their first handler are
// kept for it: rank 0 may be ahead. Other messages without a handler are
// dropped.
void sb_job_on(
    struct sb_job *j, enum sb_job_what what, sb_job_handler *call, void *arg);

// Calls call() at the end of each sb_job_poll(); NULL: nothing.
void sb_job_each_poll(struct sb_job *j, void (*call)(void *arg), void *arg);

// Sends a message. body: its content, or NULL. If the transport fails,
// j->broken says why, and nothing is sent any more.
void sb_job_send(struct sb_job *j, unsigned to, enum sb_job_what what,
    const struct sb_buf *body);
// From rank 0 to all others that have not left; see wary_since.
void sb_job_tell_all(
    struct sb_job *j, enum sb_job_what what, const struct sb_buf *body);

// Handles the messages that have arrived. Does not wait.
void sb_job_poll(struct sb_job *j);
// Handles messages until done(arg) is true, QUIT arrives, the transport fails,
// or the monotonic time is reached. Returns done(arg).
bool sb_job_wait(
    struct sb_job *j, bool (*done)(void *arg), void *arg, uint64_t until);

// Another rank cannot go on: tells rank 0.
void sb_job_fail(struct sb_job *j, const char *why);
// Only on rank 0: returns the first rank that has failed, or NULL.
const struct sb_job_rank *sb_job_failed(
    const struct sb_job *j, unsigned *number);

// Leaves the job: rank 0 tells the others to leave and waits for them, at most
// limit_ns. Returns false if some did not leave: the process must end with
// _exit(), and its launcher ends them.
bool sb_job_leave(struct sb_job *j, uint64_t limit_ns);

// The files of a test are those of rank 0: the other ranks ask for them when a
// script opens them, so they need only the program. A file is sent once to each
// rank.

struct sb_job_files;

// Rank 0: answers the others. Another rank: files come from rank 0 from now on,
// for base/files.h; the calling thread is the one that uses the job. NULL if
// out of memory.
struct sb_job_files *sb_job_files_new(struct sb_job *j);
// Files are those of this host again. NULL allowed.
void sb_job_files_free(struct sb_job_files *f);

#endif
