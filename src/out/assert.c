// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checks the limits of --assert against reports, and prints them.
#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/opts.h"
#include "kit/array.h"
#include "kit/units.h"
#include "out/assert.h"
#include "out/beside_figures.h"

enum sb__figure {
    SB__FIGURE_RATE,
    SB__FIGURE_QUERIES, // per second
    SB__FIGURE_EVENTS,
    SB__FIGURE_ERRORS,
    SB__FIGURE_FAILED,
    SB__FIGURE_FAILED_PCT,
    SB__FIGURE_RESTARTS,
    SB__FIGURE_RECONNECTS,
    SB__FIGURE_QUEUE,
    SB__FIGURE_ROWS,
    SB__FIGURE_MIN,
    SB__FIGURE_AVG,
    SB__FIGURE_MAX,
    SB__FIGURE_PERCENTILE,
    SB__FIGURE_STATE,
    SB__FIGURE_KNOWN, // checks
    SB__FIGURE_COST,  // of an event
    SB__FIGURE_RESULT,
    SB__FIGURE_TIME, // of the command of --beside
};

// What a figure can be taken of.
#define EVENTS 1u // all events; times of events are times of anything
#define OP     2u // an operation, or a kind of them
#define PART   4u // a workload of a mix
#define BESIDE 8u // a phase of the command beside the run

struct sb_assert_figure {
    const char *name; // "p" is followed by a number
    enum sb__figure id;
    enum sb_assert_unit unit;
    unsigned of;
    bool sum; // of an interval: add up the intervals
};

// The parser of --assert. A limit is
//     [STAGE.][NAME.]FIGURE OPERATOR NUMBER[UNIT] [abort [after DURATION]]

#define SPACES  " \t\r\n"
#define COMPARE "<>=!"

static const struct sb_assert_figure figures[] = {
    { "tps", SB__FIGURE_RATE, SB_ASSERT_PER_S, EVENTS | OP | PART | BESIDE,
        false },
    { "eps", SB__FIGURE_RATE, SB_ASSERT_PER_S, EVENTS | OP | PART | BESIDE,
        false },
    { "qps", SB__FIGURE_QUERIES, SB_ASSERT_PER_S, EVENTS | OP | PART, false },
    { "events", SB__FIGURE_EVENTS, SB_ASSERT_COUNT, EVENTS | PART | BESIDE,
        true },
    { "count", SB__FIGURE_EVENTS, SB_ASSERT_COUNT, OP | PART, true },
    { "errors", SB__FIGURE_ERRORS, SB_ASSERT_COUNT, EVENTS | OP | PART | BESIDE,
        true },
    { "failed", SB__FIGURE_FAILED, SB_ASSERT_COUNT, EVENTS | PART, true },
    { "failed_pct", SB__FIGURE_FAILED_PCT, SB_ASSERT_PERCENT, EVENTS | PART,
        false },
    { "restarts", SB__FIGURE_RESTARTS, SB_ASSERT_COUNT, EVENTS | PART, true },
    { "reconnects", SB__FIGURE_RECONNECTS, SB_ASSERT_COUNT, EVENTS, true },
    { "queue", SB__FIGURE_QUEUE, SB_ASSERT_COUNT, EVENTS, false },
    { "rows", SB__FIGURE_ROWS, SB_ASSERT_COUNT, OP | PART, true },
    { "min", SB__FIGURE_MIN, SB_ASSERT_MS, EVENTS | OP | PART, false },
    { "avg", SB__FIGURE_AVG, SB_ASSERT_MS, EVENTS | OP | PART | BESIDE, false },
    { "max", SB__FIGURE_MAX, SB_ASSERT_MS, EVENTS | OP | PART | BESIDE, false },
    { "p", SB__FIGURE_PERCENTILE, SB_ASSERT_MS, EVENTS | OP | PART | BESIDE,
        false },
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

// "validity", "validity.known", "validity.NAME"
#define VALIDITY "validity"

static const struct sb_assert_figure state_figure = { VALIDITY,
    SB__FIGURE_STATE, SB_ASSERT_STATE, EVENTS, false };
static const struct sb_assert_figure known_figure = { "known", SB__FIGURE_KNOWN,
    SB_ASSERT_COUNT, EVENTS, false };

// "costs.NAME"
#define COSTS "costs."

static const struct sb_assert_figure cost_figure = { COSTS, SB__FIGURE_COST,
    SB_ASSERT_COST, EVENTS, false };

// "beside.FIGURE": during the command; "beside.PHASE.FIGURE"; "beside.time"
#define BESIDE_NAME "beside."

static const char *const phases[SB_BESIDE_PHASES] = { "before.", "during.",
    "edges.", "after." };

static const struct sb_assert_figure time_figure = { "time", SB__FIGURE_TIME,
    SB_ASSERT_MS, BESIDE, false };

// Names with a meaning of their own, which a stage in a limit cannot have.
static const char *const meanings[] = { "read", "write", "other", "service",
    "response", "lag", "client_delay", "validity", "costs", "beside" };

static const struct sb_assert_figure result_figure = { "result",
    SB__FIGURE_RESULT, SB_ASSERT_OWN, EVENTS, false };

// Which times of events; the names of figures follow after a full stop.
static const struct {
    const char *name;
    enum sb_assert_of of;
} times[] = {
    { "service.", SB_ASSERT_SERVICE },
    { "response.", SB_ASSERT_RESPONSE },
    { "lag.", SB_ASSERT_LAG },
    { "client_delay.", SB_ASSERT_DELAY },
};

static const struct {
    const char *text;
    enum sb_assert_cmp cmp;
} compares[] = {
    // the longer ones first
    { "<=", SB_ASSERT_LE },
    { ">=", SB_ASSERT_GE },
    { "==", SB_ASSERT_EQ },
    { "!=", SB_ASSERT_NE },
    { "<", SB_ASSERT_LT },
    { ">", SB_ASSERT_GT },
};

struct parser {
    const char *text, *at;               // the list; where the parser is
    const char *limit;                   // start of the limit that is parsed
    const char *option;                  // in messages
    bool search;                         // only limits that a search can use
    bool headline;                       // a figure without a limit
    const struct sb_assert_names *names; // or NULL
    struct sb_err *err;
};

static void skip_spaces(struct parser *p)
{
    p->at += strspn(p->at, SPACES);
}

// The length of the limit that is parsed, up to a comma outside of quotes.
static size_t limit_length(const char *limit)
{
    bool quoted = false;
    size_t len = 0;

    for (; limit[len] && (quoted || limit[len] != ','); len++)
        quoted ^= limit[len] == '"';
    while (len && strchr(SPACES, limit[len - 1]))
        len--;
    return len;
}

// Fails at the current position; what: "expected a number".
static int syntax_error(const struct parser *p, const char *what)
{
    char limit[101];

    snprintf(
        limit, sizeof(limit), "%.*s", (int)limit_length(p->limit), p->limit);
    return sb_err_set(p->err, SB_EUSAGE, "%s: '%s', character %d: %s",
        p->option, SB_SHOWN(limit), (int)(p->at - p->text) + 1, what);
}

static char *copy_text(const char *text, size_t len)
{
    char *s = malloc(len + 1);

    if (s) {
        memcpy(s, text, len);
        s[len] = '\0';
    }
    return s;
}

// Returns whether the text is a percentile: "p99", "p99.9".
static bool is_percentile(const char *text, size_t len, double *pct)
{
    char number[32];

    if (len < 2 || len >= sizeof(number) || text[0] != 'p' ||
        strspn(text + 1, "0123456789.") < len - 1)
        return false;
    memcpy(number, text + 1, len - 1);
    number[len - 1] = '\0';
    return sb_units_double(number, pct) == 0 && *pct > 0 && *pct <= 100;
}

// Finds the figure that the whole text names.
static const struct sb_assert_figure *find_figure(
    const char *text, size_t len, double *pct)
{
    if (is_percentile(text, len, pct))
        return &figures[FIGURES - 1];
    for (size_t i = 0; i < FIGURES - 1; i++)
        if (strlen(figures[i].name) == len &&
            memcmp(figures[i].name, text, len) == 0)
            return &figures[i];
    return NULL;
}

// Returns whether the text is a figure of all events.
static bool event_figure(struct sb_limit *l, const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        size_t n = strlen(times[i].name);

        if (len <= n || memcmp(text, times[i].name, n) != 0)
            continue;
        l->of = times[i].of;
        l->figure = find_figure(text + n, len - n, &l->pct);
        return l->figure && l->figure->unit == SB_ASSERT_MS;
    }
    l->of = SB_ASSERT_EVENTS;
    l->figure = find_figure(text, len, &l->pct);
    return l->figure && (l->figure->of & EVENTS);
}

