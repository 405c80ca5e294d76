// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/lru.h"

#include <assert.h>
#include <stddef.h>

static void take_out(struct sb__lru *l, struct sb__lru_node *node)
{
    *(node->newer ? &node->newer->older : &l->newest) = node->older;
    *(node->older ? &node->older->newer : &l->oldest) = node->newer;
    *node = (struct sb__lru_node){ 0 };
}

static void put_first(struct sb__lru *l, struct sb__lru_node *node)
{
    node->newer = NULL;
    node->older = l->newest;
    *(l->newest ? &l->newest->newer : &l->oldest) = node;
    l->newest = node;
}

static void count(struct sb__lru *l, uint32_t n)
{
    l->n = n;
    l->full = l->most > 0 && n >= l->most;
}

void sb__lru_add(struct sb__lru *l, struct sb__lru_node *node)
{
    put_first(l, node);
    count(l, l->n + 1);
}

void sb__lru_remove(struct sb__lru *l, struct sb__lru_node *node)
{
    assert(l->n > 0);
    take_out(l, node);
    count(l, l->n - 1);
}

void sb__lru_use(struct sb__lru *l, struct sb__lru_node *node)
{
    if (l->newest == node)
        return;
    take_out(l, node);
    put_first(l, node);
}
