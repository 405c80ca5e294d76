// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a client that uses libmongoc directly: threads with one
// client each, without scripts or statistics.
// Usage: floor_mongodb URL find THREADS EVENTS SIZE
//            finds one of SIZE documents by its _id, EVENTS times in total
//        floor_mongodb URL bulk THREADS DOCUMENTS
//            unordered bulks of 1,000; the collection must be empty
//        floor_mongodb URL idle CLIENTS
//            opens CLIENTS connections and sends a ping on each
//     the collection is sbtest.sbtest1, of {_id, k, c, pad}
// Build: cc -O2 floor_mongodb.c -o floor_mongodb $(pkg-config --cflags --libs
// libmongoc-1.0) -lpthread
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BULK 1000

struct worker {
    pthread_t thread;
    const mongoc_uri_t *uri;
    uint64_t random; // never 0
    long first, n;   // documents or events
    long size;       // of the collection
    long bytes;      // of the documents read; -1: failed
};

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next_random(struct worker *w)
{
    uint64_t x = w->random;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return w->random = x;
}

static long failed(const bson_error_t *error)
{
    fprintf(stderr, "floor_mongodb: %s\n", error->message);
    return -1;
}

// Reading
// ------------------------------------------------------------------------

static long find(mongoc_collection_t *coll, int32_t id, const bson_t *opts)
{
    bson_t filter = BSON_INITIALIZER;
    mongoc_cursor_t *cursor;
    const bson_t *doc;
    bson_error_t error;
    long bytes = 0;

    BSON_APPEND_INT32(&filter, "_id", id);
    cursor = mongoc_collection_find_with_opts(coll, &filter, opts, NULL);
    while (mongoc_cursor_next(cursor, &doc))
        bytes += (long)doc->len;
    if (mongoc_cursor_error(cursor, &error))
        bytes = failed(&error);
    mongoc_cursor_destroy(cursor);
    bson_destroy(&filter);
    return bytes;
}

static void *find_all(void *arg)
{
    struct worker *w = arg;
    mongoc_client_t *client = mongoc_client_new_from_uri(w->uri);
    mongoc_collection_t *coll = mongoc_client_get_collection(
        client, "sbtest", "sbtest1");
    bson_t *opts = BCON_NEW(
        "projection", "{", "c", BCON_INT32(1), "_id", BCON_INT32(0), "}");

    for (long i = 0; i < w->n && w->bytes >= 0; i++) {
        uint64_t id = 1 + next_random(w) % (uint64_t)w->size;
        long bytes = find(coll, (int32_t)id, opts);

        w->bytes = bytes < 0 ? -1 : w->bytes + bytes;
    }
    bson_destroy(opts);
    mongoc_collection_destroy(coll);
    mongoc_client_destroy(client);
    return NULL;
}

// Writing
// ------------------------------------------------------------------------

// Groups of eleven digits with a dash between; text: 12 * groups bytes.
static void digits(struct worker *w, char *text, int groups)
{
    for (int g = 0; g < groups; g++) {
        uint64_t x = next_random(w);

        for (int i = 0; i < 11; i++, x /= 10)
            *text++ = (char)('0' + x % 10);
        *text++ = g + 1 < groups ? '-' : '\0';
    }
}

static bool add(
    struct worker *w, mongoc_bulk_operation_t *bulk, long id, bson_error_t *e)
{
    bson_t doc = BSON_INITIALIZER;
    char c[120], pad[60];
    bool fine;

    digits(w, c, 10);
    digits(w, pad, 5);
    BSON_APPEND_INT32(&doc, "_id", (int32_t)id);
    BSON_APPEND_INT32(
        &doc, "k", (int32_t)(1 + next_random(w) % (uint64_t)w->size));
    BSON_APPEND_UTF8(&doc, "c", c);
    BSON_APPEND_UTF8(&doc, "pad", pad);
    fine = mongoc_bulk_operation_insert_with_opts(bulk, &doc, NULL, e);
    bson_destroy(&doc);
    return fine;
}

// One bulk of n documents from number `first` on.
static bool load_some(struct worker *w, mongoc_collection_t *coll,
    const bson_t *opts, long first, long n)
{
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(coll, opts);
    bson_error_t error;
    bson_t reply;
    bool fine = true;

    for (long i = 0; i < n && fine; i++)
        fine = add(w, bulk, first + i, &error);
    if (fine) {
        fine = mongoc_bulk_operation_execute(bulk, &reply, &error) != 0;
        bson_destroy(&reply);
    }
    mongoc_bulk_operation_destroy(bulk);
    if (!fine)
        failed(&error);
    return fine;
}

