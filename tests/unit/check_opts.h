// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the tests of the option registry: a table with an option of every
// type, and one registry, target and argument vector for each test.
#ifndef CHECK_OPTS_H
#define CHECK_OPTS_H

#include <stdlib.h>

#include "base/opts.h"
#include "check.h"

struct sample {
    bool debug;
    int64_t threads, size, time, delay;
    double ratio;
    const char *host, *password, *file, *url;
    struct sb_opt_list ports;
    int mode;
    bool threads_given, host_given;
};

#define AT(field) .offset = offsetof(struct sample, field)

static const char *const modes[] = { "auto", "disable", NULL };

static const struct sb_opt sample_opts[] = {
    { "num-threads", SB_OPT_INT, .flags = SB_OPT_DEPRECATED,
        .alias_of = "threads", .def = "1" },
    { "threads", SB_OPT_INT, AT(threads), .def = "1", .min = 1,
        .given = offsetof(struct sample, threads_given),
        .help = "number of threads to use" },
    { "table-size", SB_OPT_SIZE, AT(size), .def = "64K", .min = 1024,
        .max = 1048576, .help = "size" },
    { "time", SB_OPT_DURATION, AT(time), .def = "10", .max = 3600 },
    { "delay", SB_OPT_DURATION, AT(delay), .flags = SB_OPT_USEC,
        .help = "wait" },
    { "ratio", SB_OPT_DOUBLE, AT(ratio), .def = "1.5" },
    { "host", SB_OPT_STRING, AT(host), .help = "server",
        .given = offsetof(struct sample, host_given) },
    { "db-password", SB_OPT_STRING, AT(password), .def = "",
        .flags = SB_OPT_SECRET, .help = "password" },
    { "config-file", SB_OPT_STRING, AT(file),
        .flags = SB_OPT_NOFILE | SB_OPT_FILENAME, .help = "settings" },
    { "ports", SB_OPT_LIST, AT(ports), .def = "3306", .help = "ports" },
    { "mode", SB_OPT_ENUM, AT(mode), .def = "auto", .choices = modes,
        .help = "mode" },
    { "debug", SB_OPT_BOOL, AT(debug), .help = "more" },
    { "url", SB_OPT_STRING, AT(url), .flags = SB_OPT_HIDDEN },
    { .name = NULL },
};
static const struct sb_opt_table sample = { .title = "Sample options",
    .opts = sample_opts };

// Each test has one registry, one target and one argument vector.
static struct sb_opts *o;
static struct sample v;
static struct sb_err err;
static char *args[16];
static int nargs;

static inline void give(const char *arg)
{
    args[nargs++] = strdup(arg);
}

static inline void begin(void)
{
    o = sb_opts_new();
    memset(&v, 0xee, sizeof(v));
    sb_err_clear(&err);
    nargs = 0;
    give("sysbench");
}

static inline int read_args(void)
{
    return sb_opts_argv(o, nargs, args, &err);
}

static inline int add(void)
{
    return sb_opts_add(o, &sample, &v, &err);
}

static inline void end(void)
{
    sb_opts_free(o);
    while (nargs)
        free(args[--nargs]);
}

// Sets one option in a fresh registry; returns the error message, or "".
static inline const char *try(const char *arg)
{
    begin();
    give(arg);
    if (read_args() == 0)
        add();
    end();
    return err.msg;
}

static inline int env(const char *a, const char *b)
{
    char *vars[] = { (char *)a, (char *)b, NULL };

    return sb_opts_env(o, vars, &err);
}

static inline int file(const char *text)
{
    return sb_opts_file_text(o, "f.cnf", text, strlen(text), &err);
}

static inline const char *text_of(const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(o, name, &view) ? view.text : NULL;
}

static inline const char *origin_of(const char *name)
{
    struct sb_opt_view view;

    return sb_opts_find(o, name, &view) ? view.origin : NULL;
}

static inline int script(
    const char *name, enum sb_opt_type type, const char *def)
{
    return sb_opts_add_script(
        o, "x.lua options", name, "help", type, def, &err);
}

#endif
