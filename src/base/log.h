// SPDX-License-Identifier: GPL-2.0-or-later
//
// Diagnostics, written to stderr. Results and the classic report go to stdout
// (see out/). Thread-safe. Identical consecutive messages are collapsed into
// "(last message repeated N times)". There is one logger per process: one of
// the few mutable objects at file scope.
#ifndef SB_LOG_H
#define SB_LOG_H

#include <stdbool.h>

#include "base/err.h"

enum sb_log_level {
    SB_LOG_USAGE = -1, // no prefix, shown at any verbosity: a wrong command,
                       // the reason of an exit status
    SB_LOG_FATAL,      // "FATAL: "
    SB_LOG_ALERT,      // "ALERT: "
    SB_LOG_WARNING,    // "WARNING: "
    SB_LOG_NOTICE,     // no prefix
    SB_LOG_INFO,       // no prefix
    SB_LOG_DEBUG,      // "DEBUG: "
};

// Messages above this level are dropped (--verbosity, default NOTICE).
void sb_log_set_level(int level);
int sb_log_level(void);

// Writes a message. Text from untrusted sources is escaped (base/escape.h).
void sb_log(int level, const char *fmt, ...) SB_PRINTF(2, 3);
// The same, but never collapsed: for lines each of which counts.
void sb_log_each(int level, const char *fmt, ...) SB_PRINTF(2, 3);
// Writes a pending "repeated" line. Call before exiting.
void sb_log_flush(void);

// Shares what is shown with the processes that had this file before, one after
// the other: warnings and notices that one of them has shown, with other
// numbers, are counted and not shown; names and addresses are no numbers. The
// file must be empty for the first process, and stays open. Before other
// threads log.
void sb_log_share(int fd);
// Whether an earlier process has shown what `key` stands for, which is not
// logged. The caller does not show it then, and it is counted. Without
// sb_log_share() always false.
bool sb_log_is_known(const char *key);
// Returns how many messages were not shown by the processes with this file.
unsigned long sb_log_hidden(int fd);

// Shows a progress line on stderr if it is a terminal; otherwise does nothing.
// Each call replaces the line. The next message or sb_log_progress_done()
// erases it. A line that is too long for the terminal is shortened, if possible
// at a comma.
void sb_log_progress(const char *fmt, ...) SB_PRINTF(1, 2);
void sb_log_progress_done(void);

#endif
