// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/errnum.h"

#include "check.h"

#define COUNT 2u

static const struct sb_errnum table[] = {
    { 7, 70, "first" },
    { -3, 0, "" },
};

static void known(void)
{
    CHECK(sb_errnum_find(table, COUNT, 7) == &table[0]);
    CHECK(sb_errnum_find(table, COUNT, -3) == &table[1]);
    CHECK_INT(sb_errnum_kind(table, COUNT, 7, 1), 70);
    CHECK_INT(sb_errnum_kind(table, COUNT, -3, 1), 0);
    CHECK_STR(sb_errnum_hint(table, COUNT, 7), "first");
    CHECK_STR(sb_errnum_hint(table, COUNT, -3), "");
}

static void unknown(void)
{
    CHECK(!sb_errnum_find(table, COUNT, 0));
    CHECK(!sb_errnum_find(table, 1, -3));
    CHECK_INT(sb_errnum_kind(table, COUNT, 8, 1), 1);
    CHECK_STR(sb_errnum_hint(table, COUNT, 8), "");
}

CHECK_FILE
{
    RUN(known);
    RUN(unknown);
    return check_done();
}
