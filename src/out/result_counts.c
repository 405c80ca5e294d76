// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads counts and histograms of result files. A file may come from anywhere,
// so every value is checked.
#include <errno.h>
#include <stdlib.h>

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

int sb__result_count(
    const json_t *o, const char *name, uint64_t *n, struct sb_err *err)
{
    const json_t *value = json_object_get(o, name);

    *n = 0;
    if (!value || json_is_null(value) || sb__result_is_count(value, n))
        return 0;
    return sb_err_set(err, SB_EUSAGE, "\"%s\" is not a count", name);
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
