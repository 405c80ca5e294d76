// SPDX-License-Identifier: GPL-2.0-or-later
//
// The duration of calls of the null driver.
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "drivers/null/null_priv.h"

#define SLICE_NS 5000000       // interval of checks of the cancel flag
#define MOST_NS  (86400 * 1e9) // a day

enum kind { CONSTANT, UNIFORM, EXPONENTIAL, NORMAL, PARETO };

static const struct {
    const char *name;
    int args;
    enum kind kind;
} kinds[] = {
    { "constant:", 1, CONSTANT },
    { "uniform:", 2, UNIFORM },
    { "exp:", 1, EXPONENTIAL },
    { "normal:", 2, NORMAL },
    { "pareto:", 2, PARETO },
};

static const struct {
    const char *name;
    double ns;
} units[] = {
    { "ns", 1 },
    { "us", 1e3 },
    { "ms", 1e6 },
    { "s", 1e9 },
    { "m", 60e9 },
    { "", 1e9 },
};

// Parses a duration; a number without a unit is in seconds. Returns -1 if it is
// invalid.
static double duration(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || !(value >= 0))
        return -1;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0)
            return value * units[i].ns;
    }
    return -1;
}

static double number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    return end == text || *end || !(value > 0) ? -1 : value;
}

static int parse_args(char *args, int count, struct null_time *t)
{
    char *comma = strchr(args, ',');

    if ((comma != NULL) != (count == 2))
        return SB_EUSAGE;
    if (comma) {
        *comma++ = '\0';
        t->b = t->kind == PARETO ? number(comma) : duration(comma);
    }
    t->a = duration(args);
    return t->a < 0 || t->b < 0 || t->a > MOST_NS ? SB_EUSAGE : 0;
}

static int parse(char *text, struct null_time *t)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t n = strlen(kinds[i].name);

        if (strncmp(text, kinds[i].name, n) != 0)
            continue;
        t->kind = kinds[i].kind;
        return parse_args(text + n, kinds[i].args, t);
    }
    t->kind = CONSTANT;
    return parse_args(text, 1, t);
}

int null_time_parse(const char *text, struct null_time *out, struct sb_err *err)
{
    char copy[128];
    struct null_time t = { 0 };

    snprintf(copy, sizeof(copy), "%s", text);
    if (strlen(text) >= sizeof(copy) || parse(copy, &t) ||
        (t.kind == UNIFORM && t.b < t.a))
        return sb_err_set(err, SB_EUSAGE,
            "'%s' is not a valid latency (2ms, uniform:1ms,3ms, exp:2ms, "
            "normal:2ms,0.5ms, pareto:1ms,1.5)",
            text);
    *out = t;
    return 0;
}

double null_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1.0p-53;
}

int64_t null_time_draw(const struct null_time *t, uint64_t *state)
{
    double ns = t->a;

    switch (t->kind) {
    case UNIFORM:
        ns += (t->b - t->a) * null_random(state);
        break;
    case EXPONENTIAL:
        ns *= -log(1 - null_random(state));
        break;
    case NORMAL:
        ns += t->b * sqrt(-2 * log(1 - null_random(state))) *
              cos(6.283185307179586 * null_random(state));
        break;
    case PARETO:
        ns *= pow(1 - null_random(state), -1 / t->b);
        break;
    default:
        break;
    }
    return (int64_t)fmin(fmax(ns, 0), MOST_NS);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int null_sleep(
    const struct sb_host *host, int64_t ns, const _Atomic bool *canceled)
{
    int64_t now = now_ns(), until = now + ns;

    while (now < until) {
        int64_t left = until - now;

        if (atomic_load_explicit(canceled, memory_order_relaxed))
            return SB_ECANCELED;
        host->sleep((uint64_t)(left > SLICE_NS ? now + SLICE_NS : until));
        now = now_ns();
    }
    return 0;
}
