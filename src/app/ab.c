// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench ab TEST --a=... --b=... run: what the sides of an experiment are.
// Its course is that of a sweep (sweep.c), its answer is in results/ab.c.
#include <stdlib.h>
#include <string.h>

#include "app/app.h"

static int read_sides(
    struct sb_app *a, struct sb_app_ab *ab, struct sb_err *err)
{
    const struct sb_ab_opts *o = &a->ab_opts;
    struct sb_ab_side *side = ab->side;
    int rc = sb_ab_side_read(&side[0], "--a", o->a, "A", a->opts, err);

    if (rc == 0)
        rc = sb_ab_side_read(&side[1], "--b", o->b, "B", a->opts, err);
    if (rc == 0 && strcmp(side[0].name, side[1].name) == 0)
        rc = sb_err_set(err, SB_EUSAGE, "--a and --b: both sides are named %s",
            side[0].name);
    if (rc == 0 && (side[0].test || side[1].test) &&
        !(side[0].test && side[1].test && !a->test))
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: either both sides have a script of their own, or the command "
            "line has one for both");
    if (rc == 0 && !side[0].test && !a->test)
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: which workload? For example: "
            "sysbench ab oltp_read_write ... run");
    if (rc == 0 && side[0].n + side[1].n == 0 && !side[0].test &&
        !*o->switch_to)
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: both sides are the same: give one of them options "
            "(--b='new: --pgsql-host=db2'), or use --switch");
    return rc;
}

int sb_app_ab_init(struct sb_app *a, struct sb_app_ab *ab, struct sb_err *err)
{
    int rc = read_sides(a, ab, err);

    for (int i = 0; rc == 0 && i < 2; i++)
        rc = sb_app_setup_add(a, ab->side[i].test, ab->side[i].word,
            ab->side[i].n, &ab->given[i], err);
    return rc;
}

void sb_app_ab_done(struct sb_app_ab *ab)
{
    for (int i = 0; i < 2; i++) {
        sb_ab_side_done(&ab->side[i]);
        sb_buf_done(&ab->given[i]);
    }
    sb_ab_done(&ab->ab);
}

char *sb_app_ab_switch(
    const struct sb_app *a, const struct sb_app_ab *ab, unsigned side)
{
    static const char mark[] = "{side}";
    const char *from = a->ab_opts.switch_to, *found;
    struct sb_buf text = { 0 };

    if (!*from)
        return NULL;
    for (; (found = strstr(from, mark)); from = found + sizeof(mark) - 1) {
        sb_buf_add(&text, from, (size_t)(found - from));
        sb_buf_addf(&text, "%s", ab->side[side].name);
    }
    sb_buf_addf(&text, "%s", from);
    return text.data;
}
