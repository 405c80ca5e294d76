// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the commands on result files: their help, reading a file, printing
// text of one.
#include "results/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "base/log.h"
#include "base/opts.h"
#include "measure/compare.h"
#include "out/json_parts.h"

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

static int check_file(const struct sb_result_file *f, const struct sb_err *err)
{
    if (err->code) {
        char line[4 * sizeof(err->msg)];

        // A name may contain line feeds.
        sb_escape_line(line, sizeof(line), err->msg);
        sb_log(SB_LOG_FATAL, "%s", line);
        return err->code;
    }
    if (f->version > SB_RESULT_VERSION)
        sb_log(SB_LOG_WARNING,
            "%s is a result file of version %d; this program reads version %d "
            "and ignores newer members",
            f->path, f->version, SB_RESULT_VERSION);
    return 0;
}

int sb__cmd_read(struct sb_result_file *f, const char *path)
{
    struct sb_err err = { 0 };

    sb_result_read(f, path, &err);
    return check_file(f, &err);
}

int sb__cmd_read_from(struct sb_result_file *f, FILE *in, const char *path)
{
    struct sb_err err = { 0 };

    sb_result_read_from(f, in, path, &err);
    return check_file(f, &err);
}

bool sb__cmd_is_output(const char *path, const char *output)
{
    struct stat a, b;

    // Pipes and devices are not replaced.
    if (stat(path, &a) || stat(output, &b) || !S_ISREG(a.st_mode) ||
        a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return false;
    sb_log(SB_LOG_FATAL, "cannot write %s: it is also an input", output);
    return true;
}

static void print_escaped(FILE *out, const char *text,
    size_t (*escape)(char *out, size_t size, const char *text))
{
    size_t size = 4 * strlen(text) + 1;
    char *safe = malloc(size);

    // Without memory there is no text, but no unsafe one either.
    if (!safe)
        return;
    escape(safe, size, text);
    fputs(safe, out);
    free(safe);
}

void sb__cmd_print(FILE *out, const char *text)
{
    print_escaped(out, text, sb_escape);
}

void sb__cmd_print_line(FILE *out, const char *text)
{
    print_escaped(out, text, sb_escape_line);
}

const char *sb__cmd_value_of(const char *text, const char *option)
{
    const char *sign = strchr(text, '=');
    char name[128];

    if (!sign || (size_t)(sign - text) >= sizeof(name))
        return NULL;
    snprintf(name, sizeof(name), "%.*s", (int)(sign - text), text);
    return sb_opts_same_name(name, option) ? sign + 1 : NULL;
}

json_t *sb_estimate_json(const struct sb_estimate *e, bool runs)
{
    json_t *o = json_pack("{s:o,s:o,s:o}", "value", sb_json_number(e->value),
        "low", sb_json_number(e->low), "high", sb_json_number(e->high));

    if (o && runs && json_object_set_new(o, "runs", json_integer(e->runs))) {
        json_decref(o);
        return NULL;
    }
    return o;
}
