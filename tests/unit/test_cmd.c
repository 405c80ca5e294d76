// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "check.h"
#include "results/cmd.h"

static void commands_are_found_by_name(void)
{
    CHECK(sb_cmd_find("show") == &sb_cmd_show);
    CHECK(sb_cmd_find("run") == NULL);
    CHECK(sb_cmd_find("") == NULL);
}

// The help of every command has its usage and what it does.
static void every_command_has_help(void)
{
    struct sb_opts *opts = sb_opts_new();

    setenv("COLUMNS", "1000", 1);
    for (size_t i = 0; sb_cmds[i]; i++) {
        char text[4096] = "", usage[256];
        FILE *out = fmemopen(text, sizeof(text), "w");

        snprintf(usage, sizeof(usage), "Usage: sysbench %s", sb_cmds[i]->name);
        sb_cmd_help(sb_cmds[i], opts, out);
        fclose(out);
        CHECK(strncmp(text, usage, strlen(usage)) == 0);
        CHECK(strstr(text, sb_cmds[i]->title));
        CHECK(sb_cmds[i]->min_files >= 1);
        CHECK(sb_cmds[i]->run);
    }
    sb_opts_free(opts);
    unsetenv("COLUMNS");
}

CHECK_FILE
{
    RUN(commands_are_found_by_name);
    RUN(every_command_has_help);
    return check_done();
}
