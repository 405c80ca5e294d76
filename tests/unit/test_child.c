// SPDX-License-Identifier: GPL-2.0-or-later
//
// The children of a connection.
#include "fake.h"

struct thing {
    struct sb__child child; // first
    char name;
};

static int refuses; // settle() of the thing with this name fails
static int keeper;  // keeps() of this thing is true

static char name_of(const struct sb__child *k)
{
    return ((const struct thing *)k)->name;
}

static int settle(struct sb__child *k)
{
    note("settle(%c) ", name_of(k));
    return refuses == name_of(k) ? SB_EQUERY : 0;
}

static void abandon(struct sb__child *k)
{
    note("abandon(%c) ", name_of(k));
    if (k->ops->cancel) // as loads do
        sb__child_remove(k);
}

static void reset(struct sb__child *k)
{
    note("reset(%c) ", name_of(k));
}

static bool keeps(const struct sb__child *k)
{
    return name_of(k) == keeper;
}

static void orphan(struct sb__child *k)
{
    note("orphan(%c) ", name_of(k));
    sb__child_remove(k);
    sb__child_link(&ctx.orphans, k);
}

static void cancel(struct sb__child *k)
{
    note("cancel(%c) ", name_of(k));
}

static void free_thing(struct sb__child *k)
{
    note("free(%c) ", name_of(k));
    sb__child_unlink(k);
}

static const struct sb__child_ops plain = { .settle = settle,
    .keeps = keeps,
    .abandon = abandon,
    .reset = reset,
    .orphan = orphan,
    .free = free_thing };
static const struct sb__child_ops cancelable = {
    .keeps = keeps,
    .abandon = abandon,
    .orphan = orphan,
    .cancel = cancel,
    .free = free_thing,
};

static struct thing a, b, x;

static void start_things(void)
{
    start();
    a = (struct thing){ { .ops = &plain }, 'a' };
    b = (struct thing){ { .ops = &plain }, 'b' };
    x = (struct thing){ { .ops = &cancelable }, 'x' };
    sb__child_add(&c, &a.child);
    sb__child_add(&c, &x.child);
    sb__child_add(&c, &b.child);
    CHECK(a.child.con == &c);
}

static void newest_first(void)
{
    start_things();
    CHECK_INT(sb__children_settle(&c), 0);
    CHECK_STR(logged(), "settle(b) settle(a) ");
    sb__children_cancel(&c);
    sb__children_reset(&c);
    CHECK_STR(logged(), "cancel(x) reset(b) reset(a) ");
    finish();
    CHECK_STR(logged(), "abandon(x) abandon(b) abandon(a) orphan(b) orphan(a) "
                        "free(a) free(b) ");
}

static void a_failure_ends_settling(void)
{
    start_things();
    refuses = 'b';
    CHECK_INT(sb__children_settle(&c), SB_EQUERY);
    CHECK_STR(logged(), "settle(b) ");
    refuses = 0;
    finish();
}

// Only children with something to do are asked before a call, and none while a
// pipeline collects statements.
static void calls_settle_the_unsettled(void)
{
    start_things();
    CHECK_INT(sb__call_ready(&c), 0);
    CHECK_STR(logged(), "");
    c.unsettled = 1;
    CHECK_INT(sb__call_ready(&c), 0);
    CHECK_STR(logged(), "settle(b) settle(a) ");
    c.pipe.state = SB__PIPE_OPEN;
    CHECK_INT(sb__call_ready(&c), 0);
    CHECK_STR(logged(), "");
    c.pipe.state = SB__PIPE_NONE;
    finish();
}

static void one_of_them_keeps_the_connection(void)
{
    start_things();
    CHECK(!sb__children_keep(&c));
    for (const char *k = "abx"; *k; k++) {
        keeper = *k;
        CHECK(sb__children_keep(&c));
    }
    keeper = 0;
    finish();
}

static void removed(void)
{
    start_things();
    sb__child_remove(&b.child);
    sb__child_remove(&x.child);
    CHECK(!b.child.con && !b.child.next && !c.cancelables);
    sb__children_reset(&c);
    CHECK_STR(logged(), "reset(a) ");
    finish();
}

CHECK_FILE
{
    RUN(newest_first);
    RUN(a_failure_ends_settling);
    RUN(calls_settle_the_unsettled);
    RUN(one_of_them_keeps_the_connection);
    RUN(removed);
    return check_done();
}
