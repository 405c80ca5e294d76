// SPDX-License-Identifier: GPL-2.0-or-later
//
// How much of its work a server put off during a run, so that the figures of
// the run do not have it, or did for others: docs/internals/validity.md. Growth
// is from the begin of the run to its end; NaN: unknown.
#ifndef SB_DEBT_H
#define SB_DEBT_H

#include <stdbool.h>

struct sb_debt {
    double percent; // of what makes the server do the work; NaN: unknown
    bool doubtful;  // it would change the figures
};

// Bytes of log since the last checkpoint. Below 0: the server did work that was
// put off before the run. limit: what forces the next one. logged: during the
// run.
struct sb_debt sb_debt_log(double growth, double limit, double logged);
// Bytes of pages in the cache that are to be written. written: during the run.
// limit: from which on they are written at once. data: size of what was used.
// before_checkpoint: sb_debt_log() was doubtful, and the log grew.
struct sb_debt sb_debt_pages(double growth, double written, double limit,
    double data, bool before_checkpoint);
// Transactions whose old row versions are left. writes: statements of the run.
struct sb_debt sb_debt_purge(double growth, double writes);
// Dead rows of a table with so many rows and bytes, at the end.
struct sb_debt sb_debt_rows(
    double growth, double rows, double dead, double bytes);
// Bytes of log that replicas have not applied.
struct sb_debt sb_debt_replicas(double growth, double logged);
// Seconds that a replica is behind its source; of a run of so many seconds.
struct sb_debt sb_debt_delay(double growth, double seconds);

// How long the server would work on it at the rate at which it did such work
// during the run, s; NaN: it did none.
double sb_debt_owed(double growth, double done, double seconds);

#endif
