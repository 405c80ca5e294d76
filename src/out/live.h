// SPDX-License-Identifier: GPL-2.0-or-later
//
// The live view: the figures of a run so far, for the thread that shows them.
// The main thread adds intervals; the reader takes what was added since it last
// looked. Neither waits for the other: there is no lock, and the two exchange
// one pointer. Rows of intervals are in temporary files, so that memory does
// not grow with the length of the run, also if there is no reader.
#ifndef SB_LIVE_H
#define SB_LIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"
#include "out/series.h"
#include "out/spool.h"

// What is known at one moment.
struct sb_live_state {
    // The measured part so far. report.snap is sums, report.stats is names.
    struct sb_report report;
    struct sb_snap sums;
    struct sb_stats names;   // of operations and metrics, nothing else
    struct sb_series series; // the columns, and the row of the last interval
    // Members of a run in a result file; NULL: not known yet.
    json_t *facts, *limits, *validity, *end;
    json_t *answers; // an object of members: out/answers.h
    json_t *stages;  // of the totals, after the final report
    uint64_t nrows;
    uint64_t missing; // intervals without a row
    bool has_report;  // report and names are set
    bool whole;       // sums are those of the whole run
};

struct sb_live {
    // Files of the main thread, which the reader reads, too. A row is a JSON
    // array, with ",\n" before all but the first one. The index has the ends of
    // the rows in both files.
    struct sb_spool rows, heat, index;
    uint64_t nrows, missing, rows_end, heat_end; // main thread
    struct sb_buf line;                          // main thread
    struct sb_live_state *_Atomic news; // what the reader has not taken yet
    struct sb_live_state *state;        // reader
};

// Creates temporary files in the folder dir. SB_ESYS. Call sb_live_done() in
// either case.
int sb_live_init(struct sb_live *l, const char *dir, struct sb_err *err);
// The reader must have ended. {0} allowed.
void sb_live_done(struct sb_live *l);

// Main thread. 0, or SB_ESYS if the row cannot be written: then it is counted
// as missing, and the interval is in the sums all the same. SB_ENOMEM: sums
// and rows may lack intervals until the final report, which has all sums.
int sb_live_interval(struct sb_live *l, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err);
// Replaces the sums by a final report.
int sb_live_final(
    struct sb_live *l, const struct sb_report *whole, struct sb_err *err);
// Replace what is known; take the references. NULL: out of memory.
int sb_live_facts(struct sb_live *l, json_t *facts, struct sb_err *err);
int sb_live_end(struct sb_live *l, json_t *limits, json_t *validity,
    json_t *answers, json_t *end, struct sb_err *err);

// Reader. Takes the news, and returns what is known, until the next call; NULL
// before anything is known, or if out of memory.
const struct sb_live_state *sb_live_read(struct sb_live *l);

// A part of a file.
struct sb_live_part {
    int fd;
    uint64_t from, size;
};

// Reader. The rows first to end - 1, which exist, of intervals and histograms.
// SB_ESYS.
int sb_live_rows(const struct sb_live *l, uint64_t first, uint64_t end,
    struct sb_live_part *rows, struct sb_live_part *heat, struct sb_err *err);

// The documents of the live view. A document is a text into which parts of the
// files of rows are inserted, so that a document of any length takes little
// memory. Called by the reader of the struct sb_live.

// The maximum size of the rows in one answer to intervals.json, in bytes. An
// answer has at least one row. The next request gets the rows after these.
#define SB_LIVE_ROWS_MAX (UINT64_C(1) << 20)

struct sb_live_text {
    char *text;
    size_t len;
    uint64_t size; // of the whole document
    struct {
        size_t at; // position in text
        struct sb_live_part part;
    } insert[2];
};

// The result document so far, as --report=json writes it at the end. program:
// its member of that name. SB_ENOMEM, SB_ESYS. Call sb_live_text_done() in
// either case.
int sb_live_result(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, json_t *program, struct sb_err *err);
// The rows from number `from` on, and the totals so far.
// docs/internals/page.md describes the document.
int sb_live_intervals(struct sb_live_text *t, const struct sb_live *l,
    const struct sb_live_state *s, uint64_t from, struct sb_err *err);
void sb_live_text_done(struct sb_live_text *t); // {0} allowed

// Copies at most max bytes from this position of the document. Returns their
// number; 0 at the end, -1 if a file cannot be read.
ssize_t sb_live_text_read(
    const struct sb_live_text *t, uint64_t pos, char *to, size_t max);

// web.c: its addresses, and the Host headers that it answers. Pure.

struct sb_web_address {
    struct sockaddr_storage addr;
    socklen_t len;
    char text[80]; // as given, at most so much of it
    char host[64]; // as given, without brackets
    bool loopback;
};

// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or "8080" and
// ":8080", which are on 127.0.0.1. Other names are not looked up. Port 0: the
// system chooses one. SB_EUSAGE.
int sb_web_address(
    struct sb_web_address *a, const char *text, struct sb_err *err);

// Whether a request with this Host header is answered: an IP address, localhost
// or the host of the address. A page of another site could otherwise read the
// figures through a name that it has pointed to this machine. NULL: no header.
bool sb_web_host_allowed(const struct sb_web_address *a, const char *header);

#endif
