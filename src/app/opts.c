// SPDX-License-Identifier: GPL-2.0-or-later
//
// The options of the program itself.
#include "app/app.h"

#define AT(field) offsetof(struct sb_app_opts, field)

static const struct sb_opt app_options[] = {
    { .name = "test",
        .type = SB_OPT_STRING,
        .offset = AT(test),
        .flags = SB_OPT_HIDDEN | SB_OPT_DEPRECATED,
        .help = "the name of the script as the first argument" },
    { .name = "config-file",
        .type = SB_OPT_STRING,
        .offset = AT(config_file),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_FILENAME,
        .help = "read options from this file, one name=value per line; "
                "lines below [WORKLOAD] apply to that workload only" },
    { .name = "config-strict",
        .type = SB_OPT_BOOL,
        .offset = AT(config_strict),
        .flags = SB_OPT_YIELDS,
        .help = "treat unknown options in --config-file as errors; always "
                "on for files with [WORKLOAD] sections" },
    { .name = "print-config",
        .type = SB_OPT_BOOL,
        .offset = AT(print_config),
        .flags = SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "print all options with their values and sources, and exit" },
    { .name = "list",
        .type = SB_OPT_BOOL,
        .offset = AT(list),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "print the workloads, drivers and built-in tests, and exit" },
    { .name = "new-workload",
        .type = SB_OPT_STRING,
        .offset = AT(new_workload),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_YIELDS,
        .help = "write a complete workload to copy and change to the new file "
                "NAME.lua, and exit" },
    { .name = "luajit-cmd",
        .type = SB_OPT_STRING,
        .offset = AT(luajit_cmd),
        .help = "LuaJIT command, same as luajit -j: on, off, v, p=..." },
    { .name = "help",
        .type = SB_OPT_STRING,
        .offset = AT(help),
        .def = "off",
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE | SB_OPT_SWITCH,
        .help = "print the most common options and exit; --help=SECTION: those "
                "of a section, --help=all: all, WORKLOAD --help: those of the "
                "workload" },
    { .name = "version",
        .type = SB_OPT_BOOL,
        .offset = AT(version),
        .flags = SB_OPT_COMMON | SB_OPT_NOFILE,
        .help = "print version and exit" },
    { 0 },
};

const struct sb_opt_table sb_app_opt_table = {
    .title = "Program options",
    .section = "program",
    .opts = app_options,
};

const struct sb_app_table sb_app_tables[] = {
    { &sb_run_opt_table, offsetof(struct sb_app, run), false },
    { &sb_rate_opt_table, offsetof(struct sb_app, run), false },
    { &sb_worker_opt_table, offsetof(struct sb_app, run), false },
    { &sb_dist_opt_table, offsetof(struct sb_app, dist), false },
    { &sb_text_opt_table, offsetof(struct sb_app, text_opts), false },
    { &sb_report_opt_table, offsetof(struct sb_app, report_opts), false },
    { &sb_mix_opt_table, offsetof(struct sb_app, o), true },
    { &sb_sweep_opt_table, offsetof(struct sb_app, sweep_opts), false },
    { &sb_beside_opt_table, offsetof(struct sb_app, beside_opts), false },
    { &sb_rank_opt_table, offsetof(struct sb_app, rank_opts), false },
    { &sb_db_opt_table, offsetof(struct sb_app, db), false },
    { &sb_sampler_opt_table, offsetof(struct sb_app, sampler_opts), false },
    { &sb_app_opt_table, offsetof(struct sb_app, o), true },
    { NULL, 0, false },
};
