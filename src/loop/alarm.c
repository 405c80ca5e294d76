// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop/alarm.h"

// Steps up and down as parts of the margin; their ratio sets the share of
// wake-ups that are later than the margin.
#define UP   8
#define DOWN (20 * UP)

void sb_alarm_learn(struct sb_alarm *a, uint64_t late)
{
    uint64_t m = sb_alarm_margin(a);

    if (late > m)
        m += m / UP;
    else
        m -= m / DOWN;
    if (m < SB_ALARM_MIN)
        m = SB_ALARM_MIN;
    if (m > SB_ALARM_MAX)
        m = SB_ALARM_MAX;
    a->margin = m;
}
