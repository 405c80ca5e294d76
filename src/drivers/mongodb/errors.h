// SPDX-License-Identifier: GPL-2.0-or-later
//
// The meaning of server errors, in one table. Pure.
#ifndef SBMO_ERRORS_H
#define SBMO_ERRORS_H

#include <stdint.h>

#include "drivers/mongodb/bson.h"

// Server numbers for errors that have no number in the client library.
#define SBMO_HOST_UNREACHABLE 6
#define SBMO_HOST_NOT_FOUND   7
#define SBMO_AUTH_FAILED      18
#define SBMO_NETWORK_TIMEOUT  89
#define SBMO_NO_SERVER        133
#define SBMO_SOCKET           9001

// SB_E* for an error number of a server.
int sbmo_classify(int native);
// A hint for the user, or "".
const char *sbmo_hint(int native);

// An error that a reply reports.
struct sbmo_complaint {
    int native;       // 0: no error
    const char *text; // len bytes
    size_t len;
    const char *name;   // codeName, or ""
    uint32_t others;    // number of errors of further statements
    bool write_concern; // applied, but not acknowledged as requested
    bool transient;     // the transaction or the command may be retried
    bool unknown;       // unknown whether the commit was applied
    bool retryable;     // the write may be sent again
};
// Looks for an error of the command, of its statements, and of the write
// concern, in this order. False if there is no error.
bool sbmo_read_complaint(
    struct sbmo_complaint *c, const uint8_t *reply, size_t len);

#endif
