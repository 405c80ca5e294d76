// SPDX-License-Identifier: GPL-2.0-or-later
//
// What becomes of an event after an error of PostgreSQL. Pure.
#ifndef PGSQL_ERRORS_H
#define PGSQL_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

// SQLSTATEs that the driver itself acts on.
#define PGSQL_CANCELED      "57014"
#define PGSQL_NO_STATEMENT  "26000"
#define PGSQL_DUP_STATEMENT "42P05"
#define PGSQL_NO_TABLE      "42P01"
#define PGSQL_LOST          "08006"
#define PGSQL_VIOLATION     "08P01"

// SB_ERESTART, SB_EIGNORE, SB_ELOST or SB_EQUERY for a SQLSTATE.
int pgsql_classify(const char *state);

// True for errors of servers that do not know a command or an option of it,
// as PostgreSQL's relatives answer to what only PostgreSQL can.
bool pgsql_not_known(const char *state);

// Copies a message, its lines joined to one, without blanks at its end.
// Returns the length; out is cut to size and NUL-terminated.
size_t pgsql_one_line(const char *text, char *out, size_t size);
// The same for a message of libpq, whose lines are sentences or messages that
// do not all end with a full stop.
size_t pgsql_sentences(const char *text, char *out, size_t size);

#endif