// A figure of an operation: its name, a full stop, the figure. Names may have
// full stops, and percentiles, too: the longest figure is chosen.
static bool op_figure(struct sb_limit *l, const char *text, size_t len)
{
    for (size_t i = 1; i + 1 < len; i++) {
        if (text[i] != '.')
            continue;
        l->figure = find_figure(text + i + 1, len - i - 1, &l->pct);
        if (l->figure) {
            l->of = SB_ASSERT_OP;
            l->name = copy_text(text, i);
            return true;
        }
    }
    return false;
}

// A state of the checks, or the number of those that are known.
static bool validity_figure(struct sb_limit *l, const char *text, size_t len)
{
    size_t n = strlen(VALIDITY);

    if (len < n || memcmp(text, VALIDITY, n) != 0)
        return false;
    l->of = SB_ASSERT_VALIDITY;
    l->figure = &state_figure;
    l->check = SB_CHECKS;
    if (len == n)
        return true;
    text += n + 1;
    len -= n + 1;
    if (text[-1] != '.')
        return false;
    l->check = sb_check_named(text, len);
    if (len == strlen(known_figure.name) &&
        memcmp(text, known_figure.name, len) == 0)
        l->figure = &known_figure;
    return l->check < SB_CHECKS || l->figure == &known_figure;
}

// What an event costs, or a million of them in USD.
static bool costs_figure(struct sb_limit *l, const char *text, size_t len)
{
    size_t n = strlen(COSTS);

    if (len < n || memcmp(text, COSTS, n) != 0)
        return false;
    l->of = SB_ASSERT_COSTS;
    l->figure = &cost_figure;
    l->cost = sb_cost_named(text + n, len - n);
    return l->cost < SB_COSTS ||
           (len - n == strlen(SB_COSTS_USD) &&
               memcmp(text + n, SB_COSTS_USD, len - n) == 0);
}

// The workload in a phase of the command beside the run, or the time that the
// command takes.
static bool beside_figure(struct sb_limit *l, const char *text, size_t len)
{
    l->of = SB_ASSERT_BESIDE;
    l->phase = SB_BESIDE_DURING;
    l->figure = &time_figure;
    if (len == strlen(time_figure.name) &&
        memcmp(text, time_figure.name, len) == 0)
        return true;
    for (unsigned i = 0; i < SB_BESIDE_PHASES; i++) {
        size_t n = strlen(phases[i]);

        if (len > n && memcmp(text, phases[i], n) == 0) {
            l->phase = i;
            text += n;
            len -= n;
            break;
        }
    }
    l->figure = find_figure(text, len, &l->pct);
    return l->figure && (l->figure->of & BESIDE);
}

static int unknown_cost(struct parser *p, const char *text, size_t len)
{
    char what[420];
    int at = snprintf(what, sizeof(what), "unknown cost '%.*s' (must be",
        len < 40 ? (int)len : 40, text);

    for (int i = 0; i < SB_COSTS; i++)
        at += snprintf(what + at, sizeof(what) - (size_t)at, " %s,",
            sb_cost_name((enum sb_cost_id)i));
    snprintf(what + at, sizeof(what) - (size_t)at, " or " SB_COSTS_USD ")");
    p->at = text;
    return syntax_error(p, what);
}

static int unknown_check(struct parser *p, const char *text, size_t len)
{
    char what[320];
    int at = snprintf(what, sizeof(what), "unknown check '%.*s' (must be known",
        len < 40 ? (int)len : 40, text);

    for (int i = 0; i < SB_CHECKS; i++)
        at += snprintf(what + at, sizeof(what) - (size_t)at, "%s %s",
            i + 1 < SB_CHECKS ? "," : " or", sb_check_name(i));
    snprintf(what + at, sizeof(what) - (size_t)at, ")");
    p->at = text;
    return syntax_error(p, what);
}

// The stage or the workload with the most similar name, or NULL.
static const char *near_name(const struct parser *p, const char *name)
{
    struct sb_near near;

    sb_near_init(&near, name);
    for (unsigned i = 0; i < p->names->nstages; i++)
        sb_near_try(&near, p->names->stage[i]);
    for (unsigned i = 0; i < p->names->nparts; i++)
        sb_near_try(&near, p->names->part[i]);
    return near.best;
}

static bool is_part(const struct sb_assert_names *names, const char *name)
{
    for (unsigned i = 0; i < names->nparts; i++)
        if (strcmp(names->part[i], name) == 0)
            return true;
    return false;
}

// Fails for a figure that operations do not have, or that a workload does not
// have.
static int not_of_op(const struct parser *p, const struct sb_limit *l)
{
    bool part = is_part(p->names, l->name);
    const char *near = part ? NULL : near_name(p, l->name);
    char what[400];

    if (near)
        snprintf(what, sizeof(what),
            "'%s' is not measured for operations, and no stage or workload is "
            "called '%.64s' (did you mean %.64s?)",
            l->figure->name, l->name, near);
    else
        snprintf(what, sizeof(what), "'%s' is not measured for %s, only for %s",
            l->figure->name, part ? "workloads of a mix" : "operations",
            l->figure->of & PART ? "all events, stages and workloads of a mix"
                                 : "all events and stages");
    return syntax_error(p, what);
}

// Whether the name begins with that of a workload and this sign.
static bool begins_with_part(
    const struct sb_assert_names *names, const char *name, char sign)
{
    for (unsigned i = 0; i < names->nparts; i++) {
        size_t n = strlen(names->part[i]);

        if (strncmp(name, names->part[i], n) == 0 && name[n] == sign)
            return true;
    }
    return false;
}

// Whether an operation of a mix may have this name: it begins with that of a
// workload, unless the program has registered it.
static bool is_of_mix(const struct sb_assert_names *names, const char *name)
{
    static const char *const others[] = { "read", "write", "other", "connect",
        SB_OPS_REST };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(name, others[i]) == 0)
            return true;
    return begins_with_part(names, name, '/');
}

// Fails if there was no memory for the name. "replica.lag.max" in a mix can
// only be meant to be a result, because the names of operations of a mix have a
// slash: it becomes one, and app/answers.c checks the names of results. text:
// the figure with all names, len bytes.
static int take_name(
    const struct parser *p, struct sb_limit *l, const char *text, size_t len)
{
    if (l->of != SB_ASSERT_OP && l->of != SB_ASSERT_RESULT)
        return 0;
    if (l->name && l->of == SB_ASSERT_OP && !l->stage && *text != '"' &&
        p->names && !is_part(p->names, l->name) &&
        !is_of_mix(p->names, l->name) &&
        begins_with_part(p->names, l->name, '.')) {
        free(l->name);
        l->of = SB_ASSERT_RESULT;
        l->figure = &result_figure;
        l->name = copy_text(text, len);
    }
    return l->name ? 0 : SB_ENOMEM;
}

// Whether one name is the plural of the other: "select", "selects".
static bool is_plural(const char *a, const char *b)
{
    size_t n = strlen(a), k = strlen(b), least = n < k ? n : k;

    return n + k == 2 * least + 1 && strncmp(a, b, least) == 0 &&
           (n > k ? a : b)[least] == 's';
}

// Fails for a name that differs from that of the stage l->near by one edit: it
// is most likely misspelled. Operations may have similar names: plurals, short
// ones, and those that differ by case or by '-' for '_', which are no edits. In
// the search for a rate, no stage can be meant, because no limit can have one.
static int misspelled_stage(
    struct parser *p, const struct sb_limit *l, const char *name)
{
    char what[320];
    struct sb_near near;

    sb_near_init(&near, l->name);
    near.max_edits = 1;
    sb_near_try(&near, l->near);
    if (p->search || strlen(l->near) < 4 || !near.best || near.max_edits != 1 ||
        is_plural(l->name, l->near))
        return 0;
    p->at = name;
    snprintf(what, sizeof(what),
        "no stage is called '%.64s' (did you mean %.64s?); if an operation is, "
        "write \"%.64s\"",
        l->name, l->near, l->name);
    return syntax_error(p, what);
}

