// SPDX-License-Identifier: GPL-2.0-or-later
//
// What is logged between capture() and captured().
#ifndef CHECK_LOG_H
#define CHECK_LOG_H

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

static FILE *log_sink;
static int log_saved = -1;

// Redirects stderr to a file until captured() is called.
static inline void capture(void)
{
    log_sink = tmpfile();
    fflush(stderr);
    log_saved = dup(STDERR_FILENO);
    dup2(fileno(log_sink), STDERR_FILENO);
}

// Returns the text; valid until the next call.
static inline const char *captured(void)
{
    static char text[65536];
    size_t n;

    fflush(stderr);
    dup2(log_saved, STDERR_FILENO);
    close(log_saved);
    rewind(log_sink);
    n = fread(text, 1, sizeof(text) - 1, log_sink);
    text[n] = '\0';
    fclose(log_sink);
    return text;
}

#endif
