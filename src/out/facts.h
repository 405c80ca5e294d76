// SPDX-License-Identifier: GPL-2.0-or-later
//
// What a result file says about a run beside its figures. Filled by the
// program; everything belongs to it.
#ifndef SB_FACTS_H
#define SB_FACTS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/host.h"
#include "base/opts.h"
#include "measure/share.h"

struct sb_answers;
struct sb_asserts;
struct sb_beside_figures;
struct sb_costs;
struct sb_headline;
struct sb_until;
struct json_t;
struct sb_validity;
struct sb_waits_facts;

struct sb_fact {
    const char *name, *value;
};

// A setting of a server.
struct sb_setting_fact {
    const char *name, *value;
    bool is_default; // the server says so
};

// A database that was measured.
struct sb_database_facts {
    const char *driver, *client, *server, *address; // "" if unknown
    bool bypass;          // statements bypass the client library
    bool documents;       // a database of documents
    double totals_late_s; // by how much its totals may be late
    const struct sb_setting_fact *settings;
    unsigned nsettings;
};

// Data that the run used, as the server saw it afterwards.
struct sb_data_fact {
    const char *server; // its address
    const char *table;  // NULL: the whole database
    double rows, bytes; // NaN: unknown. bytes: with indexes
};

// By how much a total of the servers grew in the whole run.
struct sb_server_total {
    const char *name; // as in rows
    double growth;
};

// A plan of an operation, as its server explained it.
struct sb_plan_facts {
    const char *operation, *address;
    const char *kind; // "custom", "generic"; "": the statement has one plan
    bool used;        // most likely, by the run
    // Before the measured part and after the run; NULL: unknown.
    const char *before, *after;
    const char *why; // why it is unknown after the run, or ""
    char scans[200]; // tables of which it reads all rows: "t, u"
};

// What was done to a server before the run, or before its measured part:
// --settle, --prewarm.
struct sb_settled_step {
    const char *name, *server, *text; // server: "" if there is one server
    double seconds;
    bool failed; // the text says why
    bool again;  // in the pause before the measured part
};

struct sb_settled {
    double seconds;
    const struct sb_settled_step *step;
    unsigned n;
};

struct sb_facts {
    const char *version; // "2.0.0"
    const char *luajit;  // "LuaJIT 2.1.0-beta3"
    const char *test, *command;
    struct timespec started; // wall clock at 0 s of the measured part
    uint64_t seed;
    const struct sb_opts *opts; // main thread only
    // Visits the files with code that the test has loaded so far, with the
    // SHA-256 of each one; NULL: none.
    void (*each_file)(const void *app,
        void (*visit)(void *arg, const char *path, const char *sha256),
        void *arg);
    const void *app;
    const struct sb_opt_list *labels; // "key=value"
    struct sb_host_facts host;
    unsigned threads; // of this process
    // How this process ran its users: workers with event loops, 0: each user
    // has a thread. The texts are those of struct sb_run_workers, and NULL
    // until the users are ready. Of several ranks: of this one, as the host.
    unsigned workers;
    const char *event_loop, *worker_policy;
    const char *workers_reason;   // why --workers=auto chose them; or NULL
    const struct sb_share *share; // the part of this process; NULL: all
    double interval_s;            // nominal length of an interval
    bool open_loop;
    bool finds_rate;   // before the measured part
    const char *block; // the lines of a built-in test in the report, or NULL
    const struct sb_database_facts *databases;
    unsigned ndatabases;
    const struct sb_data_fact *data; // known at the end only, as the following
    unsigned ndata;
    const struct sb_server_total *totals;
    unsigned ntotals;
    const struct sb_plan_facts *plans;
    unsigned nplans;
    const struct sb_waits_facts *waits; // --server-waits, at the end
    unsigned nwaits;
    const struct sb_settled *settled;       // NULL: nothing was asked for
    const struct sb_answers *answers;       // of scripts; NULL: none
    const struct sb_headline *headline;     // with answers
    const struct sb_asserts *limits;        // --assert; may be NULL
    const struct sb_beside_figures *beside; // --beside, at the end; or NULL
    const struct sb_validity *validity;     // known at the end; or NULL
    const struct sb_costs *costs;           // at the end; or NULL
    const struct sb_until *until;           // --until, at the end; or NULL
    // What servers counted of statements (out/statements.h), at the end; or
    // NULL.
    struct json_t *statements;
    const struct sb_fact *swept; // values of the options of --sweep
    unsigned nswept;
    unsigned round;         // of the sweep, from 1; 0: not part of a sweep
    unsigned place, places; // the run is the place-th, from 1, of the sweep
    unsigned following;     // runs that the sweep has yet to measure after it
};

// Exit status of a run that failed, and of one that did not keep a limit of
// --assert.
#define SB_STATUS_FAILED 1
#define SB_STATUS_LIMITS 3

// How a run ended.
struct sb_outcome {
    const char *reason;  // "limit", "script", "signal", "failed", "forced",
                         // "hung"
    int status;          // of the process
    bool unwritten;      // it is not 0 only because a report lacks something
    const char *failure; // one sentence, or NULL
    const char *limit;   // which limit of --assert ended it, or NULL
    unsigned answers;    // results and verdicts of scripts so far
    double overrun;      // s by which it was longer than --time; 0: not notably
};

#endif
