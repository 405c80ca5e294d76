// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "drivers/mongodb/mongodb_priv.h"

uint8_t *sbmo_room(struct sbmo_room *m, size_t more)
{
    size_t cap = m->cap ? m->cap : 256;
    uint8_t *p;

    assert(m->len <= m->cap);
    while (cap - m->len < more)
        cap *= 2;
    if (cap != m->cap) {
        p = realloc(m->p, cap);
        if (!p)
            return NULL;
        m->p = p;
        m->cap = cap;
    }
    return m->p + m->len;
}

bool sbmo_room_add(struct sbmo_room *m, const void *p, size_t len)
{
    uint8_t *at = sbmo_room(m, len);

    if (!at)
        return false;
    if (len)
        memcpy(at, p, len);
    m->len += len;
    return true;
}
