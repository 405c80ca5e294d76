// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // POLLRDHUP
#include "db/con.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>

bool sb__con_connected(const struct sb_con_priv *c)
{
    return c->state >= SB__CON_LOADING;
}

bool sb__con_lost(const struct sb_con_priv *c)
{
    return c->state == SB__CON_AWAY || c->state == SB__CON_BROKEN;
}

void sb__con_enter(struct sb_con_priv *c, enum sb__con_state to)
{
    static const unsigned may[] = {
        [SB__CON_SPARE] = 0,
        [SB__CON_CLOSED] = 1u << SB__CON_SPARE | 1u << SB__CON_AWAY |
                           1u << SB__CON_OPEN,
        [SB__CON_AWAY] = 1u << SB__CON_SPARE | 1u << SB__CON_CLOSED |
                         1u << SB__CON_OPEN,
        [SB__CON_LOADING] = 1u << SB__CON_BROKEN | 1u << SB__CON_OPEN,
        [SB__CON_BROKEN] = 1u << SB__CON_CLOSED | 1u << SB__CON_AWAY,
        [SB__CON_OPEN] = 1u << SB__CON_CLOSED | 1u << SB__CON_AWAY |
                         1u << SB__CON_LOADING | 1u << SB__CON_BROKEN,
    };

    assert(may[c->state] & 1u << to);
    c->state = to;
}

void sb__con_broken(struct sb_con_priv *c, uint64_t now_ns)
{
    if (sb__con_lost(c))
        return;
    sb__con_enter(c, sb__con_connected(c) ? SB__CON_BROKEN : SB__CON_AWAY);
    c->lost_at = now_ns;
}

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

// Other threads read the list of children with cancel(). The other lists need
// no lock, so that a statement is opened without one.
void sb__child_add(struct sb_con_priv *c, struct sb__child *k)
{
    assert(!k->prev && c->state != SB__CON_SPARE);
    assert(!k->ops->cancel || !k->ops->settle);
    k->con = c;
    if (!k->ops->cancel) {
        sb__child_link(k->ops->settle ? &c->settlers : &c->children, k);
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

void sb__child_free_later(struct sb__child *k)
{
    assert(k->ops->free_late && !k->ops->settle && !k->ops->cancel);
    sb__child_unlink(k);
    sb__child_link(&k->con->late, k);
}

void sb__children_free_late(struct sb_con_priv *c)
{
    assert(c->pipe.state == SB__PIPE_NONE && c->state != SB__CON_LOADING);
    while (c->late)
        c->late->ops->free_late(c->late);
}

int sb__children_settle(struct sb_con_priv *c)
{
    int rc = 0;

    for (struct sb__child *k = c->settlers, *next; k && rc == 0; k = next) {
        next = k->next;
        rc = k->ops->settle(k);
    }
    return rc;
}

static bool any_keeps(const struct sb__child *k)
{
    while (k && !(k->ops->keeps && k->ops->keeps(k)))
        k = k->next;
    return k != NULL;
}

bool sb__children_keep(const struct sb_con_priv *c)
{
    return any_keeps(c->cancelables) || any_keeps(c->settlers) ||
           any_keeps(c->children);
}

static void warn_list(const struct sb__child *k)
{
    for (; k; k = k->next)
        if (k->ops->warn)
            k->ops->warn(k);
}

void sb__children_warn(const struct sb_con_priv *c)
{
    warn_list(c->cancelables);
    warn_list(c->settlers);
    warn_list(c->children);
}

static void abandon_list(struct sb__child *k)
{
    for (struct sb__child *next; k; k = next) {
        next = k->next;
        if (k->ops->abandon)
            k->ops->abandon(k);
    }
}

void sb__children_abandon(struct sb_con_priv *c)
{
    abandon_list(c->cancelables);
    abandon_list(c->settlers);
    abandon_list(c->children);
}

static void reset_list(struct sb__child *k)
{
    for (; k; k = k->next) {
        if (k->ops->reset)
            k->ops->reset(k);
    }
}

void sb__children_reset(struct sb_con_priv *c)
{
    reset_list(c->cancelables);
    reset_list(c->settlers);
    reset_list(c->children);
    reset_list(c->late);
}

static void orphan_list(struct sb__child **list)
{
    while (*list)
        (*list)->ops->orphan(*list);
}

void sb__children_orphan(struct sb_con_priv *c)
{
    orphan_list(&c->cancelables);
    orphan_list(&c->settlers);
    orphan_list(&c->children);
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

// Handles that Lua holds ------------------------------------------------------

void sb__handle_drop(struct sb__handle *h)
{
    if (h->ctx->left) {
        h->free(h);
        return;
    }
    h->next = h->ctx->dropped;
    h->ctx->dropped = h;
}

void sb__handles_free(struct sb_db_ctx *ctx)
{
    while (ctx->dropped && !ctx->keeps_dropped) {
        struct sb__handle *h = ctx->dropped;

        ctx->dropped = h->next;
        h->free(h);
    }
}

// Whether the server has closed an idle connection, or a call was canceled.

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
