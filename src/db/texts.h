// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which operation of a run a statement of a server belongs to, by its text. Any
// thread, except where stated.
#ifndef SB_TEXTS_H
#define SB_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

struct sb_drivers;

// Keeps the texts of the operations of the runs that follow. Main thread,
// before there are users. Without this call, no operation is found.
void sb_drivers_keep_texts(struct sb_drivers *d);

// Returns the name of the operation whose statements have this text, apart from
// its values (db/shape.h): that of a prepared statement, otherwise that of the
// first word. NULL: no operation has it, or several have. driver: name of a
// loaded driver. Valid until sb_drivers_free().
const char *sb_drivers_operation(
    struct sb_drivers *d, const char *driver, const char *sql, size_t len);
// Whether prepared statements were executed under this name.
bool sb_drivers_prepared(struct sb_drivers *d, const char *operation);

struct sb__texts;

// NULL: out of memory.
struct sb__texts *sb__texts_new(void);
void sb__texts_free(struct sb__texts *t); // NULL allowed
// Notes the text of a prepared statement of an operation. Called once per
// statement; takes a lock and allocates. t: NULL: no effect.
void sb__texts_add(struct sb__texts *t, const char *operation, const char *sql,
    size_t len, unsigned flags);
// Notes the operation of a first word: sb__op_word().
void sb__texts_add_word(struct sb__texts *t, const char *operation, int word);
// The same as sb_drivers_operation(). word: of the text.
const char *sb__texts_find(
    struct sb__texts *t, const char *sql, size_t len, unsigned flags, int word);
bool sb__texts_prepared(struct sb__texts *t, const char *operation);

#endif
