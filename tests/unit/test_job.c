// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/clock.h"
#include "check.h"
#include "loopback.h"

#define SECOND UINT64_C(1000000000)

struct heard {
    unsigned calls, from;
    uint64_t number;
    char text[16];
    bool bad;
};

static void on_state(void *arg, unsigned from, struct sb_wire *w)
{
    struct heard *h = arg;

    h->calls++;
    h->from = from;
    h->number = sb_wire_get(w);
    sb_wire_get_text(w, h->text, sizeof(h->text));
    h->bad = w->bad;
}

static void send_state(struct sb_job *j, uint64_t number, const char *text)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, number);
    sb_wire_put_text(&b, text);
    sb_job_send(j, 0, SB_JOB_STATE, &b);
    sb_buf_done(&b);
}

static void messages_reach_their_handler(void)
{
    struct sb_job *zero = loopback_job(0, 3, "a"),
                  *two = loopback_job(2, 3, "c");
    struct heard h = { 0 };

    sb_job_on(zero, SB_JOB_STATE, on_state, &h);
    send_state(two, 300, "hello");
    sb_job_send(two, 0, SB_JOB_READY, NULL); // without a handler
    sb_job_poll(zero);
    CHECK_INT(h.calls, 1);
    CHECK_INT(h.from, 2);
    CHECK_INT(h.number, 300);
    CHECK_STR(h.text, "hello");
    CHECK(!h.bad);
    CHECK(zero->of[2].hello);
    CHECK_STR(zero->of[2].host, "c");
    CHECK_STR(zero->of[0].host, "a");
    CHECK(zero->of[2].heard > 0);
    CHECK_INT(zero->of[1].heard, 0);
    // Without a body.
    sb_job_send(two, 0, SB_JOB_STATE, NULL);
    sb_job_poll(zero);
    CHECK_INT(h.calls, 2);
    CHECK(h.bad);
    sb_job_free(zero);
    sb_job_free(two);
    loopback_reset();
}

// GO may come while a rank is still loading its script.
static void early_messages_wait(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");
    struct heard h = { 0 };
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, 7);
    sb_job_tell_all(zero, SB_JOB_GO, &b);
    sb_job_tell_all(zero, SB_JOB_STATE, &b); // is dropped
    sb_job_poll(one);
    sb_job_poll(one);
    sb_job_on(one, SB_JOB_GO, on_state, &h);
    sb_job_on(one, SB_JOB_STATE, on_state, &h);
    sb_job_poll(one);
    CHECK_INT(h.calls, 1);
    CHECK_INT(h.number, 7);
    sb_job_poll(one);
    CHECK_INT(h.calls, 1);
    // One that is never handled is freed.
    sb_job_tell_all(zero, SB_JOB_STOP, &b);
    sb_job_poll(one);
    sb_buf_done(&b);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

static void failures_are_known(void)
{
    struct sb_job *zero = loopback_job(0, 3, "a"),
                  *one = loopback_job(1, 3, "b"),
                  *two = loopback_job(2, 3, "c");
    unsigned n = 0;
    char why[600];

    memset(why, 'x', sizeof(why) - 1);
    why[sizeof(why) - 1] = '\0';
    sb_job_poll(zero);
    CHECK(sb_job_failed(zero, &n) == NULL);
    sb_job_fail(two, "no such table");
    sb_job_fail(two, "and later");
    sb_job_fail(one, why); // too long
    sb_job_poll(zero);
    const struct sb_job_rank *r = sb_job_failed(zero, &n);
    CHECK(r != NULL);
    CHECK_INT(n, 1);
    CHECK_INT(strlen(r->why), 390);
    CHECK_STR(zero->of[2].why, "no such table");
    sb_job_free(zero);
    sb_job_free(one);
    sb_job_free(two);
    loopback_reset();
}

static void a_broken_transport_is_quiet(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a");

    loopback_fails = SB_ESYS;
    sb_job_tell_all(zero, SB_JOB_GO, NULL);
    CHECK_INT(zero->broken.code, SB_ESYS);
    CHECK_STR(zero->broken.msg, "the network is down");
    loopback_fails = 0;
    sb_job_tell_all(zero, SB_JOB_GO, NULL);
    CHECK(loopback_queue[1] == NULL);
    sb_job_free(zero);
    loopback_reset();
}

static bool never(void *arg)
{
    (void)arg;
    return false;
}

static bool at_once(void *arg)
{
    (void)arg;
    return true;
}

static void waiting_ends(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");
    uint64_t now = sb_clock_monotonic();

    CHECK(sb_job_wait(one, at_once, NULL, 0));
    CHECK(!sb_job_wait(one, never, NULL, now));
    // QUIT ends it.
    sb_job_tell_all(zero, SB_JOB_QUIT, NULL);
    CHECK(!sb_job_wait(one, never, NULL, UINT64_MAX));
    CHECK(one->quit);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

static void *leave(void *arg)
{
    return sb_job_leave(arg, 10 * SECOND) ? arg : NULL;
}

static void all_leave(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");
    pthread_t thread;
    void *left;

    pthread_create(&thread, NULL, leave, one);
    CHECK(sb_job_leave(zero, 10 * SECOND));
    pthread_join(thread, &left);
    CHECK(left == one);
    CHECK(zero->of[1].left);
    CHECK(one->end);
    CHECK_INT(loopback_closed, 2);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

static void the_silent_are_not_waited_for(void)
{
    struct sb_job *zero = loopback_job(0, 2, "a"),
                  *one = loopback_job(1, 2, "b");

    CHECK(!sb_job_leave(zero, 1000));
    CHECK_INT(loopback_closed, 0);
    sb_job_free(zero);
    sb_job_free(one);
    loopback_reset();
}

CHECK_FILE
{
    RUN(messages_reach_their_handler);
    RUN(early_messages_wait);
    RUN(failures_are_known);
    RUN(a_broken_transport_is_quiet);
    RUN(waiting_ends);
    RUN(all_leave);
    RUN(the_silent_are_not_waited_for);
    return check_done();
}
