// SPDX-License-Identifier: GPL-2.0-or-later
//
// The checks of a run's figures that rest on what its servers said about
// themselves before and after it. docs/internals/validity.md has the rules.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "app/app.h"
#include "kit/array.h"
#include "base/host.h"
#include "kit/units.h"
#include "measure/debt.h"
#include "out/validity.h"

#define CHANGED_DOUBTFUL 10   // percent of a table
#define TABLE_MIN        1000 // rows: the planner's guess does for fewer
#define COLD_DOUBTFUL    1    // percent of the requests of a cache
#define COLD_BAD         10
#define COLD_MIN         100  // pages
#define FOUND_MOST       99.9 // percent that do not look like all
#define COMMITS_MIN      100
#define FLUSH_MIN_NS     20000 // a device that is faster does not wait

bool sb__app_servers_answered(const struct sb__listening *t, struct sb_check *c)
{
    c->state = SB_VALIDITY_UNKNOWN;
    if (!sb_drivers_used(t->a->drivers)) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "no database was used");
    } else if (t->server.ninspections == 0) {
        snprintf(c->meaning, sizeof(c->meaning), "no server was asked");
    }
    for (unsigned i = 0; i < t->server.ninspections; i++) {
        const struct sb_inspection *n = &t->server.inspection[i];

        if (!n->before.asked || !n->after.asked)
            snprintf(c->meaning, sizeof(c->meaning), "%s did not answer",
                n->address[0] ? n->address : "the server");
    }
    return !c->meaning[0];
}

// Whether all servers have said what belongs to a part; otherwise the check is
// made, as unknown or n/a.
static bool servers_said(const struct sb__listening *t, struct sb_check *c,
    enum sb_inspect_part part)
{
    if (!sb__app_servers_answered(t, c))
        return false;
    for (unsigned i = 0; i < t->server.ninspections; i++) {
        const struct sb_inspection *n = &t->server.inspection[i];
        const char *why = n->before.why[part][0] ? n->before.why[part]
                                                 : n->after.why[part];

        if (part != SB_PART_DURABILITY &&
            !sb_inspected_same(&n->before, &n->after))
            snprintf(c->meaning, sizeof(c->meaning), SB_INSPECT_NOT_SAME);
        else if (n->before.known[part] && n->after.known[part])
            continue;
        else if (why[0])
            snprintf(c->meaning, sizeof(c->meaning), "%s", why);
        else
            snprintf(c->meaning, sizeof(c->meaning),
                "the %s driver cannot report this", n->driver);
        return false;
    }
    c->state = SB_VALIDITY_OK;
    return true;
}

// How much a total has grown; NaN: unknown.
static double grown(const struct sb_inspection *i, enum sb_fact_id id)
{
    const char *why;

    return sb_inspected_growth(&i->before, &i->after, id, &why);
}

// How much a figure that may also fall has changed; NaN: unknown.
static double changed(const struct sb_inspection *i, enum sb_fact_id id)
{
    return sb_inspected_same(&i->before, &i->after)
               ? i->after.fact[id] - i->before.fact[id]
               : NAN;
}

// Whether the server counts uses of tables: one of them was used more often.
static bool counts_uses(const struct sb_inspection *i)
{
    bool counts = false;

    for (unsigned k = 0; k < i->after.ntables && !counts; k++) {
        const struct sb_table_facts *after = &i->after.table[k].facts;
        const struct sb_table_facts *before = sb_inspected_find(
            &i->before, after->name);

        counts = before && after->uses > before->uses;
    }
    return counts;
}

// Whether a table was used during the run, as far as the server counts that.
static bool was_used(const struct sb_inspection *i, bool counts,
    const struct sb_table_facts *before)
{
    const struct sb_table_facts *after = sb_inspected_find(
        &i->after, before->name);

    return !counts || !after || !(after->uses <= before->uses);
}

// " at HOST" if there are several servers.
static const char *at_server(const struct sb__listening *t,
    const struct sb_inspection *i, char *out, size_t size)
{
    out[0] = '\0';
    if (t->server.ninspections > 1)
        snprintf(out, size, " at %s", i->address);
    return out;
}

// " and 7 other tables"
static const char *and_others(unsigned n, char *out, size_t size)
{
    out[0] = '\0';
    if (n > 1)
        snprintf(out, size, " and %u other table%s", n - 1, n > 2 ? "s" : "");
    return out;
}

