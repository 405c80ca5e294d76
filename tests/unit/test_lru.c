// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "db/lru.h"

#define N 4

static struct sb__lru l;
static struct sb__lru_node node[N];

// Returns the nodes from newest to oldest, and then in reverse.
static const char *order(void)
{
    static char out[2 * N + 2];
    char *p = out;

    for (struct sb__lru_node *i = l.newest; i; i = i->older)
        *p++ = (char)('0' + (i - node));
    *p++ = ' ';
    for (struct sb__lru_node *i = l.oldest; i; i = i->newer)
        *p++ = (char)('0' + (i - node));
    *p = '\0';
    return out;
}

static void fill(uint32_t most)
{
    l = (struct sb__lru){ .most = most };
    memset(node, 0, sizeof(node));
    for (int i = 0; i < N; i++)
        sb__lru_add(&l, &node[i]);
}

static void adds(void)
{
    l = (struct sb__lru){ 0 };
    CHECK_STR(order(), " ");
    fill(0);
    CHECK_STR(order(), "3210 0123");
    CHECK_INT(l.n, N);
}

static void uses(void)
{
    fill(0);
    sb__lru_use(&l, &node[0]);
    CHECK_STR(order(), "0321 1230");
    sb__lru_use(&l, &node[2]);
    CHECK_STR(order(), "2031 1302");
    sb__lru_use(&l, &node[2]);
    CHECK_STR(order(), "2031 1302");
    CHECK_INT(l.n, N);
}

static void removes(void)
{
    fill(0);
    sb__lru_remove(&l, &node[1]);
    CHECK_STR(order(), "320 023");
    sb__lru_remove(&l, &node[3]);
    CHECK_STR(order(), "20 02");
    sb__lru_remove(&l, &node[0]);
    CHECK_STR(order(), "2 2");
    sb__lru_remove(&l, &node[2]);
    CHECK_STR(order(), " ");
    CHECK_INT(l.n, 0);
    sb__lru_add(&l, &node[1]);
    CHECK_STR(order(), "1 1");
}

static void shows_when_it_is_full(void)
{
    fill(0);
    CHECK(!l.full);
    fill(N + 1);
    CHECK(!l.full);
    fill(N);
    CHECK(l.full);
    sb__lru_remove(&l, &node[1]);
    CHECK(!l.full);
    fill(1);
    CHECK(l.full);
}

CHECK_FILE
{
    RUN(adds);
    RUN(uses);
    RUN(removes);
    RUN(shows_when_it_is_full);
    return check_done();
}
