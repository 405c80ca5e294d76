// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loading many rows into one table: each thread fills blocks of rows; where
// the driver is fastest with one loading connection, all threads feed that
// one. Used by one thread each; the sharing is inside.
#ifndef SB_LOAD_FFI_H
#define SB_LOAD_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;
struct sb_load;

// columns: "id,k,c,pad". NULL on failure: the reason stands in the
// connection's error fields, as for every function here.
SB_FFI struct sb_load *sb_load_open(
    struct sb_con *con, const char *table, const char *columns);
// At most so many rows (1 to 1,000) are sent at a time from now on.
SB_FFI void sb_load_block(struct sb_load *ld, uint32_t rows);
// The next value of the current row, in order of the columns; the row is
// complete with its last value. Text is copied. 0 or SB_E*.
// SB_ERANGE: not an integer of 64 bits, or a value that the driver cannot
// store.
SB_FFI int sb_load_int(struct sb_load *ld, double value);
SB_FFI int sb_load_int64(struct sb_load *ld, int64_t value);
SB_FFI int sb_load_uint64(struct sb_load *ld, uint64_t value);
SB_FFI int sb_load_double(struct sb_load *ld, double value);
SB_FFI int sb_load_text(struct sb_load *ld, const char *text, size_t len);
SB_FFI int sb_load_null(struct sb_load *ld);
// The next value is none, for this reason: the load fails with SB_ERANGE.
SB_FFI int sb_load_refuse(struct sb_load *ld, const char *why);
// Room for len bytes that become the next value, to be filled by the caller
// before the next call on ld. NULL on failure.
SB_FFI char *sb_load_room(struct sb_load *ld, size_t len);
// Sends what is left and commits (1) or gives up (0); frees ld. 0 or SB_E*.
SB_FFI int sb_load_close(struct sb_load *ld, int commit);

#endif
