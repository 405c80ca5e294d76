// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/socket.h>

#include "drivers/mysql/mysql_priv.h"

#define CR_GONE 2006

int sbmy_call_refused(struct sbmy_conn *c, struct sb_err *err)
{
    if (!c->my)
        return sb_err_native(err, SB_ELOST, CR_GONE, "HY000", "not connected");
    if (c->bulk)
        return sb_err_set(err, SB_EUSAGE, "the connection is loading a table");
    atomic_store_explicit(&c->canceled, false, memory_order_relaxed);
    return sbmy_fail_with(
        c, CR_GONE, "HY000", *c->why ? c->why : "not connected", err);
}

void sbmy_call_hang_up(struct sbmy_conn *c)
{
    assert(sbmy_in_call(c));
    c->gone = true;
    shutdown(c->socket.fd, SHUT_RDWR);
}
