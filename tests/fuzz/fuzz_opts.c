// SPDX-License-Identifier: GPL-2.0-or-later
//
// The input has one argument per line; a line that begins with '$' is an
// environment variable. The first byte says before which line the option table
// is added.
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/opts.h"
#include "fuzz.h"

#define LINES_MAX 64

struct target {
    bool b;
    int64_t i, size, duration, usec;
    double d;
    const char *s, *secret;
    struct sb_opt_list l;
    int e;
};

#define AT(field) .offset = offsetof(struct target, field)

static const char *const choices[] = { "auto", "disable", NULL };

static const struct sb_opt opts[] = {
    { "bool", SB_OPT_BOOL, AT(b) },
    { "int", SB_OPT_INT, AT(i), .def = "5", .min = 1, .max = 1e6 },
    { "size", SB_OPT_SIZE, AT(size), .def = "1K" },
    { "duration", SB_OPT_DURATION, AT(duration), .max = 1e9 },
    { "usec", SB_OPT_DURATION, AT(usec), .flags = SB_OPT_USEC },
    { "double", SB_OPT_DOUBLE, AT(d), .min = -1, .max = 1 },
    { "string", SB_OPT_STRING, AT(s) },
    { "secret", SB_OPT_STRING, AT(secret), .flags = SB_OPT_SECRET },
    { "list", SB_OPT_LIST, AT(l) },
    { "enum", SB_OPT_ENUM, AT(e), .choices = choices },
    { "old-int", SB_OPT_INT, .alias_of = "int", .flags = SB_OPT_DEPRECATED },
    { .name = NULL },
};
static const struct sb_opt_table table = { .title = "Options", .opts = opts };

static void ignore(const char *text)
{
    assert(text);
}

static int check_view(void *arg, const struct sb_opt_view *view)
{
    const struct target *t = arg;

    assert(view->text && view->origin && view->value);
    if (view->opt == &opts[7])
        assert(strcmp(view->text, *t->secret ? "***" : "") == 0);
    return 0;
}

static size_t split(char *text, char **line)
{
    size_t n = 0;

    for (char *save, *p = strtok_r(text, "\n", &save); p && n < LINES_MAX;
         p = strtok_r(NULL, "\n", &save))
        line[n++] = p;
    return n;
}

static void add_line(struct sb_opts *o, char *line)
{
    char *argv[] = { (char *)"sysbench", line, NULL };
    char *envp[] = { line + 1, NULL };
    struct sb_err err;

    if (*line == '$')
        sb_opts_env(o, envp, &err);
    else
        sb_opts_argv(o, 2, argv, &err);
}

static void finish(struct sb_opts *o, struct target *t)
{
    FILE *null = fopen("/dev/null", "w");
    struct sb_err err;

    sb_opts_add_script(o, "x", "script", "", SB_OPT_LIST, "a,b", &err);
    sb_opts_check(o, ignore, &err);
    assert(t->s && t->secret && t->e >= 0 && t->e < 2);
    assert(t->i >= 1 && t->i <= 1000000 && t->size >= 0);
    assert(t->d >= -1 && t->d <= 1 && t->duration >= 0);
    sb_opts_each(o, check_view, t);
    if (null) {
        sb_opts_help(o, &table, 0, null);
        sb_opts_print_config(o, null);
        fclose(null);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sb_opts *o = sb_opts_new();
    char *text = calloc(1, size + 1), *line[LINES_MAX];
    struct target t = { .s = "", .secret = "", .i = 1 };
    size_t count, when;
    struct sb_err err;

    sb_log_set_level(-1);
    if (size && o && text) {
        memcpy(text, data + 1, size - 1);
        count = split(text, line);
        when = data[0] % (count + 1);
        for (size_t i = 0; i <= count; i++) {
            if (i == when)
                sb_opts_add(o, &table, &t, &err);
            if (i < count)
                add_line(o, line[i]);
        }
        finish(o, &t);
    }
    free(text);
    sb_opts_free(o);
    return 0;
}
