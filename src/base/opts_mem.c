// SPDX-License-Identifier: GPL-2.0-or-later
//
// The registry and its memory: whatever is allocated for it, arrays included,
// is freed with it.

#include <assert.h>
#include <stdlib.h>

#include "base/opts_private.h"

struct sb__opts_mem {
    struct sb__opts_mem *next;
    max_align_t data[];
};

struct sb_opts *sb_opts_new(void)
{
    return calloc(1, sizeof(struct sb_opts));
}

void sb_opts_free(struct sb_opts *o)
{
    if (!o)
        return;
    while (o->mem) {
        struct sb__opts_mem *next = o->mem->next;

        free(o->mem);
        o->mem = next;
    }
    free(o);
}

void *sb__opts_alloc(struct sb_opts *o, size_t size)
{
    struct sb__opts_mem *m;

    if (size > SIZE_MAX - sizeof(*m))
        return NULL;
    m = calloc(1, sizeof(*m) + size);
    if (!m)
        return NULL;
    m->next = o->mem;
    o->mem = m;
    return m->data;
}

char *sb__opts_strndup(struct sb_opts *o, const char *text, size_t len)
{
    char *copy = sb__opts_alloc(o, len + 1);

    if (copy)
        memcpy(copy, text, len);
    return copy;
}

char *sb__opts_strdup(struct sb_opts *o, const char *text)
{
    return sb__opts_strndup(o, text, strlen(text));
}

// The array that was too small stays allocated: together, those of a list are
// smaller than its last one.
int sb__opts_push(struct sb_opts *o, struct sb__opts_list *list, void *item)
{
    assert(list->len <= list->cap);
    if (list->len == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 16;
        void **grown = sb__opts_alloc(o, cap * sizeof(*grown));

        if (!grown)
            return SB_ENOMEM;
        if (list->len)
            memcpy(grown, list->item, list->len * sizeof(*grown));
        list->item = grown;
        list->cap = cap;
    }
    list->item[list->len++] = item;
    return 0;
}

int sb__opts_no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory reading the options");
}
