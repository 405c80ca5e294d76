// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which of a connection's prepared statements was used last: a list from the
// newest to the oldest, in which nothing moves until it is full.
#ifndef SB_LRU_H
#define SB_LRU_H

#include <stdbool.h>
#include <stdint.h>

struct sb__lru_node { // part of its owner; {0} while in no list
    struct sb__lru_node *newer, *older;
};

struct sb__lru { // {0}: empty and without a bound
    struct sb__lru_node *newest, *oldest;
    uint32_t n;
    uint32_t most; // 0: no bound. It is the caller's to keep.
    bool full;     // n >= most: sb__lru_use() is to be called
};

void sb__lru_add(struct sb__lru *l, struct sb__lru_node *node);
void sb__lru_remove(struct sb__lru *l, struct sb__lru_node *node);
// The node becomes the newest.
void sb__lru_use(struct sb__lru *l, struct sb__lru_node *node);

#endif