// Returns the number of tables that are large enough to need statistics.
static unsigned find_statistics(const struct sb__listening *t,
    const struct sb_inspection *i, struct sb_check *c)
{
    static const char advice[] = "analyze the tables after prepare";
    const char *never = "", *stale = "";
    unsigned nnever = 0, nstale = 0, unknown = 0, large = 0;
    bool counts = counts_uses(i);
    char where[300], others[60];
    double most = 0;

    for (unsigned k = 0; k < i->before.ntables; k++) {
        const struct sb_table_facts *f = &i->before.table[k].facts;
        double share = sb_check_percent(f->changed, f->rows);

        if (!(f->rows >= TABLE_MIN) || !was_used(i, counts, f))
            continue;
        large++;
        unknown += isnan(f->analyzed);
        if (f->analyzed == 0 && nnever++ == 0)
            never = f->name;
        if (f->analyzed == 0 || !(share >= CHANGED_DOUBTFUL))
            continue;
        if (nstale++ == 0 || share > most) {
            stale = f->name;
            most = share;
        }
    }
    at_server(t, i, where, sizeof(where));
    if (unknown > 0)
        sb_check_find(c, SB_VALIDITY_UNKNOWN, "",
            "the server%s does not say whether %u table%s analyzed", where,
            unknown, unknown > 1 ? "s were" : " was");
    if (nnever > 0)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL, advice,
            "%.60s%s%s had not been analyzed when the run began: plans rest "
            "on guesses",
            never, and_others(nnever, others, sizeof(others)), where);
    if (nstale > 0)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL, advice,
            "%.60s%s%s had changed by %s%.*g %% since the last analysis", stale,
            and_others(nstale, others, sizeof(others)), where,
            nstale > 1 ? "up to " : "", sb_units_digits(most), most);
    return large;
}

static void check_statistics(
    const struct sb__listening *t, struct sb_validity *v)
{
    struct sb_check *c = sb_validity_make(
        v, SB_CHECK_STATISTICS, SB_VALIDITY_OK);

    unsigned large = 0;

    if (!servers_said(t, c, SB_PART_STATISTICS))
        return;
    for (unsigned i = 0; i < t->server.ninspections; i++)
        large += find_statistics(t, &t->server.inspection[i], c);
    if (!c->meaning[0] && large > 0)
        snprintf(c->meaning, sizeof(c->meaning),
            "the planner had statistics of the tables");
    else if (!c->meaning[0])
        snprintf(c->meaning, sizeof(c->meaning),
            "no table that was used has %d rows or more", TABLE_MIN);
}

// A server that flushes commits together, or writes past the operating system's
// cache, flushes less often than it commits; one that has written log and never
// flushed it does not keep what it says.
static void find_durability(const struct sb__listening *t,
    const struct sb_inspection *i, struct sb_check *c)
{
    double seconds = (double)(i->after.ns - i->before.ns) / 1e9;
    double flushes = grown(i, SB_FACT_LOG_FLUSHES);
    double bytes = grown(i, SB_FACT_LOG_BYTES);
    char where[300];

    at_server(t, i, where, sizeof(where));
    if (i->before.undurable[0]) {
        sb_check_find(c, SB_VALIDITY_DOUBTFUL,
            "compare with durable settings only if the loss of commits is "
            "acceptable",
            "commits did not wait for the device%s: %s", where,
            i->before.undurable);
        return;
    }
    // Less than before after a restart.
    if (bytes > 0 && flushes == 0) {
        sb_check_find(c, SB_VALIDITY_BAD,
            "find out why the server does not flush its log",
            "the server%s wrote %.*g MB of log and never flushed it", where,
            sb_units_digits(bytes / 1e6), bytes / 1e6);
        return;
    }
    if (flushes > 0 && seconds > 0)
        sb_check_keep_lowest(c, flushes / seconds, "flushes/s");
}

static const char early_advice[] =
    "find out what lets commits return early: a setting of the session, or the "
    "server's storage";

