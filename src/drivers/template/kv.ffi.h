// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the Lua module of kv.c calls.
#ifndef KV_FFI_H
#define KV_FFI_H

#include <stdint.h>
#include "base/export.h"

struct sb_con;
struct kv_args {
    const char *key, *value;
    uint64_t version; // set(): that is expected, 0: any; get(): of the value
    uint32_t n;       // scan(): the maximum, then the number of keys
};
// Make calls on the connection; args: struct kv_args. 0 or SB_E*.
SB_FFI int kv_get(struct sb_con *con, void *args);
SB_FFI int kv_set(struct sb_con *con, void *args);
SB_FFI int kv_scan(struct sb_con *con, void *args);

#endif
