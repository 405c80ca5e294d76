// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/texts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "db/db.h"
#include "db/shape.h"
#include "kit/array.h"
#include "kit/hash.h"

// A run has room for 1,024 operations, which may have several texts each.
#define TEXTS_MAX 4096u
#define BUCKETS   1024u

struct text {
    struct text *next; // in its bucket
    const char *operation;
    char *shape;
    bool several; // other operations have the same
};

// Names of operations stay where they are until the end.
struct name {
    struct name *next;
    bool prepared;
    char text[];
};

struct sb__texts {
    pthread_mutex_t lock; // of what follows
    unsigned n;
    struct text *bucket[BUCKETS]; // by hash of the shape
    struct name *names[BUCKETS];  // by hash of the name
    struct {
        const char *operation;
        bool several;
    } word[SB_DB_KEYWORDS];
};

struct sb__texts *sb__texts_new(void)
{
    struct sb__texts *t = calloc(1, sizeof(*t));

    if (t)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

void sb__texts_free(struct sb__texts *t)
{
    for (unsigned i = 0; t && i < BUCKETS; i++) {
        for (struct text *x = t->bucket[i], *next; x; x = next) {
            next = x->next;
            free(x->shape);
            free(x);
        }
        for (struct name *x = t->names[i], *next; x; x = next) {
            next = x->next;
            free(x);
        }
    }
    if (t)
        pthread_mutex_destroy(&t->lock);
    free(t);
}

static struct name **find_name(struct sb__texts *t, const char *text)
{
    struct name **at = &t->names[sb_hash_text(text) % BUCKETS];

    while (*at && strcmp((*at)->text, text) != 0)
        at = &(*at)->next;
    return at;
}

// NULL: out of memory.
static struct name *name_of(struct sb__texts *t, const char *text)
{
    struct name **at = find_name(t, text);
    size_t size = strlen(text) + 1;

    if (*at)
        return *at;
    *at = calloc(1, sizeof(**at) + size);
    if (*at)
        memcpy((*at)->text, text, size);
    return *at;
}

static struct text **find_text(struct sb__texts *t, const char *shape)
{
    struct text **at = &t->bucket[sb_hash_text(shape) % BUCKETS];

    while (*at && strcmp((*at)->shape, shape) != 0)
        at = &(*at)->next;
    return at;
}

// Takes the shape.
static void add_shape(struct sb__texts *t, const char *operation, char *shape)
{
    struct text **at = find_text(t, shape);

    if (*at) {
        (*at)->several = (*at)->several || (*at)->operation != operation;
    } else if (t->n < TEXTS_MAX && (*at = calloc(1, sizeof(**at))) != NULL) {
        (*at)->operation = operation;
        (*at)->shape = shape;
        t->n++;
        return;
    }
    free(shape);
}

void sb__texts_add(struct sb__texts *t, const char *operation, const char *sql,
    size_t len, unsigned flags)
{
    char *shape = t ? sb_shape(sql, len, flags) : NULL;
    struct name *name;

    if (!shape)
        return;
    pthread_mutex_lock(&t->lock);
    name = name_of(t, operation);
    if (name) {
        name->prepared = true;
        add_shape(t, name->text, shape);
    } else {
        free(shape);
    }
    pthread_mutex_unlock(&t->lock);
}

void sb__texts_add_word(struct sb__texts *t, const char *operation, int word)
{
    const struct name *name;

    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    name = name_of(t, operation);
    if (name && !t->word[word].operation)
        t->word[word].operation = name->text;
    t->word[word].several = t->word[word].several ||
                            (name && t->word[word].operation != name->text);
    pthread_mutex_unlock(&t->lock);
}

const char *sb__texts_find(
    struct sb__texts *t, const char *sql, size_t len, unsigned flags, int word)
{
    char *shape = t ? sb_shape(sql, len, flags) : NULL;
    const char *found = NULL;
    const struct text *text;

    if (!shape)
        return NULL;
    pthread_mutex_lock(&t->lock);
    text = *find_text(t, shape);
    if (text)
        found = text->several ? NULL : text->operation;
    else if (word > 0 && !t->word[word].several)
        found = t->word[word].operation;
    pthread_mutex_unlock(&t->lock);
    free(shape);
    return found;
}

bool sb__texts_prepared(struct sb__texts *t, const char *operation)
{
    const struct name *name;
    bool prepared;

    if (!t)
        return false;
    pthread_mutex_lock(&t->lock);
    name = *find_name(t, operation);
    prepared = name && name->prepared;
    pthread_mutex_unlock(&t->lock);
    return prepared;
}
