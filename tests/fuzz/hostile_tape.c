// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recordings of conversations: for each turn, the beginning of the request and
// the whole answer, each preceded by its length.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile.h"

#define ANSWER_MAX (1u << 20)

void hostile_splice(struct hostile_bytes *b, size_t at, size_t cut,
    const void *data, size_t len)
{
    size_t rest = b->len - at - cut, want = b->len - cut + len;

    if (want > b->cap) {
        b->cap = want * 2;
        b->data = realloc(b->data, b->cap);
        if (!b->data)
            abort();
    }
    if (rest)
        memmove(b->data + at + len, b->data + at + cut, rest);
    if (len)
        memcpy(b->data + at, data, len);
    b->len = want;
}

void hostile_add(struct hostile_bytes *b, const void *data, size_t len)
{
    hostile_splice(b, b->len, 0, data, len);
}

static bool read_length(FILE *f, size_t max, size_t *len)
{
    uint8_t b[4];

    if (fread(b, 1, sizeof(b), f) != sizeof(b))
        return false;
    *len = b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
    return *len <= max;
}

static bool read_turn(FILE *f, struct hostile_turn *t)
{
    size_t len;

    if (!read_length(f, HOSTILE_REQUEST, &t->request_len) ||
        fread(t->request, 1, t->request_len, f) != t->request_len ||
        !read_length(f, ANSWER_MAX, &len))
        return false;
    t->answer.data = malloc(len + 1);
    if (!t->answer.data)
        abort();
    t->answer.len = len;
    t->answer.cap = len + 1;
    return fread(t->answer.data, 1, len, f) == len;
}

bool hostile_tape_load(struct hostile_tape *t, const char *path)
{
    FILE *f = fopen(path, "rb");
    bool good = f != NULL;
    int next;

    *t = (struct hostile_tape){ .n = 0 };
    while (good && (next = fgetc(f)) != EOF) {
        ungetc(next, f);
        good = t->n < HOSTILE_TURNS && read_turn(f, &t->turn[t->n++]);
    }
    if (f)
        fclose(f);
    if (!good || t->n == 0)
        fprintf(stderr, "%s is not a valid recording\n", path);
    return good && t->n > 0;
}

static void write_length(FILE *f, size_t len)
{
    for (int i = 0; i < 4; i++)
        fputc((int)(len >> 8 * i & 0xff), f);
}

bool hostile_tape_save(const struct hostile_tape *t, const char *path)
{
    FILE *f = fopen(path, "wb");

    for (unsigned i = 0; f && i < t->n; i++) {
        const struct hostile_turn *turn = &t->turn[i];

        write_length(f, turn->request_len);
        fwrite(turn->request, 1, turn->request_len, f);
        write_length(f, turn->answer.len);
        fwrite(turn->answer.data, 1, turn->answer.len, f);
    }
    return f && fclose(f) == 0;
}

static bool same(
    const struct hostile_turn *t, const uint8_t *request, size_t len)
{
    return t->request_len == len &&
           (len == 0 || memcmp(t->request, request, len) == 0);
}

static bool same_byte(
    const struct hostile_turn *t, const uint8_t *request, size_t len, size_t at)
{
    return t->request_len > at && len > at && t->request[at] == request[at];
}

unsigned hostile_tape_find(const struct hostile_tape *t, unsigned at,
    const uint8_t *request, size_t len)
{
    if (len > HOSTILE_REQUEST)
        len = HOSTILE_REQUEST;
    for (unsigned i = 0; i < t->n; i++) {
        if (same(&t->turn[(at + i) % t->n], request, len))
            return (at + i) % t->n;
    }
    // The command is the first byte (PostgreSQL) or the fifth (MySQL).
    for (unsigned i = 0; i < t->n; i++) {
        const struct hostile_turn *turn = &t->turn[(at + i) % t->n];

        if (same_byte(turn, request, len, 4) &&
            same_byte(turn, request, len, 0))
            return (at + i) % t->n;
    }
    for (unsigned i = 0; i < t->n; i++) {
        if (same_byte(&t->turn[(at + i) % t->n], request, len, 4))
            return (at + i) % t->n;
    }
    return at % t->n;
}
