// SPDX-License-Identifier: GPL-2.0-or-later
//
// One thread works on a server, step by step. Another one cancels its call when
// the limit of time is over.
#include "db/settle.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "db/inspect.h"
#include "db/internal.h"
#include "db/probe.h"
#include "kit/locale.h"
#include "kit/units.h"
#include "loop/waiter.h"

#define DEFAULT_NS UINT64_C(60000000000) // --settle without a value

static const struct sb_opt settle_opts[] = {
    { .name = "settle",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sb_settle_opts, settle),
        .def = "off",
        .flags = SB_OPT_YIELDS | SB_OPT_SWITCH,
        .help = "before a run, after its warm-up and after prepare, analyze "
                "the tables, make a checkpoint, and wait until the server has "
                "done what it put off, at most this long; on: 60s" },
    { .name = "prewarm",
        .type = SB_OPT_BOOL,
        .offset = offsetof(struct sb_settle_opts, prewarm),
        .def = "off",
        .flags = SB_OPT_YIELDS,
        .help = "before a run and after prepare, read the tables and indexes "
                "into the server's cache" },
    { 0 },
};

const struct sb_opt_table sb_settle_opt_table = {
    .title = "Settling options",
    .section = "settle",
    .opts = settle_opts,
};

int sb_settle_limit(
    const struct sb_settle_opts *o, uint64_t *ns, struct sb_err *err)
{
    int64_t limit = 0;

    *ns = 0;
    if (strcmp(o->settle, "on") == 0)
        *ns = DEFAULT_NS;
    if (strcmp(o->settle, "on") == 0 || strcmp(o->settle, "off") == 0)
        return 0;
    if (sb_units_duration(o->settle, 1000000000, &limit) || limit <= 0)
        return sb_err_set(err, SB_EUSAGE,
            "--settle: '%s' is neither on, off nor a time such as 30s",
            o->settle);
    *ns = (uint64_t)limit;
    return 0;
}

// A server -------------------------------------------------------------------

struct settle {
    struct sb__probe *probe;
    const struct sb_upkeep_ops *ops;
    struct sb_inspected seen; // its tables and its cache
    char server[256];
    void (*done)(void *arg, const struct sb_settle_step *s);
    void *arg;
    uint64_t deadline;        // of --settle
    const _Atomic bool *stop; // or NULL
    uint64_t began;           // the step in progress
    char undo[300];           // ends what rush() has begun; "": nothing to end
    char why[200];            // rush() was refused
    // What follows is for the thread that cancels.
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool over;
};

__attribute__((format(printf, 4, 5))) static void tell(const struct settle *s,
    const char *name, bool failed, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    const struct sb_settle_step step = { .name = name,
        .server = s->server,
        .text = text,
        .seconds = (double)(sb_clock_monotonic() - s->began) / 1e9,
        .failed = failed };

    s->done(s->arg, &step);
}

// Signals are blocked while a setting of the server may be changed, so that it
// is set back before one of them ends the process.
static void watched(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGQUIT);
}

static bool is_interrupted(void)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    sigset_t set;
    bool any = false;

    sigpending(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        any = any || sigismember(&set, signals[i]);
    return any;
}

static bool is_late(const struct settle *s)
{
    return sb_clock_monotonic() >= s->deadline || is_interrupted() ||
           (s->stop && atomic_load(s->stop));
}

static int ask(struct settle *s, struct sb_inspected *out, unsigned parts,
    struct sb_err *err)
{
    const struct sb_inspect_sink sink = sb_inspect_into(out, parts);
    int rc = sb__probe_inspect(s->probe, &sink, err);

    if (rc)
        sb_inspected_done(out);
    return rc;
}

// Steps ----------------------------------------------------------------------
//
// Each returns 0, or SB_E* of a connection that cannot be used any more.

typedef int operation(
    struct sb_conn *conn, const char *table, struct sb_err *err);

// A table that is known to have no dead rows, and statistics of its content,
// needs nothing.
static bool needs_analysis(const struct sb_table_facts *t)
{
    return !(t->analyzed == 1 && t->changed == 0 && t->dead == 0);
}

static bool needs_all(const struct sb_table_facts *t)
{
    (void)t;
    return true;
}

