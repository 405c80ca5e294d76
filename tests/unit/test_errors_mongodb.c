// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "check.h"
#include "drivers/mongodb/internal.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const int restart[] = { 24, 46, 112, 117, 134, 150, 175, 239, 246, 249,
    250, 251, 262, 267, 272, 365, 407, 453, 462, 12586, 12587, 13388, 91331 };
static const int lost[] = { 6, 7, 89, 91, 133, 189, 9001, 10058, 10107, 11600,
    11602, 13435, 13436 };
static const int other[] = { 0, 2, 13, 18, 26, 48, 50, 59, 64, 100, 121, 317,
    11000, 11601, 99999 };

static void codes(void)
{
    for (size_t i = 0; i < COUNT(restart); i++)
        CHECK_INT(sbmo_classify(restart[i]), SB_ERESTART);
    for (size_t i = 0; i < COUNT(lost); i++)
        CHECK_INT(sbmo_classify(lost[i]), SB_ELOST);
    for (size_t i = 0; i < COUNT(other); i++)
        CHECK_INT(sbmo_classify(other[i]), SB_EQUERY);
    CHECK_STR(sbmo_hint(11000), "");
    CHECK(strstr(sbmo_hint(100), "more servers") != NULL);
}

static void no_reply(void)
{
    struct sbmo_complaint c;

    CHECK(!sbmo_read_complaint(&c, (const uint8_t *)"", 0));
    CHECK_INT(c.native, 0);
    CHECK_STR(c.text, "");
}

CHECK_FILE
{
    RUN(codes);
    RUN(no_reply);
    return check_done();
}
