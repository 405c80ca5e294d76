// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mongodb/internal.h"

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
