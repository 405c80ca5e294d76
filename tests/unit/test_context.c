// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "loop/context.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kit/asan.h"
#include "check.h"

#ifdef SB_ASAN
void *__asan_region_is_poisoned(void *begin, size_t size);
#endif

#define STACK 65536

struct steps {
    struct sb_context c;
    int n;
    double x; // kept in a register over the switches
};

static void count_up(void *arg)
{
    struct steps *s = arg;
    double x = 0.5;

    for (int i = 0; i < 3; i++) {
        s->n++;
        x *= 2;
        errno = 1000 + i;
        sb_context_leave(&s->c);
        CHECK_INT(errno, 1000 + i);
    }
    s->x = x;
}

// Frees the stack. It has no marks of the sanitizer, which would be found at
// the same addresses later.
static void done(struct sb_context *c)
{
    void *base = c->base;
    size_t size = c->size;

    sb_context_done(c);
    (void)base;
    (void)size;
#ifdef SB_ASAN
    CHECK(!__asan_region_is_poisoned(base, size));
#endif
}

static void continues_where_it_left(void)
{
    struct steps s = { 0 };

    CHECK_INT(sb_context_init(&s.c, STACK, count_up, &s), 0);
    for (int i = 0; i < 3; i++) {
        errno = 7;
        sb_context_resume(&s.c);
        CHECK_INT(errno, 7);
        CHECK_INT(s.n, i + 1);
        CHECK(!s.c.over);
    }
    sb_context_resume(&s.c);
    CHECK(s.c.over);
    CHECK_NEAR(s.x, 4, 0);
    done(&s.c);
    sb_context_done(&s.c);
}

static void a_context_in_the_middle_is_freed(void)
{
    struct steps s = { 0 };

    CHECK_INT(sb_context_init(&s.c, STACK, count_up, &s), 0);
    sb_context_resume(&s.c);
    done(&s.c);
    CHECK(!s.c.base);
}

struct nested {
    struct sb_context outer, inner;
    int depth;
};

static void be_inner(void *arg)
{
    struct nested *n = arg;

    n->depth = 2;
    sb_context_leave(&n->inner);
    n->depth = 3;
}

static void be_outer(void *arg)
{
    struct nested *n = arg;

    n->depth = 1;
    sb_context_resume(&n->inner);
    sb_context_leave(&n->outer);
    sb_context_resume(&n->inner);
}

static void contexts_nest(void)
{
    struct nested n = { 0 };

    CHECK_INT(sb_context_init(&n.outer, STACK, be_outer, &n), 0);
    CHECK_INT(sb_context_init(&n.inner, STACK, be_inner, &n), 0);
    sb_context_resume(&n.outer);
    CHECK_INT(n.depth, 2);
    sb_context_resume(&n.outer);
    CHECK_INT(n.depth, 3);
    CHECK(n.outer.over && n.inner.over);
    sb_context_done(&n.outer);
    sb_context_done(&n.inner);
}

static void the_guard_is_below_the_stack(void)
{
    struct steps s = { 0 };
    char *low;
    int fd[2];

    CHECK_INT(pipe(fd), 0);
    CHECK_INT(sb_context_init(&s.c, STACK, count_up, &s), 0);
    CHECK(s.c.size >= STACK + 32768);
    low = s.c.base + s.c.size - STACK;
    CHECK(sb_context_guards(&s.c, s.c.base));
    CHECK(!sb_context_guards(&s.c, s.c.base - 1));
    CHECK(sb_context_guards(&s.c, low - 1));
    CHECK(!sb_context_guards(&s.c, low));
    // The system reports an access to the guard instead of sending a signal.
    errno = 0;
    CHECK_INT(write(fd[1], s.c.base, 1), -1);
    CHECK_INT(errno, EFAULT);
    CHECK_INT(write(fd[1], low - 1, 1), -1);
    CHECK_INT(write(fd[1], low, 1), 1);
    close(fd[0]);
    close(fd[1]);
    sb_context_done(&s.c);
}

struct deep {
    struct sb_context c;
    int before, after; // resident pages
};

static int resident_pages(const struct sb_context *c)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), n = c->size / page - 1;
    unsigned char vec[1024];
    int pages = 0;

    if (n > sizeof(vec) || mincore(c->base + page, n * page, vec))
        return -1;
    for (size_t i = 0; i < n; i++)
        pages += vec[i] & 1;
    return pages;
}

// The address sanitizer would move the array to the heap.
static __attribute__((noinline, no_sanitize_address)) int use_stack(void)
{
    volatile char room[200000];

    for (size_t i = 0; i < sizeof(room); i += 512)
        room[i] = (char)i;
    return room[1024];
}

static void go_deep(void *arg)
{
    struct deep *d = arg;

    use_stack();
    d->before = resident_pages(&d->c);
    sb_context_trim(&d->c);
    d->after = resident_pages(&d->c);
}

static void unused_pages_are_given_back(void)
{
    struct deep d = { 0 };

    CHECK_INT(sb_context_init(&d.c, 512 * 1024, go_deep, &d), 0);
    sb_context_resume(&d.c);
    // qemu-user knows no resident pages.
    if (d.before >= 0 || !getenv("SB_SANITIZER") ||
        strcmp(getenv("SB_SANITIZER"), "qemu") != 0) {
        CHECK(d.before >= 40);
        CHECK(d.after <= 8);
    }
    sb_context_done(&d.c);
}

CHECK_FILE
{
    RUN(continues_where_it_left);
    RUN(a_context_in_the_middle_is_freed);
    RUN(contexts_nest);
    RUN(the_guard_is_below_the_stack);
    RUN(unused_pages_are_given_back);
    return check_done();
}