// What is said about a step for several tables: "DID 4 tablesEND", "4 tables
// were not MISSED".
struct words {
    const char *name, *did, *end, *missed;
};

// Calls op() for the tables that need it.
static int each_table(struct settle *s, operation *op, const struct words *w,
    bool (*needs)(const struct sb_table_facts *t), struct sb_err *err)
{
    unsigned done = 0, failed = 0;
    struct sb_err first = { 0 };

    if (!op)
        return 0;
    s->began = sb_clock_monotonic();
    for (unsigned i = 0; i < s->seen.ntables && !is_late(s); i++) {
        const struct sb_table_facts *t = &s->seen.table[i].facts;
        int rc = needs(t) ? sb__probe_upkeep(s->probe, op, t->name, err) : 0;

        if (rc && !sb_err_is_refusal(rc))
            return rc;
        if (rc && failed++ == 0)
            first = *err;
        done += needs(t) && rc == 0;
    }
    if (done > 0)
        tell(s, w->name, false, "%s %u table%s%s", w->did, done,
            done > 1 ? "s" : "", w->end);
    if (failed > 0)
        tell(s, w->name, true, "%u table%s not %s: %.300s", failed,
            failed > 1 ? "s were" : " was", w->missed, first.msg);
    return 0;
}

static int checkpoint(struct settle *s, struct sb_err *err)
{
    int rc;

    if (!s->ops->checkpoint)
        return 0;
    s->began = sb_clock_monotonic();
    rc = sb__probe_upkeep(s->probe, s->ops->checkpoint, NULL, err);
    if (rc && !sb_err_is_refusal(rc))
        return rc;
    if (rc)
        tell(s, "checkpoint", true, "no checkpoint was made: %.300s", err->msg);
    else
        tell(s, "checkpoint", false, "made a checkpoint");
    return 0;
}

// What a server works off by itself. Less than `enough` is nothing.
static const struct awaited {
    enum sb_fact_id id;
    const char *what;
    double enough, scale;
    const char *unit;
} awaited[] = {
    { SB_FACT_DIRTY_BYTES, "dirty pages", 1e6, 1e6, " MB" },
    { SB_FACT_LOG_DEBT, "a checkpoint", 1e6, 1e6, " MB of log" },
    { SB_FACT_PURGE, "old row versions", 1000, 1, " transactions" },
    { SB_FACT_REPLICA_BYTES, "replicas", 1e6, 1e6, " MB of log" },
    { SB_FACT_REPLICA_SECONDS, "replication", 1, 1, " s" },
};

#define AWAITED       (sizeof(awaited) / sizeof(awaited[0]))
#define AWAITED_DIRTY 0
#define AWAITED_LOG   1

// A server that has not done a hundredth of anything in this time will not do
// it.
#define LOOK_NS  250000000
#define STALL_NS UINT64_C(3000000000)

struct waiting {
    double first, last; // NaN: unknown, or not worth waiting for
    double level;       // when it fell last
    bool over;
};

static bool is_left(const struct waiting *w, size_t i)
{
    return w[i].first > awaited[i].enough && w[i].last > awaited[i].enough;
}

// Returns whether it fell.
static bool look_at(struct waiting *w, const struct awaited *a, double value)
{
    if (w->over)
        return false;
    if (isnan(value)) { // the server does not say it any more
        w->over = true;
        return false;
    }
    w->last = value;
    w->over = !(value > a->enough);
    if (!w->over && !(value <= w->level - (w->first - a->enough) / 100))
        return false;
    w->level = value;
    return true;
}

static double rounded(double value, const struct awaited *a)
{
    return round(100 * value / a->scale) / 100;
}

// Why the server keeps what is left, if that is known, is said once.
static void tell_waiting(struct settle *s, const struct waiting *w)
{
    for (size_t i = 0; i < AWAITED; i++) {
        const struct awaited *a = &awaited[i];
        bool left = is_left(w, i);

        if (isnan(w[i].first))
            continue;
        double first = rounded(w[i].first, a), last = rounded(w[i].last, a);

        tell(s, "wait", left, "waited for %s: %.*g%s, then %.*g%s%s%s%s",
            a->what, sb_units_digits(first), first, a->unit,
            sb_units_digits(last), last, a->unit,
            !left        ? ""
            : is_late(s) ? ", when the time was over"
                         : ", which the server keeps",
            left && s->why[0] ? ": " : "", left ? s->why : "");
        if (left)
            s->why[0] = '\0';
    }
}

