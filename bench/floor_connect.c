// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum time to open and hold connections with the MySQL client library.
//
//     cc -O2 floor_connect.c $(pkg-config --cflags --libs libmariadb) -lpthread
//     MYSQL_PWD=... a.out SOCKET USER DB THREADS CONNECTIONS
//
// All threads start together and open CONNECTIONS each. When all are open, each
// connection executes one query, and then they are closed. Prints the number of
// connections made, the number that did not answer, and the seconds from the
// start of the threads to the last connection.
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct user {
    pthread_t thread;
    char *const *arg; // of the command line
    pthread_barrier_t *barrier;
    long wanted, made, lost;
    double end;
    MYSQL **my;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static MYSQL *dial(struct user *u)
{
    MYSQL *my = mysql_init(NULL);

    if (my && mysql_real_connect(my, NULL, u->arg[2], getenv("MYSQL_PWD"),
                  u->arg[3], 0, u->arg[1], 0))
        return my;
    mysql_close(my);
    return NULL;
}

static int answers(MYSQL *my)
{
    MYSQL_RES *res;

    if (mysql_query(my, "SELECT 1"))
        return 0;
    res = mysql_store_result(my);
    mysql_free_result(res);
    return res != NULL;
}

static void *run(void *arg)
{
    struct user *u = arg;

    pthread_barrier_wait(u->barrier);
    for (long i = 0; i < u->wanted; i++) {
        u->my[u->made] = dial(u);
        u->made += u->my[u->made] != NULL;
    }
    u->end = now();
    pthread_barrier_wait(u->barrier);
    for (long i = 0; i < u->made; i++)
        u->lost += !answers(u->my[i]);
    for (long i = 0; i < u->made; i++)
        mysql_close(u->my[i]);
    mysql_thread_end();
    return NULL;
}

int main(int argc, char **argv)
{
    long users = argc == 6 ? strtol(argv[4], NULL, 10) : 0;
    long wanted = argc == 6 ? strtol(argv[5], NULL, 10) : 0;
    struct user *u = users > 0 ? calloc((size_t)users, sizeof(*u)) : NULL;
    long made = 0, lost = 0;
    pthread_barrier_t barrier;
    double start, end = 0;

    if (!u || wanted < 1 || mysql_library_init(0, NULL, NULL)) {
        fprintf(
            stderr, "usage: %s SOCKET USER DB THREADS CONNECTIONS\n", argv[0]);
        return 2;
    }
    pthread_barrier_init(&barrier, NULL, (unsigned)users + 1);
    for (long i = 0; i < users; i++) {
        u[i] = (struct user){ .arg = argv,
            .barrier = &barrier,
            .wanted = wanted,
            .my = calloc((size_t)wanted + 1, sizeof(*u[i].my)) };
        if (!u[i].my || pthread_create(&u[i].thread, NULL, run, &u[i]))
            return 1;
    }
    pthread_barrier_wait(&barrier);
    start = now();
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < users; i++) {
        pthread_join(u[i].thread, NULL);
        made += u[i].made;
        lost += u[i].lost;
        end = u[i].end > end ? u[i].end : end;
        free(u[i].my);
    }
    printf("%ld %ld %.4f\n", made, lost, end - start);
    free(u);
    return 0;
}
