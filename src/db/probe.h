// SPDX-License-Identifier: GPL-2.0-or-later
//
// A probe: a connection that asks a server about itself. It has the options of
// the load, but shorter timeouts, and nothing that it does is counted. One
// thread uses a probe; only sb__probe_cancel() may be called by others.
#ifndef SB_DB_PROBE_H
#define SB_DB_PROBE_H

#include "db/driver.h"
#include "base/procstat.h"

struct sb__inst;
struct sb__probe;

// What is known about a server that the script used.
struct sb_server_facts {
    const char *driver;      // its name; as long as the driver is loaded
    bool documents;          // the driver has documents
    uint64_t totals_late_ns; // sb_info_ops.counters_delay
    char client[128];        // client library and version
    struct sb_server server; // name "": the server has not answered
    struct sb_server_setting {
        char *name, *value;
        enum sb_setting_state state;
    } * setting; // of the server, nsettings of them
    size_t nsettings;
};

// {0} allowed
void sb_server_facts_done(struct sb_server_facts *f);
// Copies *from to *to, which the caller frees. False: no memory; *to is empty.
bool sb_server_facts_copy(
    const struct sb_server_facts *from, struct sb_server_facts *to);

// Creates a probe of server `number` of an instance, without connecting. The
// caller holds a reference to the instance for the life of the probe. NULL on
// failure, with *err filled.
struct sb__probe *sb__probe_new(
    struct sb__inst *inst, uint64_t number, struct sb_err *err);
// The same for calls that may take long: only connecting has a short timeout.
struct sb__probe *sb__probe_new_patient(
    struct sb__inst *inst, uint64_t number, struct sb_err *err);
// Disconnects first. NULL allowed.
void sb__probe_free(struct sb__probe *p);
// Returns the number of servers that connections of the instance are spread
// over, at least 1.
uint64_t sb__probe_servers(const struct sb__inst *inst);

// 0 or SB_E*. After SB_ELOST or SB_ECANCELED of another call, disconnect before
// connecting again.
int sb__probe_connect(struct sb__probe *p, struct sb_err *err);
void sb__probe_disconnect(struct sb__probe *p);
bool sb__probe_connected(const struct sb__probe *p);
// Makes a call in progress return soon with SB_ECANCELED, if the driver can do
// that. Any thread; may be repeated.
void sb__probe_cancel(struct sb__probe *p);

// Fills *out with what is known without a connection.
void sb__probe_client(const struct sb__probe *p, struct sb_server_facts *out);
// Asks the server. *out was filled by sb__probe_client(). 0 or SB_E*.
int sb__probe_describe(
    struct sb__probe *p, struct sb_server_facts *out, struct sb_err *err);
// As sb_info_ops.counters; 0 without a call if the driver has no counters.
int sb__probe_counters(
    struct sb__probe *p, const struct sb_counter_sink *to, struct sb_err *err);

// As sb_info_ops.ping; SB_EUNSUPPORTED if the driver has none.
int sb__probe_ping(struct sb__probe *p, struct sb_err *err);
// As sb_info_ops.activity; SB_EUNSUPPORTED if the driver has none.
int sb__probe_activity(
    struct sb__probe *p, const struct sb_activity_sink *to, struct sb_err *err);
// As sb_info_ops.session; 0 also if it is not connected. Any thread.
uint64_t sb__probe_session(struct sb__probe *p);
// As sb_info_ops.inspect; 0 without a call if the driver has no answers.
int sb__probe_inspect(
    struct sb__probe *p, const struct sb_inspect_sink *to, struct sb_err *err);

// As sb_info_ops.statements; SB_EUNSUPPORTED if the driver has no answers.
int sb__probe_statements(struct sb__probe *p,
    const struct sb_statement_sink *to, struct sb_err *err);

// As sb_info_ops.explain; SB_EUNSUPPORTED if the driver has no plans.
int sb__probe_explain(struct sb__probe *p, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err);
// Gives the session the settings that options give to those of users
// (--db-init-sql). They stay until the probe is disconnected. 0 or SB_E*.
int sb__probe_begin(struct sb__probe *p, struct sb_err *err);

// Calls an operation of struct sb_upkeep_ops.
int sb__probe_upkeep(struct sb__probe *p,
    int (*op)(struct sb_conn *conn, const char *table, struct sb_err *err),
    const char *table, struct sb_err *err);

// As sb_upkeep_ops.rush.
int sb__probe_rush(
    struct sb__probe *p, char *undo, size_t size, struct sb_err *err);

const struct sb__inst *sb__probe_inst(const struct sb__probe *p);
const struct sb_driver *sb__probe_driver(const struct sb__probe *p);

// --server-pid: processor time, memory and disk I/O of a local server process,
// as counters.

struct sb__process {
    int64_t pid;    // 0: none, or not found yet
    bool automatic; // "auto": the process that listens at the first server
    bool warned;    // about what cannot be read
    uint64_t start_ticks; // of the process, 0: not read yet
};

// Parses the value: "" for none, "auto", a pid. 0 or SB_EUSAGE, also if the
// process does not exist.
int sb__process_init(
    struct sb__process *p, const char *text, struct sb_err *err);
// For "auto": looks for the process. address: of the first server, "" if that
// is not known yet. Logs a warning if there is no such process, and gives up.
void sb__process_find(struct sb__process *p, const char *address);
// Passes process.cpu, .rss, .read_bytes and .write_bytes, as far as they can be
// read, to take(). If the process has ended, this is logged once.
void sb__process_sample(struct sb__process *p,
    void (*take)(void *arg, const struct sb_counter *c), void *arg);

#endif
