// SPDX-License-Identifier: GPL-2.0-or-later
//
// The end of calls: canceled ones, and calls on a connection that is lost.
#include "fake_pgsql.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

// Cancel ---------------------------------------------------------------------

static bool canceling; // the cancel looks whether the call has returned
static bool answered;  // and the request was answered before

// Replaces that of the C library: the cancel counts its timeouts in sleeps. The
// call returns during the first sleep, or the first one after the answer to the
// request.
__attribute__((visibility("default"))) int nanosleep(
    const struct timespec *time, struct timespec *left)
{
    bool waits = canceling && answered &&
                 atomic_load_explicit(&room.own.cancel, memory_order_acquire) ==
                     NULL;

    if (waits)
        return clock_nanosleep(CLOCK_MONOTONIC, 0,
            &(struct timespec){ .tv_nsec = 50000000 }, NULL);
    if (canceling)
        pgsql_set_busy(&room.own, false);
    return 0;
}

// As another thread would, while a call is in progress.
static void cancel(bool request_is_answered)
{
    answered = request_is_answered;
    pgsql_set_busy(&room.own, true);
    canceling = true;
    sb_driver.generic->cancel(conn);
    canceling = false;
    CHECK(atomic_load_explicit(&room.own.canceled, memory_order_relaxed));
    atomic_store_explicit(&room.own.canceled, false, memory_order_relaxed);
}

static void can_be_used(void)
{
    struct sb_result res;

    CHECK_INT(execute(&res), 0);
    CHECK_INT(res.affected, 1);
    CHECK_STR(err.msg, "");
}

// Receives and ends a cancel request.
static void answer_request(int fd)
{
    int request = accept(server.listener, NULL, NULL);
    char bytes[16];

    CHECK(read_all(request, bytes, sizeof(bytes)));
    close(request);
}

static void a_call_returns_during_the_request(void)
{
    answer_prepare();
    answer_first();
    answer_again("I");
    next_answer();
    ready();
    cancel(false);
    CHECK_INT(room.own.env->failed_cancels, 1);
    can_be_used();
    answer_request(-1); // so that it does not reach the next test's server
    finish();
}

static void a_call_returns_after_the_request(void)
{
    answer_prepare();
    server.after[server.n] = answer_request;
    answer_first();
    answer_again("I");
    next_answer();
    ready();
    cancel(true);
    CHECK_INT(room.own.env->failed_cancels, 0);
    can_be_used();
    finish();
}

static void set_canceled(int fd)
{
    atomic_store(&room.own.canceled, true);
}

// The call that gets the next answer is canceled before that.
static void canceled_before_the_answer(void)
{
    server.before[server.n] = set_canceled;
}

static void commit_is_canceled(int rc)
{
    CHECK_INT(rc, SB_ECANCELED);
    CHECK_STR(err.state, PGSQL_CANCELED);
    CHECK_STR(
        err.msg, "COMMIT was canceled; standbys may not have the transaction");
    CHECK(!atomic_load_explicit(&room.own.canceled, memory_order_relaxed));
}

static void succeed_again(const char *tag)
{
    MESSAGE('2', "");
    done(tag, "I");
}

// A server that is canceled while a COMMIT waits for a standby answers as if
// nothing had happened.
static void a_prepared_commit(void)
{
    struct sb_result res;

    answer_prepare();
    MESSAGE('2', "");
    MESSAGE('n', "");
    done("COMMIT", "I");
    canceled_before_the_answer();
    succeed_again("COMMIT");
    succeed_again("COMMIT");
    canceled_before_the_answer();
    MESSAGE('2', "");
    MESSAGE('I', "");
    done(NULL, "I");
    CHECK_INT(start(), 0);
    prepare("COMMIT");
    CHECK_INT(execute(&res), 0);
    commit_is_canceled(execute(&res));
    CHECK_INT(execute(&res), 0);
    CHECK_INT(execute(&res), 0); // without a tag
    finish();
}

static void a_commit_through_libpq(void)
{
    canceled_before_the_answer();
    done("COMMIT", "I");
    done("COMMIT", "I");
    CHECK_INT(start(), 0);
    commit_is_canceled(run_query("COMMIT"));
    CHECK_INT(run_query("COMMIT"), 0);
    finish();
}

// A call that was complete when it was canceled: the next one was not canceled.
static void the_call_before_was_canceled(void)
{
    struct sb_result res;

    answer_prepare();
    MESSAGE('2', "");
    MESSAGE('n', "");
    done("COMMIT", "I");
    succeed_again("COMMIT");
    done("COMMIT", "I");
    CHECK_INT(start(), 0);
    prepare("COMMIT");
    CHECK_INT(execute(&res), 0);
    set_canceled(-1);
    CHECK_INT(execute(&res), 0);
    set_canceled(-1);
    CHECK_INT(run_query("COMMIT"), 0);
    finish();
}

// Only COMMIT has this problem. A call that was complete has succeeded.
static void other_statements(void)
{
    struct sb_result res;

    answer_prepare();
    answer_first();
    answer_again("I");
    next_answer();
    canceled_before_the_answer();
    succeed_again("COMMIT PREPARED");
    ready();
    CHECK_INT(execute(&res), 0);
    CHECK_INT(execute(&res), 0);
    finish();
}

// Lost connections -----------------------------------------------------------

// libpq has closed the socket, and the descriptor now belongs to something
// else, which does not get the statement.
static void a_lost_connection_is_not_used(void)
{
    struct sb_result res;
    int pair[2];
    char byte;

    answer_prepare();
    answer_first();
    ready();
    CHECK_INT(query(), SB_ELOST);
    CHECK_INT(fcntl(room.own.fd, F_GETFD), -1);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    if (pair[0] != room.own.fd && pair[1] != room.own.fd) {
        CHECK_INT(dup2(pair[0], room.own.fd), room.own.fd);
        close(pair[0]);
        pair[0] = room.own.fd;
    }
    if (pair[1] == room.own.fd) {
        pair[1] = pair[0];
        pair[0] = room.own.fd;
    }
    shutdown(pair[1], SHUT_WR);
    CHECK_INT(execute(&res), SB_ELOST);
    CHECK_INT(recv(pair[1], &byte, 1, MSG_DONTWAIT), -1);
    CHECK_INT(errno, EAGAIN);
    close(pair[0]);
    close(pair[1]);
    finish();
}

CHECK_FILE
{
    check_folder();
    alarm(300); // ends the program if the driver hangs
    RUN(a_call_returns_during_the_request);
    RUN(a_call_returns_after_the_request);
    RUN(a_prepared_commit);
    RUN(a_commit_through_libpq);
    RUN(the_call_before_was_canceled);
    RUN(other_statements);
    RUN(a_lost_connection_is_not_used);
    return check_done();
}
