// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options in which the runs that sysbench merge adds differ.
#include <string.h>

#include "kit/buf.h"
#include "base/log.h"
#include "results/cmd_private.h"

// Options that processes side by side usually have different values of: their
// files and seeds, and what is added.
static bool may_differ(const char *name)
{
    static const char *const names[] = { "report", "label", "rand-seed",
        "threads", "rank" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

// Adds "NAME A / B" if a run has another value than the first one. Options that
// only one of the programs has are left out.
static void add_option(struct sb_buf *b, const char *name, const char *value,
    const struct sb_result_run *const *run, unsigned n)
{
    for (unsigned i = 1; i < n; i++) {
        const char *other = sb_result_option(run[i], name);

        if (!other || strcmp(other, value) == 0)
            continue;
        sb_buf_addf(b, "%s%s %s / %s", b->len ? ", " : "", name,
            *value ? value : "(none)", *other ? other : "(none)");
        return;
    }
}

void sb__merge_warn_of_options(
    const struct sb_result_run *const *run, unsigned n)
{
    const json_t *list = json_object_get(run[0]->json, "options");
    struct sb_buf b;

    sb_buf_init(&b, 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(o, "name"));
        const char *value = json_string_value(json_object_get(o, "value"));

        if (name && value && !may_differ(name))
            add_option(&b, name, value, run, n);
    }
    if (b.len && !b.failed)
        sb_log(SB_LOG_WARNING, "the runs have different options: %s", b.data);
    sb_buf_done(&b);
}
