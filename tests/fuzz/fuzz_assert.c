// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parser of --assert, and JUnit XML with the limits that it accepts.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "out/assert.h"

static void check_limits(struct sb_asserts *a)
{
    struct sb_snap snap = { 0 };
    struct sb_report r;
    char value[64];

    sb_report_fill(&r, &snap, 1, false, 1);
    sb_asserts_interval(a, &r);
    sb_asserts_final(a, &r, &(struct sb_assert_facts){ 0 });
    for (unsigned i = 0; i < a->n; i++) {
        const struct sb_limit *l = &a->limit[i];

        assert(l->value >= 0 && l->after >= 0 && *l->text);
        assert(!l->verdict.passed || l->verdict.known);
        assert((l->of == SB_ASSERT_OP || l->of == SB_ASSERT_RESULT) ==
               (l->name != NULL));
        assert(!l->name || *l->name);
        assert(*sb_assert_value(l, value, sizeof(value)));
    }
}

// Nothing that is in a limit may be markup.
static void check_xml(const struct sb_asserts *a)
{
    const struct sb_junit_run run = { .test = "t", .host = "h", .reason = "x" };
    struct sb_buf xml;
    unsigned elements = 0;

    sb_buf_init(&xml, 0);
    assert(sb_junit_write(&xml, &run, a, NULL) == 0);
    for (size_t i = 0; i < xml.len; i++) {
        elements += xml.data[i] == '<';
        assert((unsigned char)xml.data[i] >= ' ' || xml.data[i] == '\n');
    }
    // Per limit: <testcase>, <failure/> or <system-out> and its end, the end.
    assert(elements >= 5 + 3 * a->n && elements <= 6 + 4 * a->n);
    sb_buf_done(&xml);
}

// The names of a run, or none: size decides, so that the corpus has both.
static const struct sb_assert_names *names_for(size_t size)
{
    static const char *const stage[] = { "soak", "threads=8", "a.b", "lag" };
    static const char *const part[] = { "shop", "report" };
    static struct sb_assert_names names = {
        .stage = stage, .nstages = 4, .part = part, .nparts = 2
    };

    names.beside = names.alone = size % 3 == 1;
    return size % 3 ? &names : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct sb_err err = { 0 };
    struct sb_asserts a;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (sb_asserts_init(&a, text, names_for(size), &err) == 0) {
        check_limits(&a);
        check_xml(&a);
        sb_asserts_done(&a);
    } else {
        assert(err.code && *err.msg && a.n == 0 && !a.limit);
    }
    free(text);
    return 0;
}
