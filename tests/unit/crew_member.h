// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef CREW_MEMBER_H
#define CREW_MEMBER_H

#include "check.h"
#include "run/crew.h"

// As the functions of the crew, for a user in this thread.

static inline int wait_at_barrier(struct sb_crew *c)
{
    struct sb_waiter w;
    int rc = sb_waiter_init(&w);

    CHECK_INT(rc, 0);
    rc = sb_crew_barrier(c, &w);
    sb_waiter_done(&w);
    return rc;
}

static inline void settle_with(struct sb_crew *c)
{
    struct sb_waiter w;

    CHECK_INT(sb_waiter_init(&w), 0);
    sb_crew_settle(c, &w);
    sb_waiter_done(&w);
}

static inline double add_to(struct sb_crew *c, const char *name, double n)
{
    struct sb_waiter w;
    double before;

    CHECK_INT(sb_waiter_init(&w), 0);
    before = sb_crew_add(c, &w, name, n);
    sb_waiter_done(&w);
    return before;
}

#endif
