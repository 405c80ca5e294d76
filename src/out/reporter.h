// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reporters: what --report=LIST selects. A reporter writes the reports of a
// run in one format to one target. An error of a reporter never ends the run.
// Main thread.
#ifndef SB_REPORTER_H
#define SB_REPORTER_H

#include "base/option.h"
#include "out/facts.h"
#include "out/spool.h"
#include "out/series.h"

// "Report options"
struct sb_report_opts {
    bool progress;             // --progress
    struct sb_opt_list report; // --report
    struct sb_opt_list labels; // --label
    const char *limits;        // --assert
    const char *headline;      // --headline
    const char *until;         // --until
};

extern const struct sb_opt_table sb_report_opt_table;

struct sb_reporter;

// When a report is written decides what an error leaves of it.
enum sb_report_form {
    // During the run. An error ends the report: lines with a gap must not look
    // complete.
    SB_REPORT_LINES,
    // At the end. Intervals that could not be kept are missing; there is no
    // report without its totals.
    SB_REPORT_DOCUMENT,
    // Shown during the run, by a server that must show its end in any case.
    // Finishes last, because it waits for its readers.
    SB_REPORT_VIEW,
};

// One format. All functions but open() and done() are optional; 0 or SB_E*.
struct sb_reporter_kind {
    const char *name;    // "json"
    const char *target;  // what follows "json=": "FILE"
    const char *missing; // why it cannot be used in this build, or NULL
    enum sb_report_form form;
    // Opens the target and leaves its content: another reporter may fail.
    int (*open)(struct sb_reporter *r, struct sb_err *err);
    // All targets are open: the content may be replaced.
    int (*begin)(struct sb_reporter *r, struct sb_err *err);
    // An interval, of the warm-up, too. The last one of a run may be shorter.
    int (*interval)(struct sb_reporter *r, const struct sb_report *report,
        const struct sb_series *row, struct sb_err *err);
    // The whole run; what the report points to is freed afterwards.
    int (*final)(struct sb_reporter *r, const struct sb_report *whole,
        struct sb_err *err);
    // After final(), before the script's last functions run, which may end the
    // process: writes the file as finish() would, if it can be replaced, and
    // sets r->drafted. finish() follows unless the outcome is still the same.
    int (*draft)(
        struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err);
    // Called last, also if there was no final report, unless the report has
    // ended. What is open is closed by done().
    int (*finish)(
        struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err);
    void (*done)(struct sb_reporter *r); // also after a failed open()
};

// What has become of a report.
enum sb_reporter_state {
    SB_REPORTER_GOOD,
    SB_REPORTER_GAPS,  // intervals are missing
    SB_REPORTER_ENDED, // an error ended it: nothing more is written
};

struct sb_reporter {
    const struct sb_reporter_kind *kind;
    const char *target; // FILE
    int chosen;         // SB_TARGET_CHOSEN: the name is not the user's
    const struct sb_facts *facts;
    struct sb_row_log *rows; // which the reporters of result documents share
    void *data;              // the kind's own
    bool drafted;            // draft() has written a whole report
    struct sb_outcome draft; // with this outcome
    enum sb_reporter_state state;
};

extern const struct sb_reporter_kind sb__json_kind, sb__ndjson_kind,
    sb__csv_kind, sb__html_kind;

#define SB_REPORTERS_MAX 16

extern const struct sb_reporter_kind sb__hdr_kind, sb__hgrm_kind,
    sb__junit_kind, sb__web_kind;

struct sb_reporters {
    struct sb_reporter item[SB_REPORTERS_MAX];
    unsigned n;
    bool no_text; // --report=none, or omitted
    bool omitted; // a report is written to standard output
    bool alone;   // so, and the text was not asked for
    bool failed;  // one of them lacks something
    struct sb_series series;
    struct sb_row_log rows;
    bool warned_full; // that columns are left out
    int row_rc;       // of the last sb_series_row()
};

// Parses the options. SB_EUSAGE names an unknown format, a missing or repeated
// target, a label without "=". The options must outlive rs. A report to
// standard output omits the text if the list does not name it.
int sb_reporters_init(struct sb_reporters *rs, const struct sb_report_opts *o,
    struct sb_err *err);
// Opens all targets; older files are replaced when all are open. facts must
// outlive rs; they may be filled later, until the first interval. On an error,
// none is open.
int sb_reporters_open(
    struct sb_reporters *rs, const struct sb_facts *facts, struct sb_err *err);
void sb_reporters_done(struct sb_reporters *rs); // {0} allowed

// Begins the row of an interval, to which the caller may add values with
// sb_series_set(). Returns it, or NULL if there is no reporter or memory is
// out. Call it before sb_reporters_interval(), with the same report.
struct sb_series *sb_reporters_row(
    struct sb_reporters *rs, const struct sb_report *report);

// The following functions log when a report gets gaps or ends, and set
// rs->failed.
void sb_reporters_interval(
    struct sb_reporters *rs, const struct sb_report *report);
// Fills *w with the figures of the whole run, which checkpoints do not reset.
// r: a final report, which must outlive *w.
void sb_reporters_whole(struct sb_report *w, const struct sb_report *r);
// report: a final one.
void sb_reporters_final(
    struct sb_reporters *rs, const struct sb_report *report);
// Finishes all reports. o->status: the status without errors of reports. Each
// report shows sb_reporters_status() at the time when it finishes, so errors of
// later reports are not included. Reports in lines finish first, views last.
void sb_reporters_finish(struct sb_reporters *rs, const struct sb_outcome *o);
// After sb_reporters_final(): writes the files as they are if the run has this
// outcome, so that they are complete before the script's last functions run.
// sb_reporters_finish() must follow. The texts of *o must live until then.
void sb_reporters_draft(struct sb_reporters *rs, const struct sb_outcome *o);
// The exit status: `status`, or 1 if it is 0 and a report lacks something.
int sb_reporters_status(const struct sb_reporters *rs, int status);

#endif
