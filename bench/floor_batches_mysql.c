// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of batches with the MySQL client library: threads with one
// connection each execute the statements of a file, one per line.
//
//     cc -O2 floor_batches_mysql.c $(pkg-config --cflags --libs libmariadb) \
//         -lpthread
//     MYSQL_PWD=... a.out SOCKET USER DB THREADS FILE
//
// Prints the statements per second.
#include <mysql.h>

#include "floor_batches.h"

static char **args;

static void *run(void *arg)
{
    struct batches *b = arg;
    MYSQL *my = mysql_init(NULL);
    const char *sql;
    size_t length;
    int ok = my && mysql_real_connect(my, NULL, args[2], getenv("MYSQL_PWD"),
                       args[3], 0, args[1], 0);

    pthread_barrier_wait(&b->start);
    while (ok && (sql = batches_next(b, &length)))
        ok = mysql_real_query(my, sql, (unsigned long)length) == 0;
    if (!ok) {
        fprintf(stderr, "floor_batches_mysql: %s\n",
            my ? mysql_error(my) : "out of memory");
        b->failed = 1;
    }
    mysql_close(my);
    mysql_thread_end();
    return NULL;
}

int main(int argc, char **argv)
{
    static struct batches b;
    long threads = argc == 6 ? strtol(argv[4], NULL, 10) : 0;

    args = argv;
    if (threads < 1 || batches_read(&b, argv[5]) ||
        mysql_library_init(0, NULL, NULL)) {
        fprintf(stderr, "usage: %s SOCKET USER DB THREADS FILE\n", argv[0]);
        return 2;
    }
    return batches_run(&b, threads, run);
}