// Fails if no operation or workload of the run can have the name of the limit,
// or if it does not have the figure. name: where it is in the text; the parser
// is at the figure.
static int check_op(struct parser *p, struct sb_limit *l, const char *name)
{
    const struct sb_assert_names *names = p->names;
    char what[320];

    if (!names || l->of != SB_ASSERT_OP)
        return 0;
    if (!(l->figure->of & (is_part(names, l->name) ? PART : OP)))
        return not_of_op(p, l);
    if (is_part(names, l->name))
        return 0;
    const char *near = near_name(p, l->name);

    if (near && !l->stage)
        snprintf(l->near, sizeof(l->near), "%s", near);
    if (is_of_mix(names, l->name))
        return 0;
    if (names->nparts == 0)
        return *name == '"' || !*l->near ? 0 : misspelled_stage(p, l, name);
    p->at = name;
    snprintf(what, sizeof(what),
        "no workload%s is called '%.64s', and operations of a mix are called "
        "WORKLOAD/NAME%s%.64s%s",
        names->nstages ? " or stage" : "", l->name,
        near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    return syntax_error(p, what);
}

static int unknown_figure(struct parser *p, const char *text, size_t len)
{
    char what[320], name[64];
    struct sb_near near;
    double pct;

    // The part behind the last full stop is most likely meant to be a figure.
    for (size_t i = 0; i + 1 < len; i++)
        if (text[i] == '.' && isalpha((unsigned char)text[i + 1]))
            p->at = text + i + 1;
    snprintf(name, sizeof(name), "%.*s", (int)(text + len - p->at), p->at);
    if (find_figure(name, strlen(name), &pct)) {
        snprintf(what, sizeof(what),
            "'%s' is only measured for operations: write NAME.%s", name, name);
        return syntax_error(p, what);
    }
    sb_near_init(&near, name);
    for (size_t i = 0; i < FIGURES - 1; i++)
        sb_near_try(&near, figures[i].name);
    if (near.best) {
        snprintf(what, sizeof(what), "unknown figure '%s' (did you mean %s?)",
            name, near.best);
        return syntax_error(p, what);
    }
    snprintf(what, sizeof(what), "unknown figure '%s' (must be one of", name);
    for (size_t i = 0; i < FIGURES - 1; i++) {
        size_t at = strlen(what);

        snprintf(what + at, sizeof(what) - at, " %s,", figures[i].name);
    }
    size_t at = strlen(what);
    snprintf(what + at, sizeof(what) - at, " or a percentile such as p99.9)");
    return syntax_error(p, what);
}

bool sb_assert_is_result(const char *name)
{
    double pct;

    return sb_answer_is_name(name, strlen(name)) &&
           !find_figure(name, strlen(name), &pct) &&
           !(name[0] == 'p' && (!name[1] || isdigit((unsigned char)name[1]))) &&
           strcmp(name, VALIDITY) != 0 && strcmp(name, "costs") != 0 &&
           strcmp(name, "beside") != 0;
}

// Whether the name is so similar to that of a figure that it is most likely
// misspelled.
static bool is_near_figure(const char *name)
{
    struct sb_near near;

    sb_near_init(&near, name);
    for (size_t i = 0; i < FIGURES - 1; i++)
        sb_near_try(&near, figures[i].name);
    return near.best != NULL;
}

// A result of the script: its name, unless it is similar to a figure, or the
// name of its workload, a full stop and its name.
static bool own_figure(struct sb_limit *l, const char *text, size_t len)
{
    const char *stop = sb_answer_stop(text, len);
    size_t skip = stop ? (size_t)(stop - text) + 1 : 0;
    char name[SB_ANSWER_NAME];

    if (skip == 1 || len - skip >= sizeof(name))
        return false;
    memcpy(name, text + skip, len - skip);
    name[len - skip] = '\0';
    if (!sb_assert_is_result(name) || (!stop && is_near_figure(name)) ||
        (len > strlen(COSTS) && memcmp(text, COSTS, strlen(COSTS)) == 0) ||
        (stop && (size_t)(stop - text) == strlen(VALIDITY) &&
            memcmp(text, VALIDITY, strlen(VALIDITY)) == 0))
        return false;
    l->of = SB_ASSERT_RESULT;
    l->figure = &result_figure;
    l->name = copy_text(text, len);
    return true;
}

static bool begins(const char *text, size_t len, const char *with)
{
    return len > strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

static bool any_figure(struct sb_limit *l, const char *text, size_t len)
{
    if (event_figure(l, text, len))
        return true;
    if (l->stage)
        return op_figure(l, text, len);
    if (begins(text, len, BESIDE_NAME))
        return beside_figure(
            l, text + strlen(BESIDE_NAME), len - strlen(BESIDE_NAME));
    return validity_figure(l, text, len) || costs_figure(l, text, len) ||
           op_figure(l, text, len) || own_figure(l, text, len);
}

static int unknown_name(
    struct parser *p, const struct sb_limit *l, const char *text, size_t len)
{
    if (!l->stage && begins(text, len, VALIDITY "."))
        return unknown_check(
            p, text + strlen(VALIDITY "."), len - strlen(VALIDITY "."));
    if (!l->stage && begins(text, len, COSTS))
        return unknown_cost(p, text + strlen(COSTS), len - strlen(COSTS));
    if (!l->stage && begins(text, len, BESIDE_NAME)) {
        p->at = text + strlen(BESIDE_NAME);
        return syntax_error(p,
            "expected a figure beside the command: time, tps, events, errors, "
            "avg, max, or a percentile such as p99; before., edges. or after. "
            "may precede it");
    }
    return unknown_figure(p, text, len);
}

// A quoted name: "" inside stands for one ". Returns false if it does not end.
static bool copy_quoted(struct parser *p, char *out)
{
    while (*++p->at) {
        if (*p->at == '"' && *++p->at != '"') {
            *out = '\0';
            return true;
        }
        *out++ = *p->at;
    }
    *out = '\0';
    return false;
}

static int read_quoted(struct parser *p, struct sb_limit *l)
{
    const char *start = p->at;

    l->of = SB_ASSERT_OP;
    l->name = malloc(strlen(start));
    if (!l->name)
        return SB_ENOMEM;
    if (!copy_quoted(p, l->name)) {
        p->at = start;
        return syntax_error(p, "the name has no closing quote");
    }
    if (!*l->name) {
        p->at = start;
        return syntax_error(p, "the name is empty");
    }
    if (*p->at != '.')
        return syntax_error(
            p, "expected a full stop and a figure after the name");
    p->at++;
    return 0;
}

// The end of the name of a stage at the start of the text, quoted or not; 0: it
// is no name of this stage and a full stop.
static size_t stage_length(const char *text, const char *stage)
{
    size_t n = strlen(stage);
    bool quoted = *text == '"';

    text += quoted;
    if (n == 0 || strncmp(text, stage, n) != 0)
        return 0;
    if (quoted)
        return text[n] == '"' && text[n + 1] == '.' ? n + 2 : 0;
    return text[n] == '.' ? n : 0;
}

// Fails if the name of the stage has another meaning in limits, too.
static int check_stage(const struct parser *p, const struct sb_limit *l)
{
    const struct sb_assert_names *names = p->names;
    const char *name = names->stage[l->stage - 1];
    bool other = is_part(names, name);
    char what[200];

    if (p->search)
        return syntax_error(
            p, "a stage cannot be a limit of the search for a rate");
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        other = other || strcmp(meanings[i], name) == 0;
    for (unsigned i = 0; i < names->nstages; i++)
        if (i != l->stage - 1 && strcmp(names->stage[i], name) == 0) {
            snprintf(what, sizeof(what),
                "stages %u and %u are both called '%.64s'; give them different "
                "names: NAME: ...",
                i < l->stage ? i + 1 : l->stage,
                i < l->stage ? l->stage : i + 1, name);
            return syntax_error(p, what);
        }
    snprintf(what, sizeof(what),
        "'%.64s' is a stage and has another meaning in limits, too; give the "
        "stage another name: NAME: ...",
        name);
    return other ? syntax_error(p, what) : 0;
}

// Reads the name of a stage, if there is one: the longest, because names may
// have full stops.
static int read_stage(struct parser *p, struct sb_limit *l)
{
    size_t longest = 0;

    for (unsigned i = 0; p->names && i < p->names->nstages; i++) {
        size_t n = stage_length(p->at, p->names->stage[i]);

        if (n > longest) {
            longest = n;
            l->stage = i + 1;
        }
    }
    int rc = l->stage ? check_stage(p, l) : 0;

    if (rc == 0 && l->stage)
        p->at += longest + 1;
    return rc;
}

// The figure of a quoted operation.
static int read_figure(struct parser *p, struct sb_limit *l, size_t len)
{
    l->figure = find_figure(p->at, len, &l->pct);
    return l->figure ? 0 : unknown_figure(p, p->at, len);
}

// Fails if the figure requires something that the run does not have.
static int check_required(const struct parser *p, const struct sb_limit *l)
{
    if (!p->names)
        return 0;
    if (l->of == SB_ASSERT_BESIDE && !p->names->beside)
        return syntax_error(p, "figures beside a command require --beside");
    if (l->of == SB_ASSERT_COSTS && l->cost == SB_COSTS && !p->names->price)
        return syntax_error(p, SB_COSTS_USD " requires --price");
    return 0;
}

static int read_left(struct parser *p, struct sb_limit *l)
{
    const char *name;
    size_t len;
    int rc = read_stage(p, l);

    name = p->at;
    if (rc == 0 && *p->at == '"')
        rc = read_quoted(p, l);
    if (rc)
        return rc;
    len = strcspn(p->at, COMPARE ",");
    while (len && strchr(SPACES, p->at[len - 1]))
        len--;
    if (len == 0)
        return syntax_error(p, "expected a figure such as p99, tps or errors");
    if (*p->at == '.' && !l->name)
        return syntax_error(p, "expected a name before the full stop");
    if (l->name)
        rc = read_figure(p, l, len);
    else if (!any_figure(l, p->at, len))
        rc = unknown_name(p, l, p->at, len);
    if (rc == 0)
        rc = take_name(p, l, name, len);
    if (rc)
        return rc;
    const char *end = p->at + len;

    if (l->of == SB_ASSERT_OP && *name != '"')
        p->at += strlen(l->name) + 1;
    rc = check_op(p, l, name);
    if (rc == 0)
        rc = check_required(p, l);
    if (rc == 0)
        p->at = end;
    return rc;
}

static int read_compare(struct parser *p, struct sb_limit *l)
{
    skip_spaces(p);
    for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
        size_t len = strlen(compares[i].text);

        if (strncmp(p->at, compares[i].text, len) == 0) {
            l->cmp = compares[i].cmp;
            if (l->figure->unit == SB_ASSERT_STATE && l->cmp != SB_ASSERT_EQ &&
                l->cmp != SB_ASSERT_NE)
                return syntax_error(p, "expected == or != to compare a state");
            p->at += len;
            skip_spaces(p);
            return 0;
        }
    }
    return syntax_error(p, "expected one of < <= > >= == !=");
}

// A search assumes that higher rates exceed a limit, not lower ones. So the
// limit must be a maximum of a figure that grows with the rate: "<", "<=" or
// "==0", because 0 is the lowest value (check_search_value).
static int check_search(struct parser *p, const struct sb_limit *l)
{
    if (l->figure->unit == SB_ASSERT_PER_S)
        return syntax_error(
            p, "a rate cannot be a limit of the search for a rate");
    if (l->of == SB_ASSERT_VALIDITY)
        return syntax_error(
            p, "checks cannot be a limit of the search for a rate");
    if (l->of == SB_ASSERT_COSTS)
        return syntax_error(
            p, "costs cannot be a limit of the search for a rate");
    if (l->of == SB_ASSERT_RESULT)
        return syntax_error(p,
            "results of a workload cannot be a limit of the search for a rate");
    if (l->of == SB_ASSERT_BESIDE)
        return syntax_error(p,
            "figures beside a command cannot be a limit of the search for a "
            "rate");
    if (l->cmp != SB_ASSERT_LT && l->cmp != SB_ASSERT_LE &&
        l->cmp != SB_ASSERT_EQ)
        return syntax_error(
            p, "the search requires a maximum: use <, <= or ==0");
    return 0;
}

static int check_search_value(struct parser *p, const struct sb_limit *l)
{
    if (l->cmp == SB_ASSERT_EQ && l->value != 0)
        return syntax_error(p, "the search requires a maximum: == only with 0");
    return 0;
}

static int bad_value(const struct parser *p, const struct sb_limit *l)
{
    bool beside = l->of == SB_ASSERT_BESIDE;

    switch (l->figure->unit) {
    case SB_ASSERT_MS:
        return syntax_error(
            p, beside ? "expected a time such as 10ms or 1.5s (ms if it has no "
                        "unit), or a ratio such as 2x"
                      : "expected a time such as 10ms, 500us or 1.5s (ms if "
                        "it has no unit)");
    case SB_ASSERT_PERCENT:
        return syntax_error(
            p, "expected a percentage from 0 to 100, such as 0.1%");
    case SB_ASSERT_PER_S:
        return syntax_error(p,
            beside ? "expected a rate per second, such as 1000 or 2.5k, or a "
                     "ratio such as 0.8x"
                   : "expected a rate per second, such as 1000 or 2.5k");
    case SB_ASSERT_STATE:
        return syntax_error(
            p, "expected a state: ok, doubtful, bad, unknown or n/a");
    case SB_ASSERT_OWN:
        return syntax_error(p,
            "expected a number, a time or a percentage, such as 0, 5s or 99%");
    case SB_ASSERT_COUNT:
    case SB_ASSERT_COST:
        break;
    }
    return syntax_error(
        p, "expected a number that is at least 0, such as 10 or 5k");
}

// The limit of a result, whose unit is not known yet.
static int number_of_result(struct sb_limit *l, char *text, size_t len)
{
    int64_t ns;

    l->given = "";
    if (text[len - 1] == '%') {
        text[len - 1] = '\0';
        l->given = "%";
    }
    if (sb_units_number(text, &l->value) == 0)
        return 0;
    if (*l->given || sb_units_duration(text, 1000000, &ns))
        return SB_EUSAGE;
    l->given = "ms";
    l->value = (double)ns / 1e6;
    return 0;
}

// Returns whether the text is a ratio of this figure, "2x", without its x then.
static bool is_ratio(const struct sb_limit *l, char *text, size_t len)
{
    if (l->of != SB_ASSERT_BESIDE || len < 2 || text[len - 1] != 'x' ||
        l->figure->unit == SB_ASSERT_COUNT)
        return false;
    text[len - 1] = '\0';
    return true;
}

static int number_of(struct sb_limit *l, char *text)
{
    size_t len = strlen(text);
    int64_t ns;

    l->ratio = is_ratio(l, text, len);
    if (l->ratio)
        return sb_units_double(text, &l->value) || l->value < 0 ? SB_EUSAGE : 0;
    if (l->figure->unit == SB_ASSERT_OWN)
        return number_of_result(l, text, len);
    if (l->figure->unit == SB_ASSERT_STATE) {
        enum sb_validity_state state = sb_validity_named(text);

        l->value = state;
        return state == SB_VALIDITY_STATES ? SB_EUSAGE : 0;
    }
    if (l->figure->unit == SB_ASSERT_MS) {
        if (sb_units_duration(text, 1000000, &ns))
            return SB_EUSAGE;
        l->value = (double)ns / 1e6;
        return 0;
    }
    // "failed<1%" is short for "failed_pct<1".
    if (l->figure->id == SB__FIGURE_FAILED && text[len - 1] == '%')
        l->figure = find_figure("failed_pct", strlen("failed_pct"), &l->pct);
    if (l->figure->unit == SB_ASSERT_PERCENT && text[len - 1] == '%')
        text[len - 1] = '\0';
    if (l->figure->unit == SB_ASSERT_PER_S && len > 2 &&
        strcmp(text + len - 2, "/s") == 0)
        text[len - 2] = '\0';
    if (sb_units_number(text, &l->value) || l->value < 0)
        return SB_EUSAGE;
    return l->figure->unit == SB_ASSERT_PERCENT && l->value > 100 ? SB_EUSAGE
                                                                  : 0;
}

#define VALUE 64 // room for a number with its unit

// Copies the next word, up to a space or a comma. Returns its length, or 0 if
// no word follows or it is too long.
static size_t copy_word(const char *at, char *word, size_t size)
{
    size_t len = strcspn(at, SPACES ",");

    if (len >= size)
        len = 0;
    memcpy(word, at, len);
    word[len] = '\0';
    return len;
}

// Copies a number and the unit behind it after spaces: "5 ms". Returns the
// length of both, or 0 if this is not what follows.
static size_t copy_spaced(const char *at, char *text)
{
    size_t len = copy_word(at, text, VALUE / 2);
    size_t gap = strspn(at + len, SPACES);
    size_t unit = len && gap ? copy_word(at + len + gap, text + len, VALUE / 2)
                             : 0;

    if (unit == 0 || !isdigit((unsigned char)text[len - 1]))
        return 0;
    for (const char *c = text + len; *c; c++)
        if (!isalpha((unsigned char)*c) && *c != '%' && *c != '/')
            return 0;
    return len + gap + unit;
}

static int read_value(struct parser *p, struct sb_limit *l)
{
    const struct sb_limit before = *l;
    char text[VALUE];
    size_t len = copy_spaced(p->at, text);

    if (len == 0 || number_of(l, text)) {
        *l = before;
        len = copy_word(p->at, text, sizeof(text));
        if (len == 0 || number_of(l, text))
            return bad_value(p, l);
    }
    if (l->ratio && l->figure == &time_figure && p->names && !p->names->alone)
        return syntax_error(p,
            "the time of the command is compared with that of "
            "--beside-alone, which is not given");
    p->at += len;
    skip_spaces(p);
    return 0;
}

// Counts only grow: whether one is large enough is known at the end.
static bool can_abort(const struct sb_limit *l)
{
    return !l->figure->sum || l->cmp == SB_ASSERT_LT ||
           l->cmp == SB_ASSERT_LE || l->cmp == SB_ASSERT_EQ;
}

static bool read_word(struct parser *p, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(p->at, word, len) != 0 || !strchr(SPACES ",", p->at[len]))
        return false;
    p->at += len;
    skip_spaces(p);
    return true;
}