static void *load(void *arg)
{
    struct worker *w = arg;
    mongoc_client_t *client = mongoc_client_new_from_uri(w->uri);
    mongoc_collection_t *coll = mongoc_client_get_collection(
        client, "sbtest", "sbtest1");
    bson_t *opts = BCON_NEW("ordered", BCON_BOOL(false));

    for (long done = 0; done < w->n && w->bytes >= 0; done += BULK) {
        long n = w->n - done < BULK ? w->n - done : BULK;

        if (!load_some(w, coll, opts, w->first + done, n))
            w->bytes = -1;
    }
    bson_destroy(opts);
    mongoc_collection_destroy(coll);
    mongoc_client_destroy(client);
    return NULL;
}

// Idle clients
// --------------------------------------------------------------------

// Resident memory of this process, in KB.
static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long total, pages = 0;

    if (f) {
        if (fscanf(f, "%ld %ld", &total, &pages) != 2)
            pages = 0;
        fclose(f);
    }
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int idle(const mongoc_uri_t *uri, long n)
{
    mongoc_client_t **client = calloc((size_t)n, sizeof(*client));
    bson_t *ping = BCON_NEW("ping", BCON_INT32(1));
    long before = resident(), done = 0;
    bool fine = client != NULL;

    while (fine && done < n) {
        bson_error_t error;

        client[done] = mongoc_client_new_from_uri(uri);
        fine = mongoc_client_command_simple(
            client[done++], "sbtest", ping, NULL, NULL, &error);
        if (!fine)
            failed(&error);
    }
    printf("clients=%ld rss_kb=%ld before_kb=%ld\n", done, resident(), before);
    while (done > 0)
        mongoc_client_destroy(client[--done]);
    bson_destroy(ping);
    free(client);
    return fine ? 0 : 1;
}

// Main
// --------------------------------------------------------------------

static void report(long n, double elapsed, long bytes)
{
    struct rusage ru;

    getrusage(RUSAGE_SELF, &ru);
    printf("n=%ld wall_s=%.4f per_s=%.0f user_s=%.3f sys_s=%.3f user_us=%.3f "
           "bytes=%ld\n",
        n, elapsed, (double)n / elapsed, seconds(ru.ru_utime),
        seconds(ru.ru_stime), seconds(ru.ru_utime) / (double)n * 1e6, bytes);
}

static int in_threads(const mongoc_uri_t *uri, void *(*run)(void *),
    long threads, long n, long size)
{
    struct worker *w = calloc((size_t)threads, sizeof(*w));
    double start = wall();
    long bytes = 0;

    for (long i = 0; w && i < threads; i++) {
        w[i] = (struct worker){ .uri = uri,
            .random = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u,
            .first = 1 + n * i / threads,
            .n = n * (i + 1) / threads - n * i / threads,
            .size = size };
        if (pthread_create(&w[i].thread, NULL, run, &w[i]))
            return 1;
    }
    for (long i = 0; w && i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        bytes = bytes < 0 || w[i].bytes < 0 ? -1 : bytes + w[i].bytes;
    }
    free(w);
    if (bytes < 0)
        return 1;
    report(n, wall() - start, bytes);
    return 0;
}

static long number(int argc, char **argv, int i)
{
    long n = i < argc ? strtol(argv[i], NULL, 10) : 0;

    if (n < 1) {
        fputs("floor_mongodb URL find THREADS EVENTS SIZE | "
              "bulk THREADS DOCUMENTS | idle CLIENTS\n",
            stderr);
        exit(1);
    }
    return n;
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    long n = number(argc, argv, 3);
    bson_error_t error;
    mongoc_uri_t *uri;
    int rc = 1;

    mongoc_init();
    uri = mongoc_uri_new_with_error(argv[1], &error);
    if (!uri) {
        failed(&error);
    } else if (strcmp(what, "find") == 0) {
        rc = in_threads(
            uri, find_all, n, number(argc, argv, 4), number(argc, argv, 5));
    } else if (strcmp(what, "bulk") == 0) {
        long documents = number(argc, argv, 4);

        rc = in_threads(uri, load, n, documents, documents);
    } else if (strcmp(what, "idle") == 0) {
        rc = idle(uri, n);
    } else {
        number(0, argv, 0); // prints the usage
    }
    mongoc_uri_destroy(uri);
    mongoc_cleanup();
    return rc;
}
