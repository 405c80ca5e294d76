// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether two results are of the same run, perhaps in different files.
#include "results/sides.h"

#include <string.h>

#include "base/log.h"

static bool equal(const json_t *a, const json_t *b, const char *name)
{
    const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

    return x == y || (x && y && json_equal(x, y));
}

bool sb_result_run_is_same(
    const struct sb_result_run *a, const struct sb_result_run *b)
{
    // Processes that start together may have the same seed, but they do not
    // measure the same nanoseconds.
    static const char *const names[] = { "started", "test", "seed", "host",
        "counters", "latency" };

    if (!*sb_result_text(a, "started"))
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!equal(a->json, b->json, names[i]))
            return false;
    return true;
}

int sb_runs_check_different(
    const struct sb_result_run *const *run, unsigned n, const char *what)
{
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (!sb_result_run_is_same(run[i], run[k]))
                continue;
            sb_log(SB_LOG_FATAL,
                "%s: the run of %s, seed %s, is given twice (runs %u and %u)",
                what, sb_result_text(run[i], "started"),
                sb_result_text(run[i], "seed"), k + 1, i + 1);
            return SB_EUSAGE;
        }
    }
    return 0;
}