static int read_abort(struct parser *p, struct sb_limit *l)
{
    const char *start = p->at;
    char text[VALUE];
    int64_t ns;

    if (!*p->at || *p->at == ',')
        return 0;
    if (!read_word(p, "abort"))
        return syntax_error(p, "expected a comma, 'abort' or the end");
    if (l->of == SB_ASSERT_VALIDITY) {
        p->at = start;
        return syntax_error(p, "checks are made when the run has ended");
    }
    if (l->of == SB_ASSERT_COSTS) {
        p->at = start;
        return syntax_error(p, "costs are known when the run has ended");
    }
    if (l->of == SB_ASSERT_RESULT) {
        p->at = start;
        return syntax_error(p, "results are known when the run has ended");
    }
    if (l->of == SB_ASSERT_BESIDE) {
        p->at = start;
        return syntax_error(
            p, "figures beside a command are known when the run has ended");
    }
    l->abort = true;
    if (!can_abort(l)) {
        p->at = start;
        return syntax_error(p,
            "a limit with 'abort' on a count that grows must be a "
            "maximum: use < or <=");
    }
    if (!*p->at || *p->at == ',')
        return 0;
    if (!read_word(p, "after"))
        return syntax_error(p, "expected a comma, 'after' or the end");
    size_t len = copy_spaced(p->at, text);
    if (len == 0 || sb_units_duration(text, 1000000000, &ns)) {
        len = copy_word(p->at, text, sizeof(text));
        if (len == 0 || sb_units_duration(text, 1000000000, &ns))
            return syntax_error(p, "expected a duration such as 10s");
    }
    l->after = (double)ns / 1e9;
    p->at += len;
    skip_spaces(p);
    return *p->at && *p->at != ','
               ? syntax_error(p, "expected a comma or the end")
               : 0;
}

