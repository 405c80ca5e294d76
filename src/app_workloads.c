// SPDX-License-Identifier: GPL-2.0-or-later
//
// The workloads in a folder, and those that are installed.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

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
