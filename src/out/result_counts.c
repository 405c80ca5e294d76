// SPDX-License-Identifier: GPL-2.0-or-later
//
// Checks the numbers of result files, and reads counts and histograms. A file
// may come from anywhere.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out/result_private.h"

bool sb__result_is_count(const json_t *value, uint64_t *n)
{
    const char *text = json_string_value(value);
    char *end;

    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *n = (uint64_t)json_integer_value(value);
        return true;
    }
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *n = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool is_time(const char *name)
{
    size_t len = strlen(name);

    return strcmp(name, "min") == 0 || strcmp(name, "max") == 0 ||
           strcmp(name, "sum") == 0 ||
           (len > 3 && strcmp(name + len - 3, "_ns") == 0);
}

int sb__result_count(
    const json_t *o, const char *name, uint64_t *n, struct sb_err *err)
{
    const json_t *value = json_object_get(o, name);

    *n = 0;
    if (value && !json_is_null(value) && !sb__result_is_count(value, n))
        return sb_err_set(err, SB_EUSAGE, "\"%s\" is not a count", name);
    if ((double)*n > (is_time(name) ? SB__LONGEST : SB__LARGEST))
        return sb_err_set(err, SB_EUSAGE, "\"%s\" is too large", name);
    return 0;
}

static int read_bucket(
    struct sb_hist_snap *h, const json_t *triple, struct sb_err *err)
{
    uint64_t low, high, count;

    if (!sb__result_is_count(json_array_get(triple, 0), &low) ||
        !sb__result_is_count(json_array_get(triple, 1), &high) ||
        !sb__result_is_count(json_array_get(triple, 2), &count))
        return sb_err_set(err, SB_EUSAGE,
            "a histogram has an entry that is not of the form [low, high, "
            "count]");
    uint32_t index = sb_hist_index(low);
    if (sb_hist_low(index) != low || low + sb_hist_width(index) - 1 != high)
        return sb_err_set(err, SB_EUSAGE,
            "a histogram has a bucket from %llu to %llu ns, which sysbench "
            "does not use",
            (unsigned long long)low, (unsigned long long)high);
    if ((double)count + (double)h->total > SB__LARGEST)
        return sb_err_set(
            err, SB_EUSAGE, "a histogram has counts that are too large");
    return sb_hist_snap_put(h, index, count);
}

int sb__result_buckets(const json_t *o, struct sb_hist_snap *h, uint64_t *count,
    struct sb_err *err)
{
    const json_t *buckets = json_object_get(o, "histogram");
    int rc = sb__result_count(o, "count", count, err);

    for (size_t i = 0; rc == 0 && i < json_array_size(buckets); i++)
        rc = read_bucket(h, json_array_get(buckets, i), err);
    return rc;
}

// Numbers ---------------------------------------------------------------------

enum {
    WHOLE = 1,    // no fraction
    SIGNED = 2,   // may be negative
    ANY_SIZE = 4, // of a script's metric
    TIME = 32,    // up to SB__LONGEST
    LIST = 8,     // may be a list of such numbers
    OBJECT = 16,  // may be an object instead
};

