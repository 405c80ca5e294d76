// SPDX-License-Identifier: GPL-2.0-or-later
//
// A temporary folder for unit tests that write files: wherever the test is
// started, nothing is left behind.
#ifndef CHECK_FOLDER_H
#define CHECK_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char check_folder_path[4096];
static pid_t check_folder_owner;

// Removes a file, or a folder with its content. Links are not followed.
static void check_folder_clear(const char *path)
{
    struct stat st;
    const struct dirent *e;
    DIR *d = lstat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path)
                                                          : NULL;

    while (d && (e = readdir(d))) {
        char inner[5000];

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof(inner), "%s/%s", path, e->d_name);
        check_folder_clear(inner);
    }
    if (d)
        closedir(d);
    remove(path);
}

static void check_folder_remove(void)
{
    // Not in a child process that returns from main().
    if (getpid() == check_folder_owner && chdir("/") == 0)
        check_folder_clear(check_folder_path);
}

// Makes a folder in TMPDIR and makes it the current one; both end with the
// process. Call it at the start of main(), once.
static inline void check_folder(void)
{
    const char *top = getenv("TMPDIR");

    snprintf(check_folder_path, sizeof(check_folder_path), "%s/sb-unit.XXXXXX",
        top && *top ? top : "/tmp");
    check_folder_owner = getpid();
    if (!mkdtemp(check_folder_path) || chdir(check_folder_path) != 0 ||
        atexit(check_folder_remove) != 0) {
        perror(check_folder_path);
        exit(1);
    }
}

#endif
