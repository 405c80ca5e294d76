// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "out/spool.h"

// Copies the spool to `text`.
static int copy(struct sb_spool *s, char *text, size_t size)
{
    text[0] = '\0'; // stays if nothing is written
    FILE *out = fmemopen(text, size, "w");
    struct sb_err err = { 0 };
    int rc;

    text[0] = '\0'; // fclose() writes nothing if nothing was printed
    rc = sb_spool_copy(s, ",", out, &err);
    fclose(out);
    return rc;
}

static void lines_are_copied_again_and_again(void)
{
    struct sb_spool s;
    struct sb_err err = { 0 };
    char text[64];

    CHECK_INT(sb_spool_open(&s, ".", &err), 0);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "");
    CHECK_INT(sb_spool_add(&s, "[1]", 3, &err), 0);
    CHECK_INT(sb_spool_add(&s, "[2]", 3, &err), 0);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1],\n[2]\n");
    CHECK_INT(sb_spool_add(&s, "[3]", 3, &err), 0);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1],\n[2],\n[3]\n");
    sb_spool_done(&s);
}

// A file that may not grow behaves as a full disk does.
static void full_disk_keeps_whole_lines(void)
{
    struct rlimit old, limit;
    struct sb_spool s;
    struct sb_err err = { 0 };
    char text[64];

    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 6;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(sb_spool_open(&s, ".", &err), 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_INT(sb_spool_add(&s, "[1]", 3, &err), 0);
    CHECK_INT(sb_spool_add(&s, "[22]", 4, &err), SB_ESYS);
    CHECK_STR(
        err.msg, "cannot keep the figures of an interval: File too large");
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1]\n");
    // There is room again: half of the line that did not fit is overwritten.
    CHECK_INT(sb_spool_add(&s, "[3]", 3, &err), 0);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1],\n[3]\n");
    sb_spool_done(&s);
}

static void last_line_is_dropped(void)
{
    struct sb_spool s;
    struct sb_err err = { 0 };
    char text[64];

    CHECK_INT(sb_spool_open(&s, ".", &err), 0);
    CHECK_INT(sb_spool_add(&s, "[1]", 3, &err), 0);
    CHECK_INT(sb_spool_add(&s, "[222]", 5, &err), 0);
    sb_spool_drop(&s);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1]\n");
    CHECK_INT(sb_spool_add(&s, "[3]", 3, &err), 0);
    CHECK_INT(copy(&s, text, sizeof(text)), 0);
    CHECK_STR(text, "[1],\n[3]\n");
    sb_spool_done(&s);
}

// Programs that the script starts must not have it.
static void is_closed_by_exec(void)
{
    struct sb_spool s;
    struct sb_err err = { 0 };

    CHECK_INT(sb_spool_open(&s, ".", &err), 0);
    CHECK(fcntl(fileno(s.file), F_GETFD) & FD_CLOEXEC);
    sb_spool_done(&s);
}

static void folder_is_named(void)
{
    struct sb_spool s;
    struct sb_err err = { 0 };

    CHECK_INT(sb_spool_open(&s, "nowhere", &err), SB_ESYS);
    CHECK_STR(err.msg,
        "cannot create a temporary file in nowhere: No such file or directory");
    sb_spool_done(&s);
}

CHECK_FILE
{
    RUN(lines_are_copied_again_and_again);
    RUN(full_disk_keeps_whole_lines);
    RUN(last_line_is_dropped);
    RUN(is_closed_by_exec);
    RUN(folder_is_named);
    return check_done();
}