// The operation that makes changes durable: commit, or in a run without
// transactions the change that was made most often. NULL: none was made often
// enough.
static const struct sb_snap_op *durable_op(
    const struct sb_report *r, const char **name)
{
    const struct sb_snap_op *most = NULL;
    bool committed = false;

    for (unsigned i = 0; i < r->snap->nops && !committed; i++) {
        const struct sb_snap_op *op = &r->snap->op[i];
        const struct sb_op *o = &r->stats->op[i];

        committed = strcmp(o->name, "commit") == 0;
        if (strcmp(o->name, "begin") == 0 ||
            (!committed && o->kind != SB_OP_WRITE && o->kind != SB_OP_CHANGE))
            continue;
        if (committed || !most || op->count > most->count) {
            most = op;
            *name = o->name;
        }
    }
    return most && most->count >= COMMITS_MIN ? most : NULL;
}

// A flush of the log ends at most one commit of each user. Returns whether
// there were too few for 5 % of the commits.
static bool flushed_too_rarely(const struct sb__listening *t,
    const struct sb_report *r, const struct sb_snap_op *op, const char *name,
    struct sb_check *c)
{
    double flushes = grown(&t->server.inspection[0], SB_FACT_LOG_FLUSHES);

    if (t->a->run.job || !(flushes >= 0) ||
        flushes * r->stats->users * 20 >= (double)op->count)
        return false;
    sb_check_find(c, SB_VALIDITY_DOUBTFUL, early_advice,
        "the server flushed its log %.0f times for %" PRIu64
        " executions of %.60s by %u users: most did not wait for the device, "
        "or changed "
        "nothing",
        flushes, op->count, name, r->stats->users);
    return true;
}

// A commit that waits for the device takes at least as long as the device
// needs. The device is known of a server on this machine only; over TCP, its
// folder may be in a container.
static void compare_with_device(const struct sb__listening *t,
    const struct sb_first_look *first, const struct sb_snap_op *op,
    const char *name, struct sb_check *c)
{
    const struct sb_inspection *i = &t->server.inspection[0];
    double flush = i->embedded && i->after.folder[0]
                       ? sb_host_flush(i->after.folder)
                       : first->flush;
    double p95 = sb_hist_snap_percentile(&op->hist, 95, op->max);

    if (!(flush >= FLUSH_MIN_NS) || !(i->embedded || i->address[0] == '/'))
        return;
    if (p95 < flush / 2)
        sb_check_find(c, SB_VALIDITY_DOUBTFUL, early_advice,
            "95 %% of %.60s took at most %.3g ms, and the device needs at "
            "least "
            "%.3g ms for a flush: they did not wait for it, or changed nothing",
            name, p95 / 1e6, flush / 1e6);
    else
        sb_check_find(c, SB_VALIDITY_OK, "",
            "commits waited for the device, which needs at least %.3g ms",
            flush / 1e6);
}

// Settings of a session are not seen, but their effect is.
static void find_early_commits(const struct sb__listening *t,
    const struct sb_report *r, const struct sb_first_look *first,
    struct sb_check *c)
{
    const char *name = "";
    const struct sb_snap_op *op = durable_op(r, &name);

    if (op && t->server.ninspections == 1 &&
        !flushed_too_rarely(t, r, op, name, c))
        compare_with_device(t, first, op, name, c);
}

static void check_durable(const struct sb__listening *t, struct sb_validity *v,
    const struct sb_report *r, const struct sb_first_look *first)
{
    struct sb_check *c = sb_validity_make(v, SB_CHECK_DURABLE, SB_VALIDITY_OK);

    if (!servers_said(t, c, SB_PART_DURABILITY))
        return;
    if (r->snap->c.writes == 0) {
        c->state = SB_VALIDITY_NOT_APPLICABLE;
        snprintf(c->meaning, sizeof(c->meaning), "the run changed nothing");
        return;
    }
    for (unsigned i = 0; i < t->server.ninspections; i++)
        find_durability(t, &t->server.inspection[i], c);
    if (c->state == SB_VALIDITY_OK)
        find_early_commits(t, r, first, c);
    if (c->meaning[0])
        return;
    if (c->value > 0)
        snprintf(c->meaning, sizeof(c->meaning),
            "the settings let commits wait for the device; the log was flushed "
            "%.*g times per second",
            sb_units_digits(c->value), c->value);
    else
        snprintf(c->meaning, sizeof(c->meaning),
            "the settings let commits wait for the device");
}

// Returns a table as it was after the run, or NULL if the run has not used it.
static const struct sb_table_facts *used_table(
    const struct sb_inspection *i, bool counts, unsigned k)
{
    const struct sb_table_facts *after = &i->after.table[k].facts;
    const struct sb_table_facts *before = sb_inspected_find(
        &i->before, after->name);

    return !before || was_used(i, counts, before) ? after : NULL;
}

