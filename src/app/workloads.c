// SPDX-License-Identifier: GPL-2.0-or-later
//
// The workloads in a folder, and those that are installed: --list,
// --new-workload, and suggestions after mistyped names.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/log.h"
#include "base/near.h"
#include "kit/buf.h"

// Folders of the installed workloads. A workload in a subfolder may have the
// same name as one in the top folder.
static const char *const folders[] = { "", "mongodb/" };

#define FOLDERS (sizeof(folders) / sizeof(folders[0]))

const char *sb_app_workload_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;

    for (size_t i = 0; i < FOLDERS; i++) {
        size_t len = strlen(folders[i]);

        if (len > 0 && (size_t)(name - path) >= len &&
            strncmp(name - len, folders[i], len) == 0)
            return name - len;
    }
    return name;
}

void sb_app_each_installed(const struct sb_app *a,
    void (*visit)(void *arg, const char *name, const char *path), void *arg)
{
    for (size_t i = 0; i < FOLDERS; i++)
        sb_app_each_workload(a->paths.workloads, folders[i], visit, arg);
}

void sb_app_each_workload(const char *base, const char *sub,
    void (*visit)(void *arg, const char *name, const char *path), void *arg)
{
    char dir[4200], path[4500], full[300];
    struct dirent **entry = NULL;

    snprintf(dir, sizeof(dir), "%s/%s", base, sub);
    int n = scandir(dir, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name, *dot = strrchr(name, '.');

        snprintf(path, sizeof(path), "%s/%s", dir, name);
        if (dot && strcmp(dot, ".lua") == 0) {
            snprintf(
                full, sizeof(full), "%s%.*s", sub, (int)(dot - name), name);
            visit(arg, full, path);
        }
        free(entry[i]);
    }
    free(entry);
}

// --list ----------------------------------------------------------------------

// Prints one line per driver: its title, or why it cannot be loaded.
static int show_driver(void *arg, const char *name,
    const struct sb_driver *driver, const char *problem)
{
    FILE *out = arg;

    if (driver)
        fprintf(out, "  %s - %s\n", name, driver->title);
    else
        fprintf(out, "  %s - cannot be used: %s\n", name, problem);
    return 0;
}

static void show_builtins(void)
{
    for (size_t i = 0; i < sb_builtin_count; i++)
        printf("  %s - %s\n", sb_builtins[i]->name, sb_builtins[i]->title);
}

// Appends a comment line to the summary; returns false after the end of its
// first sentence.
static bool add_line(char *line, char *out, size_t size)
{
    size_t len = strlen(out);

    line[strcspn(line, "\n")] = '\0';
    snprintf(out + len, size - len, "%s%s", len ? " " : "", line + 3);
    char *end = strstr(out, ". ");
    len = strlen(out);
    if (!end && len && (out[len - 1] == '.' || out[len - 1] == ':'))
        end = out + len - 1;
    if (end)
        *end = '\0';
    return !end;
}

// Reads what a workload does: the first sentence of the comment at the top of
// its file. Files without "#!" are modules of other scripts.
static bool read_summary(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "r");
    char line[256];
    bool go_on = f && fgets(line, sizeof(line), f) && line[0] == '#';

    out[0] = '\0';
    go_on = go_on && fgets(line, sizeof(line), f); // the licence
    while (go_on && fgets(line, sizeof(line), f)) {
        if (strncmp(line, "-- ", 3) == 0)
            go_on = add_line(line, out, size);
        else
            go_on = strcmp(line, "--\n") == 0 && !out[0];
    }
    if (f)
        fclose(f);
    return out[0] != '\0';
}

static void list_one(void *arg, const char *name, const char *path)
{
    char summary[256];

    (void)arg;
    // Listed with its suffix, because the name alone selects the 0.4 test.
    if (read_summary(path, summary, sizeof(summary)))
        printf("  %s%s - %s\n", name, sb_script_is_old_oltp(name) ? ".lua" : "",
            summary);
}

int sb_app_list(struct sb_app *a, struct sb_err *err)
{
    (void)err;
    printf("Workloads (%s):\n", a->paths.workloads);
    sb_app_each_installed(a, list_one, NULL);
    printf("\nDatabase drivers (%s):\n", a->paths.drivers);
    sb_drivers_each(a->drivers, show_driver, stdout);
    printf("\nBuilt-in tests:\n");
    show_builtins();
    return 0;
}

// --new-workload --------------------------------------------------------------

#define EXAMPLE "bank"
#define NAME_CHARACTERS \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static int cannot(const char *what, const char *path, struct sb_err *err)
{
    return sb_err_set(
        err, SB_ESYS, "cannot %s %s: %s", what, path, strerror(errno));
}

// Copies a line, with each EXAMPLE replaced by the name.
static void copy_line(const char *line, const char *name, FILE *out)
{
    const char *at;

    while ((at = strstr(line, EXAMPLE)) != NULL) {
        fprintf(out, "%.*s%s", (int)(at - line), line, name);
        line = at + strlen(EXAMPLE);
    }
    fputs(line, out);
}

static int copy_example(
    FILE *in, const char *name, const char *path, struct sb_err *err)
{
    FILE *out = fopen(path, "wx");
    char line[256];

    if (!out)
        return cannot("write", path, err);
    while (fgets(line, sizeof(line), in))
        copy_line(line, name, out);
    bool failed = ferror(in) || ferror(out);
    if (fclose(out) || failed) {
        cannot("write", path, err);
        remove(path);
        return err->code;
    }
    return 0;
}

