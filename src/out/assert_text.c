// SPDX-License-Identifier: GPL-2.0-or-later
//
// The limits of --assert as text.
#include <math.h>
#include <string.h>

#include "kit/units.h"
#include "out/assert_private.h"

const char *sb_assert_unit(const struct sb_limit *l)
{
    switch (l->figure->unit) {
    case SB_ASSERT_MS:
        return "ms";
    case SB_ASSERT_PER_S:
        return "/s";
    case SB_ASSERT_PERCENT:
        return "%";
    case SB_ASSERT_COUNT:
        break;
    }
    return "";
}

// More decimals if the usual ones would show the value and the limit as equal.
static int decimals(const struct sb_limit *l, int usual)
{
    double far = fabs(l->verdict.value - l->value);

    while (far > 0 && usual < 6 && far < 0.5 * pow(10, -usual))
        usual++;
    return usual;
}

const char *sb_assert_value(const struct sb_limit *l, char *out, size_t size)
{
    const struct sb_verdict *v = &l->verdict;

    if (!v->known)
        snprintf(out, size, "no value");
    else if (l->figure->unit == SB_ASSERT_COUNT)
        snprintf(out, size, "%.0f", v->value);
    else if (l->figure->unit == SB_ASSERT_MS)
        snprintf(out, size, "%.*f ms",
            decimals(l, sb_units_ms_decimals(v->value, 2)), v->value);
    else
        snprintf(
            out, size, "%.*f %s", decimals(l, 2), v->value, sb_assert_unit(l));
    return out;
}

void sb_asserts_text(const struct sb_asserts *a, FILE *out)
{
    int width = (int)strlen("limit");
    char value[64];

    if (a->n == 0)
        return;
    for (unsigned i = 0; i < a->n; i++)
        if ((int)strlen(a->limit[i].text) > width)
            width = (int)strlen(a->limit[i].text);
    fprintf(out, "Limits:\n");
    for (unsigned i = 0; i < a->n; i++) {
        const struct sb_limit *l = &a->limit[i];
        const struct sb_verdict *v = &l->verdict;

        fprintf(out, "    %-*s  %16s  %s%s%s%s\n", width, l->text,
            sb_assert_value(l, value, sizeof(value)),
            v->passed ? "kept" : "not kept", *v->why ? " (" : "", v->why,
            *v->why ? ")" : "");
    }
    fprintf(out, "\n");
}
