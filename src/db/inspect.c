// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/inspect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/procstat.h"
#include "db/internal.h"

static int take_fact(void *arg, enum sb_fact_id id, double value)
{
    struct sb_inspected *i = arg;

    i->fact[id] = value;
    return 0;
}

static int take_table(void *arg, const struct sb_table_facts *t)
{
    struct sb_inspected *i = arg;
    struct sb_inspected_table *more;
    char *name;

    if (i->ntables == SB_INSPECT_TABLES_MAX)
        return 0;
    name = strdup(t->name);
    more = name ? realloc(i->table, (i->ntables + 1) * sizeof(*more)) : NULL;
    if (!more) {
        free(name);
        return SB_ENOMEM;
    }
    i->table = more;
    more += i->ntables++;
    *more = (struct sb_inspected_table){ name, *t };
    more->facts.name = name;
    return 0;
}

static int take_undurable(void *arg, const char *setting)
{
    struct sb_inspected *i = arg;
    size_t used = strlen(i->undurable);

    snprintf(i->undurable + used, sizeof(i->undurable) - used, "%s%s",
        used ? ", " : "", setting);
    return 0;
}

static int take_folder(void *arg, const char *path)
{
    struct sb_inspected *i = arg;

    snprintf(i->folder, sizeof(i->folder), "%s", path);
    return 0;
}

static void take_part(void *arg, enum sb_inspect_part part, const char *source,
    const struct sb_err *why)
{
    struct sb_inspected *i = arg;

    i->known[part] = !why;
    if (why)
        snprintf(i->why[part], sizeof(i->why[part]), "%.50s: %.140s", source,
            why->msg);
}

struct sb_inspect_sink sb_inspect_into(struct sb_inspected *out, unsigned parts)
{
    *out = (struct sb_inspected){ .asked = true, .ns = sb_clock_monotonic() };
    for (int i = 0; i < SB_FACTS; i++)
        out->fact[i] = NAN;
    return (struct sb_inspect_sink){ .arg = out,
        .parts = parts,
        .fact = take_fact,
        .table = take_table,
        .undurable = take_undurable,
        .folder = take_folder,
        .part = take_part };
}

static enum sb_inspect_part part_of(enum sb_fact_id id)
{
    switch (id) {
    case SB_FACT_CACHE_BYTES:
    case SB_FACT_CACHE_REQUESTS:
    case SB_FACT_CACHE_MISSES:
        return SB_PART_CACHE;
    case SB_FACT_LOG_BYTES:
    case SB_FACT_LOG_FLUSHES:
        return SB_PART_LOG;
    case SB_FACT_LOG_DEBT:
    case SB_FACT_LOG_LIMIT:
    case SB_FACT_DIRTY_BYTES:
    case SB_FACT_DIRTY_LIMIT:
    case SB_FACT_PURGE:
    case SB_FACT_REPLICA_BYTES:
    case SB_FACT_REPLICA_SECONDS:
        return SB_PART_DEBT;
    case SB_FACT_LOCK_WAITS:
    case SB_FACT_LOCK_WAITERS:
    case SB_FACT_DEADLOCKS:
        return SB_PART_LOCKS;
    case SB_FACT_UPTIME:
    case SB_FACT_ROWS_EXAMINED:
    case SB_FACT_READ_BYTES:
    case SB_FACT_WRITTEN_BYTES:
    case SB_FACT_FSYNCS:
        return SB_PART_WORK;
    default:
        return SB_PART_SIZE;
    }
}

void sb_inspected_update(
    struct sb_inspected *i, const struct sb_inspected *later, unsigned parts)
{
    for (int k = 0; k < SB_FACTS; k++) {
        if (parts >> part_of(k) & 1)
            i->fact[k] = later->fact[k];
    }
    for (int k = 0; k < SB_PARTS; k++) {
        if (!(parts >> k & 1))
            continue;
        i->known[k] = later->known[k];
        memcpy(i->why[k], later->why[k], sizeof(i->why[k]));
    }
    i->ns = later->ns;
}

void sb_inspected_miss(struct sb_inspected *i, unsigned parts, const char *why)
{
    struct sb_inspected none;

    sb_inspect_into(&none, 0);
    for (int k = 0; k < SB_PARTS; k++)
        snprintf(none.why[k], sizeof(none.why[k]), "%s", why);
    sb_inspected_update(i, &none, parts);
}

void sb_inspected_done(struct sb_inspected *i)
{
    for (unsigned k = 0; k < i->ntables; k++)
        free(i->table[k].name);
    free(i->table);
    *i = (struct sb_inspected){ 0 };
}

const struct sb_table_facts *sb_inspected_find(
    const struct sb_inspected *i, const char *name)
{
    for (unsigned k = 0; k < i->ntables; k++) {
        if (strcmp(i->table[k].name, name) == 0)
            return &i->table[k].facts;
    }
    return NULL;
}

// A server was restarted if its time and that of this machine differ by more,
// s.
#define UPTIME_OFF 2

