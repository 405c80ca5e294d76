// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "results/cmd.h"

// The help of every command has its usage and what it does.
static void every_command_has_help(void)
{
    static const struct sb_cmd *const cmds[] = { &sb_cmd_compare, &sb_cmd_merge,
        &sb_cmd_report, &sb_cmd_show };
    struct sb_opts *opts = sb_opts_new();

    setenv("COLUMNS", "1000", 1);
    for (size_t i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
        char text[4096] = "", usage[256];
        FILE *out = fmemopen(text, sizeof(text), "w");

        snprintf(usage, sizeof(usage), "Usage: sysbench %s", cmds[i]->name);
        sb_cmd_help(cmds[i], opts, out);
        fclose(out);
        CHECK(strncmp(text, usage, strlen(usage)) == 0);
        CHECK(strstr(text, cmds[i]->title));
        CHECK(cmds[i]->min_files >= 1);
        CHECK(cmds[i]->run);
    }
    sb_opts_free(opts);
    unsetenv("COLUMNS");
}

CHECK_FILE
{
    RUN(every_command_has_help);
    return check_done();
}
