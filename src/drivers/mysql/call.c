// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/socket.h>

#include "drivers/mysql/mysql_priv.h"

int sbmy_call_refused(struct sbmy_conn *c, struct sb_err *err)
{
    if (!c->my)
        return sb_err_native(
            err, SB_ELOST, SBMY_CR_GONE, "HY000", "not connected");
    if (c->bulk)
        return sb_err_set(err, SB_EUSAGE, "the connection is loading a table");
    if (sbmy_take_cancel(c))
        return sb_err_set(err, SB_ECANCELED, "the call was canceled");
    return sbmy_fail_with(c, SBMY_CR_GONE, "HY000",
        *c->why ? c->why : "the connection was lost", err);
}

static void mark_lost(struct sbmy_conn *c)
{
    if (c->state == SBMY_USABLE)
        c->state = SBMY_LOST;
}

void sbmy_call_hang_up(struct sbmy_conn *c)
{
    assert(sbmy_in_call(c));
    mark_lost(c);
    shutdown(c->socket.fd, SHUT_RDWR);
}

void sbmy_call_check(struct sbmy_conn *c)
{
    if (!c->my || sbmy_descriptor(c->my) >= 0)
        return;
    atomic_store_explicit(&c->shared_fd, -1, memory_order_release);
    c->socket.fd = -1;
    mark_lost(c);
}
