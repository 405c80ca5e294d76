// SPDX-License-Identifier: GPL-2.0-or-later
//
// --report=web=ADDR:PORT: shows the run in a browser while it goes on, and to
// Prometheus.
#include "out/reporter.h"

#ifdef HAVE_MICROHTTPD

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/paths.h"
#include "out/json_parts.h"
#include "out/page.h"
#include "out/target.h"
#include "out/web_private.h"

// How long the program stays at the end of a run for pages that do not have the
// end yet. They ask once per second, on a busy machine some seconds later. A
// long result takes longer to send; the server disconnects a client that has
// received nothing for 10 seconds, so that only one that still reads gets the
// whole time.
#define LINGER_NS  UINT64_C(5000000000)
#define SENDING_NS UINT64_C(60000000000)

struct web {
    struct sb_live live;
    struct sb__web_server server;
    char *page;
    size_t page_len;
    struct sb_err no_page;
    bool has_facts;      // those that are known since the start
    unsigned ndatabases; // in the facts
    double seconds;
};

// Without the charts library there is no page, but the figures are served.
static void make_page(struct web *w, const char *title)
{
    struct sb_paths paths;
    struct sb_page_parts parts = {
        .page = paths.page, .charts = paths.charts, .title = title, .live = true
    };
    struct sb_err *err = &w->no_page;
    FILE *out;

    if (sb_paths_find(&paths, err))
        return;
    out = open_memstream(&w->page, &w->page_len);
    if (!out) {
        sb_err_set(err, SB_ENOMEM, "out of memory");
        return;
    }
    sb_page_write(out, &parts, err);
    if (fclose(out) && !err->code)
        sb_err_set(err, SB_ENOMEM, "out of memory");
    if (err->code)
        sb_log(SB_LOG_WARNING,
            "--report=web: %.400s; without it, there are only /metrics and "
            "/result.json",
            err->msg);
}

static void log_address(const struct sb_web_address *a, unsigned port)
{
    bool v6 = strchr(a->host, ':') != NULL;

    sb_log(SB_LOG_NOTICE, "Live view: http://%s%s%s:%u/", v6 ? "[" : "",
        a->host, v6 ? "]" : "", port);
    if (!a->loopback)
        sb_log(SB_LOG_WARNING,
            "--report=web: everyone who can reach %s can read the figures and "
            "options of this run",
            a->host);
}

static int publish_facts(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = r->data;

    w->ndatabases = r->facts->ndatabases;
    return sb_live_facts(&w->live, sb_json_facts(r->facts), err);
}

static int serve(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = r->data;
    struct sb__web_server *s = &w->server;
    unsigned port;

    make_page(w, r->facts->test);
    s->live = &w->live;
    s->page = w->no_page.code ? NULL : w->page;
    s->page_len = w->page_len;
    s->no_page = w->no_page.msg;
    s->test = r->facts->test;
    s->version = r->facts->version;
    s->searches = r->facts->finds_rate;
    s->program = sb_json_program(r->facts);
    if (!s->program)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    int rc = publish_facts(r, err);
    if (rc == 0)
        rc = sb__web_start(s, &port, err);
    if (rc == 0)
        log_address(&s->address, port);
    return rc;
}

static int web_open(struct sb_reporter *r, struct sb_err *err)
{
    struct web *w = calloc(1, sizeof(*w));
    char dir[4096];
    int rc;

    r->data = w;
    if (!w)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    sb_target_folder("-", dir, sizeof(dir));
    rc = sb_live_init(&w->live, dir, err);
    if (rc == 0)
        rc = sb_web_address(&w->server.address, r->target, err);
    return rc ? rc : serve(r, err);
}

static int web_interval(struct sb_reporter *r, const struct sb_report *report,
    const struct sb_series *row, struct sb_err *err)
{
    struct web *w = r->data;
    int rc = 0, failed;

    if (!w->has_facts || w->ndatabases != r->facts->ndatabases)
        rc = publish_facts(r, err);
    w->has_facts = true;
    failed = sb_live_interval(&w->live, report, row, err);
    return failed ? failed : rc;
}

static int web_final(
    struct sb_reporter *r, const struct sb_report *whole, struct sb_err *err)
{
    struct web *w = r->data;

    w->seconds = whole->total_s;
    return sb_live_final(&w->live, whole, err);
}

// Waits until the pages that show the run have its end.
static void linger(struct web *w)
{
    const struct timespec pause = { .tv_nsec = 10000000 };
    uint64_t begun = sb_clock_monotonic(), limit = LINGER_NS;

    while (atomic_load(&w->server.watching) > 0 &&
           sb_clock_monotonic() - begun < limit) {
        limit = atomic_load(&w->server.ending) > 0 ? SENDING_NS : LINGER_NS;
        nanosleep(&pause, NULL);
    }
}

static int web_finish(
    struct sb_reporter *r, const struct sb_outcome *o, struct sb_err *err)
{
    struct web *w = r->data;
    const struct sb_asserts *limits = r->facts->limits;
    int rc = publish_facts(r, err);
    int failed = sb_live_end(&w->live, limits ? sb_json_limits(limits) : NULL,
        sb_json_outcome(o, w->seconds), err);

    linger(w);
    return failed ? failed : rc;
}

static void web_done(struct sb_reporter *r)
{
    struct web *w = r->data;

    if (!w)
        return;
    sb__web_stop(&w->server);
    json_decref(w->server.program);
    sb_live_done(&w->live);
    free(w->page);
    free(w);
}

const struct sb_reporter_kind sb__web_kind = {
    .name = "web",
    .target = "ADDR:PORT",
    .form = SB_REPORT_VIEW,
    .open = web_open,
    .interval = web_interval,
    .final = web_final,
    .finish = web_finish,
    .done = web_done,
};

#else

const struct sb_reporter_kind sb__web_kind = {
    .name = "web",
    .target = "ADDR:PORT",
    .missing = "this sysbench was built without libmicrohttpd (Debian: "
               "libmicrohttpd-dev), which serves the page",
};

#endif