int sb_app_new_workload(const struct sb_app *a, struct sb_err *err)
{
    const char *name = a->o.new_workload;
    size_t len = strcspn(name, ".");
    char path[256], base[128];
    struct sb_buf example;

    if (strcmp(name + len, "") != 0 && strcmp(name + len, ".lua") != 0)
        len = 0;
    if (len == 0 || len >= sizeof(base) || strspn(name, NAME_CHARACTERS) < len)
        return sb_err_set(err, SB_EUSAGE,
            "--new-workload must consist of letters, digits and '_', not '%s'",
            name);
    snprintf(base, sizeof(base), "%.*s", (int)len, name);
    snprintf(path, sizeof(path), "%s.lua", base);
    sb_buf_init(&example, 0);
    sb_buf_addf(&example, "%s/examples/" EXAMPLE ".lua", a->paths.workloads);
    FILE *in = example.failed ? NULL : fopen(example.data, "r");
    int rc = in ? copy_example(in, base, path, err)
                : cannot("read", example.failed ? "" : example.data, err);
    sb_buf_done(&example);
    if (in)
        fclose(in);
    if (rc == 0)
        printf("Created the workload %s. To try it:\n"
               "  sysbench %s --db-driver=sqlite --sqlite-db=%s.db prepare\n"
               "  sysbench %s --db-driver=sqlite --sqlite-db=%s.db run\n",
            path, path, base, path, base);
    return rc;
}

// Suggestions -----------------------------------------------------------------

struct guess {
    struct sb_near near;
    char best[256]; // a copy: the caller frees the names
};

static void try_name(struct guess *g, const char *name)
{
    sb_near_try(&g->near, name);
    if (g->near.best != name)
        return;
    snprintf(g->best, sizeof(g->best), "%s", name);
    g->near.best = g->best;
}

static void try_workload(void *arg, const char *name, const char *path)
{
    (void)path;
    try_name(arg, name);
}

static bool is_command(const char *name)
{
    static const char *const names[] = { "prepare", "warmup", "prewarm", "run",
        "check", "cleanup", "help" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void sb_app_workload_hint(
    const struct sb_app *a, const char *name, char *out, size_t size)
{
    const char *dot = strrchr(name, '.');
    bool lua = dot && strcmp(dot, ".lua") == 0;
    char bare[256];
    struct guess g;

    if (is_command(name)) {
        snprintf(out, size,
            " (a workload is missing, as in 'sysbench oltp_read_write %s'; "
            "'sysbench --list' shows all)",
            name);
        return;
    }
    snprintf(bare, sizeof(bare), "%.*s", (int)(lua ? dot - name : 255), name);
    sb_near_init(&g.near, bare);
    for (size_t i = 0; i < sb_builtin_count; i++)
        try_name(&g, sb_builtins[i]->name);
    sb_app_each_installed(a, try_workload, &g);
    sb_app_each_workload(".", "", try_workload, &g);
    out[0] = '\0';
    if (g.near.best)
        snprintf(out, size, " (did you mean %s%s?)", g.near.best,
            lua && !sb_builtin_find(g.near.best) ? ".lua" : "");
    else
        snprintf(out, size,
            " (searched: the current folder, the Lua path, %.160s)",
            a->paths.workloads);
}

void sb_app_unknown_command(const struct sb_app *a, const char *const *known)
{
    const char *command = a->command;
    struct sb_err err;
    struct sb_near near;
    struct sb_buf text;

    if (sb_opts_unshown(a->opts, command, &err)) {
        sb_log(SB_LOG_USAGE, "%s", err.msg);
        return;
    }
    sb_near_init(&near, command);
    for (size_t i = 0; known[i]; i++)
        sb_near_try(&near, known[i]);
    sb_buf_init(&text, 0);
    sb_buf_addf(&text, "Unknown command: %s", SB_SHOWN(command));
    if (near.best)
        sb_buf_addf(&text, " (did you mean %s?)", near.best);
    for (size_t i = 0; known[i]; i++)
        sb_buf_addf(
            &text, "%s%s", i ? ", " : ". Supported commands: ", known[i]);
    sb_log(SB_LOG_USAGE, "%s", text.failed ? "Unknown command" : text.data);
    sb_buf_done(&text);
}

// Two workloads are called oltp.
static const struct {
    const char *script, *other; // names without .lua
    const char *text;
} oltp_pairs[] = {
    { "oltp_0_4", "oltp",
        "an option of oltp.lua, the 0.5 workload; 'sysbench oltp' runs the 0.4 "
        "test" },
    { "oltp", "oltp_0_4",
        "an option of 'sysbench oltp', the 0.4 test; oltp.lua is the 0.5 "
        "workload" },
};

static bool declares(struct sb_app *a, const char *script, const char *option)
{
    const struct sb_script_env env = { .paths = &a->paths,
        .run = &a->run,
        .random = &a->random,
        .drivers = a->drivers,
        .luajit_cmd = "" };
    struct sb_opts *opts = sb_script_options_of(&env, script);
    struct sb_opt_view view;
    bool yes = opts && sb_opts_find(opts, option, &view);

    sb_opts_free(opts);
    return yes;
}

static int first_typed(void *arg, const char *name, const char *value,
    enum sb_opt_source source, const char *origin)
{
    (void)value;
    (void)origin;
    if (source != SB_SRC_CMDLINE)
        return 0;
    *(const char **)arg = name;
    return 1;
}

void sb_app_option_hint(struct sb_app *a, struct sb_err *err)
{
    const char *name = NULL;

    sb_opts_unclaimed(a->opts, first_typed, &name);
    if (!a->script || !name)
        return;
    for (size_t i = 0; i < sizeof(oltp_pairs) / sizeof(oltp_pairs[0]); i++)
        if (strcmp(sb_script_name(a->script), oltp_pairs[i].script) == 0 &&
            declares(a, oltp_pairs[i].other, name)) {
            sb_err_set(err, err->code, "invalid option: --%s (%s)", name,
                oltp_pairs[i].text);
            return;
        }
}
