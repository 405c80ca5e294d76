// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/probe.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "db/internal.h"
#include "db/link.h"

int sb__process_init(
    struct sb__process *p, const char *text, struct sb_err *err)
{
    struct sb_proc_tree t;
    char *end;

    *p = (struct sb__process){ .automatic = strcmp(text, "auto") == 0 };
    if (!*text || p->automatic)
        return 0;
    errno = 0;
    p->pid = strtoll(text, &end, 10);
    if (end == text || *end || errno || p->pid <= 0)
        return sb_err_set(err, SB_EUSAGE,
            "--server-pid: '%s' is neither 'auto' nor the id of a process",
            text);
    if (sb_procstat_tree(p->pid, &t, NULL) == SB_ENOTFOUND)
        return sb_err_set(err, SB_EUSAGE,
            "--server-pid: there is no process with the id %lld",
            (long long)p->pid);
    return 0;
}

void sb__process_find(struct sb__process *p, const char *address)
{
    if (!p->automatic || p->pid || !*address)
        return;
    p->pid = sb_procstat_listener(address);
    p->automatic = false;
    if (!p->pid)
        sb_log(SB_LOG_WARNING,
            "--server-pid=auto: the process that listens at %s was not found; "
            "it is on another machine, or this user may not see its files: "
            "give its process id",
            address);
}

static void gone(struct sb__process *p)
{
    sb_log(SB_LOG_WARNING,
        "--server-pid: the process %lld has ended; it is not sampled any more",
        (long long)p->pid);
    p->pid = 0;
}

static void take_io(struct sb__process *p, const struct sb_proc_tree *t,
    void (*take)(void *arg, const struct sb_counter *c), void *arg)
{
    const struct sb_counter in = { "process.read_bytes", (double)t->read,
        SB_COUNTER_TOTAL, "bytes" };
    const struct sb_counter out = { "process.write_bytes", (double)t->written,
        SB_COUNTER_TOTAL, "bytes" };

    if (t->has_io) {
        take(arg, &in);
        take(arg, &out);
    } else if (!p->warned) {
        sb_log(SB_LOG_WARNING,
            "--server-pid: the disk I/O of process %lld cannot be read; this "
            "requires the privileges of its user",
            (long long)p->pid);
        p->warned = true;
    }
}

void sb__process_sample(struct sb__process *p,
    void (*take)(void *arg, const struct sb_counter *c), void *arg)
{
    struct sb_proc_tree t;

    if (!p->pid)
        return;
    if (sb_procstat_tree(p->pid, &t, NULL) ||
        (p->start_ticks && t.start_ticks != p->start_ticks)) {
        gone(p);
        return;
    }
    const struct sb_counter cpu = { "process.cpu", (double)t.cpu_ns / 1e9,
        SB_COUNTER_TOTAL, "processors" };
    const struct sb_counter rss = { "process.rss", (double)t.rss,
        SB_COUNTER_LEVEL, "bytes" };

    take(arg, &cpu);
    take(arg, &rss);
    take_io(p, &t, take, arg);
    p->start_ticks = t.start_ticks;
}

// The maximum of each timeout. It bounds how long a probe waits for a server
// that hangs in a call that the client library cannot interrupt.
#define TIMEOUT_NS   INT64_C(5000000000)
#define TIMEOUT_TEXT "5s"

// Names of the options, without the driver's prefix. The first ones are those
// of connecting.
static const char *const timeouts[] = { "connect-timeout", "selection-timeout",
    "read-timeout", "write-timeout", "socket-timeout" };
#define TIMEOUTS_CONNECT 2

struct sb__probe {
    struct sb__inst *inst;
    const struct sb_driver *drv;
    uint64_t number;
    void *opts; // a copy with shorter timeouts
    struct sb_driver_env own_env;
    struct sb_driver_env *env; // own_env, or that of the instance
    struct sb_conn *conn;
    bool open;
    _Atomic uint64_t session;
    bool patient;         // only connecting has a shorter timeout
    pthread_mutex_t lock; // protects what follows
    bool cancelable;
};

// Facts ----------------------------------------------------------------------

void sb_server_facts_done(struct sb_server_facts *f)
{
    for (size_t i = 0; i < f->nsettings; i++) {
        free(f->setting[i].name);
        free(f->setting[i].value);
    }
    free(f->setting);
    f->setting = NULL;
    f->nsettings = 0;
}

static int add_setting(
    void *arg, const char *name, const char *value, enum sb_setting_state state)
{
    struct sb_server_facts *f = arg;
    struct sb_server_setting *more = realloc(
        f->setting, (f->nsettings + 1) * sizeof(*more));

    if (!more)
        return SB_ENOMEM;
    f->setting = more;
    more += f->nsettings;
    *more = (struct sb_server_setting){ strdup(name), strdup(value), state };
    if (more->name && more->value) {
        f->nsettings++;
        return 0;
    }
    free(more->name);
    free(more->value);
    return SB_ENOMEM;
}