// NaN: the server lists no table that the run has used.
static double data_bytes(const struct sb_inspection *i)
{
    bool counts = counts_uses(i);
    double sum = NAN;

    if (isfinite(i->after.fact[SB_FACT_DATA_BYTES]))
        return i->after.fact[SB_FACT_DATA_BYTES];
    for (unsigned k = 0; k < i->after.ntables; k++) {
        const struct sb_table_facts *table = used_table(i, counts, k);

        if (table && isfinite(table->bytes))
            sum = table->bytes + (isnan(sum) ? 0 : sum);
    }
    return sum;
}

// What a server put off during the run.
struct debt {
    const struct sb_inspection *i;
    struct sb_check *c;
    double seconds; // of the run
    double writes;  // statements
    char where[300];
    bool known;     // the server said something
    char said[300]; // what grew, for the sentence
};

// Keeps what grew, for the sentence.
static void keep_growth(
    struct debt *d, const char *what, double amount, const char *unit)
{
    size_t used = strlen(d->said);

    d->known = true;
    snprintf(d->said + used, sizeof(d->said) - used, "%s%s%s by %.*g%s",
        used ? ", " : "", what, used ? "" : " grew",
        sb_units_digits(fmax(amount, 0)), fmax(amount, 0), unit);
}

// "; at the rate at which it wrote during the run (8.2 MB/s), that takes 38 s"
static const char *owed(const struct debt *d, double bytes, double done,
    const char *verb, char *out, size_t size)
{
    double seconds = sb_debt_owed(bytes, done, d->seconds);
    double rate = done / d->seconds / 1e6;

    if (isnan(seconds))
        snprintf(out, size, "; it %s none during the run", verb);
    else
        snprintf(out, size,
            "; at the rate at which it %s during the run (%.*g MB/s), that "
            "takes another %.*g s",
            verb, sb_units_digits(rate), rate, sb_units_digits(seconds),
            seconds);
    return out;
}

// A checkpoint during the run also wrote what was changed before.
static void find_paid_log(struct debt *d, double growth, double percent)
{
    sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
        "use --settle, so that the run begins without old work, or measure "
        "longer than the time between checkpoints",
        "the log since the last checkpoint%s shrank by %.*g MB, %.*g %% of "
        "what forces the next one: during the run, the server did work that "
        "was put off before",
        d->where, sb_units_digits(growth / 1e6), -growth / 1e6,
        sb_units_digits(percent), -percent);
}

// Returns whether the run ended before a checkpoint that would change its
// figures.
static bool find_log_debt(struct debt *d)
{
    double growth = changed(d->i, SB_FACT_LOG_DEBT);
    struct sb_debt log = sb_debt_log(growth,
        d->i->after.fact[SB_FACT_LOG_LIMIT], grown(d->i, SB_FACT_LOG_BYTES));

    if (isnan(log.percent))
        return false;
    d->c->value = fmax(fabs(log.percent), d->c->value);
    keep_growth(d, "the log since the last checkpoint", log.percent,
        " % of what forces the next one");
    if (log.doubtful && growth < 0) {
        find_paid_log(d, growth, log.percent);
        return false;
    }
    if (log.doubtful)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "measure longer than the time between checkpoints",
            "the log since the last checkpoint%s grew by %.*g MB, %.*g %% of "
            "what forces the next one, which a longer run would include",
            d->where, sb_units_digits(growth / 1e6), growth / 1e6,
            sb_units_digits(log.percent), log.percent);
    return log.doubtful;
}

static void find_dirty(struct debt *d, bool before_checkpoint)
{
    double growth = changed(d->i, SB_FACT_DIRTY_BYTES);
    double written = grown(d->i, SB_FACT_WRITTEN_BYTES);
    double limit = d->i->after.fact[SB_FACT_DIRTY_LIMIT];
    struct sb_debt pages;
    char text[200];

    if (isnan(limit))
        limit = d->i->after.fact[SB_FACT_CACHE_BYTES];
    pages = sb_debt_pages(
        growth, written, limit, data_bytes(d->i), before_checkpoint);
    if (isnan(pages.percent))
        return;
    d->c->value = fmax(pages.percent, d->c->value);
    keep_growth(d, "dirty pages", growth / 1e6, " MB");
    if (pages.doubtful)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "measure longer: the server writes them later",
            "dirty pages%s grew by %.*g MB, which the server has yet to "
            "write%s",
            d->where, sb_units_digits(growth / 1e6), growth / 1e6,
            owed(d, growth, written, "wrote", text, sizeof(text)));
}

