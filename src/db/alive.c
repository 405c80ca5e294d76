// SPDX-License-Identifier: GPL-2.0-or-later
//
// Whether the server has closed an idle connection, or a call was canceled.
#define _GNU_SOURCE // POLLRDHUP
#include <errno.h>
#include <poll.h>

#include "db/con.h"

int sb_con_alive(const struct sb_con *con)
{
    const struct sb_con_priv *c = (const struct sb_con_priv *)con;
    // Not POLLIN: a server may send something before it closes the connection,
    // or while the connection stays open.
    struct pollfd p = { .fd = -1, .events = POLLRDHUP };
    int n;

    // To cancel a call, a driver may have closed the socket itself.
    if (c->err.code == SB_ECANCELED)
        return 1;
    if (!sb__con_connected(c) || sb__con_lost(c))
        return 0;
    if (c->drv->generic->socket)
        p.fd = c->drv->generic->socket(c->conn);
    if (p.fd == SB_ELOST)
        return 0;
    if (p.fd < 0)
        return 1;
    do
        n = poll(&p, 1, 0);
    while (n < 0 && errno == EINTR);
    return !(p.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL));
}

int sb_con_canceled(const struct sb_con *con)
{
    return ((const struct sb_con_priv *)con)->err.code == SB_ECANCELED;
}
