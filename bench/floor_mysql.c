// SPDX-License-Identifier: GPL-2.0-or-later
//
// The minimum cost of a prepared point select with the MySQL client library:
// users with one connection each; no statistics, and only the id is random.
//
//     cc -O2 floor_mysql.c $(pkg-config --cflags --libs libmariadb) -lpthread
//     MYSQL_PWD=... a.out SOCKET USER DB ROWS USERS QUERIES
//
// Executes QUERIES queries in total on table sbtest1. Prints the user and
// system CPU time in seconds and the maximum memory in KB. For the cost in the
// steady state, subtract a short run from a long one.
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct user {
    pthread_t thread;
    char *const *arg; // of the command line
    long rows, queries;
    unsigned seed;
    const char *problem;
};

static const char *selects(struct user *u, MYSQL *my, MYSQL_STMT *st)
{
    static const char sql[] = "SELECT c FROM sbtest1 WHERE id=?";
    long long id = 1;
    MYSQL_BIND bind = { .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &id };

    if (!mysql_real_connect(my, NULL, u->arg[2], getenv("MYSQL_PWD"), u->arg[3],
            0, u->arg[1], 0))
        return "connect";
    if (mysql_stmt_prepare(st, sql, sizeof(sql) - 1) ||
        mysql_stmt_bind_param(st, &bind))
        return "prepare";
    for (long i = 0; i < u->queries; i++) {
        id = 1 + rand_r(&u->seed) % u->rows;
        if (mysql_stmt_execute(st) || mysql_stmt_store_result(st))
            return "execute";
        mysql_stmt_free_result(st);
    }
    return NULL;
}

static void *run(void *arg)
{
    struct user *u = arg;
    MYSQL *my = mysql_init(NULL);
    MYSQL_STMT *st = my ? mysql_stmt_init(my) : NULL;

    u->problem = st ? selects(u, my, st) : "memory";
    if (st)
        mysql_stmt_close(st);
    mysql_close(my);
    mysql_thread_end();
    return NULL;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    long users = argc == 7 ? strtol(argv[5], NULL, 10) : 0;
    struct user *u = users > 0 ? calloc((size_t)users, sizeof(*u)) : NULL;
    struct rusage used;
    int status = 0;

    if (!u || mysql_library_init(0, NULL, NULL)) {
        fprintf(
            stderr, "usage: %s SOCKET USER DB ROWS USERS QUERIES\n", argv[0]);
        return 2;
    }
    for (long i = 0; i < users; i++) {
        u[i].arg = argv;
        u[i].rows = strtol(argv[4], NULL, 10);
        u[i].queries = strtol(argv[6], NULL, 10) / users;
        u[i].seed = (unsigned)i + 1;
        if (pthread_create(&u[i].thread, NULL, run, &u[i]))
            return 1;
    }
    for (long i = 0; i < users; i++) {
        pthread_join(u[i].thread, NULL);
        if (u[i].problem && !status++)
            fprintf(stderr, "%s: %s failed\n", argv[0], u[i].problem);
    }
    getrusage(RUSAGE_SELF, &used);
    printf("%.4f %.4f %ld\n", seconds(used.ru_utime), seconds(used.ru_stime),
        used.ru_maxrss);
    free(u);
    return status != 0;
}
