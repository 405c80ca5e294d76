// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of batches with libpq: threads with one connection each
// execute the statements of a file, one per line.
// Usage: floor_batches_pgsql CONNINFO THREADS FILE
// Build: cc -O2 floor_batches_pgsql.c -o floor_batches_pgsql $(pkg-config
// --cflags --libs libpq) -lpthread
//
// Prints the statements per second.
#include <libpq-fe.h>

#include "floor_batches.h"

static char **args;

static void *run(void *arg)
{
    struct batches *b = arg;
    PGconn *db = PQconnectdb(args[1]);
    const char *sql;
    size_t length;
    int ok = PQstatus(db) == CONNECTION_OK;

    pthread_barrier_wait(&b->start);
    while (ok && (sql = batches_next(b, &length))) {
        PGresult *r = PQexec(db, sql);

        ok = PQresultStatus(r) == PGRES_COMMAND_OK;
        PQclear(r);
    }
    if (!ok) {
        fprintf(stderr, "floor_batches_pgsql: %s", PQerrorMessage(db));
        b->failed = 1;
    }
    PQfinish(db);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct batches b;
    long threads = argc == 4 ? strtol(argv[2], NULL, 10) : 0;

    args = argv;
    if (threads < 1 || batches_read(&b, argv[3])) {
        fprintf(stderr, "usage: %s CONNINFO THREADS FILE\n", argv[0]);
        return 2;
    }
    return batches_run(&b, threads, run);
}