// The headline is only a figure, which has a value.
static int read_no_limit(struct parser *p, struct sb_limit *l)
{
    skip_spaces(p);
    if (*p->at)
        return syntax_error(p, "expected only the name of a figure");
    if (l->figure->unit == SB_ASSERT_STATE)
        return syntax_error(p, "a state cannot be the headline");
    l->given = "";
    l->text = copy_text(p->limit, limit_length(p->limit));
    return l->text ? 0 : SB_ENOMEM;
}

static int read_limit(struct parser *p, struct sb_limit *l)
{
    int rc;

    skip_spaces(p);
    p->limit = p->at;
    *l = (struct sb_limit){ .since = -1 };
    if (!*p->at || *p->at == ',')
        return sb_err_set(p->err, SB_EUSAGE,
            "%s: character %d: expected a limit, such as p99<10ms%s", p->option,
            (int)(p->at - p->text) + 1, *p->at ? "" : "; the list ends here");
    rc = read_left(p, l);
    if (p->headline)
        return rc ? rc : read_no_limit(p, l);
    if (rc == 0)
        rc = read_compare(p, l);
    if (rc == 0 && p->search)
        rc = check_search(p, l);
    if (rc == 0)
        rc = read_value(p, l);
    if (rc == 0 && p->search)
        rc = check_search_value(p, l);
    if (rc == 0 && p->search && *p->at && *p->at != ',')
        rc = syntax_error(p, "expected a comma or the end");
    if (rc == 0)
        rc = read_abort(p, l);
    if (rc)
        return rc;
    l->text = copy_text(p->limit, limit_length(p->limit));
    return l->text ? 0 : SB_ENOMEM;
}

static int add_limit(struct sb_asserts *a, struct parser *p)
{
    struct sb_limit *grown;

    if (a->n == SB_ASSERTS_MAX)
        return sb_err_set(p->err, SB_ERANGE,
            "%s: too many limits; the maximum is %d", p->option,
            SB_ASSERTS_MAX);
    grown = sb_array_least(a->limit, &a->n, a->n + 1, sizeof(*grown));
    if (!grown)
        return SB_ENOMEM;
    a->limit = grown;
    return read_limit(p, &a->limit[a->n - 1]);
}

#define HEADLINE "--headline"

static int parse(struct sb_asserts *a, const char *text, const char *option,
    bool search, const struct sb_assert_names *names, struct sb_err *err)
{
    struct parser p = { .text = text,
        .at = text,
        .limit = text,
        .option = option,
        .search = search,
        .headline = strcmp(option, HEADLINE) == 0,
        .names = names,
        .err = err };
    int rc = 0;

    *a = (struct sb_asserts){ 0 };
    skip_spaces(&p);
    if (!*p.at)
        return 0;
    for (;;) {
        rc = add_limit(a, &p);
        if (rc || !*p.at)
            break;
        assert(*p.at == ',');
        p.at++;
    }
    if (rc == SB_ENOMEM)
        sb_err_set(err, rc, "%s: out of memory", option);
    if (rc)
        sb_asserts_done(a);
    return rc;
}

int sb_asserts_init(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err)
{
    return parse(a, text, "--assert", false, names, err);
}

int sb_asserts_init_search(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err)
{
    return parse(a, text, "--rate-limit", true, names, err);
}

int sb_asserts_init_headline(struct sb_asserts *a, const char *text,
    const struct sb_assert_names *names, struct sb_err *err)
{
    return parse(a, text, HEADLINE, false, names, err);
}

void sb_asserts_done(struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        free(a->limit[i].text);
        free(a->limit[i].name);
    }
    free(a->limit);
    *a = (struct sb_asserts){ 0 };
}

// The limits of --assert as text.

const char *sb_assert_unit(const struct sb_limit *l)
{
    if (l->ratio)
        return "x";
    switch (l->figure->unit) {
    case SB_ASSERT_MS:
        return "ms";
    case SB_ASSERT_PER_S:
        return "/s";
    case SB_ASSERT_PERCENT:
        return "%";
    case SB_ASSERT_COST:
        return l->cost < SB_COSTS ? sb_cost_unit(l->cost) : "USD";
    case SB_ASSERT_OWN:
        return l->unit;
    case SB_ASSERT_COUNT:
    case SB_ASSERT_STATE:
        break;
    }
    return "";
}

bool sb_assert_is_state(const struct sb_limit *l)
{
    return l->figure->unit == SB_ASSERT_STATE;
}

// More decimals if the usual ones would show the value and the limit as equal.
static int decimals(const struct sb_limit *l, int usual)
{
    double far = fabs(l->verdict.value - l->value);

    while (far > 0 && usual < 6 && far < 0.5 * pow(10, -usual))
        usual++;
    return usual;
}

const char *sb_assert_value(const struct sb_limit *l, char *out, size_t size)
{
    const struct sb_verdict *v = &l->verdict;

    if (!v->known)
        snprintf(out, size, "no value");
    else if (l->figure->unit == SB_ASSERT_STATE)
        snprintf(out, size, "%s",
            sb_validity_name((enum sb_validity_state)v->value));
    else if (l->figure->unit == SB_ASSERT_COUNT)
        snprintf(out, size, "%.0f", v->value);
    else if (l->figure->unit == SB_ASSERT_COST ||
             l->figure->unit == SB_ASSERT_OWN)
        snprintf(out, size, "%.6g%s%s", v->value, *sb_assert_unit(l) ? " " : "",
            sb_assert_unit(l));
    else if (l->figure->unit == SB_ASSERT_MS && !l->ratio)
        snprintf(out, size, "%.*f ms",
            decimals(l, sb_units_ms_decimals(v->value, 2)), v->value);
    else
        snprintf(
            out, size, "%.*f %s", decimals(l, 2), v->value, sb_assert_unit(l));
    return out;
}

