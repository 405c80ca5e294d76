// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // strverscmp()
#include "results/history_runs.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/opts.h"
#include "kit/array.h"
#include "kit/buf.h"
#include "out/json_parts.h"
#include "out/json_value.h"
#include "out/result_file.h"
#include "results/cmd.h"

static int no_memory(void)
{
    sb_log(SB_LOG_FATAL, "out of memory");
    return SB_ENOMEM;
}

// Facts -----------------------------------------------------------------------
//
// Runs can be compared if the facts are equal: the workload, its options, the
// number of users, and the client's processor.

// Options that say nothing about the work, besides those of places. Files have
// the options of the program with '-', and those of scripts as they are
// declared, so names are compared as they are.
static bool is_of_reporting(const char *name)
{
    static const char *const names[] = { "assert", "histogram", "label",
        "launch", "launch-timeout", "percentile", "price", "progress",
        "rand-seed", "repeat", "report-checkpoints", "report-context",
        "report-costs", "report-errors", "report-interval", "report-operations",
        "report-per-rank", "report-validity", "server-pid", "server-statements",
        "server-stats", "server-waits", "sweep", "sweep-after", "sweep-before",
        "sweep-order", "sweep-pause", "sweep-resume", "sweep-stop", "threads",
        "threads-per-rank", "until", "verbosity" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return sb_result_option_is_of_place(name);
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), len = strlen(end);

    return n > len && strcmp(name + n - len, end) == 0;
}

// Whether an option of a driver is about the way to its server. The names of
// these options begin with that of the driver or a prefix of it, and a dash; in
// a mix, also with that of a workload and a dot.
static bool is_of_access(const struct sb_history_runs *h, const char *name)
{
    static const char *const ends[] = { "-port", "-socket", "-user",
        "-password" };
    const char *dot = strchr(name, '.'), *driver;
    json_t *value;
    bool is = false;

    name = dot ? dot + 1 : name;
    size_t first = strcspn(name, "-");

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        is = is || ends_with(name, ends[i]);
    if (!is || first == 0)
        return false;
    json_object_foreach(h->drivers, driver, value)
    {
        if (strncmp(name, driver, first) == 0)
            return true;
    }
    return false;
}

// Whether --ignore has an option. Collects what --ignore names.
static bool is_ignored(struct sb_history_runs *h,
    const struct sb_history_opts *o, const char *name)
{
    bool is = false;

    for (size_t i = 0; i < o->ignored->count; i++)
        if (sb_opts_same_name(o->ignored->item[i], name))
            is = json_object_set_new(
                     h->ignored, o->ignored->item[i], json_true()) == 0;
    return is;
}

static int add_drivers(struct sb_history_runs *h, json_t *databases)
{
    json_t *one;
    size_t i;

    json_array_foreach(databases, i, one)
    {
        if (json_object_set_new(
                h->drivers, sb_result_member(one, "driver"), json_true()))
            return SB_ENOMEM;
    }
    return 0;
}

// Adds the options that were given. The first value of a default is kept: an
// option that was given with this value is no difference. A default of another
// version of the program is.
static int add_options(struct sb_history_runs *h, json_t *facts, json_t *list,
    const struct sb_history_opts *o)
{
    json_t *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        const char *name = sb_result_member(one, "name");
        json_t *value = json_object_get(one, "value");
        bool given = strcmp(sb_result_member(one, "source"), "default") != 0;
        json_t *other = json_object_get(h->defaults, name);
        bool ignored = is_ignored(h, o, name);

        if (!json_is_string(value))
            continue;
        if (!given && !other) {
            if (json_object_set(h->defaults, name, value))
                return SB_ENOMEM;
        } else if ((given || !json_equal(value, other)) && !ignored &&
                   !is_of_reporting(name) &&
                   json_object_set(facts, name, value))
            return SB_ENOMEM;
    }
    return 0;
}

