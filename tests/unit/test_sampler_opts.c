// SPDX-License-Identifier: GPL-2.0-or-later
//
// --server-stats and --server-pid: their fields, and values that are refused.
#include "db/sampler.h"

#include <unistd.h>

#include "base/opts.h"
#include "check.h"

static struct sb_opts *o;
static struct sb_sampler_opts v;
static struct sb_err err;

static void begin(void)
{
    memset(&v, 0xee, sizeof(v));
    o = sb_opts_new();
    CHECK_INT(sb_opts_add(o, &sb_sampler_opt_table, &v, &err), 0);
}

// Sets one option and checks both.
static int check(const char *name, const char *value)
{
    sb_err_clear(&err);
    CHECK_INT(sb_opts_set(o, name, value, SB_SRC_CMDLINE, &err), 0);
    return sb_sampler_check(&v, &err);
}

static void have_defaults(void)
{
    begin();
    CHECK_INT(v.stats.count, 1);
    CHECK_STR(v.stats.item[0], "auto");
    CHECK_STR(v.pid, "");
    CHECK_INT(sb_sampler_check(&v, &err), 0);
    sb_opts_free(o);
}

static void patterns_are_combined(void)
{
    begin();
    CHECK_INT(check("server-stats", "default,Com_*"), 0);
    CHECK_INT(v.stats.count, 2);
    CHECK_STR(v.stats.item[1], "Com_*");
    CHECK_INT(check("server-stats", "off"), 0);
    CHECK_INT(check("server-stats", "Com_*,off"), SB_EUSAGE);
    CHECK(strstr(err.msg, "--server-stats: 'off'"));
    CHECK_INT(check("server-stats", "auto,all"), SB_EUSAGE);
    sb_opts_free(o);
}

static void the_process_exists(void)
{
    char self[24];

    begin();
    snprintf(self, sizeof(self), "%ld", (long)getpid());
    CHECK_INT(check("server-pid", self), 0);
    CHECK_STR(v.pid, self);
    CHECK_INT(check("server-pid", "auto"), 0);
    CHECK_INT(check("server-pid", "mysqld"), SB_EUSAGE);
    CHECK(strstr(err.msg, "mysqld"));
    CHECK_INT(check("server-pid", "0"), SB_EUSAGE);
    // Above the largest id that Linux assigns (2^22).
    CHECK_INT(check("server-pid", "1000000000"), SB_EUSAGE);
    sb_opts_free(o);
}

CHECK_FILE
{
    RUN(have_defaults);
    RUN(patterns_are_combined);
    RUN(the_process_exists);
    return check_done();
}
