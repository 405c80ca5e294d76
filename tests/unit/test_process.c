// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/probe.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "check.h"

static struct sb__process p;
static struct sb_err err;
static char names[200];
static double cpu, rss;

static void see(void *arg, const struct sb_counter *c)
{
    size_t n = strlen(names);

    snprintf(names + n, sizeof(names) - n, "%s ", c->name);
    if (strcmp(c->name, "process.cpu") == 0)
        cpu = c->value;
    if (strcmp(c->name, "process.rss") == 0)
        rss = c->value;
}

static const char *sampled(void)
{
    names[0] = '\0';
    sb__process_sample(&p, see, NULL);
    return names;
}

static void values_of_the_option(void)
{
    CHECK_INT(sb__process_init(&p, "", &err), 0);
    CHECK_STR(sampled(), "");
    CHECK_INT(sb__process_init(&p, "auto", &err), 0);
    CHECK(p.automatic);
    CHECK_INT(sb__process_init(&p, "x", &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "--server-pid: 'x' is neither 'auto' nor the id of a process");
    CHECK_INT(sb__process_init(&p, "1x", &err), SB_EUSAGE);
    CHECK_INT(sb__process_init(&p, "0", &err), SB_EUSAGE);
    CHECK_INT(sb__process_init(&p, "-1", &err), SB_EUSAGE);
    CHECK_INT(sb__process_init(&p, "99999999999999999999", &err), SB_EUSAGE);
    CHECK_INT(sb__process_init(&p, "2147483647", &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "--server-pid: there is no process with the id 2147483647");
}

static void this_process(void)
{
    char pid[24];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    CHECK_INT(sb__process_init(&p, pid, &err), 0);
    CHECK_STR(sampled(), "process.cpu process.rss process.read_bytes "
                         "process.write_bytes ");
    CHECK(cpu >= 0 && cpu < 3600);
    CHECK(rss > 100000);
}

// Also if its id is used again.
static void process_that_ends(void)
{
    int in[2];
    char pid[24], c;
    pid_t child;

    CHECK_INT(pipe(in), 0);
    child = fork();
    if (child == 0) {
        close(in[1]);
        while (read(in[0], &c, 1) > 0)
            continue;
        _exit(0);
    }
    snprintf(pid, sizeof(pid), "%d", (int)child);
    CHECK_INT(sb__process_init(&p, pid, &err), 0);
    CHECK(sampled()[0] != '\0');
    p.start_ticks++; // as if another process had the id
    CHECK_STR(sampled(), "");
    CHECK_INT(p.pid, 0);
    CHECK_INT(sb__process_init(&p, pid, &err), 0);
    CHECK(sampled()[0] != '\0');
    close(in[1]);
    waitpid(child, NULL, 0);
    CHECK_STR(sampled(), "");
    CHECK_STR(sampled(), "");
    close(in[0]);
}

static void process_that_is_not_found(void)
{
    CHECK_INT(sb__process_init(&p, "auto", &err), 0);
    sb__process_find(&p, ""); // the server has not answered yet
    CHECK(p.automatic);
    sb__process_find(&p, "/no/such/socket");
    CHECK(!p.automatic);
    CHECK_INT(p.pid, 0);
    CHECK_STR(sampled(), "");
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_FATAL);
    RUN(values_of_the_option);
    RUN(this_process);
    RUN(process_that_ends);
    RUN(process_that_is_not_found);
    return check_done();
}