static int wait_until_over(
    struct settle *s, struct waiting *w, struct sb_err *err)
{
    uint64_t since = sb_clock_monotonic(); // none has fallen
    struct sb_inspected now;
    bool goes_on = true;
    int rc = 0;

    while (rc == 0 && goes_on && !is_late(s)) {
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
        rc = ask(s, &now, 1u << SB_PART_DEBT, err);
        if (sb_err_is_refusal(rc) && is_late(s))
            return 0; // canceled
        if (rc)
            break;
        goes_on = false;
        for (size_t i = 0; i < AWAITED; i++) {
            if (look_at(&w[i], &awaited[i], now.fact[awaited[i].id]))
                since = now.ns;
            goes_on = goes_on || !w[i].over;
        }
        goes_on = goes_on && now.ns - since < STALL_NS;
        sb_inspected_done(&now);
    }
    return rc;
}

static int start_waiting(
    struct settle *s, struct waiting *w, bool *any, struct sb_err *err)
{
    struct sb_inspected now;
    int rc = ask(s, &now, 1u << SB_PART_DEBT, err);

    if (rc)
        return rc;
    s->began = now.ns;
    for (size_t i = 0; i < AWAITED; i++) {
        double value = now.fact[awaited[i].id];

        w[i] = (struct waiting){ value, value, value, false };
        // The checkpoint was made, or refused.
        w[i].over = !(value > awaited[i].enough) ||
                    (awaited[i].id == SB_FACT_LOG_DEBT && s->ops->checkpoint);
        if (w[i].over)
            w[i].first = NAN;
        *any = *any || !w[i].over;
    }
    sb_inspected_done(&now);
    return 0;
}

// The server keeps pages in its cache: tells it to write them.
static int rush(struct settle *s, struct waiting *w, struct sb_err *err)
{
    int rc = sb__probe_rush(s->probe, s->undo, sizeof(s->undo), err);

    if (sb_err_is_refusal(rc))
        snprintf(s->why, sizeof(s->why), "%.190s", err->msg);
    if (rc)
        return sb_err_is_refusal(rc) ? 0 : rc;
    return wait_until_over(s, w, err);
}

static int wait_for_server(struct settle *s, struct sb_err *err)
{
    struct waiting w[AWAITED];
    bool any = false;
    int rc = start_waiting(s, w, &any, err);

    if (rc || !any)
        return rc;
    rc = wait_until_over(s, w, err);
    if (rc == 0 && s->ops->rush && !is_late(s) &&
        (is_left(w, AWAITED_DIRTY) || is_left(w, AWAITED_LOG)))
        rc = rush(s, w, err);
    tell_waiting(s, w);
    return rc;
}

// Ends what rush() has begun, on a new connection if the other one was lost.
static int relax(struct settle *s, struct sb_err *err)
{
    int rc = sb__probe_upkeep(s->probe, s->ops->relax, s->undo, err);

    if (rc) {
        sb__probe_disconnect(s->probe);
        rc = sb__probe_connect(s->probe, err);
        if (rc == 0)
            rc = sb__probe_upkeep(s->probe, s->ops->relax, s->undo, err);
    }
    if (rc)
        sb_log(SB_LOG_ALERT,
            "a setting of the server could not be set back: %s; run: %s",
            err->msg, s->undo);
    s->undo[0] = '\0';
    return sb_err_is_refusal(rc) ? 0 : rc;
}

// The limit of time -----------------------------------------------------------

#define CANCEL_NS UINT64_C(100000000)

