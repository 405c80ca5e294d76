// SPDX-License-Identifier: GPL-2.0-or-later
//
// Classifies error numbers of a MySQL server or its client library: what
// happens to the event in which they occur. Pure; does not require the client
// library.
#ifndef MYSQL_ERRORS_H
#define MYSQL_ERRORS_H

#include "base/err.h"
#include "base/option.h"

// Numbers of the client library that the driver also uses for its own errors.
enum {
    SBMY_CR_GONE = 2006,         // the server has gone away
    SBMY_CR_FILE_REFUSED = 2068, // LOAD DATA LOCAL
    SBMY_CR_SSL = 2026,
    SBMY_CR_PLUGIN_REFUSED = 5010, // in MariaDB's library: of authentication
};

// --mysql-ignore-errors, read once.
struct sbmy_ignore {
    bool all;
    int *code; // n of them
    size_t n;
};

// Parses a list of error numbers and the word "all". SB_EUSAGE names an invalid
// item. To be paired with sbmy_ignore_done(), also after a failure.
int sbmy_ignore_init(
    struct sbmy_ignore *ig, const struct sb_opt_list *list, struct sb_err *err);
void sbmy_ignore_done(struct sbmy_ignore *ig); // {0} allowed

// Returns the code for an error number and SQLSTATE: SB_ERESTART, SB_EIGNORE,
// SB_ERECONNECT, SB_ELOST or SB_EQUERY. Any thread.
int sbmy_classify(const struct sbmy_ignore *ig, int native, const char *state);

// True if the error means that the server or a proxy does not support this
// prepared statement.
bool sbmy_refuses_prepare(int native);
// True if the error means that the server or a proxy does not accept LOAD DATA
// LOCAL.
bool sbmy_refuses_load(int native);
// Returns a hint for the user, or "".
const char *sbmy_hint(int native);

#endif
