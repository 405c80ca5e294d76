// SPDX-License-Identifier: GPL-2.0-or-later
//
// The prepared statements of a connection in the order of their last use. To
// keep executions cheap, nothing moves in the list until it is full.
#ifndef SB_LRU_H
#define SB_LRU_H

#include <stdbool.h>
#include <stdint.h>

struct sb__lru_node { // embedded in its owner; {0} while in no list
    struct sb__lru_node *newer, *older;
};

struct sb__lru { // {0}: empty and without a limit
    struct sb__lru_node *newest, *oldest;
    uint32_t n;
    uint32_t most; // limit, 0: none. The caller enforces it.
    bool full;     // n >= most: the caller must call sb__lru_use()
};

void sb__lru_add(struct sb__lru *l, struct sb__lru_node *node);
void sb__lru_remove(struct sb__lru *l, struct sb__lru_node *node);
// Makes the node the newest.
void sb__lru_use(struct sb__lru *l, struct sb__lru_node *node);

#endif
