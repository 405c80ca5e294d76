// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/thread_error.h"

#include <errno.h>
#include <stdbool.h>

#include "check.h"

static void other_errors_have_their_text(void)
{
    char text[200];

    sb__thread_error(EPERM, 1 << 16, text, sizeof(text));
    CHECK_STR(text, strerror(EPERM));
}

// A stack that no process can have.
static void a_stack_without_memory_is_named(void)
{
    char text[200], small[12];

    sb__thread_error(EAGAIN, (size_t)1 << 50, text, sizeof(text));
    CHECK(strstr(text, "memory") || strstr(text, "stack"));
    sb__thread_error(EAGAIN, (size_t)1 << 50, small, sizeof(small));
    CHECK_INT(strlen(small), sizeof(small) - 1);
    CHECK(strncmp(text, small, sizeof(small) - 1) == 0);
}

CHECK_FILE
{
    RUN(other_errors_have_their_text);
    RUN(a_stack_without_memory_is_named);
    return check_done();
}
