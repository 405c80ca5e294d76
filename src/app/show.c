// SPDX-License-Identifier: GPL-2.0-or-later
//
// What --version and --list print, and the help of built-in tests.
#include <luajit.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "base/log.h"

const char *sb_app_version(void)
{
    return PACKAGE_NAME " " PACKAGE_VERSION;
}

void sb_app_banner(FILE *out)
{
    fprintf(out, "%s (using system %s)\n\n", sb_app_version(), LUAJIT_VERSION);
}

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

void sb_app_builtin_help(const struct sb_app *a)
{
    if (!a->builtin->opts)
        return;
    sb_opts_help(a->opts, a->builtin->opts, 0, stdout);
    printf("\n");
}
