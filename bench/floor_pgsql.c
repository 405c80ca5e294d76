// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a prepared point select with libpq: threads with one
// connection each, without scripts or statistics.
// Usage: floor_pgsql THREADS EVENTS CONNINFO TABLE_SIZE
//     EVENTS: total of all threads; 0: they only connect. The table is sbtest1
//     (id, k, c, pad).
// Build: cc -O2 floor_pgsql.c -o floor_pgsql $(pkg-config --cflags --libs
// libpq)
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define INT4 23 // OID of the type

struct worker {
    pthread_t thread;
    const char *conninfo;
    unsigned seed;
    long events, size;
    long bytes; // of the text read; -1: failed
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

static long read_row(PGconn *db, unsigned id)
{
    uint32_t sent = htonl(id);
    const char *value[] = { (const char *)&sent };
    PGresult *r = PQexecPrepared(
        db, "s", 1, value, (int[]){ sizeof(sent) }, (int[]){ 1 }, 0);
    long bytes = -1;

    if (PQresultStatus(r) == PGRES_TUPLES_OK)
        bytes = PQntuples(r) ? PQgetlength(r, 0, 0) : 0;
    PQclear(r);
    return bytes;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    PGconn *db = PQconnectdb(w->conninfo);

    PQclear(PQprepare(
        db, "s", "SELECT c FROM sbtest1 WHERE id=$1", 1, (Oid[]){ INT4 }));
    for (long i = 0; i < w->events && w->bytes >= 0; i++) {
        long n = read_row(db, 1 + (unsigned)(rand_r(&w->seed) % w->size));

        w->bytes = n < 0 ? -1 : w->bytes + n;
    }
    if (w->bytes < 0)
        fprintf(stderr, "floor_pgsql: %s", PQerrorMessage(db));
    PQfinish(db);
    return NULL;
}

static void report(long events, double elapsed, long bytes)
{
    struct rusage ru;

    getrusage(RUSAGE_SELF, &ru);
    printf("queries/s=%.0f user_us=%.3f sys_us=%.3f user_s=%.3f bytes=%ld "
           "rss_kb=%ld\n",
        (double)events / elapsed, seconds(ru.ru_utime) / (double)events * 1e6,
        seconds(ru.ru_stime) / (double)events * 1e6, seconds(ru.ru_utime),
        bytes, ru.ru_maxrss);
}

int main(int argc, char **argv)
{
    long threads, events, bytes = 0;
    struct worker *w;
    double start;

    threads = argc == 5 ? strtol(argv[1], NULL, 10) : 0;
    events = argc == 5 ? strtol(argv[2], NULL, 10) : 0;
    if (threads < 1 || events < 0 || strtol(argv[4], NULL, 10) < 1) {
        fputs("floor_pgsql THREADS EVENTS CONNINFO TABLE_SIZE\n", stderr);
        return 1;
    }
    w = calloc((size_t)threads, sizeof(*w));
    start = wall();
    for (long i = 0; w && i < threads; i++) {
        w[i] = (struct worker){ .conninfo = argv[3],
            .seed = (unsigned)i * 7919 + 1,
            .events = events / threads,
            .size = strtol(argv[4], NULL, 10) };
        if (pthread_create(&w[i].thread, NULL, run, &w[i]))
            return 1;
    }
    for (long i = 0; w && i < threads; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].bytes < 0)
            return 1;
        bytes += w[i].bytes;
    }
    report(events / threads * threads, wall() - start, bytes);
    free(w);
    return 0;
}
