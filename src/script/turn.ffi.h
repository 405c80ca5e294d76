// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whose turn it is in a Lua state, and the arguments and the result of a call
// that may wait (calls.c).
#ifndef SB_TURN_FFI_H
#define SB_TURN_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;
struct sb_db;
struct sb_db_ctx;
struct sb_load;
struct sb_random;
struct sb_rng;
struct sb_rs;
struct sb_stmt_handle;
struct sb_user;

typedef int sb_turn_function(struct sb_con *con, void *arg);

struct sb_turn {
    // The user, set whenever its code continues.
    struct sb_user *user; // NULL in the states of the main thread
    struct sb_random *random;
    struct sb_rng *math; // of math.random()
    struct sb_db_ctx *ctx;
    uint32_t slot; // of its table in sb.users
    // A call.
    struct sb_con *con;
    struct sb_db *db;
    struct sb_stmt_handle *stmt;
    struct sb_rs *rs;
    struct sb_load *load;
    sb_turn_function *routine;
    void *arg;
    const char *const *names;
    const char *const *settings;
    const char *text;
    const char *more;
    char *room;
    size_t len;
    int64_t int64;
    uint64_t uint64;
    double number;
    double result;
};

// math.random() without arguments, and math.randomseed().
SB_FFI double sb_script_random(struct sb_rng *r);
SB_FFI void sb_script_randomseed(struct sb_rng *r, double seed);

#endif