bool sb_inspected_same(
    const struct sb_inspected *from, const struct sb_inspected *to)
{
    double up = to->fact[SB_FACT_UPTIME] - from->fact[SB_FACT_UPTIME];
    double passed = (double)(to->ns - from->ns) / 1e9;

    return isnan(up) || fabs(up - passed) <= UPTIME_OFF + passed / 1000;
}

double sb_inspected_growth(const struct sb_inspected *from,
    const struct sb_inspected *to, enum sb_fact_id id, const char **why)
{
    enum sb_inspect_part part = part_of(id);
    double growth = NAN;

    if (!from->asked || !to->asked) {
        *why = "the server did not answer";
        return NAN;
    }
    growth = to->fact[id] - from->fact[id];
    if (!sb_inspected_same(from, to) || growth < 0)
        *why = SB_INSPECT_NOT_SAME;
    else if (!isnan(growth))
        return growth;
    else if (from->why[part][0] || to->why[part][0])
        *why = from->why[part][0] ? from->why[part] : to->why[part];
    else
        *why = "not counted by the server";
    return NAN;
}

int sb__inspect(struct sb__probe *p, unsigned parts, bool after,
    struct sb_inspected *out, struct sb_err *err)
{
    struct sb_inspect_sink sink = sb_inspect_into(out, parts);
    int rc = 0;

    for (int i = 0; rc == 0 && i < 2; i++) {
        bool costs = (i == 0) == after;

        sink.parts = parts & (costs ? SB_INSPECT_COSTS : ~SB_INSPECT_COSTS);
        if (!sink.parts)
            continue;
        if (costs)
            out->ns = sb_clock_monotonic();
        rc = sb__probe_inspect(p, &sink, err);
    }
    if (rc)
        sb_inspected_done(out);
    return rc;
}

// Before the users connect ----------------------------------------------------

#define PINGS    50
#define PINGS_NS UINT64_C(50000000)

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int ping(
    struct sb__probe *p, struct sb_round_trips *out, struct sb_err *err)
{
    uint64_t begin = sb_clock_monotonic(), last = begin;
    double ns[PINGS];
    unsigned n = 0;
    // The first one includes what happens once per connection.
    int rc = sb__probe_ping(p, err);

    while (rc == 0 && n < PINGS && last - begin < PINGS_NS) {
        uint64_t at = sb_clock_monotonic();

        rc = sb__probe_ping(p, err);
        last = sb_clock_monotonic();
        ns[n++] = (double)(last - at);
    }
    if (rc)
        return rc;
    qsort(ns, n, sizeof(*ns), by_value);
    out->n = n;
    out->min = ns[0];
    out->p90 = ns[n * 9 / 10];
    return 0;
}

// The process that listens at the address of a server, if it is the one that
// the server names, and not a proxy. Asked while the connection is open, which
// may have a process of its own.
static int64_t find_process(const struct sb_server *s)
{
    int64_t pid = s->pid ? sb_procstat_listener(s->address) : 0;

    return pid && sb_procstat_descends(s->pid, pid) ? pid : 0;
}

static void count(struct sb__probe *p, struct sb_statements *out)
{
    struct sb_err err = { 0 };

    // A server that does not answer is asked again when the users are ready.
    if (sb__statements_read(p, out, &err))
        sb_statements_done(out);
}

static int look(struct sb__probe *p, unsigned parts, bool statements,
    struct sb_first_look *out, struct sb_err *err)
{
    int rc = sb__probe_connect(p, err), pinged;

    if (rc == 0)
        rc = sb__probe_describe(p, &out->facts, err);
    out->failed = rc != 0;
    if (rc)
        return rc;
    out->pid = find_process(&out->facts.server);
    pinged = ping(p, &out->trips, err);
    rc = sb__inspect(p, parts, false, &out->seen, err);
    if (rc == 0 && out->seen.folder[0])
        out->flush = sb_host_flush(out->seen.folder);
    if (rc == 0 && statements)
        count(p, &out->counted);
    return rc ? rc : pinged;
}

void sb_inspect_first(struct sb_drivers *d, unsigned parts, bool statements,
    struct sb_first_look *out)
{
    struct sb_err err = { 0 };
    struct sb__probe *p;

    *out = (struct sb_first_look){
        .trips.why = "no server was known before the users connected",
        .flush = NAN
    };
    out->inst = sb__inst_likely(d);
    if (!out->inst)
        return;
    p = sb__probe_new(out->inst, 0, &err);
    out->failed = !p;
    if (p)
        sb__probe_client(p, &out->facts);
    // The library of a database in this process opens its files, or makes them.
    if (!p || (!(out->inst->db->drv->caps & SB_CAP_EMBEDDED) &&
                  look(p, parts, statements, out, &err)))
        snprintf(out->trips.why, sizeof(out->trips.why), "%.190s", err.msg);
    sb__probe_free(p);
}

void sb_first_look_done(struct sb_first_look *l)
{
    sb_server_facts_done(&l->facts);
    sb_inspected_done(&l->seen);
    sb_statements_done(&l->counted);
    if (l->inst)
        sb__inst_put(l->inst);
    l->inst = NULL;
}
