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
};

struct sb_assert_figure {
    const char *name; // "p" is followed by a number
    enum sb__figure id;
    enum sb_assert_unit unit;
    bool of_events, of_op; // times of events are times of anything
    bool sum;              // of an interval: add up the intervals
};

// The parser of --assert. A limit is
//     [NAME.]FIGURE OPERATOR NUMBER[UNIT] [abort [after DURATION]]

#define SPACES  " \t\r\n"
#define COMPARE "<>=!"

static const struct sb_assert_figure figures[] = {
    { "tps", SB__FIGURE_RATE, SB_ASSERT_PER_S, true, true, false },
    { "eps", SB__FIGURE_RATE, SB_ASSERT_PER_S, true, true, false },
    { "qps", SB__FIGURE_QUERIES, SB_ASSERT_PER_S, true, true, false },
    { "events", SB__FIGURE_EVENTS, SB_ASSERT_COUNT, true, false, true },
    { "count", SB__FIGURE_EVENTS, SB_ASSERT_COUNT, false, true, true },
    { "errors", SB__FIGURE_ERRORS, SB_ASSERT_COUNT, true, true, true },
    { "failed", SB__FIGURE_FAILED, SB_ASSERT_COUNT, true, false, true },
    { "failed_pct", SB__FIGURE_FAILED_PCT, SB_ASSERT_PERCENT, true, false,
        false },
    { "restarts", SB__FIGURE_RESTARTS, SB_ASSERT_COUNT, true, false, true },
    { "reconnects", SB__FIGURE_RECONNECTS, SB_ASSERT_COUNT, true, false, true },
    { "queue", SB__FIGURE_QUEUE, SB_ASSERT_COUNT, true, false, false },
    { "rows", SB__FIGURE_ROWS, SB_ASSERT_COUNT, false, true, true },
    { "min", SB__FIGURE_MIN, SB_ASSERT_MS, true, true, false },
    { "avg", SB__FIGURE_AVG, SB_ASSERT_MS, true, true, false },
    { "max", SB__FIGURE_MAX, SB_ASSERT_MS, true, true, false },
    { "p", SB__FIGURE_PERCENTILE, SB_ASSERT_MS, true, true, false },
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

// "validity", "validity.known", "validity.NAME"
#define VALIDITY "validity"

static const struct sb_assert_figure state_figure = { VALIDITY,
    SB__FIGURE_STATE, SB_ASSERT_STATE, true, false, false };
static const struct sb_assert_figure known_figure = { "known", SB__FIGURE_KNOWN,
    SB_ASSERT_COUNT, true, false, false };

// "costs.NAME"
#define COSTS "costs."

static const struct sb_assert_figure cost_figure = { COSTS, SB__FIGURE_COST,
    SB_ASSERT_COST, true, false, false };

static const struct sb_assert_figure result_figure = { "result",
    SB__FIGURE_RESULT, SB_ASSERT_OWN, true, false, false };

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
    const char *text, *at; // the list; where the parser is
    const char *limit;     // start of the limit that is parsed
    const char *option;    // in messages
    bool search;           // only limits that a search can use
    bool headline;         // a figure without a limit
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
    return l->figure && l->figure->of_events;
}

