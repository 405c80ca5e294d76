// SPDX-License-Identifier: GPL-2.0-or-later
//
// Diagnostics, to stderr. Results and the classic text go to stdout by other
// ways (out/). Thread-safe; identical messages in a row are collapsed into
// "(last message repeated N times)". The logger is process-wide by nature:
// one of the few mutable file-scope objects.
#ifndef SB_LOG_H
#define SB_LOG_H

#include "base/err.h"

enum sb_log_level {
    SB_LOG_USAGE = -1, // no prefix, shown at any verbosity: a wrong command
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

// The text may come from anywhere: see base/escape.h.
void sb_log(int level, const char *fmt, ...) SB_PRINTF(2, 3);
// The same, but never collapsed: for lines that are records, not messages.
void sb_log_each(int level, const char *fmt, ...) SB_PRINTF(2, 3);
// Writes a pending "repeated" line. Call before exit.
void sb_log_flush(void);

// A progress line on stderr when it is a terminal: rewrites itself, is wiped
// by the next message or by sb_log_progress_done(). Does nothing otherwise.
void sb_log_progress(const char *fmt, ...) SB_PRINTF(1, 2);
void sb_log_progress_done(void);

#endif
