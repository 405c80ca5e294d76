// SPDX-License-Identifier: GPL-2.0-or-later
#include "builtin/builtin.h"

#include <string.h>

const struct sb_builtin *const sb_builtins[] = {
    &sb__bench_fileio,
    &sb__bench_cpu,
    &sb__bench_memory,
    &sb__bench_threads,
    &sb__bench_mutex,
    NULL,
};

const size_t sb_builtin_count = sizeof(sb_builtins) / sizeof(*sb_builtins) - 1;

const struct sb_builtin *sb_builtin_find(const char *name)
{
    for (size_t i = 0; sb_builtins[i]; i++)
        if (strcmp(sb_builtins[i]->name, name) == 0)
            return sb_builtins[i];
    return NULL;
}
