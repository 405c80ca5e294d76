// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/decimal.ffi.h"
#include "check.h"

// The text between two marks, so that characters beside it would be seen.
static const char *text(double value, int digits)
{
    static char out[40];
    int n;

    memset(out, '.', sizeof(out) - 1);
    out[sizeof(out) - 1] = '\0';
    n = sb_decimal(out + 1, value, digits);
    out[n + 2] = '\0';
    return out;
}

static void integers(void)
{
    CHECK_STR(text(0, 1), ".0.");
    CHECK_STR(text(7, 1), ".7.");
    CHECK_STR(text(10, 1), ".10.");
    CHECK_STR(text(1234567890, 1), ".1234567890.");
    CHECK_STR(text(0x1p53, 1), ".9007199254740992.");
    CHECK_STR(text(2.75, 1), ".2.");
}

static void minimum_of_digits(void)
{
    CHECK_STR(text(0, 2), ".00.");
    CHECK_STR(text(5, 2), ".05.");
    CHECK_STR(text(123, 2), ".123.");
    CHECK_STR(text(1, 20), ".00000000000000000001.");
}

CHECK_FILE
{
    RUN(integers);
    RUN(minimum_of_digits);
    return check_done();
}
