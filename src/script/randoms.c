// SPDX-License-Identifier: GPL-2.0-or-later
//
// The random numbers of users: their own, or in a mix those of each component.
#include <stdlib.h>
#include <string.h>

#include "kit/array.h"
#include "script/script_private.h"

// Streams of the components of a mix; those of the first one are the streams of
// users without a mix.
#define COMPONENT_STREAMS (UINT64_C(1) << 42)

// Returns NULL if out of memory.
// number: of the user, among those of all ranks.
static struct sb_random *random_new(struct sb_script *s, unsigned number)
{
    // Users write to it in every event, so it has cache lines of its own.
    size_t size = (sizeof(struct sb_random) + 63) / 64 * 64;
    struct sb_random *r = aligned_alloc(64, size);

    if (r)
        sb_random_init(
            r, s->env.random, s->env.slot * COMPONENT_STREAMS + number);
    return r;
}

static struct sb_random *random_locked(
    struct sb_script *s, const struct sb_user *u)
{
    unsigned user = u->id;

    if (user >= s->nrandoms) {
        struct sb_random **grown = sb_array_least(
            s->randoms, &s->nrandoms, user + 64, sizeof(struct sb_random *));

        if (!grown)
            return NULL;
        s->randoms = grown;
    }
    if (!s->randoms[user])
        s->randoms[user] = random_new(s, u->number);
    return s->randoms[user];
}

struct sb_random *sb__random_of(struct sb_script *s, struct sb_user *u)
{
    struct sb_random *r;

    if (!s->env.component)
        return &u->random;
    pthread_mutex_lock(&s->lock);
    r = random_locked(s, u);
    pthread_mutex_unlock(&s->lock);
    return r;
}

double sb_script_random(struct sb_rng *r)
{
    return sb_rng_double(r);
}

void sb_script_randomseed(struct sb_rng *r, double seed)
{
    uint64_t bits;

    memcpy(&bits, &seed, sizeof(bits));
    sb_rng_init(r, bits, 0);
}

void sb__randoms_done(struct sb_script *s)
{
    for (unsigned i = 0; i < s->nrandoms; i++)
        free(s->randoms[i]);
    free(s->randoms);
}
