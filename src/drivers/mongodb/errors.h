// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the errors of servers mean: in one table. Pure.
#ifndef SBMO_ERRORS_H
#define SBMO_ERRORS_H

#include <stdint.h>

#include "drivers/mongodb/walk.h"

// Numbers that servers have for what the client library has none for.
#define SBMO_HOST_UNREACHABLE 6
#define SBMO_HOST_NOT_FOUND   7
#define SBMO_AUTH_FAILED      18
#define SBMO_NETWORK_TIMEOUT  89
#define SBMO_NO_SERVER        133
#define SBMO_SOCKET           9001

// SB_E* for an error number of a server.
int sbmo_classify(int native);
// What the user can do; "" if the driver knows nothing.
const char *sbmo_hint(int native);

// What a reply complains about.
struct sbmo_complaint {
    int native;       // 0: nothing
    const char *text; // len bytes
    uint32_t len;
    const char *name;   // codeName, or ""
    uint32_t others;    // errors of further statements
    bool write_concern; // done, but not confirmed as it was asked for
    bool transient;     // the transaction may be begun anew
    bool unknown;       // whether a commit has happened
    bool retryable;     // a write that may be sent once more
};
// Looks for an error of the command, of its statements, of the write concern,
// in this order. False when there is none.
bool sbmo_complains(struct sbmo_complaint *c, const uint8_t *reply, size_t len);

#endif
