// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/child.h"

#include <assert.h>

#include "db/con.h"

void sb__child_link(struct sb__child **list, struct sb__child *k)
{
    k->next = *list;
    k->prev = list;
    if (k->next)
        k->next->prev = &k->next;
    *list = k;
}

void sb__child_unlink(struct sb__child *k)
{
    assert(k->prev && *k->prev == k);
    *k->prev = k->next;
    if (k->next)
        k->next->prev = k->prev;
    k->next = NULL;
    k->prev = NULL;
}

// Other threads read the list of children with cancel(). The other list needs
// no lock, so that a statement is opened without one.
void sb__child_add(struct sb_con_priv *c, struct sb__child *k)
{
    assert(!k->prev && c->state != SB__CON_SPARE);
    k->con = c;
    if (!k->ops->cancel) {
        sb__child_link(&c->children, k);
        return;
    }
    pthread_mutex_lock(&c->ctx->lock);
    sb__child_link(&c->cancelables, k);
    pthread_mutex_unlock(&c->ctx->lock);
}

void sb__child_remove(struct sb__child *k)
{
    pthread_mutex_t *lock = k->ops->cancel ? &k->con->ctx->lock : NULL;

    if (lock)
        pthread_mutex_lock(lock);
    sb__child_unlink(k);
    if (lock)
        pthread_mutex_unlock(lock);
    k->con = NULL;
}

int sb__children_settle(struct sb_con_priv *c)
{
    int rc = 0;

    assert(!c->cancelables || !c->cancelables->ops->settle);
    for (struct sb__child *k = c->children, *next; k && rc == 0; k = next) {
        next = k->next;
        if (k->ops->settle)
            rc = k->ops->settle(k);
    }
    return rc;
}

void sb__children_abandon(struct sb_con_priv *c)
{
    for (struct sb__child *k = c->cancelables, *next; k; k = next) {
        next = k->next;
        if (k->ops->abandon)
            k->ops->abandon(k);
    }
    for (struct sb__child *k = c->children, *next; k; k = next) {
        next = k->next;
        if (k->ops->abandon)
            k->ops->abandon(k);
    }
}

void sb__children_reset(struct sb_con_priv *c)
{
    for (struct sb__child *k = c->children; k; k = k->next) {
        if (k->ops->reset)
            k->ops->reset(k);
    }
}

void sb__children_orphan(struct sb_con_priv *c)
{
    while (c->cancelables)
        c->cancelables->ops->orphan(c->cancelables);
    while (c->children)
        c->children->ops->orphan(c->children);
}

void sb__children_cancel(struct sb_con_priv *c)
{
    for (struct sb__child *k = c->cancelables; k; k = k->next)
        k->ops->cancel(k);
}

void sb__children_free(struct sb__child **list)
{
    while (*list)
        (*list)->ops->free(*list);
}
