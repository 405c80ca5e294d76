// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/process.h"
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
    { .name = "server-pid",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct sb_sampler_opts, pid),
        .flags = SB_OPT_YIELDS,
        .help = "id of the server's process on this machine, whose processor "
                "time, memory and disk I/O are sampled with those of its "
                "children; auto: the process that listens at the address" },
    { 0 },
};

const struct sb_opt_table sb_sampler_opt_table = {
    .title = "Server statistics options",
    .section = "server",
    .opts = sampler_opts,
};

int sb_sampler_check(const struct sb_sampler_opts *o, struct sb_err *err)
{
    struct sb__process p;
    int rc = sb__picks_check(&o->stats, err);

    return rc < 0 ? rc : sb__process_init(&p, o->pid, err);
}
