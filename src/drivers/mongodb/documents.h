// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the files of the document API share: documents.c, compiled.c, writes.c.
#ifndef MONGODB_DOCUMENTS_H
#define MONGODB_DOCUMENTS_H

#include "db/sql.ffi.h"
#include "drivers/mongodb/internal.h"
#include "drivers/mongodb/mongodb.ffi.h"

#define SBMO_LOG_ALERT 1 // of host->log()

// documents.c ----------------------------------------------------------------

// Returns the driver's connection, or NULL: see struct sb_host.
struct sbmo_conn *sbmo_doc_conn(const struct sb_con *con);
// Checks that documents can be prepared on the connection, without a call to
// the server. The current result stays. 0 or SB_EUSAGE.
int sbmo_doc_ready(struct sb_con *con);
// Set the error of the connection, which is not counted, and return its code.
int sbmo_doc_usage(struct sb_con *con, const char *fmt, ...) SB_PRINTF(2, 3);
int sbmo_doc_no_memory(struct sb_con *con);
// Checks that the command is framed and has a name. 0 or SB_EUSAGE.
int sbmo_doc_check(struct sb_con *con, const uint8_t *body, size_t len);
// Runs a checked command, whose memory no one else uses. *sent: false if the
// call was refused, and the last reply is that to an earlier command; may be
// NULL. 0 or SB_E*.
int sbmo_doc_run(
    struct sb_con *con, const struct sbmo_doc_command *command, bool *sent);
// Returns the beginning of a command as JSON, *n bytes, for messages; the
// caller frees it with free(). NULL: out of memory.
char *sbmo_doc_text(const uint8_t *body, size_t len, size_t *n);

// compiled.c -----------------------------------------------------------------

// Checks that n values fit the compiled document, and stores its maximum
// length with them in *room. 0, or SB_EUSAGE as the error of con.
int sbmo_doc_op_room(const struct sbmo_doc_op *op, struct sb_con *con,
    const struct sbmo_doc_value *values, uint32_t n, size_t *room);
// Writes the document to out; returns its length, or 0 with SB_EUSAGE as the
// error of con.
size_t sbmo_doc_op_write(const struct sbmo_doc_op *op, struct sb_con *con,
    const struct sbmo_doc_value *values, uint8_t *out);

#endif