static json_t *facts_of(
    struct sb_history_runs *h, json_t *run, const struct sb_history_opts *o)
{
    json_t *host = json_object_get(run, "host"), *facts = json_object();
    const char *const texts[] = { "test", sb_result_member(run, "test"), "cpu",
        sb_result_member(host, "cpu") };
    const char *const numbers[] = { "threads", "processors" };
    json_t *const objects[] = { run, host };
    bool ok = facts != NULL;

    for (size_t i = 0; ok && i < 4; i += 2)
        ok = json_object_set_new(facts, texts[i], json_string(texts[i + 1])) ==
             0;
    for (size_t i = 0; ok && i < 2; i++) {
        json_t *n = json_object_get(objects[i], numbers[i]);

        ok = json_object_set_new(facts, numbers[i],
                 json_sprintf("%lld", (long long)json_integer_value(n))) == 0;
    }
    if (ok && add_drivers(h, json_object_get(run, "databases")) == 0 &&
        add_options(h, facts, json_object_get(run, "options"), o) == 0)
        return facts;
    json_decref(facts);
    return NULL;
}

static int set_keys(
    const struct sb_history_runs *h, struct sb_history_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct sb_history_run *r = &run[i];
        const char *name;
        json_t *value;
        void *next;

        json_object_foreach_safe(r->facts, next, name, value)
        {
            if (json_equal(value, json_object_get(h->defaults, name)) ||
                is_of_access(h, name))
                json_object_del(r->facts, name);
        }
        r->key = json_dumps(r->facts, JSON_COMPACT | JSON_SORT_KEYS);
        if (!r->key)
            return SB_ENOMEM;
    }
    return 0;
}

// Runs ------------------------------------------------------------------------

static double number(const json_t *o, const char *name)
{
    uint64_t n;

    return sb__json_is_count(json_object_get(o, name), &n)
               ? (double)n
               : json_number_value(json_object_get(o, name));
}

static double percentile(const json_t *latency, const char *name)
{
    return sb__json_number_of(json_object_get(latency, "percentiles"), name) /
           1e6;
}

// The headline of a search is the rate that it has found.
static json_t *headline_of(const json_t *run)
{
    json_t *headline = json_object_get(run, "headline");
    const json_t *search = json_object_get(run, "search");

    if (headline || !*sb_result_member(search, "limit"))
        return json_incref(headline);
    return json_pack("{s:s,s:s,s:s,s:O,s:O?,s:b}", "figure", "highest rate",
        "unit", "/s", "better", "higher", "limit",
        json_object_get(search, "limit"), "value",
        json_object_get(search, "highest"), "chosen", true);
}

static void read_figures(struct sb_history_run *r, const json_t *run)
{
    const json_t *c = json_object_get(run, "counters");
    const json_t *latency = json_object_get(run, "latency");
    double completed = number(c, "completed");
    double failed = number(c, "failed") - number(c, "cut_short");

    r->figure[SB_HISTORY_THROUGHPUT] =
        completed / number(json_object_get(run, "end"), "seconds");
    r->figure[SB_HISTORY_P95] = percentile(latency, "95");
    r->figure[SB_HISTORY_P99] = percentile(latency, "99");
    r->figure[SB_HISTORY_ERRORS] = 100 *
                                   (number(c, "err_ignored") +
                                       number(c, "err_givenup") +
                                       number(c, "err_fatal")) /
                                   (completed + failed);
    // Figures of which no value is better have no verdict.
    r->figure[SB_HISTORY_HEADLINE] =
        r->headline && *sb_result_member(r->headline, "better")
            ? sb__json_number_of(r->headline, "value")
            : NAN;
}

// Returns why a run says nothing about the speed, or NULL.
static const char *why_useless(const struct sb_result_run *r)
{
    const json_t *search = json_object_get(r->json, "search");
    const char *reason = sb_result_member(
        json_object_get(r->json, "end"), "reason");

    if (!r->has_totals)
        return "has no figures";
    if (json_is_true(json_object_get(r->json, "warmup")))
        return "ended during its warm-up";
    if (json_is_object(search) &&
        !(json_number_value(json_object_get(search, "rate")) > 0))
        return "ended during the search for its rate";
    if (strcmp(reason, "failed") == 0 || strcmp(reason, "forced") == 0 ||
        strcmp(reason, "hung") == 0)
        return "failed";
    if (!(number(json_object_get(r->json, "counters"), "completed") > 0) ||
        !(number(json_object_get(r->json, "end"), "seconds") > 0))
        return "completed no event";
    return NULL;
}