bool sb_server_facts_copy(
    const struct sb_server_facts *from, struct sb_server_facts *to)
{
    *to = *from;
    to->setting = NULL;
    to->nsettings = 0;
    for (size_t i = 0; i < from->nsettings; i++) {
        const struct sb_server_setting *s = &from->setting[i];

        if (add_setting(to, s->name, s->value, s->state)) {
            sb_server_facts_done(to);
            return false;
        }
    }
    return true;
}

// Creating -------------------------------------------------------------------

static bool is_too_long(const struct sb_opt *o, const void *opts)
{
    int64_t ns;

    if (o->type != SB_OPT_DURATION)
        return false;
    memcpy(&ns, (const char *)opts + o->offset, sizeof(ns));
    return ns == 0 || ns > TIMEOUT_NS;
}

// Returns the number of timeouts that were shortened, or SB_E*.
static int shorten(struct sb__probe *p, struct sb_err *err)
{
    size_t count = p->patient ? TIMEOUTS_CONNECT
                              : sizeof(timeouts) / sizeof(timeouts[0]);
    int n = 0;

    for (size_t i = 0; i < count; i++) {
        const struct sb_opt *o = sb__opt_find(p->drv, timeouts[i]);
        int rc;

        if (!o || !is_too_long(o, p->opts))
            continue;
        rc = sb_opts_parse(
            p->inst->db->owner->o, o, TIMEOUT_TEXT, p->opts, err);
        if (rc)
            return rc;
        n++;
    }
    return n;
}

// The environment has a pointer to the options, so a probe with other timeouts
// has its own.
static int set_up(struct sb__probe *p, struct sb_err *err)
{
    const struct sb_generic_ops *g = p->drv->generic;
    size_t size = p->drv->opts_size ? p->drv->opts_size : 1;
    int rc;

    assert(p->inst->ready && p->inst->refs > 0);
    p->opts = malloc(size);
    p->conn = calloc(1, p->drv->conn_size);
    if (!p->opts || !p->conn)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    memcpy(p->opts, p->inst->opts, size);
    p->env = &p->inst->env;
    rc = shorten(p, err);
    if (rc <= 0)
        return rc;
    p->own_env.host = p->inst->env.host;
    if (g->env_init)
        rc = g->env_init(&p->own_env, p->opts, err);
    else
        rc = 0;
    if (rc == 0)
        p->env = &p->own_env;
    return rc;
}

static struct sb__probe *probe_new(
    struct sb__inst *inst, uint64_t number, bool patient, struct sb_err *err)
{
    struct sb__probe *p = calloc(1, sizeof(*p));
    int rc;

    if (!p) {
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return NULL;
    }
    p->inst = inst;
    p->drv = inst->db->drv;
    p->number = number;
    p->patient = patient;
    pthread_mutex_init(&p->lock, NULL);
    // Client libraries may require it for their initialization.
    pthread_mutex_lock(&inst->db->owner->lock);
    rc = set_up(p, err);
    pthread_mutex_unlock(&inst->db->owner->lock);
    if (rc == 0)
        return p;
    sb__probe_free(p);
    return NULL;
}

struct sb__probe *sb__probe_new(
    struct sb__inst *inst, uint64_t number, struct sb_err *err)
{
    return probe_new(inst, number, false, err);
}

struct sb__probe *sb__probe_new_patient(
    struct sb__inst *inst, uint64_t number, struct sb_err *err)
{
    return probe_new(inst, number, true, err);
}

void sb__probe_free(struct sb__probe *p)
{
    if (!p)
        return;
    sb__probe_disconnect(p);
    if (p->env == &p->own_env && p->drv->generic->env_done) {
        pthread_mutex_lock(&p->inst->db->owner->lock);
        p->drv->generic->env_done(&p->own_env);
        pthread_mutex_unlock(&p->inst->db->owner->lock);
    }
    pthread_mutex_destroy(&p->lock);
    free(p->conn);
    free(p->opts);
    free(p);
}

uint64_t sb__probe_servers(const struct sb__inst *inst)
{
    const struct sb_info_ops *ops = inst->db->drv->info;
    uint64_t n = ops && ops->servers ? ops->servers(&inst->env) : 1;

    return n ? n : 1;
}

const struct sb__inst *sb__probe_inst(const struct sb__probe *p)
{
    return p->inst;
}

const struct sb_driver *sb__probe_driver(const struct sb__probe *p)
{
    return p->drv;
}

