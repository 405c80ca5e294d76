// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an error number of a MySQL server or of its client library means for
// the event it happened in. Pure; needs no client library.
#ifndef MYSQL_ERRORS_H
#define MYSQL_ERRORS_H

#include "base/err.h"
#include "base/option.h"

// --mysql-ignore-errors, read once.
struct sbmy_ignore {
    bool all;
    int *code; // n of them
    size_t n;
};

// Reads a list of numbers and the word "all". SB_EUSAGE names what is neither.
// sbmy_ignore_done() also after a failure.
int sbmy_ignore_init(
    struct sbmy_ignore *ig, const struct sb_opt_list *list, struct sb_err *err);
void sbmy_ignore_done(struct sbmy_ignore *ig); // {0} allowed

// What an error of a call means, by its number and SQLSTATE: SB_ERESTART,
// SB_EIGNORE, SB_ERECONNECT, SB_ELOST or SB_EQUERY. Any thread.
int sbmy_classify(const struct sbmy_ignore *ig, int native, const char *state);

// The server or a proxy has no prepared statements of this kind.
bool sbmy_refuses_prepare(int native);
// The server or a proxy does not take LOAD DATA LOCAL.
bool sbmy_refuses_load(int native);
// What the user can do about it, "" if there is nothing to say.
const char *sbmy_hint(int native);

#endif