static void find_purge(struct debt *d)
{
    double growth = changed(d->i, SB_FACT_PURGE);

    if (isnan(growth))
        return;
    keep_growth(d, "the history of old row versions", growth, " transactions");
    if (sb_debt_purge(growth, d->writes).doubtful)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "use a lower rate, or measure until the history does not grow",
            "the history of old row versions%s grew by %.0f transactions: "
            "purging did not keep up",
            d->where, growth);
}

static void find_dead(struct debt *d)
{
    const char *name = NULL;
    unsigned n = 0;
    double most = 0;
    char others[60];

    for (unsigned k = 0; k < d->i->after.ntables; k++) {
        const struct sb_table_facts *after = &d->i->after.table[k].facts;
        const struct sb_table_facts *before = sb_inspected_find(
            &d->i->before, after->name);
        struct sb_debt rows = sb_debt_rows(
            before ? after->dead - before->dead : NAN, after->rows, after->dead,
            after->bytes);

        if (!rows.doubtful)
            continue;
        if (n++ == 0 || rows.percent > most) {
            name = after->name;
            most = rows.percent;
        }
    }
    d->c->value = fmax(most, d->c->value);
    if (n > 0)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "measure longer than the time between two vacuums",
            "dead rows of %.60s%s%s grew by %s%.*g %% of its rows, and no "
            "vacuum removed them",
            name, and_others(n, others, sizeof(others)), d->where,
            n > 1 ? "up to " : "", sb_units_digits(most), most);
}

// Replicas of this server, or this server as one.
static void find_lag(struct debt *d)
{
    double growth = changed(d->i, SB_FACT_REPLICA_BYTES);
    double logged = grown(d->i, SB_FACT_LOG_BYTES);
    double delay = changed(d->i, SB_FACT_REPLICA_SECONDS);
    char text[200];

    if (isfinite(growth))
        keep_growth(d, "the lag of replicas", growth / 1e6, " MB");
    if (sb_debt_replicas(growth, logged).doubtful)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "use a rate that replicas can follow",
            "a replica%s fell behind by %.*g MB of log%s", d->where,
            sb_units_digits(growth / 1e6), growth / 1e6,
            owed(d, growth, logged - growth, "applied", text, sizeof(text)));
    if (isfinite(delay))
        keep_growth(d, "the delay behind its source", delay, " s");
    if (sb_debt_delay(delay, d->seconds).doubtful)
        sb_check_find(d->c, SB_VALIDITY_DOUBTFUL,
            "use a lower rate on its source",
            "the server%s fell behind its source by %.0f s", d->where, delay);
}

static void find_debt(const struct sb__listening *t,
    const struct sb_report *whole, const struct sb_inspection *i,
    struct sb_check *c)
{
    struct debt d = { .i = i,
        .c = c,
        .seconds = (double)(i->after.ns - i->before.ns) / 1e9,
        .writes = (double)whole->snap->c.writes };

    at_server(t, i, d.where, sizeof(d.where));
    find_dirty(&d, find_log_debt(&d));
    find_purge(&d);
    find_dead(&d);
    find_lag(&d);
    if (!d.known)
        sb_check_find(c, SB_VALIDITY_UNKNOWN, "",
            "the server%s does not say what it put off", d.where);
    else if (c->state == SB_VALIDITY_OK)
        sb_check_find(c, SB_VALIDITY_OK, "", "%s%s", d.said, d.where);
}

static void check_debt(const struct sb__listening *t, struct sb_validity *v,
    const struct sb_report *whole)
{
    struct sb_check *c = sb_validity_make(v, SB_CHECK_DEBT, SB_VALIDITY_OK);

    if (!servers_said(t, c, SB_PART_DEBT))
        return;
    c->value = 0;
    c->unit = "%";
    for (unsigned i = 0; i < t->server.ninspections; i++)
        find_debt(t, whole, &t->server.inspection[i], c);
}

