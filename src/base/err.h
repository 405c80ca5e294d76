// SPDX-License-Identifier: GPL-2.0-or-later
//
// The error convention of every layer: a function that can fail returns int,
// 0 or a negative SB_E* code, and fills the caller's struct sb_err with the
// details. Installed: drivers outside this repository use it.
#ifndef SB_ERR_H
#define SB_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The error codes: name, value, message for users.
#define SB_ERR_MAP(X)                            \
    X(USAGE, -1, "wrong usage")                  \
    X(NOMEM, -2, "out of memory")                \
    X(SYS, -3, "system call failed")             \
    X(NOTFOUND, -4, "not found")                 \
    X(RANGE, -5, "value out of range")           \
    X(SCRIPT, -6, "script failed")               \
    X(DRIVER, -7, "driver cannot be used")       \
    X(CONNECT, -8, "cannot connect")             \
    X(RESTART, -9, "the event can be restarted") \
    X(IGNORE, -10, "error is ignored")           \
    X(LOST, -11, "connection lost")              \
    X(QUERY, -12, "query failed")                \
    X(CANCELED, -13, "canceled")                 \
    X(TIMEOUT, -14, "timed out")                 \
    X(UNSUPPORTED, -15, "not supported")         \
    X(LIMIT, -16, "limit reached")               \
    X(INTERNAL, -17, "internal error")           \
    X(RECONNECT, -18, "connection lost, reconnect required")

enum sb_errcode {
    SB_OK = 0,
#define X(name, value, text) SB_E##name = (value),
    SB_ERR_MAP(X)
#undef X
};

// Details of one failure. Owned by the caller, without pointers, so it stays
// valid after the object that failed was freed. All zero means "no error".
struct sb_err {
    int code;      // 0 or SB_E*
    int native;    // the error number of the database, errno, or the exit
                   // status that a script has chosen; 0 if none
    char state[8]; // SQLSTATE, "" if none
    char msg[496]; // one sentence without a final newline
};

#if defined(__GNUC__)
#define SB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define SB_PRINTF(fmt, args)
#endif

// Fills *err (may be NULL) and returns code, so that a failing function can
// end with `return sb_err_set(err, SB_E..., "...")`. Clears native and state.
// Inline, because drivers do not link with the core.
static inline int sb_err_set(struct sb_err *err, int code, const char *fmt, ...)
    SB_PRINTF(3, 4);

static inline int sb_err_set(struct sb_err *err, int code, const char *fmt, ...)
{
    if (err) {
        va_list ap;

        err->code = code;
        err->native = 0;
        err->state[0] = '\0';
        va_start(ap, fmt);
        vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
        va_end(ap);
    }
    return code;
}

// The error of a failed allocation.
static inline int sb_err_no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

// As sb_err_set(), with the error number and SQLSTATE (may be NULL) of the
// database.
static inline int sb_err_native(struct sb_err *err, int code, int native,
    const char *state, const char *text)
{
    if (err) {
        err->code = code;
        err->native = native;
        snprintf(err->state, sizeof(err->state), "%s", state ? state : "");
        snprintf(err->msg, sizeof(err->msg), "%s", text ? text : "");
    }
    return code;
}

// True if the error says that there is no connection to the server: it was
// lost, or cannot be opened.
static inline bool sb_err_is_loss(const struct sb_err *err)
{
    return err->code == SB_ELOST || err->code == SB_ERECONNECT ||
           err->code == SB_ECONNECT;
}

static inline void sb_err_clear(struct sb_err *err)
{
    err->code = err->native = 0;
    err->state[0] = err->msg[0] = '\0';
}

// "wrong usage" for a code; "unknown error" for an unknown number. Static.
static inline const char *sb_err_text(int code)
{
    switch (code) {
    case SB_OK:
        return "no error";
#define X(name, value, text) \
    case (value):            \
        return text;
        SB_ERR_MAP(X)
#undef X
    default:
        return "unknown error";
    }
}

// Whether a server refused a statement, which leaves the connection usable.
static inline bool sb_err_is_refusal(int rc)
{
    return rc == SB_EQUERY || rc == SB_ERESTART || rc == SB_EIGNORE;
}

#endif
