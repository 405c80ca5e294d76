// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the server sends while a load sends rows.
#include "fake_pgsql.h"

#include <poll.h>
#include <semaphore.h>

// More than a socket holds.
#define ROW_BYTES (8u * 1024 * 1024)

static sem_t blocked; // the driver waits to send rows

static int wait_here(int fd, short events, uint64_t deadline)
{
    if (events == (POLLIN | POLLOUT)) // not while it connects
        sem_post(&blocked);
    return sb_io_wait(fd, events, deadline);
}

// What the server says during the COPY.
#define SPEECH (ANSWERS - 1)

// Waits until the driver waits to send the rest of a row, and speaks.
static void speak(int fd)
{
    char byte;

    CHECK_INT(recv(fd, &byte, 1, MSG_PEEK), 1);
    while (sem_wait(&blocked))
        continue;
    CHECK_INT(write(fd, server.answer[SPEECH], server.len[SPEECH]),
        server.len[SPEECH]);
}

// After an error, the server ignores what it gets up to the end of the COPY.
static void speak_and_ignore(int fd)
{
    speak(fd);
    read_request(fd);
}

static void answer_copy(void (*then)(int fd))
{
    MESSAGE('G', "\0\0\0");
    server.after[server.n] = then;
    next_answer();
}

static int add_row(uint32_t len)
{
    static char text[ROW_BYTES];
    struct sb_value v = { .type = SB_VALUE_TEXT, .s = text, .len = len };

    memset(text, 'x', len);
    memset(&err, 0, sizeof(err));
    return sb_driver.bulk->rows(conn, &v, 1, &err);
}

static void begin(void)
{
    sem_init(&blocked, 0, 0);
    host.wait = wait_here;
    CHECK_INT(start(), 0);
    CHECK_INT(sb_driver.bulk->begin_short(conn, "t", "v", 1, &err), 0);
}

static void end(void)
{
    finish();
    host.wait = sb_io_wait;
    sem_destroy(&blocked);
}

// libpq reads it while it sends the first row, so the socket does not show it.
static void an_error_in_a_row(void)
{
    server.n = SPEECH;
    MESSAGE('E', "SERROR\0VERROR\0C22001\0Mvalue too long\0\0");
    MESSAGE('Z', "E");
    server.n = 0;
    done("BEGIN", "T");
    answer_copy(speak_and_ignore);
    done("ROLLBACK", "I");
    begin();
    CHECK_INT(add_row(ROW_BYTES), 0);
    CHECK_INT(add_row(1), SB_EQUERY);
    CHECK_STR(err.state, "22001");
    CHECK_STR(err.msg, "value too long");
    CHECK_INT(sb_driver.bulk->end(conn, false, NULL), 0);
    CHECK_STR(server.queries, "BEGIN\nCOPY t (v) FROM STDIN\nROLLBACK\n");
    end();
}

// The COPY is ended to see what it was, and another one continues, once.
static void a_notice(void)
{
    server.n = SPEECH;
    MESSAGE('N', "SNOTICE\0VNOTICE\0C00000\0Mhello\0\0");
    server.n = 0;
    done("BEGIN", "T");
    answer_copy(speak);
    done("COPY 1", "T");
    answer_copy(NULL);
    done("COPY 2", "T");
    done("COMMIT", "I");
    begin();
    CHECK_INT(add_row(ROW_BYTES), 0);
    CHECK_INT(add_row(1), 0);
    CHECK_INT(add_row(1), 0);
    CHECK_INT(sb_driver.bulk->end(conn, true, &err), 0);
    CHECK_STR(server.queries, "BEGIN\nCOPY t (v) FROM STDIN\n"
                              "COPY t (v) FROM STDIN\nCOMMIT\n");
    end();
}

CHECK_FILE
{
    check_folder();
    alarm(300); // ends the program if the driver hangs
    RUN(an_error_in_a_row);
    RUN(a_notice);
    return check_done();
}