void sb_asserts_text(const struct sb_asserts *a, FILE *out)
{
    int width = (int)strlen("limit");
    char value[64];

    if (a->n == 0)
        return;
    for (unsigned i = 0; i < a->n; i++)
        if ((int)strlen(a->limit[i].text) > width)
            width = (int)strlen(a->limit[i].text);
    fprintf(out, "Limits:\n");
    for (unsigned i = 0; i < a->n; i++) {
        const struct sb_limit *l = &a->limit[i];
        const struct sb_verdict *v = &l->verdict;

        fprintf(out, "    %-*s  %16s  %s%s%s%s\n", width, l->text,
            sb_assert_value(l, value, sizeof(value)),
            v->passed ? "kept" : "not kept", *v->why ? " (" : "", v->why,
            *v->why ? ")" : "");
    }
    fprintf(out, "\n");
}

// What a figure is computed from: all events, or operations.
struct source {
    const struct sb_hist_snap *times; // NULL: not measured
    uint64_t min, sum, max;           // ns
    uint64_t count, queries, errors, rows, failed, restarts;
    double seconds;
    unsigned of;               // EVENTS, OP or PART
    bool incomplete;           // not all queries and rows are known
    const struct sb_report *r; // NULL for operations
    struct sb_hist_snap merged;
};

static void no_value(struct sb_verdict *v, const char *why)
{
    v->known = v->passed = false;
    v->value = NAN;
    snprintf(v->why, sizeof(v->why), "%s", why);
}

// Sources ---------------------------------------------------------------------

static void of_events(struct source *s, const struct sb_report *r)
{
    const struct sb_counters *c = &r->snap->c;

    *s = (struct source){
        .times = r->latency,
        .min = r->lat_min,
        .sum = r->lat_sum,
        .max = r->lat_max,
        .count = c->completed,
        .queries = c->reads + c->writes + c->others,
        .errors = r->errors + c->err_fatal,
        .failed = sb_counters_failed(c),
        .restarts = c->restarts,
        .seconds = r->interval_s,
        .of = EVENTS,
        .r = r,
    };
}

static void of_times(
    struct source *s, const struct sb_report *r, enum sb_assert_of of)
{
    const struct sb_snap *n = r->snap;

    of_events(s, r);
    if (of == SB_ASSERT_SERVICE) {
        s->times = &n->service;
        s->min = n->service_min;
        s->sum = n->c.service_ns;
        s->max = n->service_max;
    } else if (of == SB_ASSERT_DELAY) {
        s->times = n->has_client_delay ? &n->client_delay : NULL;
        s->min = n->client_delay_min;
        s->sum = n->c.client_delay_ns;
        s->max = n->client_delay_max;
    } else if (!r->open_loop) {
        s->times = NULL;
    } else if (of == SB_ASSERT_RESPONSE) {
        s->times = &n->response;
        s->min = n->response_min;
        s->sum = n->c.response_ns;
        s->max = n->response_max;
    } else {
        s->times = &n->lag;
        s->min = n->lag_min;
        s->sum = n->c.lag_ns;
        s->max = n->lag_max;
    }
}

static int add_op(struct source *s, const struct sb_snap_op *op)
{
    s->count += op->count;
    s->errors += op->errors;
    s->rows += op->rows;
    s->failed += sb_snap_op_failed(op);
    s->restarts += op->restarts;
    if (op->count == 0)
        return 0;
    s->min = s->sum == 0 && s->max == 0 ? op->min
             : op->min < s->min         ? op->min
                                        : s->min;
    s->max = op->max > s->max ? op->max : s->max;
    s->sum += op->ns;
    return sb_hist_snap_add(&s->merged, &op->hist);
}

// True if the name is that of a kind of operations, and this is one of them.
static bool is_kind(const char *name, enum sb_op_kind kind)
{
    switch (kind) {
    case SB_OP_READ:
        return strcmp(name, "read") == 0;
    case SB_OP_WRITE:
    case SB_OP_CHANGE:
        return strcmp(name, "write") == 0;
    case SB_OP_OTHER:
        return strcmp(name, "other") == 0;
    case SB_OP_CUSTOM:
    case SB_OP_WORKLOAD:
        break;
    }
    return false;
}

static const struct sb_op *op_at(const struct sb_report *r, unsigned i)
{
    return &r->stats->op[i];
}

// True if the operation is of the kind that the name means: "read", or
// "report/read" of a workload.
static bool is_meant(const char *name, const struct sb_op *op)
{
    const char *slash = strrchr(name, '/');
    size_t n = slash ? (size_t)(slash + 1 - name) : 0;

    return is_kind(name + n, op->kind) && strncmp(op->name, name, n) == 0;
}

// Queries and rows of a workload: those of its operations.
static void add_queries(
    struct source *s, const char *name, const struct sb_report *r)
{
    size_t n = strlen(name);

    s->queries = s->rows = 0;
    for (unsigned i = 0; i < r->snap->nops; i++) {
        const struct sb_snap_op *op = &r->snap->op[i];
        const char *of = op_at(r, i)->name;
        bool query = op_at(r, i)->kind <= SB_OP_OTHER;

        if (strcmp(of, SB_OPS_REST) == 0 && op->count)
            s->incomplete = true;
        if (!query || strncmp(of, name, n) != 0 || of[n] != '/')
            continue;
        s->queries += op->count;
        s->rows += op->rows;
    }
}

// The operation or the stage with the most similar name, or NULL.
static const char *near_op(
    const struct sb_limit *l, const struct sb_report *r, unsigned nops)
{
    struct sb_near near;

    sb_near_init(&near, l->name);
    if (*l->near)
        sb_near_try(&near, l->near);
    for (unsigned i = 0; i < nops; i++)
        sb_near_try(&near, op_at(r, i)->name);
    return near.best;
}

