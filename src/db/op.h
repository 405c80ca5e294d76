// SPDX-License-Identifier: GPL-2.0-or-later
//
// The operations under which calls are counted.
#ifndef SB_OP_H
#define SB_OP_H

#include "db/db.h"

// Returns the operation of this name, registered with rec's stats. In a mix its
// name begins with that of the component.
int sb__op_named(const struct sb_db_ctx *ctx, struct sb_rec *rec,
    const char *name, enum sb_op_kind kind);
// Returns the same operation and keeps its number in *op, which is {0} at first
// and always used with this name; -1: nothing is recorded.
int sb__op_cached(struct sb_db_ctx *ctx, struct sb__op *op, const char *name,
    enum sb_op_kind kind);
// The same for a name of a driver's own call; -1: it is "", or not counted.
int sb__op_of_name(
    struct sb_db_ctx *ctx, const char *name, enum sb_op_kind kind);
void sb__op_names_free(struct sb_db_ctx *ctx);
enum sb_op_kind sb__op_kind(const char *sql, size_t len);
// The number of the first word of sql among those that have operations; 0: any
// other word.
int sb__op_word(const char *sql, size_t len);
// The operations for the first word of sql, for the results after a statement's
// first one, for preparing, reconnecting and connecting; -1: nothing is
// recorded.
int sb__op_of_text(struct sb_db_ctx *ctx, const char *sql, size_t len);
int sb__op_of_next(struct sb_db_ctx *ctx);
int sb__op_of_prepare(struct sb_db_ctx *ctx);
int sb__op_of_reconnect(struct sb_db_ctx *ctx);
int sb__op_of_connect(struct sb_db_ctx *ctx);

#endif
