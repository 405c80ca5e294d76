// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // posix_openpt()
#endif
#include "base/log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"
#include "check_log.h"

static void prefixes(void)
{
    sb_log_set_level(SB_LOG_DEBUG);
    CHECK_INT(sb_log_level(), SB_LOG_DEBUG);
    capture();
    sb_log(SB_LOG_FATAL, "a %d", 1);
    sb_log(SB_LOG_ALERT, "b");
    sb_log(SB_LOG_WARNING, "c\n");
    sb_log(SB_LOG_NOTICE, "d");
    sb_log(SB_LOG_INFO, "e");
    sb_log(SB_LOG_DEBUG, "f");
    CHECK_STR(captured(), "FATAL: a 1\nALERT: b\nWARNING: c\nd\ne\nDEBUG: f\n");
    sb_log_set_level(SB_LOG_NOTICE);
}

static void messages_cannot_control_the_terminal(void)
{
    capture();
    sb_log(SB_LOG_FATAL, "%s", "\033]0;title\007 \xc3\xa9\n\tdetail");
    sb_log(SB_LOG_FATAL, "%s", "\r\033[Kgone");
    CHECK_STR(captured(), "FATAL: \\x1b]0;title\\x07 \xc3\xa9\n\tdetail\n"
                          "FATAL: \\x0d\\x1b[Kgone\n");
}

// The next process knows what this one has shown.
static void what_an_earlier_process_has_shown_is_hidden(void)
{
    FILE *f = tmpfile();

    CHECK_INT(sb_log_hidden(fileno(f)), 0);
    sb_log_share(fileno(f));
    capture();
    sb_log(SB_LOG_WARNING, "used 3.70 of 4 processors");
    sb_log(SB_LOG_WARNING, "used 3.90 of 4 processors");
    sb_log(SB_LOG_ALERT, "lost 1");
    sb_log(SB_LOG_WARNING, "10.0.0.1:5432 is slow");
    sb_log(SB_LOG_WARNING, "db1 is slow");
    CHECK_STR(captured(), "WARNING: used 3.70 of 4 processors\n"
                          "WARNING: used 3.90 of 4 processors\n"
                          "ALERT: lost 1\n"
                          "WARNING: 10.0.0.1:5432 is slow\n"
                          "WARNING: db1 is slow\n");
    CHECK_INT(sb_log_hidden(fileno(f)), 0);
    CHECK(!sb_log_is_known("error 1"));
    sb_log_share(fileno(f));
    CHECK(!sb_log_is_known("error 2"));
    capture();
    sb_log(SB_LOG_WARNING, "used 1.00 of 2 processors");
    sb_log(SB_LOG_NOTICE, "used 1.00 of 2 processors");
    sb_log(SB_LOG_ALERT, "lost 1");
    sb_log_each(SB_LOG_NOTICE, "used 1.00 of 2 processors");
    sb_log(SB_LOG_WARNING, "used 12 of 2 processors");
    sb_log(SB_LOG_WARNING, "10.0.0.2:5432 is slow");
    sb_log(SB_LOG_WARNING, "db2 is slow");
    CHECK_STR(captured(), "used 1.00 of 2 processors\n"
                          "ALERT: lost 1\n"
                          "used 1.00 of 2 processors\n"
                          "WARNING: 10.0.0.2:5432 is slow\n"
                          "WARNING: db2 is slow\n");
    CHECK_INT(sb_log_hidden(fileno(f)), 2);
    CHECK(sb_log_is_known("error 1"));
    CHECK_INT(sb_log_hidden(fileno(f)), 3);
    sb_log_share(-1);
    CHECK(!sb_log_is_known("error 1"));
    fclose(f);
}

// A message of a script cannot pass for several of the program.
static void lines_are_indented(void)
{
    capture();
    sb_log(SB_LOG_FATAL, "%s", "a\nWARNING: b\n\tc\n\nd\n");
    CHECK_STR(captured(), "FATAL: a\n    WARNING: b\n\tc\n\n    d\n");
}

static void levels(void)
{
    capture();
    sb_log(SB_LOG_INFO, "dropped");
    sb_log(SB_LOG_NOTICE, "shown");
    sb_log_set_level(SB_LOG_FATAL);
    sb_log(SB_LOG_ALERT, "dropped");
    sb_log(SB_LOG_USAGE, "always");
    sb_log_set_level(SB_LOG_NOTICE);
    CHECK_STR(captured(), "shown\nalways\n");
}

static void repeats(void)
{
    capture();
    sb_log(SB_LOG_NOTICE, "one");
    sb_log(SB_LOG_NOTICE, "one");
    sb_log(SB_LOG_NOTICE, "one");
    sb_log(SB_LOG_WARNING, "one");
    sb_log(SB_LOG_WARNING, "one");
    sb_log_flush();
    sb_log_flush();
    sb_log(SB_LOG_WARNING, "one");
    sb_log(SB_LOG_NOTICE, "two");
    CHECK_STR(captured(),
        "one\n(last message repeated 2 times)\nWARNING: one\n"
        "(last message repeated 1 times)\nWARNING: one\ntwo\n");
}

