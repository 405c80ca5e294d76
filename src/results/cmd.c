// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/cmd.h"

#include <string.h>

#include "base/opts.h"

const struct sb_cmd *const sb_cmds[] = { &sb_cmd_compare, &sb_cmd_merge,
    &sb_cmd_report, &sb_cmd_show, NULL };

const struct sb_cmd *sb_cmd_find(const char *name)
{
    for (size_t i = 0; sb_cmds[i]; i++)
        if (strcmp(sb_cmds[i]->name, name) == 0)
            return sb_cmds[i];
    return NULL;
}

void sb_cmd_help(
    const struct sb_cmd *cmd, const struct sb_opts *opts, FILE *out)
{
    fprintf(out, "Usage: sysbench ");
    sb_wrap(out, 16, 4, cmd->usage);
    fprintf(out, "\n");
    sb_wrap(out, 0, 0, cmd->title);
    if (!cmd->opts)
        return;
    fprintf(out, "\n");
    sb_opts_help(opts, cmd->opts, 0, out);
}
