// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parser of --assert. A limit is
//     [NAME.]FIGURE OPERATOR NUMBER[UNIT] [abort [after DURATION]]
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/near.h"
#include "base/opts.h"
#include "kit/array.h"
#include "kit/units.h"
#include "out/assert_private.h"

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

// A figure that exists, but not of this.
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

    // The part behind the last full stop is most likely meant to be one.
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
    } else if (!event_figure(l, p->at, len) && !op_figure(l, p->at, len)) {
        return unknown_figure(p, p->at, len);
    }
    if (l->of == SB_ASSERT_OP && !l->name)
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
            p->at += len;
            skip_spaces(p);
            return 0;
        }
    }
    return syntax_error(p, "expected one of < <= > >= == !=");
}

// A search assumes that a limit is harder to keep the higher the rate is. Of
// figures that grow with the rate, "==" is only a maximum with 0, the lowest
// value (check_search_value).
static int check_search(struct parser *p, const struct sb_limit *l)
{
    if (l->figure->unit == SB_ASSERT_PER_S)
        return syntax_error(
            p, "a rate cannot be a limit of the search for a rate");
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
    case SB_ASSERT_COUNT:
        break;
    }
    return syntax_error(
        p, "expected a number that is at least 0, such as 10 or 5k");
}

static int number_of(struct sb_limit *l, char *text, size_t len)
{
    int64_t ns;

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

static int parse(struct sb_asserts *a, const char *text, const char *option,
    bool search, struct sb_err *err)
{
    struct parser p = { .text = text,
        .at = text,
        .limit = text,
        .option = option,
        .search = search,
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

void sb_asserts_done(struct sb_asserts *a)
{
    for (unsigned i = 0; i < a->n; i++) {
        free(a->limit[i].text);
        free(a->limit[i].name);
    }
    free(a->limit);
    *a = (struct sb_asserts){ 0 };
}
