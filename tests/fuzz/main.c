// SPDX-License-Identifier: GPL-2.0-or-later
//
// Runs a fuzz target without libFuzzer: each file of the corpus, then random
// changes of them, which depend only on the seed. Supports libFuzzer's options
// -runs=N (changed inputs), -max_total_time=SECONDS and -seed=N and ignores its
// other options; all other arguments are files and folders.
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "fuzz.h"

#define INPUT_MAX  4096
#define CORPUS_MAX 4096

struct input {
    uint8_t *data;
    size_t size;
};

struct fuzz {
    struct input corpus[CORPUS_MAX];
    size_t count;
    uint64_t random; // state of xorshift, never 0
    long runs, seconds;
};

static uint64_t draw(struct fuzz *f, uint64_t below)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 7;
    f->random ^= f->random << 17;
    return below ? (f->random >> 11) % below : 0;
}

static void add_file(struct fuzz *f, const char *path)
{
    FILE *file = f->count < CORPUS_MAX ? fopen(path, "rb") : NULL;
    struct input *in = &f->corpus[f->count];

    if (!file)
        return;
    in->data = malloc(INPUT_MAX);
    if (in->data) {
        in->size = fread(in->data, 1, INPUT_MAX, file);
        f->count++;
    }
    fclose(file);
}

static void add(struct fuzz *f, const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    char sub[4096];

    if (!dir) {
        add_file(f, path);
        return;
    }
    while ((e = readdir(dir))) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(sub, sizeof(sub), "%s/%s", path, e->d_name);
        add_file(f, sub);
    }
    closedir(dir);
}

// Passes an exact copy on the heap, so that a sanitizer detects a read past its
// end.
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        return;
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void cut(struct fuzz *f, uint8_t *buf, size_t *size)
{
    size_t at = draw(f, *size), n = draw(f, *size - at) + 1;

    memmove(buf + at, buf + at + n, *size - at - n);
    *size -= n;
}

static void repeat(struct fuzz *f, uint8_t *buf, size_t *size)
{
    size_t at = draw(f, *size), n = draw(f, *size - at) + 1;

    if (*size + n > INPUT_MAX)
        return;
    memmove(buf + at + n, buf + at, *size - at);
    *size += n;
}

static void splice(struct fuzz *f, uint8_t *buf, size_t *size)
{
    const struct input *in = &f->corpus[draw(f, f->count)];
    size_t at = draw(f, *size + 1), from = draw(f, in->size);
    size_t n = in->size - from;

    if (n > INPUT_MAX - at)
        n = INPUT_MAX - at;
    memcpy(buf + at, in->data + from, n);
    *size = at + n;
}

static void change(struct fuzz *f, uint8_t *buf, size_t *size)
{
    static const char odd[] = "=-,:%\n\t \"'\\0123456789.eE#{}[]()?*\xff";

    if (*size == 0)
        buf[(*size)++] = (uint8_t)draw(f, 256);
    switch (draw(f, 5)) {
    case 0:
        buf[draw(f, *size)] ^= (uint8_t)(1u << draw(f, 8));
        break;
    case 1:
        buf[draw(f, *size)] = (uint8_t)odd[draw(f, sizeof(odd))];
        break;
    case 2:
        cut(f, buf, size);
        break;
    case 3:
        repeat(f, buf, size);
        break;
    default:
        splice(f, buf, size);
    }
}

static void mutate(struct fuzz *f)
{
    const struct input *in = &f->corpus[draw(f, f->count)];
    uint8_t buf[INPUT_MAX];
    size_t size = in->size;

    memcpy(buf, in->data, size);
    for (uint64_t n = 1 + draw(f, 6); n > 0; n--)
        change(f, buf, &size);
    run(buf, size);
}

static void arguments(struct fuzz *f, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-runs=", 6) == 0)
            f->runs = strtol(argv[i] + 6, NULL, 10);
        else if (strncmp(argv[i], "-max_total_time=", 16) == 0)
            f->seconds = strtol(argv[i] + 16, NULL, 10);
        else if (strncmp(argv[i], "-seed=", 6) == 0)
            f->random = strtoul(argv[i] + 6, NULL, 10) * 2 + 1;
        else if (argv[i][0] != '-')
            add(f, argv[i]);
    }
}

int main(int argc, char **argv)
{
    static uint8_t nothing[INPUT_MAX];
    struct fuzz *f = calloc(1, sizeof(*f));
    time_t end;
    long done = 0;

    if (!f)
        return 1;
    *f = (struct fuzz){ .random = 88172645463325252u, .runs = 20000 };
    arguments(f, argc, argv);
    if (f->count == 0)
        f->corpus[f->count++] = (struct input){ nothing, 0 };
    for (size_t i = 0; i < f->count; i++)
        run(f->corpus[i].data, f->corpus[i].size);
    end = time(NULL) + f->seconds;
    for (; done < f->runs && (!f->seconds || time(NULL) < end); done++)
        mutate(f);
    printf("ok 1 - %zu inputs of the corpus, %ld changed ones\n1..1\n",
        f->count, done);
    for (size_t i = 0; i < f->count; i++)
        if (f->corpus[i].data != nothing)
            free(f->corpus[i].data);
    free(f);
    return 0;
}
