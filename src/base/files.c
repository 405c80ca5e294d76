// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/files.h"

#include <string.h>

// One per process, because scripts open files by name in any state.
static struct {
    sb_file_fetch *fetch;
    void *arg;
} source;

void sb_files_from(sb_file_fetch *fetch, void *arg)
{
    source.fetch = fetch;
    source.arg = arg;
}

bool sb_files_are_remote(void)
{
    return source.fetch != NULL;
}

static bool is_of_system(const char *path)
{
    return strncmp(path, "/proc/", 6) == 0 || strncmp(path, "/sys/", 5) == 0 ||
           strncmp(path, "/dev/", 5) == 0;
}

const char *sb_file_path(const char *path, char copy[SB_FILE_PATH])
{
    if (!source.fetch || is_of_system(path) ||
        !source.fetch(source.arg, path, copy))
        return path;
    return copy;
}