static int skip(struct sb_history_runs *h, enum sb_history_why why,
    const char *path, const char *text)
{
    struct sb_history_skipped *s = &h->skipped[why];
    struct sb_buf first = { 0 };

    if (s->n++ > 0)
        return 0;
    sb_buf_addf(&first, "%s%s%s", path, *text ? " " : "", text);
    s->first = first.data;
    return first.failed ? SB_ENOMEM : 0;
}

static char *copy_label(const struct sb_result_run *r, const char *name)
{
    return strdup(sb_result_member(json_object_get(r->json, "labels"), name));
}

static char *identity_of(const struct sb_result_run *r)
{
    json_t *o = json_pack("[O?,O?,O?,O?,O?]",
        json_object_get(r->json, "started"), json_object_get(r->json, "test"),
        json_object_get(r->json, "seed"),
        json_object_get(json_object_get(r->json, "host"), "name"),
        json_object_get(r->json, "counters"));
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

    json_decref(o);
    return text;
}

// why: the reason why the run is left out, or NULL.
static int add_run(struct sb_history_runs *h, const struct sb_result_file *f,
    unsigned number, const char *why, const struct sb_history_opts *o)
{
    const struct sb_result_run *from = &f->run[number];
    struct sb_history_run **list = why ? &h->left_out : &h->run;
    size_t *n = why ? &h->nleft_out : &h->n;
    struct sb_history_run *r = sb_array_room(
        *list, why ? &h->left_out_cap : &h->cap, *n, 1, sizeof(*r));

    if (!r)
        return SB_ENOMEM;
    *list = r;
    r += (*n)++;
    *r = (struct sb_history_run){ .path = strdup(f->path),
        .number = number + 1,
        .of = f->nruns,
        .why = why,
        .started = strdup(sb_result_text(from, "started")),
        .label = copy_label(from, o->by),
        .order = copy_label(from, o->order),
        .identity = identity_of(from),
        .facts = facts_of(h, from->json, o),
        .open_loop = json_is_true(json_object_get(from->json, "open_loop")),
        .headline = headline_of(from->json) };
    read_figures(r, from->json);
    return r->path && r->started && r->label && r->order && r->identity &&
                   r->facts
               ? 0
               : SB_ENOMEM;
}

// named: the user has given this file.
static int read_file(struct sb_history_runs *h, const char *path, bool named,
    const struct sb_history_opts *o)
{
    struct sb_result_file f;
    struct sb_err err = { 0 };
    int rc = sb_result_read_brief(&f, path, &err);

    if (rc && (named || rc == SB_ENOMEM)) {
        char line[4 * sizeof(err.msg)];

        sb_escape_line(line, sizeof(line), err.msg);
        sb_log(SB_LOG_FATAL, "%s", line);
    } else if (rc) {
        rc = skip(h,
            rc == SB_ENOTFOUND ? SB_HISTORY_FOREIGN : SB_HISTORY_DAMAGED,
            rc == SB_ENOTFOUND ? path : err.msg, "");
    } else {
        h->files++;
        if (f.version > SB_RESULT_VERSION)
            rc = skip(h, SB_HISTORY_NEWER, path, "");
        for (unsigned i = 0; rc == 0 && i < f.nruns; i++) {
            const char *why = why_useless(&f.run[i]);

            rc = why ? skip(h, SB_HISTORY_USELESS, path, why) : 0;
            rc = rc ? rc : add_run(h, &f, i, why, o);
        }
    }
    sb_result_done(&f);
    return rc;
}

// Folders ---------------------------------------------------------------------

