// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a prepared point select with SQLite: one thread, one
// connection, without scripts or statistics.
// Usage: floor_sqlite FILE EVENTS TABLE_SIZE   (table sbtest1(id, k, c, pad))
// Build: cc -O2 floor_sqlite.c -o floor_sqlite -lsqlite3
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static int die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return 1;
}

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

// Returns the total length of the strings read, so that the compiler cannot
// omit a read; -1: failed.
static long read_rows(sqlite3_stmt *st, long events, long size)
{
    unsigned seed = 1;
    long bytes = 0;

    for (long i = 0; i < events; i++) {
        sqlite3_bind_int64(st, 1, 1 + rand_r(&seed) % size);
        while (sqlite3_step(st) == SQLITE_ROW) {
            if (sqlite3_column_text(st, 0))
                bytes += sqlite3_column_bytes(st, 0);
        }
        if (sqlite3_reset(st) != SQLITE_OK)
            return -1;
    }
    return bytes;
}

static void report(long events, double elapsed, long bytes)
{
    struct rusage ru;

    getrusage(RUSAGE_SELF, &ru);
    printf("queries/s=%.0f user_us=%.3f sys_us=%.3f bytes=%ld rss_kb=%ld\n",
        (double)events / elapsed, seconds(ru.ru_utime) / (double)events * 1e6,
        seconds(ru.ru_stime) / (double)events * 1e6, bytes, ru.ru_maxrss);
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    long events, size, bytes;
    double start;

    if (argc != 4)
        return die("usage", "floor_sqlite FILE EVENTS TABLE_SIZE");
    events = strtol(argv[2], NULL, 10);
    size = strtol(argv[3], NULL, 10);
    if (events < 1 || size < 1)
        return die("usage", "EVENTS and TABLE_SIZE must be at least 1");
    if (sqlite3_open_v2(argv[1], &db,
            SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return die("open", sqlite3_errmsg(db));
    if (sqlite3_prepare_v2(
            db, "SELECT c FROM sbtest1 WHERE id=?", -1, &st, NULL) != SQLITE_OK)
        return die("prepare", sqlite3_errmsg(db));
    start = wall();
    bytes = read_rows(st, events, size);
    if (bytes < 0)
        return die("read", sqlite3_errmsg(db));
    report(events, wall() - start, bytes);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return 0;
}
