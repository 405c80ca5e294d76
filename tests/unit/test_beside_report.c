// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/beside_report.h"

#include <stdlib.h>

#include "check.h"

// An interval of 1 s that ends at `end`, with this many events of `ms` each.
static void interval(
    struct sb_beside_figures *f, double end, unsigned events, uint64_t ms)
{
    struct sb_hist_snap latency = { 0 };
    struct sb_snap s = { .c = { .completed = events } };
    uint64_t ns = ms * 1000000;
    struct sb_report r = { .snap = &s,
        .interval_s = 1,
        .total_s = end,
        .latency = &latency,
        .lat_max = ns,
        .lat_sum = events * ns };

    sb_hist_snap_put(&latency, sb_hist_index(ns), events);
    CHECK_INT(sb_beside_figures_add(f, &r), 0);
    sb_hist_snap_done(&latency);
}

// 20 intervals before and during the command, which ends in the last one.
static void fill(struct sb_beside_figures *f)
{
    unsigned end = 0;

    *f = (struct sb_beside_figures){ .name = "dump",
        .pct = 95,
        .tried_alone = true,
        .alone = { .started = true,
            .ended = true,
            .seconds = 7.25,
            .cpu_user = 1.5,
            .rss = 3 << 20 } };
    for (; end < 20; end++)
        interval(f, end + 1, 100 + end % 2, 10);
    f->command = (struct sb_beside_command){ .started = true, .start = 20 };
    for (; end < 40; end++)
        interval(f, end + 1, 50 + end % 2, 20);
    f->command.ended = true;
    f->command.status = 3;
    f->command.end = 40.5;
    f->command.seconds = 20.5;
    interval(f, end + 1, 7, 9000);
}

static char *printed(const struct sb_beside_summary *s)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    sb_beside_print(s, out);
    fclose(out);
    return text;
}

static void check_printed(const struct sb_beside_summary *s, const char *want)
{
    char *text = printed(s);

    if (!strstr(text, want))
        printf("# %s", text);
    CHECK(strstr(text, want) != NULL);
    free(text);
}

// A result file has all that the report prints.
static void is_read_from_json(void)
{
    struct sb_beside_figures f;
    struct sb_beside_summary a, b;

    fill(&f);
    sb_beside_summarize(&f, &a);
    json_t *member = sb_beside_json(&f);

    CHECK(sb_beside_read(&b, member));
    char *one = printed(&a), *two = printed(&b);

    CHECK_STR(two, one);
    check_printed(&a, "maximum (ms)           10.000       20.000     9000.000"
                      "            -\n");
    check_printed(&a, "intervals                  20           20            1"
                      "            0\n");
    check_printed(&a, "exit status 3\n");
    check_printed(&a, "7.250 s (CPU 1.500 s user, 0.000 s system, 3 MiB), "
                      "exit status 0\n");
    CHECK(!strstr(one, "there is no whole interval"));
    free(one);
    free(two);
    json_decref(member);
    sb_beside_figures_done(&f);
}

static void is_not_read_from_other_json(void)
{
    static const char *const texts[] = { "{}", "[]", "null", "{\"name\": 1}" };
    struct sb_beside_summary s;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        json_t *o = json_loads(texts[i], JSON_DECODE_ANY, NULL);

        CHECK(!sb_beside_read(&s, o));
        json_decref(o);
    }
    CHECK(!sb_beside_read(&s, NULL));
    // Members may be missing or of other types.
    json_t *o = json_loads("{\"name\": \"d\\u001b[m\", \"command\": "
                           "{\"start\": 1, \"end\": 2, \"rss_bytes\": -1, "
                           "\"status\": 1e300}, \"before\": [], "
                           "\"difference\": 3}",
        0, NULL);
    CHECK(sb_beside_read(&s, o));
    check_printed(&s, "Beside the run: d\\x1b[m, from 1.000 s to 2.000 s\n");
    check_printed(&s, "exit status unknown\n");
    json_decref(o);
}

static void says_what_is_missing(void)
{
    struct sb_beside_figures f = { .name = "dump", .pct = 95 };
    struct sb_beside_summary s;

    f.command = (struct sb_beside_command){ .started = true,
        .ended = true,
        .stopped = true,
        .end = 0.5,
        .seconds = 0.5 };
    interval(&f, 1, 100, 1);
    sb_beside_summarize(&f, &s);
    check_printed(&s, "there is no whole interval during the command: ");
    f.command.end = f.command.seconds = 9;
    interval(&f, 2, 100, 1);
    sb_beside_summarize(&f, &s);
    check_printed(&s, "there is no whole interval before or after the command");
    f.command.status = -1;
    f.command.stopped = false;
    sb_beside_summarize(&f, &s);
    check_printed(&s, "exit status unknown\n");
    sb_beside_figures_done(&f);
}

struct marks {
    char text[400];
};

static bool add(void *arg, double time, const char *kind, const char *text)
{
    struct marks *m = arg;
    size_t len = strlen(m->text);

    snprintf(
        m->text + len, sizeof(m->text) - len, "%g %s: %s\n", time, kind, text);
    return true;
}

static void check_marks(const struct sb_beside_figures *f, const char *want)
{
    struct marks m = { "" };

    CHECK(sb_beside_each_mark(f, add, &m));
    CHECK_STR(m.text, want);
}

static void marks(void)
{
    struct sb_beside_figures f = { .name = "dump" };

    check_marks(&f, "");
    f.command = (struct sb_beside_command){ .started = true, .start = 2 };
    check_marks(&f, "2 beside: dump starts\n");
    f.command.ended = true;
    f.command.end = 5;
    f.command.seconds = 3;
    check_marks(&f, "2 beside: dump starts\n"
                    "5 beside-end: dump ends after 3.000 s\n");
    f.command.status = 1;
    check_marks(&f, "2 beside: dump starts\n"
                    "5 beside-end: dump fails after 3.000 s\n");
    f.command.stopped = true;
    check_marks(&f, "2 beside: dump starts\n"
                    "5 beside-end: dump is stopped after 3.000 s\n");
}

CHECK_FILE
{
    RUN(is_read_from_json);
    RUN(is_not_read_from_other_json);
    RUN(says_what_is_missing);
    RUN(marks);
    return check_done();
}