static int is_wanted(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static int cannot_read(const char *path)
{
    int native = errno;
    char line[4096];

    sb_escape_line(line, sizeof(line), path);
    sb_log(SB_LOG_FATAL, "cannot read %s: %s", line, strerror(native));
    return SB_ESYS;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the folders.
static int read_path(struct sb_history_runs *h, const char *path, bool named,
    const struct sb_history_opts *o)
{
    struct dirent **list = NULL;
    struct stat st;
    int n, rc = 0;

    if (named ? stat(path, &st) : lstat(path, &st))
        return named ? cannot_read(path) : 0;
    if (!S_ISDIR(st.st_mode)) {
        // A pipe or a device may have no end.
        bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);

        return named || (is_file && ends_with(path, ".json"))
                   ? read_file(h, path, named, o)
                   : 0;
    }
    n = scandir(path, &list, is_wanted, alphasort);
    if (n < 0)
        return named ? cannot_read(path)
                     : skip(h, SB_HISTORY_DAMAGED, path, strerror(errno));
    for (int i = 0; i < n; i++) {
        struct sb_buf below = { 0 };

        sb_buf_addf(&below, "%s%s%s", path, ends_with(path, "/") ? "" : "/",
            list[i]->d_name);
        if (rc == 0)
            rc = below.failed ? SB_ENOMEM : read_path(h, below.data, false, o);
        sb_buf_done(&below);
        free(list[i]);
    }
    free(list);
    return rc;
}

// Order -----------------------------------------------------------------------

static int by_identity(const void *a, const void *b)
{
    const struct sb_history_run *x = a, *y = b;
    int order = strcmp(x->identity, y->identity);

    return order ? order : strcmp(x->path, y->path);
}

static int in_time(
    const struct sb_history_run *x, const struct sb_history_run *y)
{
    int order = strverscmp(x->order, y->order);

    order = order ? order : strcmp(x->started, y->started);
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_series_and_time(const void *a, const void *b)
{
    const struct sb_history_run *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : in_time(x, y);
}

static void free_run(struct sb_history_run *r)
{
    free(r->path);
    free(r->started);
    free(r->label);
    free(r->order);
    free(r->identity);
    free(r->key);
    json_decref(r->facts);
    json_decref(r->headline);
}

static int remove_twins(struct sb_history_runs *h)
{
    size_t kept = 0;
    int rc = 0;

    qsort(h->run, h->n, sizeof(*h->run), by_identity);
    for (size_t i = 0; i < h->n; i++) {
        // A run without a start is not the same as any other.
        bool twin = kept > 0 && *h->run[i].started &&
                    strcmp(h->run[i].identity, h->run[kept - 1].identity) == 0;

        if (twin) {
            rc = rc ? rc : skip(h, SB_HISTORY_TWICE, h->run[i].path, "");
            free_run(&h->run[i]);
        } else {
            h->run[kept++] = h->run[i];
        }
    }
    h->n = kept;
    return rc;
}

static bool is_together(
    const struct sb_history_run *a, const struct sb_history_run *b)
{
    return *a->label ? strcmp(a->label, b->label) == 0
                     : !*b->label && strcmp(a->path, b->path) == 0;
}

static void add_to_point(
    struct sb_history_point *p, const struct sb_history_run *r)
{
    for (int f = 0; f < SB_HISTORY_FIGURES; f++) {
        double n = (double)p->runs, v = r->figure[f];

        p->figure[f] = p->runs ? (n * p->figure[f] + v) / (n + 1) : v;
        p->low[f] = p->runs ? fmin(p->low[f], v) : v;
        p->high[f] = p->runs ? fmax(p->high[f], v) : v;
    }
    p->runs++;
}

static bool is_same_headline(
    const struct sb_history_run *a, const struct sb_history_run *b)
{
    static const char *const names[] = { "figure", "unit", "better", "limit" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(sb_result_member(a->headline, names[i]),
                sb_result_member(b->headline, names[i])) != 0)
            return false;
    return true;
}

static int fill_series(struct sb_history_series *s, struct sb_history_run *run,
    size_t n, size_t last)
{
    s->last = &run[n - 1];
    s->point = calloc(n, sizeof(*s->point));
    if (!s->point)
        return SB_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !is_together(&run[i - 1], &run[i]))
            s->point[s->n++].run = &run[i];
        if (!is_same_headline(&run[i], s->last))
            run[i].figure[SB_HISTORY_HEADLINE] = NAN;
        add_to_point(&s->point[s->n - 1], &run[i]);
    }
    if (last > 0 && s->n > last) {
        memmove(s->point, s->point + s->n - last, last * sizeof(*s->point));
        s->n = last;
    }
    return 0;
}

