// SPDX-License-Identifier: GPL-2.0-or-later
// Not with qemu: the threads of the emulator are counted, too.
#include "base/procstat.h"

#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static struct sb_err err;

// Parsing --------------------------------------------------------------------

#define FIELDS                                                               \
    " S 7 100 100 0 -1 4194560 5000 6000 0 0 11 22 33 44 20 0 9 0 5555 1 2 " \
    "3\n"

static void check_stat(const char *text, int64_t pid)
{
    struct sb_proc_stat s;

    CHECK(sb_procstat_parse_stat(text, &s));
    CHECK_INT(s.pid, pid);
    CHECK_INT(s.parent, 7);
    CHECK_INT(s.state, 'S');
    CHECK_INT(s.own_ticks, 33);
    CHECK_INT(s.child_ticks, 77);
    CHECK_INT(s.system_ticks, 22 + 44);
    CHECK_INT(s.start_ticks, 5555);
}

static void stat_of_any_name(void)
{
    check_stat("42 (postgres)" FIELDS, 42);
    check_stat("42 (a) b)" FIELDS, 42);
    check_stat("42 (() R 1 1)" FIELDS, 42);
    check_stat("42 (\n) Z 9\n)" FIELDS, 42);
    check_stat("42 ()" FIELDS, 42);
    check_stat("4194304 (%s%n 1 2 3 4)" FIELDS, 4194304);
}

static void context_switches(void)
{
    uint64_t n = 0;

    CHECK(sb_procstat_parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t150\n"
                                     "nonvoluntary_ctxt_switches:\t545\n",
        &n));
    CHECK_INT(n, 695);
    CHECK(!sb_procstat_parse_switches(
        "Name:\tx\nnonvoluntary_ctxt_switches:\t545\n", &n));
    CHECK(!sb_procstat_parse_switches("voluntary_ctxt_switches:\t1\n", &n));
}

static void stat_that_is_cut(void)
{
    static const char text[] = "42 (a) b) S 7 100 100 0 -1 4194560 5000 6000 0 "
                               "0 11 22 33 44 20 0 9 0 5555";
    char cut[sizeof(text)];
    struct sb_proc_stat s;

    CHECK(sb_procstat_parse_stat(text, &s));
    for (size_t n = 0; n + 4 < sizeof(text); n++) {
        snprintf(cut, sizeof(cut), "%.*s", (int)n, text);
        if (n + 5 < sizeof(text))
            CHECK(!sb_procstat_parse_stat(cut, &s));
    }
    CHECK(!sb_procstat_parse_stat("x (a)" FIELDS, &s));
    CHECK(!sb_procstat_parse_stat("42 a" FIELDS, &s));
}

static void memory_and_io(void)
{
    uint64_t a = 0, b = 0;

    CHECK(sb_procstat_parse_statm("1000 300 100 5 0 6 0\n", &a, &b));
    CHECK_INT(a, 300);
    CHECK_INT(b, 100);
    CHECK(sb_procstat_parse_statm("1000 300 400 5 0 6 0\n", &a, &b));
    CHECK_INT(b, 300);
    CHECK(!sb_procstat_parse_statm("1000 300", &a, &b));
    CHECK(sb_procstat_parse_io("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n"
                               "read_bytes: 5\nwrite_bytes: 6\n"
                               "cancelled_write_bytes: 7\n",
        &a, &b));
    CHECK_INT(a, 5);
    CHECK_INT(b, 6);
    CHECK(!sb_procstat_parse_io("read_bytes: 5\n", &a, &b));
    CHECK(!sb_procstat_parse_io("", &a, &b));
    CHECK(sb_procstat_parse_sched("12 34 5\n", &a, &b));
    CHECK_INT(a, 12);
    CHECK_INT(b, 34);
    CHECK(!sb_procstat_parse_sched("12", &a, &b));
}

static void machine(void)
{
    struct sb_proc_machine m;

    CHECK(sb_procstat_parse_machine("cpu  1 2 4 8 16 32 64 128 1000 1000\n"
                                    "cpu0 0 0 0 0 0 0 0 0 0 0\n"
                                    "cpu1 0 0 0 0 0 0 0 0 0 0\n"
                                    "intr 1 2 3\ncpuinfo 1\n",
        &m));
    CHECK_INT(m.busy, 1 + 2 + 4 + 32 + 64);
    CHECK_INT(m.idle, 8 + 16);
    CHECK_INT(m.stolen, 128);
    CHECK_INT(m.processors, 2);
    CHECK(!sb_procstat_parse_machine("cpu0 1 2 3 4\n", &m));
    CHECK(!sb_procstat_parse_machine("cpu  1 2 3\n", &m));
    CHECK(sb_procstat_parse_machine("cpu  1 2 3 4\n", &m)); // old kernels
    CHECK_INT(m.stolen, 0);
}

