// SPDX-License-Identifier: GPL-2.0-or-later
//
// Calls of the library, and the waits in them, with the library's timeouts. The
// core waits, and may run other users of the thread in that time. Calls that
// block run in helper threads of the core.
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "drivers/mongodb/internal.h"
#include "kit/clock.h"

// A timeout of 20 days or more means no limit; settings.c sets such a timeout.
#define NO_LIMIT_MS 1728000000
// How long to wait before servers are looked for again, as the library does,
// and how often to check for a cancel meanwhile.
#define LOOK_NS UINT64_C(500000000)
#define TICK_NS UINT64_C(50000000)

int sbmo_begin(struct sbmo_conn *c, struct sb_err *err)
{
    if (!c->client)
        return sb_err_native(err, SB_ELOST, SBMO_SOCKET, NULL, "not connected");
    assert(!atomic_load_explicit(&c->busy, memory_order_relaxed));
    c->why = 0;
    c->found_closed = c->broken = false;
    atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    atomic_store_explicit(&c->busy, true, memory_order_release);
    return 0;
}

void sbmo_end(struct sbmo_conn *c)
{
    atomic_store_explicit(&c->busy, false, memory_order_release);
}

bool sbmo_is_limit(int32_t ms)
{
    return ms >= 0 && ms < NO_LIMIT_MS;
}

uint64_t sbmo_deadline(int32_t ms)
{
    return sbmo_is_limit(ms) ? sb_clock_monotonic() + (uint64_t)ms * 1000000
                             : UINT64_MAX;
}

// The core waits for one descriptor. Adds several to an epoll descriptor, and
// returns that, or -errno.
static int gather(const struct pollfd *p, size_t n)
{
    int all = epoll_create1(EPOLL_CLOEXEC);

    if (all < 0)
        return -errno;
    for (size_t i = 0; i < n; i++) {
        // The values of POLLIN etc. are those of EPOLLIN etc.
        struct epoll_event e = {
            .events = (uint32_t)(unsigned short)p[i].events
        };
        int no = epoll_ctl(all, EPOLL_CTL_ADD, p[i].fd, &e) ? errno : 0;

        if (no) {
            close(all);
            return -no;
        }
    }
    return all;
}

// The library waits for several sockets while it looks for the servers of a
// cluster. Returns the number with events, or -errno.
static int wait_several(
    const struct sb_host *host, struct pollfd *p, size_t n, uint64_t deadline)
{
    int all = gather(p, n);
    int rc;

    if (all < 0)
        return all;
    rc = host->wait(all, POLLIN, deadline);
    close(all);
    if (rc <= 0)
        return rc;
    rc = poll(p, (nfds_t)n, 0);
    return rc < 0 ? -errno : rc;
}

static int wait_one(
    const struct sb_host *host, struct pollfd *p, uint64_t deadline)
{
    int rc = host->wait(p->fd, p->events, deadline);

    p->revents = (short)(rc > 0 ? rc : 0);
    return rc > 0 ? 1 : rc;
}

int sbmo_poll(
    const struct sb_host *host, struct pollfd *p, size_t n, int32_t timeout)
{
    uint64_t deadline = sbmo_deadline(timeout);
    int rc;

    if (n == 0 || timeout == 0)
        return poll(p, (nfds_t)n, timeout);
    rc = n == 1 ? wait_one(host, p, deadline)
                : wait_several(host, p, n, deadline);
    if (rc >= 0)
        return rc;
    errno = -rc;
    return -1;
}

// For five seconds after a failure, the library does not try a server again and
// gives no reason, so the last reason is kept. A message with a reason contains
// a list of servers.
static void keep_reason(struct sbmo_search *s, bson_error_t *e)
{
    if (strchr(e->message, '['))
        s->why = *e;
    else if (s->why.domain)
        *e = s->why;
}

static void mo_sleep_until(struct sbmo_conn *c, uint64_t until)
{
    while (sb_clock_monotonic() < until && !sbmo_canceled(c))
        c->host->sleep(sb_clock_until(until, TICK_NS));
}

bool sbmo_look_again(
    struct sbmo_conn *c, struct sbmo_search *s, bson_error_t *e)
{
    uint64_t now;

    if (e->domain != MONGOC_ERROR_SERVER_SELECTION || !c->env->selection_ns)
        return false;
    keep_reason(s, e);
    now = sb_clock_monotonic();
    if (!s->until)
        s->until = now + c->env->selection_ns;
    if (now >= s->until)
        return false;
    mo_sleep_until(c, sb_clock_until(s->until, LOOK_NS));
    return !sbmo_canceled(c);
}

struct apart {
    struct sbmo_conn *c;
    void (*run)(void *arg);
    void *arg;
};

static void mo_run_apart(void *arg)
{
    struct apart *a = arg;

    a->run(a->arg);
}

static bool apart_canceled(void *arg)
{
    struct apart *a = arg;

    return sbmo_canceled(a->c);
}

int sbmo_apart(
    struct sbmo_conn *c, void (*run)(void *arg), void *arg, bson_error_t *error)
{
    struct apart a = { .c = c, .run = run, .arg = arg };
    int rc = c->host->apart(mo_run_apart, apart_canceled, &a, UINT64_MAX);

    if (rc)
        bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_CONNECT,
            "connecting was canceled");
    return rc;
}