static int make_series(
    struct sb_history_runs *h, const struct sb_history_opts *o)
{
    qsort(h->run, h->n, sizeof(*h->run), by_series_and_time);
    h->series = calloc(h->n, sizeof(*h->series));
    if (!h->series)
        return SB_ENOMEM;
    for (size_t first = 0, end; first < h->n; first = end) {
        struct sb_history_series *s = &h->series[h->nseries++];

        for (end = first; end < h->n; end++)
            if (strcmp(h->run[end].key, h->run[first].key) != 0)
                break;
        if (fill_series(s, &h->run[first], end - first, o->last))
            return SB_ENOMEM;
    }
    return 0;
}

// Names -----------------------------------------------------------------------

const char *sb_history_fact(const struct sb_history_runs *h,
    const struct sb_history_series *s, const char *name)
{
    const char *value = json_string_value(
        json_object_get(s->last->facts, name));

    return value ? value : sb_result_member(h->defaults, name);
}

// Whether a run has a value, "threads=8".
static bool has_value(const struct sb_history_runs *h,
    const struct sb_history_run *r, const char *at)
{
    json_t *const objects[] = { r->facts, h->defaults };
    const char *name, *wanted;
    json_t *value;

    for (size_t i = 0; i < 2; i++) {
        json_object_foreach(objects[i], name, value)
        {
            wanted = sb__cmd_value_of(at, name);
            if (wanted)
                return strcmp(json_string_value(value), wanted) == 0;
        }
    }
    return false;
}

static bool is_at(const struct sb_history_runs *h,
    const struct sb_history_run *r, const struct sb_opt_list *at)
{
    for (size_t i = 0; i < at->count; i++)
        if (!has_value(h, r, at->item[i]))
            return false;
    return true;
}

static int select_series(
    struct sb_history_runs *h, const struct sb_opt_list *at)
{
    size_t kept = 0;

    for (size_t i = 0; i < h->nseries; i++) {
        if (is_at(h, h->series[i].last, at))
            h->series[kept++] = h->series[i];
        else
            free(h->series[i].point);
    }
    h->nseries = kept;
    if (kept > 0)
        return 0;
    sb_log(SB_LOG_FATAL, "--at: no series has these values (OPTION=VALUE)");
    return SB_EUSAGE;
}

static int check_ignored(
    const struct sb_history_runs *h, const struct sb_opt_list *ignored)
{
    for (size_t i = 0; i < ignored->count; i++) {
        if (json_object_get(h->ignored, ignored->item[i]))
            continue;
        sb_log(SB_LOG_FATAL, "--ignore: no result has an option '%.100s'",
            SB_SHOWN(ignored->item[i]));
        return SB_EUSAGE;
    }
    return 0;
}

// Whether a series has a later run than one that was left out.
static bool is_repeated(
    const struct sb_history_runs *h, const struct sb_history_run *r)
{
    for (size_t i = 0; i < h->nseries; i++)
        if (strcmp(h->series[i].last->key, r->key) == 0)
            return in_time(h->series[i].last, r) > 0;
    return false;
}

// Finds the newest results of the series, and of the runs that would be part of
// one. A run of them may have been left out.
static void find_newest(struct sb_history_runs *h, const struct sb_opt_list *at)
{
    for (size_t i = 0; i < h->nseries; i++)
        if (!h->newest || in_time(h->series[i].last, h->newest) > 0)
            h->newest = h->series[i].last;
    for (size_t i = 0; i < h->nleft_out; i++)
        if (is_at(h, &h->left_out[i], at) &&
            in_time(&h->left_out[i], h->newest) > 0)
            h->newest = &h->left_out[i];
    for (size_t i = 0; i < h->nseries; i++)
        h->series[i].newest = is_together(h->series[i].last, h->newest);
    for (size_t i = 0; i < h->nleft_out; i++) {
        const struct sb_history_run *r = &h->left_out[i];

        if (is_at(h, r, at) && is_together(r, h->newest) && !is_repeated(h, r))
            h->missing = r;
    }
}

