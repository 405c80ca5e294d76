// SPDX-License-Identifier: GPL-2.0-or-later
//
// The program of the unit tests: one for the core, and one for each driver.
//
//     unit NAME [argument]...   runs the tests of NAME.c
//     unit                      prints the names
#include "check.h"

#include <stdlib.h>

static struct check_file *files;

void check_add(struct check_file *file)
{
    file->next = files;
    files = file;
}

static bool has_name(const struct check_file *file, const char *name)
{
    const char *base = strrchr(file->path, '/');
    size_t len = strlen(name);

    base = base ? base + 1 : file->path;
    return strncmp(base, name, len) == 0 && strcmp(base + len, ".c") == 0;
}

int main(int argc, char **argv)
{
    for (struct check_file *f = files; f; f = f->next) {
        if (argc < 2)
            puts(f->path);
        else if (has_name(f, argv[1]))
            return f->run(argc - 1, argv + 1);
    }
    if (argc < 2)
        return 0;
    fprintf(stderr, "%s has no tests of %s.c: is it listed in Makefile.inc?\n",
        argv[0], argv[1]);
    return 2;
}
