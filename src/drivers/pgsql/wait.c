// SPDX-License-Identifier: GPL-2.0-or-later
//
// The places where libpq would wait for the server: here the core waits, which
// may run other users meanwhile. So libpq itself never blocks.
//
// An encrypted connection may have bytes that its socket does not show. TLS and
// GSSAPI decrypt a record of up to 16 KB as a whole, and libpq reads only as
// much as its buffer has room for, at least 8 KB. libpq's own waits ask the TLS
// library for the rest, but libpq exports no function that does. So after each
// read, before the next wait, libpq reads once more if the socket shows
// nothing: one read has room for all bytes that the TLS library may have kept.
// If another record arrives at that moment, its rest is kept, and nothing shows
// that: therefore waits are limited.
#include <fcntl.h>
#include <poll.h>

#include "drivers/pgsql/internal.h"
#include "kit/clock.h"

// The maximum wait before libpq has to read again. LOOK_SOON_NS is the first
// limit after a read during which a new record may have arrived; it doubles up
// to LOOK_NS, which is the limit in all other cases.
#define LOOK_SOON_NS UINT64_C(1000000)
#define LOOK_NS      UINT64_C(1000000000)

static void expect_answer(struct pgsql_conn *c)
{
    c->look_ns = LOOK_NS;
    // If a pipeline or COPY is in progress, its answers may have been read
    // already, while something was sent or together with the previous answer.
    c->hidden = PQtransactionStatus(c->db) == PQTRANS_ACTIVE;
}

static bool socket_shows_more(const struct pgsql_conn *c)
{
    struct pollfd p = { .fd = PQsocket(c->db), .events = POLLIN };

    return poll(&p, 1, 0) != 0;
}

// Waits with a limit and has libpq read, also if the limit was reached.
static bool read_later(struct pgsql_conn *c)
{
    uint64_t until = sb_clock_monotonic() + c->look_ns;
    int events = c->host->wait(PQsocket(c->db), POLLIN, until);

    assert(c->look_ns > 0);
    if (events < 0)
        return false;
    c->hidden = events > 0;
    if (c->hidden || c->look_ns > LOOK_NS / 2)
        c->look_ns = LOOK_NS;
    else
        c->look_ns *= 2;
    return PQconsumeInput(c->db);
}

bool pgsql_receive_more(struct pgsql_conn *c)
{
    if (!c->encrypted)
        return c->host->wait(PQsocket(c->db), POLLIN, UINT64_MAX) > 0 &&
               PQconsumeInput(c->db);
    if (!c->hidden || socket_shows_more(c))
        return read_later(c);
    c->hidden = false;
    c->look_ns = LOOK_SOON_NS;
    return PQconsumeInput(c->db);
}

int pgsql_flush(struct pgsql_conn *c)
{
    int n;

    while ((n = PQflush(c->db)) == 1) {
        int fd = PQsocket(c->db);
        int events = c->host->wait(fd, POLLIN | POLLOUT, UINT64_MAX);

        // libpq also reads when it cannot send everything.
        c->hidden = c->encrypted;
        if (events < 0)
            return -1;
        // A server that cannot send its answers stops reading.
        if (events & ~POLLOUT) {
            c->heard = true;
            if (!PQconsumeInput(c->db))
                return -1;
        }
    }
    return n;
}

// Waits until libpq has read what it needs, or until an error, which libpq then
// reports.
static void receive_result(struct pgsql_conn *c)
{
    if (pgsql_flush(c))
        return;
    while (PQisBusy(c->db)) {
        if (!pgsql_receive_more(c))
            return;
    }
}

PGresult *pgsql_next(struct pgsql_conn *c)
{
    receive_result(c);
    return PQgetResult(c->db);
}

int pgsql_put_copy(struct pgsql_conn *c, const char *data, int len)
{
    int n;

    while ((n = PQputCopyData(c->db, data, len)) == 0) {
        if (pgsql_flush(c))
            return -1;
    }
    return n == 1 ? pgsql_flush(c) : -1;
}

int pgsql_put_copy_end(struct pgsql_conn *c, const char *why)
{
    int n;

    while ((n = PQputCopyEnd(c->db, why)) == 0) {
        if (pgsql_flush(c))
            return -1;
    }
    return n == 1 ? pgsql_flush(c) : -1;
}

int pgsql_skip_copy(struct pgsql_conn *c)
{
    char *row;
    int n;

    while ((n = PQgetCopyData(c->db, &row, 1)) >= 0) {
        if (n > 0)
            PQfreemem(row);
        else if (!pgsql_receive_more(c))
            return -1;
    }
    return n == -1 ? 0 : -1;
}

// A blocking socket saves a poll() before each recv(). After a failure, the
// mode is unchanged.
void pgsql_set_blocking(struct pgsql_conn *c, bool on)
{
    int flags = fcntl(c->fd, F_GETFL);

    if (flags >= 0 && fcntl(c->fd, F_SETFL,
                          on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK) == 0)
        c->blocking = on;
}

void pgsql_call_begin(struct pgsql_conn *c)
{
    c->wire_executions = 0;
    c->status = 0;
    if (c->blocking)
        pgsql_set_blocking(c, false);
    if (c->encrypted)
        expect_answer(c);
    pgsql_set_busy(c, true);
}

void pgsql_call_end(struct pgsql_conn *c)
{
    pgsql_set_busy(c, false);
}
