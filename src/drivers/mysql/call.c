// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/internal.h"

// The error of a call that cannot begin.
static int refused(struct sbmy_conn *c, struct sb_err *err)
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

// Finds out whether the library has closed the socket during the call that now
// ends. Its descriptor may soon be that of another connection.
static void check_socket(struct sbmy_conn *c)
{
    if (!c->my || sbmy_descriptor(c->my) >= 0)
        return;
    atomic_store_explicit(&c->shared_fd, -1, memory_order_release);
    c->socket.fd = -1;
    sbmy_mark_lost(c);
}

void sbmy_call_resume(struct sbmy_conn *c)
{
    assert(!sbmy_in_call(c));
    if (c->socket.tells)
        sbmy_socket_tell(c);
    atomic_store_explicit(&c->busy, true, memory_order_release);
}

int sbmy_call_begin(struct sbmy_conn *c, struct sb_err *err)
{
    if (!c->my || c->state != SBMY_USABLE || c->bulk ||
        atomic_load_explicit(&c->canceled, memory_order_relaxed))
        return refused(c, err);
    sbmy_thread();
    sbmy_call_resume(c);
    return 0;
}

int sbmy_call_end_own(struct sbmy_conn *c, int rc)
{
    assert(sbmy_in_call(c) && !c->apart);
    atomic_store_explicit(&c->busy, false, memory_order_release);
    return rc;
}

int sbmy_call_end(struct sbmy_conn *c, int rc)
{
    check_socket(c);
    return sbmy_call_end_own(c, rc);
}

void sbmy_apart_begin(struct sbmy_conn *c)
{
    assert(!c->apart);
    sbmy_thread();
    if (c->socket.tells)
        sbmy_socket_tell(c);
    c->apart = true;
}

void sbmy_apart_end(struct sbmy_conn *c)
{
    assert(c->apart);
    check_socket(c);
    c->apart = false;
}
