// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pulling side of a load: the functions by which the library reads a local
// file, in the thread of the statement. They pass on the blocks that bulk.c
// hands over, and refuse every other file.
#include <stdio.h>

#include "drivers/mysql/bulk.h"

static int infile_init(void **ptr, const char *name, void *userdata)
{
    struct sbmy_conn *c = userdata;
    struct sbmy_bulk *b = c->bulk;

    *ptr = NULL; // Oracle's library does not initialize it
    // Refuse a file that the server requests while no LOAD DATA is being
    // started, for example in reply to the settings query of a load that is
    // about to begin.
    if (!b || b->state != SBMY_BULK_STARTING)
        return 1;
    pthread_mutex_lock(&b->lock);
    b->state = SBMY_BULK_LOADING;
    sbmy_bulk_wake(b);
    pthread_mutex_unlock(&b->lock);
    *ptr = b;
    return 0;
}

// Gives back the block that was read, if any, and waits for the next one.
// Returns 1, 0 if there are no more blocks, -1 if the load is aborted.
static int await_block(struct sbmy_bulk *b)
{
    int have;

    pthread_mutex_lock(&b->lock);
    assert(!b->taking || b->full);
    if (b->taking) {
        b->ready.len = 0;
        b->full = false;
        sbmy_bulk_wake(b);
    }
    while (!b->full && !b->no_more && !b->give_up)
        pthread_cond_wait(&b->changed, &b->lock);
    have = b->give_up ? -1 : b->full;
    b->taking = have == 1;
    b->at = 0;
    pthread_mutex_unlock(&b->lock);
    return have;
}

static int infile_read(void *ptr, char *out, unsigned size)
{
    struct sbmy_bulk *b = ptr;
    int have = b->taking && b->at < b->ready.len ? 1 : await_block(b);
    size_t n;

    if (have <= 0)
        return have;
    assert(b->at <= b->ready.len);
    n = b->ready.len - b->at;
    if (n > size)
        n = size;
    memcpy(out, b->ready.data + b->at, n);
    b->at += n;
    return (int)n;
}

static void infile_end(void *ptr)
{
}

static int infile_error(void *ptr, char *text, unsigned size)
{
    snprintf(text, size, "%s",
        ptr ? "the load was aborted"
            : "the server requested a local file, which is refused");
    return SBMY_CR_FILE_REFUSED;
}

void sbmy_infile_guard(struct sbmy_conn *c, MYSQL *my)
{
    mysql_set_local_infile_handler(
        my, infile_init, infile_read, infile_end, infile_error, c);
}