static void unknown_op(const struct sb_limit *l, const struct sb_report *r,
    unsigned nops, struct sb_verdict *v)
{
    const char *near = near_op(l, r, nops);
    char why[sizeof(v->why)];

    snprintf(why, sizeof(why), "%s%s%.100s%s",
        nops ? "no operation has this name" : "there are no operations",
        near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    no_value(v, why);
}

// The operation with this name, or all operations of the kind. If they do not
// exist, returns false with the reason in *v.
static bool of_op(struct source *s, const struct sb_limit *l,
    const struct sb_report *r, struct sb_verdict *v)
{
    const char *name = l->name;
    unsigned found = 0, nops = r->stats && r->snap->op ? r->snap->nops : 0;
    bool part = false;
    int rc = 0;

    *s = (struct source){ .seconds = r->interval_s, .of = OP };
    s->times = &s->merged;
    for (unsigned i = 0; i < nops && !found; i++)
        if (strcmp(op_at(r, i)->name, name) == 0) {
            found++;
            part = op_at(r, i)->kind == SB_OP_WORKLOAD;
            rc = add_op(s, &r->snap->op[i]);
        }
    if (found == 0)
        for (unsigned i = 0; rc == 0 && i < nops; i++)
            if (is_meant(name, op_at(r, i))) {
                found++;
                rc = add_op(s, &r->snap->op[i]);
            }
    s->queries = s->count;
    if (part) {
        s->of = PART;
        add_queries(s, name, r);
    }
    if (rc)
        no_value(v, "out of memory");
    else if (found == 0)
        unknown_op(l, r, nops, v);
    return rc == 0 && found > 0;
}

// Figures ---------------------------------------------------------------------

// A time in milliseconds; the source has times.
static double time_of(const struct sb_limit *l, const struct source *s)
{
    assert(s->times && s->times->total > 0);
    switch (l->figure->id) {
    case SB__FIGURE_MIN:
        return (double)s->min / 1e6;
    case SB__FIGURE_AVG:
        return (double)s->sum / (double)s->times->total / 1e6;
    case SB__FIGURE_MAX:
        return (double)s->max / 1e6;
    default:
        return sb_hist_snap_percentile(s->times, l->pct, s->max) / 1e6;
    }
}

static double failed_pct(const struct source *s)
{
    double failed = (double)s->failed, all = failed + (double)s->count;

    return all > 0 ? 100 * failed / all : NAN;
}

static double figure_of(const struct sb_limit *l, const struct source *s)
{
    switch (l->figure->id) {
    case SB__FIGURE_RATE:
        return s->seconds > 0 ? (double)s->count / s->seconds : NAN;
    case SB__FIGURE_QUERIES:
        return s->seconds > 0 ? (double)s->queries / s->seconds : NAN;
    case SB__FIGURE_EVENTS:
        return (double)s->count;
    case SB__FIGURE_ERRORS:
        return (double)s->errors;
    case SB__FIGURE_FAILED:
        return (double)s->failed;
    case SB__FIGURE_FAILED_PCT:
        return failed_pct(s);
    case SB__FIGURE_RESTARTS:
        return (double)s->restarts;
    case SB__FIGURE_RECONNECTS:
        return (double)s->r->snap->c.reconnects;
    case SB__FIGURE_QUEUE:
        return (double)s->r->queue;
    case SB__FIGURE_ROWS:
        return (double)s->rows;
    default:
        return time_of(l, s);
    }
}

static bool holds(const struct sb_limit *l, double value)
{
    switch (l->cmp) {
    case SB_ASSERT_LT:
        return value < l->value;
    case SB_ASSERT_LE:
        return value <= l->value;
    case SB_ASSERT_GT:
        return value > l->value;
    case SB_ASSERT_GE:
        return value >= l->value;
    case SB_ASSERT_EQ:
        return value == l->value;
    case SB_ASSERT_NE:
        return value != l->value;
    }
    return false;
}

// Why there are no times: they are not measured, or there was nothing.
static const char *no_times(const struct sb_limit *l, const struct source *s)
{
    if (l->of == SB_ASSERT_DELAY)
        return s->times ? "no user waited for an answer"
                        : "it is only known if users share workers";
    if (!s->times)
        return "it is only measured with --rate";
    return s->r ? "no event was completed" : "it was not executed";
}

static void judge_limit(
    const struct sb_limit *l, const struct source *s, struct sb_verdict *v)
{
    bool time = l->figure->unit == SB_ASSERT_MS;
    bool queries = l->figure->id == SB__FIGURE_QUERIES ||
                   l->figure->id == SB__FIGURE_ROWS;

    if (!(l->figure->of & s->of)) {
        no_value(v, s->of == PART ? "it is not measured for a workload"
                                  : "it is not measured for operations");
    } else if (time && (!s->times || s->times->total == 0)) {
        no_value(v, no_times(l, s));
    } else if (queries && s->incomplete) {
        no_value(v, "there are too many operations to know those of each "
                    "workload");
    } else {
        v->value = figure_of(l, s);
        v->known = isfinite(v->value);
        v->passed = v->known && holds(l, v->value);
        if (!v->known)
            no_value(v, "there were no events");
    }
}

static void check_validity(const struct sb_limit *l,
    const struct sb_validity *validity, struct sb_verdict *v)
{
    const struct sb_check *c;

    *v = (struct sb_verdict){ 0 };
    if (!validity) {
        no_value(v, "the figures of the run were not checked");
        return;
    }
    c = l->check < SB_CHECKS ? &validity->check[l->check] : NULL;
    if (l->figure->id == SB__FIGURE_KNOWN)
        v->value = sb_validity_known(validity);
    else
        v->value = c ? c->state : sb_validity_worst(validity);
    v->known = true;
    v->passed = holds(l, v->value);
    if (c && !v->passed)
        snprintf(v->why, sizeof(v->why), "%.190s", c->meaning);
}

static void check_costs(const struct sb_limit *l, const struct sb_costs *costs,
    struct sb_verdict *v)
{
    *v = (struct sb_verdict){ 0 };
    if (!costs) {
        no_value(v, "the costs of the run were not found out");
        return;
    }
    v->value = l->cost < SB_COSTS ? sb_cost_per_event(costs, l->cost)
                                  : sb_costs_usd(costs);
    if (!isfinite(v->value) && l->cost == SB_COSTS)
        no_value(v, costs->price > 0 ? "no event was completed"
                                     : "--price was not given");
    else if (!isfinite(v->value))
        no_value(v, *costs->cost[l->cost].why ? costs->cost[l->cost].why
                                              : "no event was completed");
    v->known = isfinite(v->value);
    v->passed = v->known && holds(l, v->value);
}

// A figure of a phase of the command beside the run, or NaN. b->latency has
// the times.
static double beside_value(
    const struct sb_limit *l, const struct sb_beside_phase *p)
{
    double n = (double)p->latency.total;

    switch (l->figure->id) {
    case SB__FIGURE_RATE:
        return p->seconds > 0 ? (double)p->events / p->seconds : NAN;
    case SB__FIGURE_EVENTS:
        return p->n ? (double)p->events : NAN;
    case SB__FIGURE_ERRORS:
        return p->n ? (double)p->errors : NAN;
    case SB__FIGURE_AVG:
        return n > 0 ? (double)p->lat_sum / n / 1e6 : NAN;
    case SB__FIGURE_MAX:
        return n > 0 ? (double)p->lat_max / 1e6 : NAN;
    default:
        return n > 0
                   ? sb_hist_snap_percentile(&p->latency, l->pct, p->lat_max) /
                         1e6
                   : NAN;
    }
}

// Why a phase has no value.
static void no_phase(
    const struct sb_beside_figures *b, unsigned phase, struct sb_verdict *v)
{
    static const char *const when[SB_BESIDE_PHASES] = { "before the command",
        "during the command", "in which the command starts or ends",
        "after the command" };
    char why[sizeof(v->why)];

    if (!b->command.started && phase != SB_BESIDE_BEFORE)
        snprintf(why, sizeof(why), "the command was not started");
    else if (b->phase[phase].n == 0)
        snprintf(
            why, sizeof(why), "there is no whole interval %s", when[phase]);
    else
        snprintf(why, sizeof(why), "no event was completed %s",
            phase == SB_BESIDE_EDGES ? "when the command started or ended"
                                     : when[phase]);
    no_value(v, why);
}

static void check_phase(const struct sb_limit *l,
    const struct sb_beside_figures *b, struct sb_verdict *v)
{
    unsigned base = sb_beside_base(b);
    double without = l->ratio ? beside_value(l, &b->phase[base]) : 1;

    v->value = beside_value(l, &b->phase[l->phase]) / without;
    if (!isfinite(beside_value(l, &b->phase[l->phase])))
        no_phase(b, l->phase, v);
    else if (!isfinite(without))
        no_phase(b, base, v);
    else if (!isfinite(v->value))
        no_value(v, "the figure without the command is 0");
}

// The time of the command, which is that of a whole execution.
static void check_time(const struct sb_limit *l,
    const struct sb_beside_figures *b, struct sb_verdict *v)
{
    const struct sb_beside_command *c = &b->command, *alone = &b->alone;

    if (!c->started)
        no_value(v, "the command was not started");
    else if (!c->ended || c->stopped)
        no_value(v, "the run ended before the command");
    else if (l->ratio && !(alone->ended && alone->seconds > 0))
        no_value(v, "the command was not executed alone");
    else
        v->value = l->ratio ? c->seconds / alone->seconds : c->seconds * 1e3;
}

static void check_beside_figure(const struct sb_limit *l,
    const struct sb_beside_figures *b, struct sb_verdict *v)
{
    *v = (struct sb_verdict){ 0 };
    if (!b)
        no_value(v, "no command was executed beside the run");
    else if (l->figure->id == SB__FIGURE_TIME)
        check_time(l, b, v);
    else
        check_phase(l, b, v);
    v->known = isfinite(v->value);
    v->passed = v->known && holds(l, v->value);
}

// Results ---------------------------------------------------------------------

// Milliseconds in a unit of time; 0: it is no time.
static double ms_of(const char *unit)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = { { "ns", 1e-6 }, { "us", 1e-3 }, { "ms", 1 }, { "s", 1e3 },
        { "min", 6e4 }, { "h", 3.6e6 } };

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ms;
    return 0;
}

// Compares a known result with the limit in the unit of the result.
static void check_value(const struct sb_limit *l, const struct sb_own_result *r,
    struct sb_verdict *v)
{
    struct sb_limit same = *l;
    char why[sizeof(v->why)];

    if (strcmp(l->given, "ms") == 0 && ms_of(r->unit) > 0) {
        same.value = l->value / ms_of(r->unit);
    } else if (*l->given && strcmp(l->given, r->unit) != 0) {
        snprintf(why, sizeof(why), "the unit of the result is %s, not %s",
            *r->unit ? r->unit : "a number",
            strcmp(l->given, "ms") == 0 ? "a time" : "%");
        no_value(v, why);
        return;
    }
    v->value = r->value;
    v->known = true;
    v->passed = holds(&same, v->value);
}

// answers: NULL: the script has not reported yet.
static void check_result(struct sb_limit *l, const struct sb_answers *answers,
    const char *test, struct sb_verdict *v)
{
    const struct sb_own_result *r = NULL;
    bool several = false;

    *v = (struct sb_verdict){ 0 };
    if (answers)
        r = sb_answers_find(answers, test, l->name, strlen(l->name), &several);
    if (several) {
        no_value(v, "several workloads report it: write WORKLOAD.RESULT");
    } else if (!r) {
        no_value(v, "the workload did not report it");
    } else {
        snprintf(l->unit, sizeof(l->unit), "%s", r->unit);
        if (isfinite(r->value)) {
            check_value(l, r, v);
        } else {
            char why[sizeof(v->why)];

            snprintf(why, sizeof(why), "%.190s", r->why);
            no_value(v, why);
        }
    }
}

