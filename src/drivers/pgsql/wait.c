// SPDX-License-Identifier: GPL-2.0-or-later
//
// The places where libpq would wait for the server: here the core waits, which
// may run other users meanwhile. So libpq itself never blocks.
#include <poll.h>

#include "drivers/pgsql/pgsql_priv.h"

bool pgsql_wait(struct pgsql_conn *c, short events)
{
    return c->host->wait(PQsocket(c->db), events, UINT64_MAX) > 0;
}

int pgsql_flush(struct pgsql_conn *c)
{
    int n;

    while ((n = PQflush(c->db)) == 1) {
        int fd = PQsocket(c->db);
        int events = c->host->wait(fd, POLLIN | POLLOUT, UINT64_MAX);

        // A server that cannot send its answers stops reading.
        if (events < 0 || ((events & ~POLLOUT) && !PQconsumeInput(c->db)))
            return -1;
    }
    return n;
}

// Waits until libpq has read what it needs. After an error, libpq has what it
// reports.
static void receive_result(struct pgsql_conn *c)
{
    if (pgsql_flush(c))
        return;
    while (PQisBusy(c->db)) {
        if (!pgsql_wait(c, POLLIN) || !PQconsumeInput(c->db))
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
        else if (!pgsql_wait(c, POLLIN) || !PQconsumeInput(c->db))
            return -1;
    }
    return n == -1 ? 0 : -1;
}
