// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>

static uintptr_t fetched[200];
static unsigned n_fetched;

static void fetch(uintptr_t address)
{
    fetched[n_fetched++] = address;
}

#define SB_PREFETCH_FETCH(address) fetch(address)
#include "loop/prefetch.h"

#include "check.h"

static void fetch_all(const struct sb_prefetch *p)
{
    n_fetched = 0;
    sb_prefetch_all(p);
}

static void a_range_is_fetched_by_lines(void)
{
    static const struct {
        uintptr_t start;
        size_t size;
        uintptr_t first;
        unsigned n;
    } cases[] = {
        { 0x1000, 1, 0x1000, 1 },
        { 0x1000, 64, 0x1000, 1 },
        { 0x1000, 65, 0x1000, 2 },
        { 0x103f, 1, 0x1000, 1 },
        { 0x103f, 2, 0x1000, 2 },
        { 0x1020, 320, 0x1000, 6 },
        { 0x1040, 63 * 64, 0x1040, 63 },
        { 0x1040, 10000, 0x1040, 63 },
        { 0x1040, 0, 0x1040, 0 },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sb_prefetch p = { { 0 } };

        sb_prefetch_set(
            &p, SB_PREFETCH_OWNER, (void *)cases[i].start, cases[i].size);
        fetch_all(&p);
        CHECK_INT(n_fetched, cases[i].n);
        for (unsigned k = 0; k < n_fetched; k++)
            CHECK_INT(fetched[k], cases[i].first + k * 64);
    }
}

static void each_slot_has_its_last_range(void)
{
    struct sb_prefetch p = { { 0 } };

    fetch_all(&p);
    CHECK_INT(n_fetched, 0);
    for (int i = 0; i < SB_PREFETCH_SLOTS; i++)
        sb_prefetch_set(&p, (unsigned)i, (void *)0x100, 640);
    for (int i = 0; i < SB_PREFETCH_SLOTS; i++)
        sb_prefetch_set(
            &p, (unsigned)i, (void *)(uintptr_t)(0x1000 + 64 * i), 64);
    fetch_all(&p);
    CHECK_INT(n_fetched, SB_PREFETCH_SLOTS);
    for (int i = 0; i < SB_PREFETCH_SLOTS; i++)
        CHECK_INT(fetched[i], 0x1000 + 64 * i);
}

CHECK_FILE
{
    RUN(a_range_is_fetched_by_lines);
    RUN(each_slot_has_its_last_range);
    return check_done();
}
