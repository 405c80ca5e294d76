// SPDX-License-Identifier: GPL-2.0-or-later
//
// The figures of an interval as a row of numbers, with the names and units of
// its columns. Reporters print rows; docs/internals/results.md describes the
// columns. Columns are only added, at the end, when an operation, a metric or
// a counter is first seen. Main thread.
#ifndef SB_SERIES_H
#define SB_SERIES_H

#include "kit/buf.h"
#include "measure/snap.h"

// Enough for all operations, metrics and server counters that a run can have;
// further columns are left out.
#define SB_COLUMNS_MAX 16384u

struct sb_column {
    const char *group;  // "run", "operation", "metric", "server", "client",
                        // "waits"
    char *name;         // of the operation, metric or counter; "" for "run"
    const char *figure; // "p95"
    const char *unit;   // "ms", "s", "" for counts; belongs to name
};

struct sb_series {
    struct sb_column *col; // ncols entries
    double *value;         // the current row: ncols entries, NAN for no value
    unsigned ncols, cap;
    unsigned next;     // where sb_series_set() looks first
    unsigned left_out; // values without a column, beyond SB_COLUMNS_MAX
    unsigned *slot;    // hash table of 1 + column, 0: free
    unsigned nslots;   // 2 * cap
    unsigned *op;      // first column of each operation, 0: none
    unsigned nops;
    double until; // end of the last row, s; INFINITY before the first
};

void sb_series_init(struct sb_series *s);
void sb_series_done(struct sb_series *s); // {0} allowed

// Begins the row of an interval: figures of the run, its operations and the
// metrics of the script are set, all
// others are NAN. 0 or SB_ENOMEM.
int sb_series_row(struct sb_series *s, const struct sb_report *r);
// Copies the columns and the current row to *to, which is {0} or an earlier
// copy of the same series. 0 or SB_ENOMEM.
int sb_series_copy(struct sb_series *to, const struct sb_series *from);
// Sets a value of the current row, and adds its column on first use. group
// and figure must be constants; name and unit are copied. 0 or SB_ENOMEM.
int sb_series_set(struct sb_series *s, const char *group, const char *name,
    const char *figure, const char *unit, double value);

// The unit that decides how many digits the values of a column have: a metric
// of a script keeps all of them, whatever its unit.
const char *sb_series_digits(const struct sb_column *c);
// Writes a value as a JSON number, or "null" if it is not finite. Times in ms,
// rates and other values with a unit have four significant digits, and all
// digits before the point; integers are exact; the rest has seven digits.
// size: at least 32.
void sb_series_text(char *out, size_t size, double value, const char *unit);
// The same, appended to a buffer.
void sb_series_number(struct sb_buf *b, double value, const char *unit);
// Writes the current row as a JSON array.
void sb_series_json(struct sb_buf *b, const struct sb_series *s);
// Buckets of the rows of "histograms": 4 of the 1,024 buckets of an octave.
#define SB_HEAT_SHIFT   8
#define SB_HEAT_BUCKETS (SB_HIST_BUCKETS >> SB_HEAT_SHIFT)

// Writes a row of "histograms" with these counts.
void sb_series_heat_row(struct sb_buf *b, const uint64_t heat[SB_HEAT_BUCKETS]);
// Writes the row of "histograms" for this latency histogram.
void sb_series_heat(struct sb_buf *b, const struct sb_hist_snap *h);

#endif