static void records_are_not_collapsed(void)
{
    capture();
    sb_log(SB_LOG_NOTICE, "one");
    sb_log(SB_LOG_NOTICE, "one");
    sb_log_each(SB_LOG_NOTICE, "one");
    sb_log_each(SB_LOG_NOTICE, "one");
    sb_log_each(SB_LOG_DEBUG, "dropped");
    CHECK_STR(captured(), "one\n(last message repeated 1 times)\none\none\n");
}

static void long_messages_are_truncated(void)
{
    static char text[9000];
    const char *got;

    memset(text, 'x', sizeof(text) - 1);
    capture();
    sb_log(SB_LOG_NOTICE, "%s", text);
    got = captured();
    CHECK_INT(strlen(got), 4096);
    CHECK_INT(got[4095], '\n');
}

static void no_progress_without_a_terminal(void)
{
    capture();
    sb_log_progress("%d%%", 10);
    sb_log_progress_done();
    sb_log(SB_LOG_NOTICE, "end");
    CHECK_STR(captured(), "end\n");
}

static void *log_many(void *arg)
{
    for (int i = 0; i < 200; i++)
        sb_log(SB_LOG_NOTICE, "%s %d", (const char *)arg, i);
    return NULL;
}

static void threads(void)
{
    const char *got;
    pthread_t a, b;
    int lines = 0;

    capture();
    CHECK_INT(pthread_create(&a, NULL, log_many, "thread-a"), 0);
    CHECK_INT(pthread_create(&b, NULL, log_many, "thread-b"), 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    got = captured();
    for (const char *p = got; (p = strstr(p, "thread-")); p++) {
        lines++;
        CHECK(p == got || p[-1] == '\n');
    }
    CHECK_INT(lines, 400);
}

// Opens a pseudo-terminal whose other end is *master; -1 if that fails.
static int open_terminal(int *master)
{
    const char *name;

    *master = posix_openpt(O_RDWR | O_NOCTTY);
    if (*master < 0 || grantpt(*master) || unlockpt(*master))
        return -1;
    name = ptsname(*master);
    return name ? open(name, O_RDWR | O_NOCTTY) : -1;
}

static void set_width(unsigned short columns)
{
    const struct winsize w = { .ws_row = 25, .ws_col = columns };

    CHECK_INT(ioctl(STDERR_FILENO, TIOCSWINSZ, &w), 0);
}

static void progress(void)
{
    static const char want[] =
        "\r10%\033[K\r2 0%\\x1b\033[K\r\033[Kmessage\r\n\r30%\033[K\r\033[K"
        "\r0:50 left: 8 users\033[K\r0:50 left: 8 users, 50 events/s\033[K"
        "\r0:50 left\033[K\r0:50 left: 8 users, 50 events/s, p95 4 ms\033[K"
        "\r\xc3\xa4\xc3\xb6\033[K";
    static const char line[] = "0:50 left: 8 users, 50 events/s, p95 4 ms";
    char got[512] = "";
    size_t len = 0;
    ssize_t n = 1;
    int master, slave = open_terminal(&master);

    if (slave < 0) {
        printf("# no terminal here\n");
        return;
    }
    fflush(stderr);
    int saved = dup(STDERR_FILENO);

    dup2(slave, STDERR_FILENO);
    sb_log_progress("%d%%", 10);
    sb_log_progress("%s", "2\n0%\033");
    sb_log(SB_LOG_NOTICE, "message");
    sb_log_progress("%d%%", 30);
    sb_log_progress_done();
    sb_log_progress_done();
    // The width changes; a line must stay below it, because some terminals
    // wrap after the last column.
    set_width(31);
    sb_log_progress("%s", line);
    set_width(32);
    sb_log_progress("%s", line);
    set_width(10);
    sb_log_progress("%s", line);
    set_width((unsigned short)(sizeof(line)));
    sb_log_progress("%s", line);
    set_width(3);
    sb_log_progress("%s", "\xc3\xa4\xc3\xb6\xc3\xbc");
    dup2(saved, STDERR_FILENO);
    close(saved);
    while (len < sizeof(want) - 1 && n > 0) {
        n = read(master, got + len, sizeof(got) - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    close(slave);
    close(master);
    CHECK_STR(got, want);
}

CHECK_FILE
{
    RUN(prefixes);
    RUN(messages_cannot_control_the_terminal);
    RUN(what_an_earlier_process_has_shown_is_hidden);
    RUN(lines_are_indented);
    RUN(levels);
    RUN(repeats);
    RUN(records_are_not_collapsed);
    RUN(long_messages_are_truncated);
    RUN(no_progress_without_a_terminal);
    RUN(threads);
    RUN(progress);
    return check_done();
}
