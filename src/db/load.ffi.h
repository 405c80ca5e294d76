// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loading many rows into one table. Each thread has a load of its own and fills
// blocks of rows; if the driver is fastest with one loading connection, the
// loads of all threads share it internally.
#ifndef SB_LOAD_FFI_H
#define SB_LOAD_FFI_H

#include <stddef.h>
#include <stdint.h>

#include "base/export.h"

struct sb_con;
struct sb_load;

// Begins a load. columns: "id,k,c,pad". NULL on failure; the error fields of
// the connection have the reason, as for every function here.
SB_FFI struct sb_load *sb_load_open(
    struct sb_con *con, const char *table, const char *columns);
// The same, but the load shares nothing with others: it is one transaction on
// con, which sb_load_close() commits. Until then con executes nothing else.
SB_FFI struct sb_load *sb_load_open_private(
    struct sb_con *con, const char *table, const char *columns);
// Returns 1 if the connection was closed, reset or reconnected since.
SB_FFI int sb_load_detached(const struct sb_load *ld);
// Sets the maximum number of rows (1 to 1,000) that are sent at a time.
SB_FFI void sb_load_block(struct sb_load *ld, uint32_t rows);
// Set the next value of the current row, in the order of the columns; the last
// value completes the row. Text is copied. 0 or SB_E*; SB_ERANGE: not a 64-bit
// integer, or a value that the driver cannot store.
SB_FFI int sb_load_int(struct sb_load *ld, double value);
SB_FFI int sb_load_int64(struct sb_load *ld, int64_t value);
SB_FFI int sb_load_uint64(struct sb_load *ld, uint64_t value);
SB_FFI int sb_load_double(struct sb_load *ld, double value);
SB_FFI int sb_load_text(struct sb_load *ld, const char *text, size_t len);
SB_FFI int sb_load_null(struct sb_load *ld);
// Fails the load with SB_ERANGE: the next value is invalid, for this reason.
SB_FFI int sb_load_refuse(struct sb_load *ld, const char *why);
// Returns room for len bytes that become the next value; the caller fills it
// before the next call on ld. NULL on failure.
SB_FFI char *sb_load_room(struct sb_load *ld, size_t len);
// Sends the remaining rows and commits (1), or rolls back (0); frees ld. 0 or
// SB_E*.
SB_FFI int sb_load_close(struct sb_load *ld, int commit);
// Rolls back and frees a load that the script did not close, at the next call
// of the user. Warns, once per run, if rows are lost. For finalizers.
SB_FFI void sb_load_drop(struct sb_load *ld);

#endif