// Reading --------------------------------------------------------------------

static uint64_t cpu_of_self(void)
{
    struct sb_proc_self s;

    CHECK_INT(sb_procstat_self(&s, &err), 0);
    CHECK(s.threads >= 1);
    return s.cpu_ns;
}

// Uses a processor until it has used this much more of it.
static void burn(uint64_t ns)
{
    uint64_t start = cpu_of_self();

    while (cpu_of_self() - start < ns)
        continue;
}

static void this_process(void)
{
    struct sb_proc_self a, b;
    struct sb_proc_machine m1, m2;

    CHECK_INT(sb_procstat_self(&a, &err), 0);
    CHECK_INT(sb_procstat_machine(&m1, &err), 0);
    burn(100000000);
    CHECK_INT(sb_procstat_self(&b, &err), 0);
    CHECK_INT(sb_procstat_machine(&m2, &err), 0);
    CHECK(b.cpu_ns - a.cpu_ns >= 100000000);
    CHECK_INT(a.threads, 1);
    if (a.has_wait) {
        CHECK(b.run_ns - a.run_ns >= 50000000);
        CHECK(b.wait_ns >= a.wait_ns);
    }
    CHECK(m1.processors > 0);
    CHECK(m2.busy >= m1.busy);
}

static void *sleeps(void *arg)
{
    pthread_barrier_wait(arg);
    pthread_barrier_wait(arg);
    return NULL;
}

#define MANY (SB_PROC_THREADS + 20)

static void many_threads(void)
{
    pthread_t thread[MANY];
    pthread_barrier_t b;
    struct sb_proc_self s;

    pthread_barrier_init(&b, NULL, MANY + 1);
    for (unsigned i = 0; i < MANY; i++)
        CHECK_INT(pthread_create(&thread[i], NULL, sleeps, &b), 0);
    pthread_barrier_wait(&b);
    CHECK_INT(sb_procstat_self(&s, &err), 0);
    CHECK_INT(s.threads, SB_PROC_THREADS);
    pthread_barrier_wait(&b);
    for (unsigned i = 0; i < MANY; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&b);
}