// Looks for signals, too.
static void *cancel_main(void *arg)
{
    struct settle *s = arg;

    sb_locale_keep();
    pthread_mutex_lock(&s->lock);
    while (!s->over) {
        struct timespec t = sb_clock_timespec(sb_clock_monotonic() + CANCEL_NS);

        pthread_cond_timedwait(&s->changed, &s->lock, &t);
        if (s->over || !is_late(s))
            continue;
        pthread_mutex_unlock(&s->lock);
        sb__probe_cancel(s->probe);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int take_steps(struct settle *s, struct sb_err *err)
{
    static const struct words vacuum = { "analyze", "vacuumed and analyzed", "",
        "vacuumed and analyzed" };
    static const struct words analyze = { "analyze", "analyzed", "",
        "analyzed" };
    static const struct words write = { "write", "wrote", " to disk",
        "written to disk" };
    int rc = each_table(s, s->ops->analyze,
        s->ops->vacuums ? &vacuum : &analyze, needs_analysis, err);

    if (rc == 0)
        rc = each_table(s, s->ops->write, &write, needs_all, err);
    if (rc == 0)
        rc = checkpoint(s, err);
    return rc ? rc : wait_for_server(s, err);
}

static int take_steps_in_time(struct settle *s, struct sb_err *err)
{
    pthread_t thread;
    int rc;

    if (sb_lock_init(&s->lock, &s->changed))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    s->over = false;
    rc = pthread_create(&thread, NULL, cancel_main, s);
    if (rc == 0) {
        rc = take_steps(s, err);
        pthread_mutex_lock(&s->lock);
        s->over = true;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        pthread_join(thread, NULL);
    } else {
        rc = sb_err_set(err, SB_ESYS, "cannot start a thread");
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    if (rc && is_late(s))
        sb_err_set(err, rc, "the time limit was reached");
    return rc;
}

// SB_E*: the connection cannot be used any more.
static int settle_server(struct settle *s, struct sb_err *err)
{
    struct sb_err later = { 0 };
    sigset_t set, old;
    int rc, relaxed;

    watched(&set);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    s->undo[0] = s->why[0] = '\0';
    rc = take_steps_in_time(s, err);
    relaxed = s->undo[0] ? relax(s, &later) : 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0 && relaxed)
        *err = later;
    return rc ? rc : relaxed;
}

// The cache -------------------------------------------------------------------

// Tables are read as far as they fit into the cache: more would push out what
// was read.
static int prewarm(struct settle *s, struct sb_err *err)
{
    double cache = s->seen.fact[SB_FACT_CACHE_BYTES], bytes = 0;
    struct sb_err first = { 0 }, note = { 0 };
    unsigned done = 0, failed = 0, large = 0;

    s->began = sb_clock_monotonic();
    if (!s->ops->prewarm) {
        tell(s, "prewarm", true, "no table was read: %s",
            s->ops->no_prewarm ? s->ops->no_prewarm
                               : "the driver cannot do this");
        return 0;
    }
    for (unsigned i = 0; i < s->seen.ntables; i++) {
        const struct sb_table_facts *t = &s->seen.table[i].facts;
        int rc;

        if (bytes + t->bytes > cache) {
            large++;
            continue;
        }
        *err = (struct sb_err){ 0 };
        rc = sb__probe_upkeep(s->probe, s->ops->prewarm, t->name, err);
        if (rc && !sb_err_is_refusal(rc))
            return rc;
        if (rc && failed++ == 0)
            first = *err;
        if (rc)
            continue;
        if (err->msg[0])
            note = *err;
        if (t->bytes > 0)
            bytes += t->bytes;
        done++;
    }
    if (done > 0)
        tell(s, "prewarm", false, "read %u table%s (%.*g MB) into the cache",
            done, done > 1 ? "s" : "", sb_units_digits(bytes / 1e6),
            bytes / 1e6);
    if (note.msg[0])
        tell(s, "prewarm", true, "%s", note.msg);
    if (failed > 0)
        tell(s, "prewarm", true, "%u table%s not read: %.300s", failed,
            failed > 1 ? "s were" : " was", first.msg);
    if (large > 0)
        tell(s, "prewarm", true,
            "%u table%s not read, because the cache (%.*g MB) is too small",
            large, large > 1 ? "s were" : " was", sb_units_digits(cache / 1e6),
            cache / 1e6);
    return 0;
}

// All servers -----------------------------------------------------------------

#define PLACES_MAX 64

// A server and a database.
struct place {
    struct sb__inst *inst;
    uint64_t number;
};

static int visit_connected(
    struct settle *s, bool settles, bool prewarms, struct sb_err *err)
{
    int rc = ask(s, &s->seen,
        1u << SB_PART_CACHE | 1u << SB_PART_SIZE | 1u << SB_PART_STATISTICS,
        err);

    if (rc)
        return rc;
    if (settles)
        rc = settle_server(s, err);
    // A call that was canceled may have ended the connection.
    if (rc && prewarms && is_late(s)) {
        tell(s, "settle", true, "%s", err->msg);
        sb__probe_disconnect(s->probe);
        rc = sb__probe_connect(s->probe, err);
    }
    if (rc == 0 && prewarms)
        rc = prewarm(s, err);
    sb_inspected_done(&s->seen);
    return rc;
}

// several: the steps name their server.
static void visit_place(struct settle *s, const struct place *p, bool several,
    bool settles, bool prewarms)
{
    struct sb_server_facts facts;
    struct sb_err err = { 0 };
    int rc;

    s->began = sb_clock_monotonic();
    s->server[0] = '\0';
    s->ops = p->inst->db->drv->upkeep;
    s->probe = sb__probe_new_patient(p->inst, p->number, &err);
    rc = s->probe ? sb__probe_connect(s->probe, &err) : err.code;
    if (rc == 0 && several) {
        sb__probe_client(s->probe, &facts);
        if (sb__probe_describe(s->probe, &facts, &err) == 0)
            snprintf(s->server, sizeof(s->server), "%.120s%s%.120s",
                facts.server.address, facts.server.database[0] ? "/" : "",
                facts.server.database);
        sb_server_facts_done(&facts);
    }
    if (rc == 0)
        rc = visit_connected(s, settles, prewarms, &err);
    if (rc)
        tell(s, "settle", true, "%s", err.msg);
    sb__probe_free(s->probe);
}

static size_t add_places(struct place *place, size_t n, struct sb__inst *inst)
{
    uint64_t servers = sb__probe_servers(inst);

    for (uint64_t k = 0; k < servers && n < PLACES_MAX; k++)
        place[n++] = (struct place){ inst, k };
    return n;
}

// Users of a run spread over the databases that an option names.
static size_t find_likely(struct sb_drivers *d, struct sb__inst **inst)
{
    struct sb__inst *first = sb__inst_likely(d);
    struct sb_db_ctx ctx = { 0 };
    struct sb_err err = { 0 };
    uint64_t databases;
    size_t n = 0;

    if (!first)
        return 0;
    databases = sb__inst_databases(first->db);
    if (databases < 2) {
        inst[0] = first;
        return 1;
    }
    for (; n < databases && n < PLACES_MAX; n++) {
        if (sb__inst_in_turn(&ctx, first->db, NULL, NULL, 0, &inst[n], &err))
            break;
    }
    sb__inst_put(first);
    return n;
}

void sb_settle(struct sb_drivers *d, const struct sb_settle_opts *o,
    const _Atomic bool *stop,
    void (*done)(void *arg, const struct sb_settle_step *s), void *arg)
{
    struct sb__inst *inst[PLACES_MAX];
    struct place place[PLACES_MAX];
    struct settle s = { .done = done, .arg = arg, .stop = stop };
    uint64_t limit;
    size_t ninsts = sb__insts_used(d, inst, 0, PLACES_MAX), n = 0;

    if (sb_settle_limit(o, &limit, NULL))
        return;
    s.began = sb_clock_monotonic();
    s.deadline = s.began + limit;
    if (ninsts == 0)
        ninsts = find_likely(d, inst);
    if (ninsts == 0)
        tell(&s, "settle", true,
            "no database is known before the users connect; --db-driver "
            "selects one");
    for (size_t i = 0; i < ninsts; i++)
        n = add_places(place, n, inst[i]);
    for (size_t i = 0; i < n; i++) {
        if (place[i].inst->db->drv->upkeep)
            visit_place(&s, &place[i], n > 1, limit > 0, o->prewarm);
        else
            tell(&s, "settle", true, "the %s driver cannot do this",
                place[i].inst->db->drv->name);
    }
    for (size_t i = 0; i < ninsts; i++)
        sb__inst_put(inst[i]);
}
