// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // posix_spawn_file_actions_addclosefrom_np()
#include "kit/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

// In a session of its own, the command has no terminal, so a command that asks
// for a password fails. In a process group in the background of the program's
// terminal, it would be stopped instead.
#ifdef POSIX_SPAWN_SETSID
#define GROUP POSIX_SPAWN_SETSID
#else
#define GROUP POSIX_SPAWN_SETPGROUP
#endif

static void set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setflags(
        attr, GROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attr, 0);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
}

// Connections of the program that the command inherits would stay open as long
// as the command runs.
static void set_files(posix_spawn_file_actions_t *files, int out, int err)
{
    posix_spawn_file_actions_addopen(
        files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (out >= 0)
        posix_spawn_file_actions_adddup2(files, out, STDOUT_FILENO);
    if (err >= 0)
        posix_spawn_file_actions_adddup2(files, err, STDERR_FILENO);
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
    posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
#endif
}

// Returns the environment without the variables of MPI launchers: with them, a
// command that uses MPI itself would join the job in the place of this process.
// The list ends with NULL; the caller frees it. NULL if out of memory.
static char **own_environment(void)
{
    static const char *const launcher[] = { "OMPI_", "PMIX_", "PMI_", "HYD",
        "SLURM_STEP_NUM_TASKS=" };
    size_t n = 0, k = 0;
    char **list;

    while (environ[n])
        n++;
    list = calloc(n + 1, sizeof(*list));
    for (size_t i = 0; list && i < n; i++) {
        bool skip = false;

        for (size_t p = 0; p < sizeof(launcher) / sizeof(launcher[0]); p++)
            skip |= strncmp(environ[i], launcher[p], strlen(launcher[p])) == 0;
        if (!skip)
            list[k++] = environ[i];
    }
    return list;
}

int sb_spawn(const char *command, int out, int err, pid_t *pid)
{
    char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };

    return sb_spawn_program("/bin/sh", argv, out, err, pid);
}

int sb_spawn_program(
    const char *file, char *const *argv, int out, int err, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    char **env = own_environment();

    if (!env)
        return ENOMEM;
    posix_spawnattr_init(&attr);
    posix_spawn_file_actions_init(&files);
    set_attributes(&attr);
    set_files(&files, out, err);
    int rc = posix_spawnp(pid, file, &files, &attr, argv, env);

    free(env);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    return rc;
}