// Collects the names of facts that are not equal in all series.
static int find_different(struct sb_history_runs *h)
{
    h->different = json_object();
    if (!h->different)
        return SB_ENOMEM;
    for (size_t i = 1; i < h->nseries; i++) {
        for (int k = 0; k < 2; k++) {
            const struct sb_history_series *a = &h->series[k ? i : i - 1];
            const struct sb_history_series *b = &h->series[k ? i - 1 : i];
            const char *name;
            json_t *value;

            json_object_foreach(a->last->facts, name, value)
            {
                if (strcmp(json_string_value(value),
                        sb_history_fact(h, b, name)) != 0 &&
                    json_object_set_new(h->different, name, json_true()))
                    return SB_ENOMEM;
            }
        }
    }
    return 0;
}

static int name_series(
    const struct sb_history_runs *h, struct sb_history_series *s)
{
    const char *threads = sb_history_fact(h, s, "threads"), *name;
    struct sb_buf text = { 0 };
    json_t *value;

    sb_buf_addf(&text, "%s, %s thread%s", sb_history_fact(h, s, "test"),
        threads, strcmp(threads, "1") == 0 ? "" : "s");
    json_object_foreach(h->different, name, value)
    {
        if (strcmp(name, "test") != 0 && strcmp(name, "threads") != 0)
            sb_buf_addf(&text, ", %s=%s", name, sb_history_fact(h, s, name));
    }
    s->name = text.data;
    return text.failed ? SB_ENOMEM : 0;
}

static int by_name(const void *a, const void *b)
{
    const struct sb_history_series *x = a, *y = b;

    return strverscmp(x->name, y->name);
}

// Makes the series of all runs; there is one at least.
static int group_runs(
    struct sb_history_runs *h, const struct sb_history_opts *o)
{
    int rc = remove_twins(h);

    rc = rc ? rc : check_ignored(h, o->ignored);
    rc = rc ? rc : set_keys(h, h->run, h->n);
    rc = rc ? rc : set_keys(h, h->left_out, h->nleft_out);
    rc = rc ? rc : make_series(h, o);
    rc = rc ? rc : select_series(h, o->at);
    if (rc)
        return rc;
    find_newest(h, o->at);
    rc = find_different(h);
    for (size_t i = 0; rc == 0 && i < h->nseries; i++)
        rc = name_series(h, &h->series[i]);
    if (rc == 0)
        qsort(h->series, h->nseries, sizeof(*h->series), by_name);
    return rc;
}

int sb_history_runs_read(struct sb_history_runs *h, const char *const *path,
    unsigned n, const struct sb_history_opts *o)
{
    *h = (struct sb_history_runs){ .defaults = json_object(),
        .drivers = json_object(),
        .ignored = json_object() };
    int rc = h->defaults && h->drivers && h->ignored ? 0 : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = read_path(h, path[i], true, o);
    if (rc == 0 && h->n > 0)
        rc = group_runs(h, o);
    return rc == SB_ENOMEM ? no_memory() : rc;
}

void sb_history_runs_done(struct sb_history_runs *h)
{
    for (size_t i = 0; i < h->n; i++)
        free_run(&h->run[i]);
    for (size_t i = 0; i < h->nleft_out; i++)
        free_run(&h->left_out[i]);
    for (size_t i = 0; i < h->nseries; i++) {
        free(h->series[i].name);
        free(h->series[i].point);
    }
    for (int i = 0; i < SB_HISTORY_WHYS; i++)
        free(h->skipped[i].first);
    free(h->run);
    free(h->left_out);
    free(h->series);
    json_decref(h->ignored);
    json_decref(h->drivers);
    json_decref(h->defaults);
    json_decref(h->different);
    memset(h, 0, sizeof(*h));
}
