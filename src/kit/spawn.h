// SPDX-License-Identifier: GPL-2.0-or-later
//
// Starts shell commands and programs of users.
#ifndef SB_KIT_SPAWN_H
#define SB_KIT_SPAWN_H

#include <sys/types.h>

// Starts `sh -c command` in a session of its own, with nothing on stdin and
// without other descriptors of the program. out, err: descriptors for its
// stdout and stderr; negative: those of the program. 0, with the process in
// *pid, which is also its group; or an error number. Any thread.
int sb_spawn(const char *command, int out, int err, pid_t *pid);
// The same for a program, which is found as the shell finds it.
int sb_spawn_program(
    const char *file, char *const *argv, int out, int err, pid_t *pid);

#endif