// A child that has a child, which both wait until `in` is closed.
static pid_t start_family(int in, int ready)
{
    pid_t pid = fork();
    char c;

    if (pid == 0) {
        pid_t grandchild = fork();

        if (grandchild != 0)
            burn(50000000);
        if (grandchild == 0 && write(ready, "x", 1) != 1)
            _exit(1);
        while (read(in, &c, 1) > 0)
            continue;
        if (grandchild == 0)
            burn(50000000);
        else
            waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    return pid;
}

// Children that end while they are read do not hide what the others have read
// and written.
static void children_that_vanish(void)
{
    struct sb_proc_tree t;
    pid_t parent = fork();

    if (parent == 0) {
        for (;;) {
            if (fork() == 0)
                _exit(0);
            waitpid(-1, NULL, 0);
        }
    }
    for (int i = 0; i < 300; i++) {
        CHECK_INT(sb_procstat_tree(parent, &t, &err), 0);
        CHECK(t.has_io);
    }
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
}

static void tree_of_processes(void)
{
    struct sb_proc_tree before, t;
    int in[2], ready[2];
    pid_t pid;
    char c;

    CHECK(pipe(in) == 0 && pipe(ready) == 0);
    CHECK_INT(sb_procstat_tree(getpid(), &before, &err), 0);
    CHECK_INT(before.processes, 1);
    CHECK(before.rss > 100000);
    pid = fork(); // closes the other end of `in` in the family
    if (pid == 0) {
        close(in[1]);
        pid = start_family(in[0], ready[1]);
        while (read(in[0], &c, 1) > 0)
            continue;
        waitpid(pid, NULL, 0);
        _exit(0);
    }
    CHECK_INT(read(ready[0], &c, 1), 1);
    CHECK_INT(sb_procstat_tree(getpid(), &t, &err), 0);
    CHECK_INT(t.processes, 4);
    CHECK(t.cpu_ns >= before.cpu_ns);
    CHECK(t.has_io);
    CHECK_INT(t.start_ticks, before.start_ticks);
    // Pages that are shared after fork() count as private in each process, but
    // the program and its libraries count once.
    CHECK(t.rss < 4 * before.rss + 4 * 1048576);
    CHECK_INT(sb_procstat_tree(pid, &t, &err), 0);
    CHECK_INT(t.processes, 3);
    close(in[1]);
    waitpid(pid, NULL, 0);
    // The time of processes that have ended is not lost.
    CHECK_INT(sb_procstat_tree(getpid(), &t, &err), 0);
    CHECK_INT(t.processes, 1);
    CHECK(t.cpu_ns >= before.cpu_ns + 80000000);
    CHECK_INT(sb_procstat_tree(pid, &t, &err), SB_ENOTFOUND);
    CHECK(strstr(err.msg, "there is no process with the id") != NULL);
    close(in[0]);
    close(ready[0]);
    close(ready[1]);
}

static void processes_that_are_not_there(void)
{
    struct sb_proc_tree t;

    CHECK_INT(sb_procstat_tree(0, &t, &err), SB_ENOTFOUND);
    CHECK_INT(sb_procstat_tree(-1, &t, &err), SB_ENOTFOUND);
    CHECK_INT(sb_procstat_tree(INT64_MAX, &t, &err), SB_ENOTFOUND);
}

static void ended_process(void)
{
    struct sb_proc_tree t;
    pid_t pid = fork();
    siginfo_t info;

    if (pid == 0)
        _exit(0);
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    CHECK_INT(sb_procstat_tree(pid, &t, &err), SB_ENOTFOUND); // a zombie
    waitpid(pid, NULL, 0);
}

// Listeners ------------------------------------------------------------------

static void listener_on_tcp(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t len = sizeof(a);
    char text[64];

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK_INT(bind(fd, (struct sockaddr *)&a, len), 0);
    CHECK_INT(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(a.sin_port));
    CHECK_INT(sb_procstat_listener(text), 0); // not yet
    CHECK_INT(listen(fd, 1), 0);
    CHECK_INT(sb_procstat_listener(text), getpid());
    snprintf(text, sizeof(text), "localhost:%u", ntohs(a.sin_port));
    CHECK_INT(sb_procstat_listener(text), getpid());
    // The same port of another machine (RFC 5737).
    snprintf(text, sizeof(text), "192.0.2.1:%u", ntohs(a.sin_port));
    CHECK_INT(sb_procstat_listener(text), 0);
    close(fd);
}

static void listener_on_a_unix_socket(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    char dir[60], path[100];

    CHECK(getcwd(dir, sizeof(dir)) != NULL || snprintf(dir, 5, "/tmp"));
    snprintf(path, sizeof(path), "%s/s%d", dir, (int)getpid());
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    CHECK_INT(listen(fd, 1), 0);
    CHECK_INT(sb_procstat_listener(path), getpid());
    path[strlen(path) - 1] = '\0'; // only a part of the path
    CHECK_INT(sb_procstat_listener(path), 0);
    unlink(a.sun_path);
    close(fd);
}

static void no_listener(void)
{
    CHECK_INT(sb_procstat_listener(""), 0);
    CHECK_INT(sb_procstat_listener(":"), 0);
    CHECK_INT(sb_procstat_listener("/no/such/socket"), 0);
    CHECK_INT(sb_procstat_listener("127.0.0.1:0"), 0);
    CHECK_INT(sb_procstat_listener("db1:3306"), 0);
    CHECK_INT(sb_procstat_listener("[::1:3306"), 0);
    CHECK_INT(sb_procstat_listener("none (dry run)"), 0);
}

CHECK_FILE
{
    RUN(stat_of_any_name);
    RUN(stat_that_is_cut);
    RUN(context_switches);
    RUN(memory_and_io);
    RUN(machine);
    RUN(this_process);
    RUN(many_threads);
    RUN(tree_of_processes);
    RUN(children_that_vanish);
    RUN(processes_that_are_not_there);
    RUN(ended_process);
    RUN(listener_on_tcp);
    RUN(listener_on_a_unix_socket);
    RUN(no_listener);
    return check_done();
}