// A figure of an operation: its name, a full stop, the figure. Names may have
// full stops, and percentiles, too: the longest figure is chosen.
static bool op_figure(struct sb_limit *l, const char *text, size_t len)
{
    for (size_t i = 1; i + 1 < len; i++) {
        if (text[i] != '.')
            continue;
        l->figure = find_figure(text + i + 1, len - i - 1, &l->pct);
        if (l->figure && l->figure->of_op) {
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

// Fails for a figure that exists, but only for operations or only for all
// events.
static int wrong_figure(const struct parser *p, const char *name, bool of_op)
{
    char what[256];

    if (of_op)
        snprintf(what, sizeof(what),
            "'%s' is not measured for operations, only for all events", name);
    else
        snprintf(what, sizeof(what),
            "'%s' is only measured for operations: write NAME.%s", name, name);
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
    if (find_figure(name, strlen(name), &pct))
        return wrong_figure(p, name, p->at > p->limit);
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
           strcmp(name, VALIDITY) != 0 && strcmp(name, "costs") != 0;
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

static bool any_figure(struct sb_limit *l, const char *text, size_t len)
{
    return event_figure(l, text, len) || validity_figure(l, text, len) ||
           costs_figure(l, text, len) || op_figure(l, text, len) ||
           own_figure(l, text, len);
}

static int unknown_name(struct parser *p, const char *text, size_t len)
{
    size_t n = strlen(VALIDITY "."), k = strlen(COSTS);

    if (len > n && memcmp(text, VALIDITY ".", n) == 0)
        return unknown_check(p, text + n, len - n);
    if (len > k && memcmp(text, COSTS, k) == 0)
        return unknown_cost(p, text + k, len - k);
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

static int read_left(struct parser *p, struct sb_limit *l)
{
    size_t len;

    if (*p->at == '"') {
        int rc = read_quoted(p, l);

        if (rc)
            return rc;
    }
    len = strcspn(p->at, COMPARE ",");
    while (len && strchr(SPACES, p->at[len - 1]))
        len--;
    if (len == 0)
        return syntax_error(p, "expected a figure such as p99, tps or errors");
    if (*p->at == '.' && !l->name)
        return syntax_error(p, "expected a name before the full stop");
    if (l->name) {
        l->figure = find_figure(p->at, len, &l->pct);
        if (!l->figure || !l->figure->of_op)
            return unknown_figure(p, p->at, len);
    } else if (!any_figure(l, p->at, len)) {
        return unknown_name(p, p->at, len);
    }
    if ((l->of == SB_ASSERT_OP || l->of == SB_ASSERT_RESULT) && !l->name)
        return SB_ENOMEM;
    p->at += len;
    return 0;
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

static int bad_value(const struct parser *p, enum sb_assert_unit unit)
{
    switch (unit) {
    case SB_ASSERT_MS:
        return syntax_error(p,
            "expected a time such as 10ms, 500us or 1.5s (ms if "
            "it has no unit)");
    case SB_ASSERT_PERCENT:
        return syntax_error(
            p, "expected a percentage from 0 to 100, such as 0.1%");
    case SB_ASSERT_PER_S:
        return syntax_error(
            p, "expected a rate per second, such as 1000 or 2.5k");
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

static int number_of(struct sb_limit *l, char *text, size_t len)
{
    int64_t ns;

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

static int read_value(struct parser *p, struct sb_limit *l)
{
    size_t len = strcspn(p->at, SPACES ",");
    char text[64];

    if (len == 0 || len >= sizeof(text))
        return bad_value(p, l->figure->unit);
    memcpy(text, p->at, len);
    text[len] = '\0';
    // "failed<1%" is short for "failed_pct<1".
    if (l->figure->id == SB__FIGURE_FAILED && text[len - 1] == '%')
        l->figure = find_figure("failed_pct", strlen("failed_pct"), &l->pct);
    if (number_of(l, text, len))
        return bad_value(p, l->figure->unit);
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
    char text[64];
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
    size_t len = strcspn(p->at, SPACES ",");
    snprintf(text, sizeof(text), "%.*s", len < 63 ? (int)len : 63, p->at);
    if (sb_units_duration(text, 1000000000, &ns))
        return syntax_error(p, "expected a duration such as 10s");
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
    bool search, struct sb_err *err)
{
    struct parser p = { .text = text,
        .at = text,
        .limit = text,
        .option = option,
        .search = search,
        .headline = strcmp(option, HEADLINE) == 0,
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

int sb_asserts_init(struct sb_asserts *a, const char *text, struct sb_err *err)
{
    return parse(a, text, "--assert", false, err);
}

int sb_asserts_init_search(
    struct sb_asserts *a, const char *text, struct sb_err *err)
{
    return parse(a, text, "--rate-limit", true, err);
}

int sb_asserts_init_headline(
    struct sb_asserts *a, const char *text, struct sb_err *err)
{
    return parse(a, text, HEADLINE, false, err);
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
    else if (l->figure->unit == SB_ASSERT_MS)
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
    uint64_t count, queries, errors, rows;
    double seconds;
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
        .seconds = r->interval_s,
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

static void unknown_op(
    const char *name, const struct sb_report *r, struct sb_verdict *v)
{
    struct sb_near near;
    char why[sizeof(v->why)];

    sb_near_init(&near, name);
    for (unsigned i = 0; i < r->snap->nops; i++)
        sb_near_try(&near, op_at(r, i)->name);
    if (near.best)
        snprintf(why, sizeof(why),
            "no operation has this name (did you mean %.100s?)", near.best);
    else
        snprintf(why, sizeof(why), "no operation has this name");
    no_value(v, why);
}

// The operation with this name, or all operations of the kind. If they do not
// exist, returns false with the reason in *v.
static bool of_op(struct source *s, const char *name, const struct sb_report *r,
    struct sb_verdict *v)
{
    unsigned found = 0, nops = r->stats && r->snap->op ? r->snap->nops : 0;
    int rc = 0;

    *s = (struct source){ .seconds = r->interval_s };
    s->times = &s->merged;
    for (unsigned i = 0; i < nops && !found; i++)
        if (strcmp(op_at(r, i)->name, name) == 0) {
            found++;
            rc = add_op(s, &r->snap->op[i]);
        }
    if (found == 0)
        for (unsigned i = 0; rc == 0 && i < nops; i++)
            if (is_kind(name, op_at(r, i)->kind)) {
                found++;
                rc = add_op(s, &r->snap->op[i]);
            }
    s->queries = s->count;
    if (rc)
        no_value(v, "out of memory");
    else if (nops == 0)
        no_value(v, "there are no operations");
    else if (found == 0)
        unknown_op(name, r, v);
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

static double failed_pct(const struct sb_counters *c)
{
    double failed = (double)sb_counters_failed(c);
    double all = failed + (double)c->completed;

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
        return (double)sb_counters_failed(&s->r->snap->c);
    case SB__FIGURE_FAILED_PCT:
        return failed_pct(&s->r->snap->c);
    case SB__FIGURE_RESTARTS:
        return (double)s->r->snap->c.restarts;
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

    assert(s->r || l->figure->of_op); // see read_left()
    if (time && (!s->times || s->times->total == 0)) {
        no_value(v, no_times(l, s));
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

void sb_assert_check(
    const struct sb_limit *l, const struct sb_report *r, struct sb_verdict *v)
{
    struct source s;

    if (l->of == SB_ASSERT_VALIDITY) {
        check_validity(l, NULL, v);
        return;
    }
    if (l->of == SB_ASSERT_COSTS) {
        check_costs(l, NULL, v);
        return;
    }
    if (l->of == SB_ASSERT_RESULT) {
        *v = (struct sb_verdict){ 0 };
        no_value(v, "the workload did not report it");
        return;
    }
    *v = (struct sb_verdict){ 0 };
    if (l->of == SB_ASSERT_OP) {
        if (of_op(&s, l->name, r, v))
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
    sb_assert_check(l, r, v);
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

        if (!l->abort || !exceeded(l, r, &l->verdict))
            continue;
        a->by = l;
        snprintf(a->why, sizeof(a->why),
            "the limit %.150s was not kept after %.4g s: %s", l->text,
            r->total_s, sb_assert_value(l, value, sizeof(value)));
    }
    return a->by != NULL;
}

void sb_asserts_final(struct sb_asserts *a, const struct sb_report *whole,
    const struct sb_validity *validity, const struct sb_costs *costs)
{
    assert(!a->done); // it would forget which interval has failed
    for (unsigned i = 0; i < a->n; i++) {
        struct sb_limit *l = &a->limit[i];
        struct sb_verdict v;

        if (l->of == SB_ASSERT_VALIDITY)
            check_validity(l, validity, &v);
        else if (l->of == SB_ASSERT_COSTS)
            check_costs(l, costs, &v);
        else
            sb_assert_check(l, whole, &v);
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
