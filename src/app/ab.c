// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench ab TEST --a=... --b=... run: what the sides of an experiment are.
// Its course is that of a sweep (sweep.c), its answer is in results/ab.c.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // pipe2()
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/app.h"
#include "kit/clock.h"
#include "kit/spawn.h"

#define VERSION_SIZE 64

static int read_sides(
    struct sb_app *a, struct sb_app_ab *ab, struct sb_err *err)
{
    const struct sb_ab_opts *o = &a->ab_opts;
    struct sb_ab_side *side = ab->side;
    int rc = sb_ab_side_read(&side[0], "--a", o->a, "A", a->opts, err);

    if (rc == 0)
        rc = sb_ab_side_read(&side[1], "--b", o->b, "B", a->opts, err);
    if (rc == 0 && strcmp(side[0].name, side[1].name) == 0)
        rc = sb_err_set(err, SB_EUSAGE, "--a and --b: both sides are named %s",
            side[0].name);
    if (rc == 0 && (side[0].test || side[1].test) &&
        !(side[0].test && side[1].test && !a->test))
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: either both sides have a script of their own, or the command "
            "line has one for both");
    if (rc == 0 && !side[0].test && !a->test)
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: which workload? For example: "
            "sysbench ab oltp_read_write ... run");
    if (rc == 0 && side[0].n + side[1].n == 0 && !side[0].test &&
        !side[0].program && !side[1].program && !*o->switch_to)
        rc = sb_err_set(err, SB_EUSAGE,
            "ab: both sides are the same: give one of them options "
            "(--b='new: --pgsql-host=db2'), or use --switch");
    return rc;
}

// Programs --------------------------------------------------------------------

// How long a program may take to say its version, s.
#define VERSION_S 30

// Reads the first line. False: it takes too long.
static bool read_version(int from, char *out)
{
    uint64_t now, deadline = sb_clock_monotonic() + VERSION_S * SB_SECOND;
    struct pollfd p = { .fd = from, .events = POLLIN };
    size_t len = 0;
    ssize_t n = 1;

    while (n != 0 && len < VERSION_SIZE - 1 && !memchr(out, '\n', len)) {
        now = sb_clock_monotonic();
        if (now >= deadline)
            return false;
        if (poll(&p, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
            continue;
        n = read(from, out + len, VERSION_SIZE - 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return true;
}

// Asks the program of a side for its version. 0 or SB_EUSAGE.
static int ask_version(
    const char *option, const char *file, char *version, struct sb_err *err)
{
    char *argv[] = { (char *)file, (char *)"--version", NULL };
    int ends[2], no = pipe2(ends, O_CLOEXEC) ? errno : 0;
    pid_t pid;

    if (no == 0) {
        no = sb_spawn_program(file, argv, ends[1], -1, &pid);
        close(ends[1]);
        if (no)
            close(ends[0]);
    }
    if (no)
        return sb_err_set(err, SB_EUSAGE, "%s: cannot execute %s: %s", option,
            file, strerror(no));
    bool said = read_version(ends[0], version);

    close(ends[0]);
    kill(-pid, SIGKILL); // also a process that it has left
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!said)
        return sb_err_set(err, SB_EUSAGE,
            "%s: %s --version printed no line within %d s", option, file,
            VERSION_S);
    if (strncmp(version, "sysbench ", 9) != 0)
        return sb_err_set(err, SB_EUSAGE,
            "%s: %s is not sysbench: with --version, it prints something else",
            option, file);
    if (strtol(version + 9, NULL, 10) < 2)
        return sb_err_set(err, SB_EUSAGE,
            "%s: %s is %s, which writes no result files: at least sysbench 2.0 "
            "is required",
            option, file, version);
    return 0;
}

// Writes the name of the program and its version, and shows them with the
// words.
static int name_build(
    struct sb_ab_side *side, const char *version, struct sb_err *err)
{
    struct sb_buf build = { 0 }, shown = { 0 };
    char self[4096] = "";

    if (!side->program &&
        readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
        return sb_err_set(
            err, SB_ESYS, "cannot find the program: %s", strerror(errno));
    sb_buf_addf(
        &build, "%s (%s)", side->program ? side->program : self, version);
    sb_buf_addf(&shown, "%s%s%s", build.data ? build.data : "",
        *side->shown ? " " : "", side->shown);
    side->build = build.data;
    if (build.failed || shown.failed) {
        sb_buf_done(&shown);
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    free(side->shown);
    side->shown = shown.data;
    return 0;
}

int sb_app_ab_init(struct sb_app *a, struct sb_app_ab *ab, struct sb_err *err)
{
    struct sb_ab_side *side = ab->side;
    int rc = read_sides(a, ab, err);
    // The process of a check gets its words from the experiment.
    bool named = (side[0].program || side[1].program) &&
                 a->setup.role != SB_SETUP_OF_CHECK;

    for (int i = 0; rc == 0 && i < 2; i++) {
        char version[VERSION_SIZE];

        snprintf(version, sizeof(version), "%s", sb_app_version());
        if (named && side[i].program)
            rc = ask_version(i ? "--b" : "--a", side[i].program, version, err);
        if (rc == 0 && named)
            rc = name_build(&side[i], version, err);
        if (rc == 0)
            rc = sb_app_setup_add(a, &side[i], version, &ab->given[i], err);
    }
    return rc;
}

void sb_app_ab_done(struct sb_app_ab *ab)
{
    for (int i = 0; i < 2; i++) {
        sb_ab_side_done(&ab->side[i]);
        sb_buf_done(&ab->given[i]);
    }
    sb_ab_done(&ab->ab);
}

char *sb_app_ab_switch(
    const struct sb_app *a, const struct sb_app_ab *ab, unsigned side)
{
    static const char mark[] = "{side}";
    const char *from = a->ab_opts.switch_to, *found;
    struct sb_buf text = { 0 };

    if (!*from)
        return NULL;
    for (; (found = strstr(from, mark)); from = found + sizeof(mark) - 1) {
        sb_buf_add(&text, from, (size_t)(found - from));
        sb_buf_addf(&text, "%s", ab->side[side].name);
    }
    sb_buf_addf(&text, "%s", from);
    return text.data;
}
