// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/sampler.h"

static const struct sb_opt sampler_opts[] = {
    { .name = "server-stats",
        .type = SB_OPT_LIST,
        .offset = offsetof(struct sb_sampler_opts, stats),
        .def = "auto",
        .flags = SB_OPT_YIELDS,
        .help = "counters of the server to sample in each interval: off, "
                "default (a short list), all, patterns such as "
                "'Innodb_row_lock*'; auto: default if a report shows them, "
                "otherwise off" },
    { 0 },
};

const struct sb_opt_table sb_sampler_opt_table = {
    .title = "Server statistics options",
    .opts = sampler_opts,
};

int sb_sampler_check(const struct sb_sampler_opts *o, struct sb_err *err)
{
    int rc = sb__picks_check(&o->stats, err);

    return rc < 0 ? rc : 0;
}
