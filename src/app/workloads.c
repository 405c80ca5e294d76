// SPDX-License-Identifier: GPL-2.0-or-later
//
// The workloads in a folder, and those that are installed.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "kit/buf.h"

// Folders of the installed workloads. Those with a name of their own have
// workloads with the same names as the others.
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
        printf("%s is a workload to change. Try it:\n"
               "  sysbench %s --db-driver=sqlite --sqlite-db=%s.db prepare\n"
               "  sysbench %s --db-driver=sqlite --sqlite-db=%s.db run\n",
            path, path, base, path, base);
    return rc;
}