// Members that are numbers or null, in order of their names.
static const struct number {
    const char *name;
    unsigned flags;
} numbers[] = {
    { "avg", ANY_SIZE },
    { "bounds", LIST },
    { "clock_error", 0 },
    { "clock_offset", SIGNED },
    { "code", WHOLE | SIGNED },
    { "completed", WHOLE },
    { "confidence", 0 },
    { "cost", 0 },
    { "count", WHOLE },
    { "cpu_seconds", 0 },
    { "cpu_system", 0 },
    { "cpu_user", 0 },
    { "cpus", 0 },
    { "failed", WHOLE },
    { "failed_events", WHOLE },
    { "first_seen", 0 },
    { "first_user", WHOLE },
    { "found", WHOLE },
    { "hits", WHOLE },
    { "interval", 0 },
    { "latency_avg_ms", 0 },
    { "latency_max_ms", 0 },
    { "latency_pct_ms", 0 },
    { "load", 0 },
    { "max", ANY_SIZE },
    { "max_ns", WHOLE | LIST | TIME },
    { "maximum", 0 },
    { "mean", 0 },
    { "measured_value", 0 },
    { "memory_bytes", WHOLE },
    { "min", ANY_SIZE },
    { "min_ns", WHOLE | LIST | TIME },
    { "missed", WHOLE },
    { "misses", WHOLE },
    { "others", WHOLE },
    { "overrun", 0 },
    { "percentile", 0 },
    { "place", WHOLE },
    { "places", WHOLE },
    { "processors", WHOLE },
    { "queue", WHOLE },
    { "rank", WHOLE | OBJECT },
    { "ranks_reported", WHOLE },
    { "rate", LIST },
    { "reads", WHOLE },
    { "reconnects", WHOLE },
    { "restarts", WHOLE },
    { "round", WHOLE },
    { "rss_bytes", WHOLE },
    { "safe", 0 },
    { "scale", ANY_SIZE },
    { "scheduled", WHOLE },
    { "seconds", 0 },
    { "service_ns", WHOLE | LIST | TIME },
    { "share", 0 },
    { "signal", WHOLE },
    { "skipped", WHOLE },
    { "start", SIGNED },
    { "status", WHOLE },
    { "sum", ANY_SIZE },
    { "threads", WHOLE | LIST },
    { "time", SIGNED },
    { "total_users", WHOLE },
    { "totals_late", 0 },
    { "unfinished", WHOLE },
    { "wait", 0 },
    { "wait_undivided", 0 },
    { "workers", WHOLE },
    { "writes", WHOLE },
};

static int compare_names(const void *name, const void *number)
{
    return strcmp(name, ((const struct number *)number)->name);
}

static int wrong(const char *name, const char *what, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "\"%s\" is %s", name, what);
}

static int check_number(
    const struct number *n, const json_t *value, struct sb_err *err)
{
    double v = json_number_value(value);
    uint64_t count;

    if (json_is_null(value) || (json_is_object(value) && (n->flags & OBJECT)))
        return 0;
    bool digits = json_is_string(value) && sb__result_is_count(value, &count);
    if (digits)
        v = (double)count;
    bool negative = v < 0 && !(n->flags & SIGNED);
    if ((n->flags & WHOLE) && !digits && (!json_is_integer(value) || negative))
        return wrong(n->name, "not a count", err);
    if (!digits && !json_is_number(value))
        return wrong(n->name, "not a number", err);
    if (negative)
        return wrong(n->name, "negative", err);
    double most = n->flags & TIME ? SB__LONGEST : SB__LARGEST;
    if (fabs(v) > most && !(n->flags & ANY_SIZE))
        return wrong(n->name, "too large", err);
    return 0;
}

static int check_member(
    const struct number *n, const json_t *value, struct sb_err *err)
{
    int rc = 0;

    if (!json_is_array(value) || !(n->flags & LIST))
        return check_number(n, value, err);
    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++)
        rc = check_number(n, json_array_get(value, i), err);
    return rc;
}

// Objects whose members have names of users and servers: 0; numbers: 1.
// Otherwise -1.
static int kind_of_names(const char *name)
{
    static const struct {
        const char *name;
        int kind;
    } names[] = { { "labels", 0 }, { "settings", 0 }, { "swept", 0 },
        { "percentiles", 1 }, { "server_totals", 1 } };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i].name) == 0)
            return names[i].kind;
    return -1;
}

static int check_values(const json_t *object, struct sb_err *err)
{
    const char *name;
    json_t *member;

    json_object_foreach((json_t *)object, name, member)
    {
        const struct number n = { name, ANY_SIZE };

        if (check_number(&n, member, err))
            return err->code;
    }
    return 0;
}

int sb__result_numbers(const json_t *value, struct sb_err *err)
{
    const char *name;
    json_t *member;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < json_array_size(value); i++)
        rc = sb__result_numbers(json_array_get(value, i), err);
    if (!json_is_object(value))
        return rc;
    json_object_foreach((json_t *)value, name, member)
    {
        const struct number *n = bsearch(name, numbers,
            sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]),
            compare_names);

        if (rc == 0 && n)
            rc = check_member(n, member, err);
        int kind = kind_of_names(name);
        if (rc == 0 && kind == 1)
            rc = check_values(member, err);
        if (rc == 0 && kind < 0)
            rc = sb__result_numbers(member, err);
    }
    return rc;
}
