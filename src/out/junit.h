// SPDX-License-Identifier: GPL-2.0-or-later
//
// JUnit XML, which CI servers such as Jenkins and GitLab read: a test suite
// with the run as its first test case, and one for each limit of --assert.
#ifndef SB_JUNIT_H
#define SB_JUNIT_H

#include <stdio.h>
#include <time.h>

#include "kit/buf.h"
#include "out/assert.h"

struct sb_junit_run {
    const char *test;        // "oltp_read_write"
    const char *host;        // name of the machine, "" if unknown
    struct timespec started; // on the wall clock
    double seconds;          // length of the run
    const char *reason;      // how it ended, as in result files
    const char *failure;     // why it failed, or NULL
};

// Writes the document. limits may be NULL. A failed run is an error of its
// test case, an exceeded limit is a failure with the measured value. 0, or
// SB_ENOMEM. Call it with an empty buffer.
int sb_junit_write(struct sb_buf *out, const struct sb_junit_run *run,
    const struct sb_asserts *limits);

// Appends text as it may be in an attribute or an element. Characters that XML
// 1.0 does not allow, and bytes that are not UTF-8, become U+FFFD.
void sb_junit_escape(struct sb_buf *out, const char *text);

#endif