// Connecting -----------------------------------------------------------------

static void set_cancelable(struct sb__probe *p, bool on)
{
    pthread_mutex_lock(&p->lock);
    p->cancelable = on;
    pthread_mutex_unlock(&p->lock);
}

int sb__probe_connect(struct sb__probe *p, struct sb_err *err)
{
    const struct sb_conn_info info = { .number = p->number };
    int rc;

    assert(!p->open);
    memset(p->conn, 0, p->drv->conn_size);
    set_cancelable(p, p->drv->caps & SB_CAP_CANCEL_CONNECT);
    rc = p->drv->generic->connect(p->conn, p->env, p->opts, &info, err);
    set_cancelable(p, rc == 0);
    p->open = rc == 0;
    if (rc)
        p->drv->generic->disconnect(p->conn);
    else if (p->drv->info && p->drv->info->session)
        atomic_store_explicit(
            &p->session, p->drv->info->session(p->conn), memory_order_relaxed);
    return rc;
}

void sb__probe_disconnect(struct sb__probe *p)
{
    if (!p->open)
        return;
    set_cancelable(p, false);
    p->open = false;
    atomic_store_explicit(&p->session, 0, memory_order_relaxed);
    p->drv->generic->disconnect(p->conn);
}

bool sb__probe_connected(const struct sb__probe *p)
{
    return p->open;
}

void sb__probe_cancel(struct sb__probe *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->cancelable && p->drv->generic->cancel)
        p->drv->generic->cancel(p->conn);
    pthread_mutex_unlock(&p->lock);
}

// Asking ---------------------------------------------------------------------

void sb__probe_client(const struct sb__probe *p, struct sb_server_facts *out)
{
    *out = (struct sb_server_facts){ .driver = p->drv->name,
        .documents = (p->drv->caps & SB_CAP_NO_SQL) != 0,
        .totals_late_ns = p->drv->info ? p->drv->info->counters_delay : 0 };
    if (p->drv->info)
        p->drv->info->client(out->client, sizeof(out->client));
}

int sb__probe_describe(
    struct sb__probe *p, struct sb_server_facts *out, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;
    int rc = 0;

    assert(p->open);
    sb_server_facts_done(out);
    memset(&out->server, 0, sizeof(out->server));
    if (ops && ops->describe)
        rc = ops->describe(p->conn, &out->server, add_setting, out, err);
    else if (ops)
        ops->server(p->conn, out->server.name, sizeof(out->server.name));
    return rc;
}

int sb__probe_counters(
    struct sb__probe *p, const struct sb_counter_sink *to, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    return ops && ops->counters ? ops->counters(p->conn, to, err) : 0;
}

int sb__probe_inspect(
    struct sb__probe *p, const struct sb_inspect_sink *to, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    return ops && ops->inspect ? ops->inspect(p->conn, to, err) : 0;
}

int sb__probe_explain(struct sb__probe *p, const struct sb_statement *s,
    const struct sb_plan_sink *to, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    if (!ops || !ops->explain)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "the %s driver has no plans", p->drv->name);
    return ops->explain(p->conn, s, to, err);
}

int sb__probe_begin(struct sb__probe *p, struct sb_err *err)
{
    assert(p->open);
    return sb__session_begin(p->inst->db, p->conn, err);
}

int sb__probe_activity(
    struct sb__probe *p, const struct sb_activity_sink *to, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    if (!ops || !ops->activity)
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the %s driver cannot sample the sessions of a server",
            p->drv->name);
    return ops->activity(p->conn, to, err);
}

uint64_t sb__probe_session(struct sb__probe *p)
{
    return atomic_load_explicit(&p->session, memory_order_relaxed);
}

int sb__probe_ping(struct sb__probe *p, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    if (!ops || !ops->ping)
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the %s driver has no round trips", p->drv->name);
    return ops->ping(p->conn, err);
}

int sb__probe_upkeep(struct sb__probe *p,
    int (*op)(struct sb_conn *conn, const char *table, struct sb_err *err),
    const char *table, struct sb_err *err)
{
    assert(p->open);
    return op(p->conn, table, err);
}

int sb__probe_rush(
    struct sb__probe *p, char *undo, size_t size, struct sb_err *err)
{
    assert(p->open);
    return p->drv->upkeep->rush(p->conn, undo, size, err);
}

int sb__probe_statements(
    struct sb__probe *p, const struct sb_statement_sink *to, struct sb_err *err)
{
    const struct sb_info_ops *ops = p->drv->info;

    assert(p->open);
    if (!ops || !ops->statements)
        return sb_err_set(err, SB_EUNSUPPORTED,
            "the %s driver cannot report this", p->drv->name);
    return ops->statements(p->conn, to, err);
}
