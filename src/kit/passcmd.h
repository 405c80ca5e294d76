// SPDX-License-Identifier: GPL-2.0-or-later
//
// Passwords that a command prints, such as tokens of a cloud provider: they
// expire, and servers change them. One thread runs the command for all
// connections, before the password expires and after a refused login. What the
// command prints is never shown, also not on stderr.
#ifndef SB_KIT_PASSCMD_H
#define SB_KIT_PASSCMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct sb_passcmd;

// text: the value of the option, `COMMAND` or `COMMAND;ttl=TIME`. option: its
// name in messages, such as "--x-password-command"; it must outlive the object.
// Runs the command once and waits for it. 0, with the object in *out; or
// SB_EUSAGE (invalid time), SB_ECONNECT (the command failed), SB_ENOMEM,
// SB_ESYS.
int sb_passcmd_new(const char *option, const char *text,
    struct sb_passcmd **out, struct sb_err *err);
// Ends the command if it runs. NULL is allowed. No other function may be
// running.
void sb_passcmd_free(struct sb_passcmd *p);

// How a driver logs in.
struct sb_passcmd_calls {
    // Connects. Called again if the server has refused the password.
    int (*log_in)(void *arg, const char *password, struct sb_err *err);
    // Whether this error of log_in() says that the password is wrong.
    bool (*is_refused)(const struct sb_err *err);
    // Those of struct sb_host.
    void (*sleep)(uint64_t until);
    int (*apart)(void (*run)(void *arg), bool (*canceled)(void *arg), void *arg,
        uint64_t deadline);
};

// Logs in with the current password. If it is refused, waits for the next run
// of the command and tries again, up to 5 times within some 0.6 s, or, once a
// login has succeeded, 8 times within some 5 s: a server and its command do not
// change a password in the same instant. Returns what log_in() has returned
// last, or SB_ECONNECT (the command failed), SB_ENOMEM. Any thread.
int sb_passcmd_login(struct sb_passcmd *p, const struct sb_passcmd_calls *calls,
    void *arg, struct sb_err *err);

#endif