static void add_data(struct sb__listening *t, const struct sb_inspection *i,
    const char *table, double rows, double bytes)
{
    struct sb_facts *f = &t->a->facts;
    struct sb_data_fact *more = sb_array_least(
        t->server.data, &f->ndata, f->ndata + 1, sizeof(*more));

    if (!more)
        return;
    f->data = t->server.data = more;
    more[f->ndata - 1] = (struct sb_data_fact){ i->address, table, rows,
        bytes };
}

void sb__app_server_data(struct sb__listening *t)
{
    for (unsigned n = 0; n < t->server.ninspections; n++) {
        const struct sb_inspection *i = &t->server.inspection[n];
        double bytes = i->after.fact[SB_FACT_DATA_BYTES];
        bool counts = counts_uses(i);

        if (!i->after.asked)
            continue;
        if (isfinite(bytes))
            add_data(t, i, NULL, NAN, bytes);
        for (unsigned k = 0; k < i->after.ntables; k++) {
            const struct sb_table_facts *table = used_table(i, counts, k);

            if (table)
                add_data(t, i, table->name, table->rows, table->bytes);
        }
    }
}

static void find_cached(const struct sb__listening *t,
    const struct sb_inspection *i, struct sb_check *c)
{
    double data = data_bytes(i), cache = i->after.fact[SB_FACT_CACHE_BYTES];
    double data_mb = data / 1e6, cache_mb = cache / 1e6;
    const char *why = "";
    double misses = sb_inspected_growth(
        &i->before, &i->after, SB_FACT_CACHE_MISSES, &why);
    double cold = sb_check_percent(
        misses, sb_inspected_growth(
                    &i->before, &i->after, SB_FACT_CACHE_REQUESTS, &why));
    double memory = (double)t->a->facts.host.memory;
    bool local = t->client.seen.peers == SB_PEERS_LOCAL || i->embedded;
    bool nearly = misses > 0 && 100 - cold > FOUND_MOST;
    char where[300];

    at_server(t, i, where, sizeof(where));
    if (isnan(cache))
        why = "the server does not say how large its cache is";
    else if (isnan(data))
        why = "the server lists no table that the run used";
    if (why[0]) {
        sb_check_find(c, SB_VALIDITY_UNKNOWN, "", "%s%s", why, where);
        return;
    }
    sb_check_keep_lowest(
        c, data > 0 ? fmin(100 * cache / data, 100) : 100, "%");
    if (data <= cache && misses >= COLD_MIN && cold >= COLD_DOUBTFUL &&
        !i->embedded)
        sb_check_find(c, sb_check_grade(cold, COLD_DOUBTFUL, COLD_BAD),
            "use a longer --warmup-time",
            "%.3g %% of the pages were not in the server's cache%s, although "
            "the data (%.*g MB) fits into it: it was not warm",
            cold, where, sb_units_digits(data_mb), data_mb);
    else if (data <= cache)
        sb_check_find(c, SB_VALIDITY_OK, "",
            "in memory: the data (%.*g MB) fits into the cache%s (%.*g MB)",
            sb_units_digits(data_mb), data_mb, where, sb_units_digits(cache_mb),
            cache_mb);
    else
        sb_check_find(c, SB_VALIDITY_OK, "",
            "%.3g %% of the data (%.*g MB) fits into the cache%s (%.*g MB); "
            "%s%.3g %% of the pages were found in it%s",
            100 * cache / data, sb_units_digits(data_mb), data_mb, where,
            sb_units_digits(cache_mb), cache_mb, nearly ? "more than " : "",
            nearly ? FOUND_MOST : 100 - cold,
            misses > 0 && local && data < memory / 2
                ? ", others most likely in the operating system's"
                : "");
}

static void check_cached(const struct sb__listening *t, struct sb_validity *v)
{
    struct sb_check *c = sb_validity_make(v, SB_CHECK_CACHED, SB_VALIDITY_OK);

    if (!servers_said(t, c, SB_PART_CACHE) || !servers_said(t, c, SB_PART_SIZE))
        return;
    for (unsigned i = 0; i < t->server.ninspections; i++)
        find_cached(t, &t->server.inspection[i], c);
}

void sb__app_check_servers(const struct sb__listening *t,
    const struct sb_report *whole, const struct sb_first_look *first,
    struct sb_validity *v)
{
    check_cached(t, v);
    check_debt(t, v, whole);
    check_durable(t, v, whole, first);
    check_statistics(t, v);
}
