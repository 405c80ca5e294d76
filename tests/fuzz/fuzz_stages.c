// SPDX-License-Identifier: GPL-2.0-or-later
//
// --stages: the first byte is --threads and chooses --rate, the rest is the
// text. What was accepted is consistent.
#include <stdlib.h>
#include <string.h>

#include "run/stages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

static void check_users(const struct sb_stages *s, uint64_t ns)
{
    uint32_t n = sb_stages_users(s, ns);

    check(n <= s->max_users);
    for (uint32_t id = n > 0 ? n - 1 : 0; id <= n; id++) {
        uint64_t until, later;

        check(sb_stages_user(s, id, ns, &until) == (id < n));
        if (until == UINT64_MAX)
            continue;
        check(until > ns && until <= s->ns);
        check(sb_stages_user(s, id, until, &later) == (id >= n));
    }
}

static void check_stages(const struct sb_stages *s)
{
    uint64_t ns = 0;

    check(s->n > 0 && s->n <= SB_STAGES_MAX && s->max_users > 0);
    for (unsigned i = 0; i < s->n; i++) {
        const struct sb_stage *a = &s->stage[i];

        check(a->ns > 0 && a->name[0]);
        check(memchr(a->name, 0, sizeof(a->name)) != NULL);
        check(a->rate_from >= 0 && a->rate_from <= 1e7);
        check(a->rate_to >= 0 && a->rate_to <= 1e7);
        check(sb_stages_at(s, ns) == i);
        check_users(s, ns);
        check_users(s, ns + a->ns / 3);
        ns += a->ns;
    }
    check(ns == s->ns && ns <= UINT64_C(10000000000000000));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct sb_stages s;
    struct sb_mix mix;
    struct sb_err err = { 0 };

    if (size < 1)
        return 0;
    char *text = malloc(size);
    if (!text)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (sb_mix_parse(&mix, data[0] & 2 ? text : "a:8,b", &err))
        mix.n = 0;
    int rc = sb_stages_parse(
        &s, text, data[0], data[0] & 1 ? data[0] : 0, &mix, &err);
    if (rc == 0)
        check_stages(&s);
    else
        check(err.code == rc && err.msg[0]);
    free(text);
    return 0;
}
