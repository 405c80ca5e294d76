// SPDX-License-Identifier: GPL-2.0-or-later
//
// What sysbench show prints behind the figures of a run: its limits, the
// command of --beside, and how it ended.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kit/buf.h"
#include "base/log.h"
#include "kit/units.h"
#include "results/cmd_private.h"
#include "out/assert.h"
#include "out/beside_report.h"
#include "out/facts.h"

// The limits as they were typed.
static int parse_limits(
    struct sb_asserts *a, const json_t *list, struct sb_err *err)
{
    struct sb_buf text;
    int rc;

    sb_buf_init(&text, 0);
    for (size_t i = 0; i < json_array_size(list); i++)
        sb_buf_addf(&text, "%s%s", i ? ", " : "",
            sb_result_member(json_array_get(list, i), "limit"));
    rc = text.failed ? sb_err_set(err, SB_ENOMEM, "out of memory")
                     : sb_asserts_init(a, text.data ? text.data : "", err);
    sb_buf_done(&text);
    if (rc == 0 && a->n != json_array_size(list)) {
        sb_asserts_done(a);
        rc = sb_err_set(err, SB_EUSAGE, "a limit is not complete");
    }
    return rc;
}

static void take_verdicts(struct sb_asserts *a, const json_t *list)
{
    for (unsigned i = 0; i < a->n; i++) {
        const json_t *o = json_array_get(list, i);
        const json_t *value = json_object_get(o, "value");
        struct sb_verdict *v = &a->limit[i].verdict;

        v->known = json_is_number(value);
        v->value = v->known ? json_number_value(value) : NAN;
        v->passed = json_is_true(json_object_get(o, "passed"));
        snprintf(v->why, sizeof(v->why), "%s", sb_result_member(o, "why"));
    }
}

// Prints the table with what a terminal must not execute made visible.
static void print_table(const struct sb_asserts *a, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    sb_asserts_text(a, memory);
    if (fclose(memory) == 0)
        sb__cmd_print(out, text);
    free(text);
}

void sb__show_limits(const struct sb_result_run *run, FILE *out)
{
    const json_t *list = json_object_get(run->json, "limits");
    struct sb_asserts a = { 0 };
    struct sb_err err = { 0 };

    if (json_array_size(list) == 0)
        return;
    // For example, of a later version.
    if (parse_limits(&a, list, &err)) {
        sb_log(SB_LOG_WARNING, "the limits of the run cannot be shown: %s",
            err.msg);
        return;
    }
    take_verdicts(&a, list);
    print_table(&a, out);
    sb_asserts_done(&a);
}

static void show_command(const json_t *member, FILE *out)
{
    struct sb_beside_summary s;

    if (sb_beside_read(&s, member))
        sb_beside_print(&s, out);
}

void sb__show_beside(const struct sb_result_run *run, FILE *out)
{
    const json_t *merged = json_object_get(run->json, "merged");

    show_command(json_object_get(run->json, "beside"), out);
    for (size_t i = 0; i < json_array_size(merged); i++) {
        const json_t *o = json_object_get(json_array_get(merged, i), "beside");

        if (!o)
            continue;
        fprintf(out, "Run %zu of %zu:\n", i + 1, json_array_size(merged));
        show_command(o, out);
    }
}

void sb__show_end(const struct sb_result_run *run, struct sb_text *text)
{
    const json_t *end = json_object_get(run->json, "end");
    const char *limit = json_string_value(json_object_get(end, "limit"));
    const char *time = sb_result_option(run, "time");
    struct sb_text_times times = { .seconds = run->report.total_s,
        .warmup = run->report.warmup };
    int64_t ns;

    if (time && sb_units_duration(time, INT64_C(1000000000), &ns) == 0)
        times.planned = (double)ns / 1e9;
    sb_text_end(text,
        &(struct sb_outcome){ .reason = sb_result_member(end, "reason"),
            .limit = limit,
            .overrun = json_number_value(json_object_get(end, "overrun")) },
        &times);
}
