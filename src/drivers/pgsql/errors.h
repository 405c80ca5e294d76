// SPDX-License-Identifier: GPL-2.0-or-later
//
// Classifies errors of PostgreSQL: what happens to the event. Pure.
#ifndef PGSQL_ERRORS_H
#define PGSQL_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

// SQLSTATEs that the driver handles or reports itself.
#define PGSQL_CANCELED      "57014"
#define PGSQL_NO_STATEMENT  "26000"
#define PGSQL_DUP_STATEMENT "42P05"
#define PGSQL_NO_TABLE      "42P01"
#define PGSQL_LOST          "08006"
#define PGSQL_ROLLED_BACK   "40000"
#define PGSQL_VIOLATION     "08P01"

// Returns SB_ERESTART, SB_EIGNORE, SB_ELOST or SB_EQUERY for a SQLSTATE and its
// text.
int pgsql_classify(const char *state, const char *text);

// Returns a hint for the user; NULL: none.
const char *pgsql_hint(const char *state, const char *text);

// True if a table was altered since the statement was prepared, so that it has
// other result columns now. routine: the function of the server's source.
bool pgsql_plan_changed(
    const char *state, const char *text, const char *routine);

// True for errors of statements whose parameters have types that the server
// cannot infer.
bool pgsql_types_missing(const char *state);

// True for errors of servers that do not support a command or one of its
// options, such as PostgreSQL-compatible servers.
bool pgsql_not_known(const char *state);

// Copies a message as one line, without blanks at its end. Returns the length.
// out is truncated to size and NUL-terminated.
size_t pgsql_one_line(const char *text, char *out, size_t size);
// The same for a message of libpq. Its lines are sentences or messages, not all
// of which end with a full stop.
size_t pgsql_sentences(const char *text, char *out, size_t size);

// Removes the SQLSTATE and the line LOCATION from messages of the server that
// libpq formatted with PQERRORS_VERBOSE: "FATAL:  53300: sorry, too many
// clients already". Stores the last SQLSTATE in `state`, which does not change
// if there is none.
void pgsql_take_state(char *text, char state[6]);

#endif