void sb_asserts_results(
    struct sb_asserts *a, const struct sb_answers *answers, const char *test)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].of == SB_ASSERT_RESULT)
            check_result(&a->limit[i], answers, test, &a->limit[i].verdict);
}

// The headline ----------------------------------------------------------------

// Rates and counts of work are better if they are higher; the rest of the
// figures are times, failures and costs.
static enum sb_better better_of(const struct sb_limit *l)
{
    switch (l->figure->id) {
    case SB__FIGURE_RATE:
    case SB__FIGURE_QUERIES:
    case SB__FIGURE_EVENTS:
    case SB__FIGURE_KNOWN:
        return SB_BETTER_HIGHER;
    case SB__FIGURE_ROWS:
    case SB__FIGURE_RESULT:
        return SB_BETTER_UNKNOWN;
    default:
        return SB_BETTER_LOWER;
    }
}

void sb_asserts_headline(const struct sb_asserts *a,
    const struct sb_answers *answers, const char *test, struct sb_headline *h)
{
    const struct sb_own_result *r = sb_answers_headline(answers);
    const struct sb_limit *l = a->limit;
    bool several;

    *h = (struct sb_headline){ .value = NAN, .chosen = a->n > 0 };
    if (a->n > 0)
        r = l->of == SB_ASSERT_RESULT ? sb_answers_find(answers, test, l->name,
                                            strlen(l->name), &several)
                                      : NULL;
    if (r) {
        sb_answer_full_name(h->figure, r->workload, r->name);
        snprintf(h->unit, sizeof(h->unit), "%s", r->unit);
        snprintf(h->why, sizeof(h->why), "%s", r->why);
        h->value = r->value;
        h->better = r->better;
    } else if (a->n > 0) {
        snprintf(h->figure, sizeof(h->figure), "%.*s",
            (int)sizeof(h->figure) - 1, l->text);
        snprintf(h->unit, sizeof(h->unit), "%s", sb_assert_unit(l));
        snprintf(h->why, sizeof(h->why), "%s", l->verdict.why);
        h->value = l->verdict.known ? l->verdict.value : NAN;
        h->better = better_of(l);
    }
}

// Compares with the figures of one report: a run, a stage or an interval.
static void check_report(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    struct source s;

    *v = (struct sb_verdict){ 0 };
    if (l->of == SB_ASSERT_OP) {
        if (of_op(&s, l, r, v))
            judge_limit(l, &s, v);
        sb_hist_snap_done(&s.merged);
        return;
    }
    if (l->of == SB_ASSERT_EVENTS)
        of_events(&s, r);
    else
        of_times(&s, r, l->of);
    judge_limit(l, &s, v);
}

static void check_of_stage(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    for (unsigned i = 0; i < r->nstages; i++)
        if (r->stages[i].stage == l->stage - 1) {
            check_report(l, &r->stages[i], v);
            return;
        }
    no_value(v, r->nstages && r->stages[r->nstages - 1].stage >= l->stage
                    ? "the stage was too short to be measured"
                    : "the run ended before this stage");
}

static void check_limit(const struct sb_limit *l, const struct sb_report *r,
    const struct sb_assert_facts *facts, struct sb_verdict *v)
{
    if (l->of == SB_ASSERT_VALIDITY)
        check_validity(l, facts->validity, v);
    else if (l->of == SB_ASSERT_COSTS)
        check_costs(l, facts->costs, v);
    else if (l->of == SB_ASSERT_BESIDE)
        check_beside_figure(l, facts->beside, v);
    else if (l->of == SB_ASSERT_RESULT)
        no_value(v, "the workload did not report it");
    else if (l->stage)
        check_of_stage(l, r, v);
    else
        check_report(l, r, v);
}

void sb_assert_check(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    static const struct sb_assert_facts none;

    check_limit(l, r, &none, v);
}

// The course of a run ---------------------------------------------------------

bool sb_asserts_abort(const struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].abort)
            return true;
    return false;
}

bool sb_asserts_need_operations(const struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].abort && a->limit[i].of == SB_ASSERT_OP)
            return true;
    return false;
}

bool sb_asserts_of_operations(const struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++)
        if (a->limit[i].of == SB_ASSERT_OP)
            return true;
    return false;
}

static bool exists(const char *name, const struct sb_report *r, unsigned nops)
{
    static const enum sb_op_kind kinds[] = { SB_OP_READ, SB_OP_WRITE,
        SB_OP_OTHER };
    const char *slash = strrchr(name, '/');

    for (unsigned i = 0; i < nops; i++)
        if (strcmp(op_at(r, i)->name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is_kind(slash ? slash + 1 : name, kinds[i]))
            return true;
    return false;
}

void sb_asserts_look(struct sb_asserts *a, const struct sb_report *r,
    void (*warn)(const char *text))
{
    unsigned nops = r->stats ? atomic_load_explicit(
                                   &r->stats->nops, memory_order_acquire)
                             : 0;

    for (unsigned i = 0; i < a->n && !a->looked; i++) {
        const struct sb_limit *l = &a->limit[i];
        const char *near = NULL;
        char text[400];

        if (l->of == SB_ASSERT_OP && !exists(l->name, r, nops))
            near = near_op(l, r, nops);
        if (!near)
            continue;
        snprintf(text, sizeof(text),
            "--assert: %.100s: there is no operation '%.100s' so far (did you "
            "mean %.100s?)",
            l->text, l->name, near);
        warn(text);
    }
    a->looked = true;
}

bool sb_asserts_need_validity(const struct sb_asserts *a)
{
    bool need = false;

    for (unsigned i = 0; i < a->n; i++)
        need = need || a->limit[i].of == SB_ASSERT_VALIDITY;
    return need;
}

bool sb_asserts_need_results(const struct sb_asserts *a)
{
    bool need = false;

    for (unsigned i = 0; i < a->n; i++)
        need = need || a->limit[i].of == SB_ASSERT_RESULT;
    return need;
}

bool sb_asserts_need_costs(const struct sb_asserts *a)
{
    bool need = false;

    for (unsigned i = 0; i < a->n; i++)
        need = need || a->limit[i].of == SB_ASSERT_COSTS;
    return need;
}

// Returns true if the limit has been exceeded for `after` seconds; *v gets the
// value of the interval. An interval without a value neither starts nor ends
// this time.
static bool exceeded(
    struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    check_report(l, r, v);
    if (v->known && l->figure->sum) {
        v->value = l->sum += v->value;
        v->passed = holds(l, v->value);
        // Below the required number now, but it may be reached.
        if (l->cmp == SB_ASSERT_EQ && v->value < l->value)
            v->passed = true;
    }
    if (v->known && v->passed)
        l->since = -1;
    else if (v->known && l->since < 0)
        l->since = fmax(r->total_s - r->interval_s, 0);
    return v->known && !v->passed && r->total_s - l->since >= l->after;
}

bool sb_asserts_interval(struct sb_asserts *a, const struct sb_report *r)
{
    assert(!a->done);
    // The rest of a run is too short to judge it.
    if (r->warmup || r->partial)
        return false;
    for (unsigned i = 0; i < a->n && !a->by; i++) {
        struct sb_limit *l = &a->limit[i];
        char value[64];

        if (!l->abort || (l->stage && l->stage != r->stage + 1) ||
            !exceeded(l, r, &l->verdict))
            continue;
        a->by = l;
        snprintf(a->why, sizeof(a->why),
            "the limit %.150s was not kept after %.4g s: %s", l->text,
            r->total_s, sb_assert_value(l, value, sizeof(value)));
    }
    return a->by != NULL;
}

void sb_asserts_final(struct sb_asserts *a, const struct sb_report *whole,
    const struct sb_assert_facts *facts)
{
    assert(!a->done); // it would forget which interval has failed
    for (unsigned i = 0; i < a->n; i++) {
        struct sb_limit *l = &a->limit[i];
        struct sb_verdict v;

        check_limit(l, whole, facts, &v);
        // The interval that ended the run failed, even if the whole run passes.
        if (l != a->by || !v.passed)
            l->verdict = v;
    }
    a->done = true;
}

unsigned sb_asserts_failed(const struct sb_asserts *a)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < a->n; i++)
        failed += !a->done || !a->limit[i].verdict.passed;
    return failed;
}
