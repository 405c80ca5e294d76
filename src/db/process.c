// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/process.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"

int sb__process_init(
    struct sb__process *p, const char *text, struct sb_err *err)
{
    struct sb_proc_tree t;
    char *end;

    *p = (struct sb__process){ .automatic = strcmp(text, "auto") == 0 };
    if (!*text || p->automatic)
        return 0;
    errno = 0;
    p->pid = strtoll(text, &end, 10);
    if (end == text || *end || errno || p->pid <= 0)
        return sb_err_set(err, SB_EUSAGE,
            "--server-pid: '%s' is neither 'auto' nor the id of a process",
            text);
    if (sb_procstat_tree(p->pid, &t, NULL) == SB_ENOTFOUND)
        return sb_err_set(err, SB_EUSAGE,
            "--server-pid: there is no process with the id %lld",
            (long long)p->pid);
    return 0;
}

void sb__process_find(struct sb__process *p, const char *address)
{
    if (!p->automatic || p->pid || !*address)
        return;
    p->pid = sb_procstat_listener(address);
    p->automatic = false;
    if (!p->pid)
        sb_log(SB_LOG_WARNING,
            "--server-pid=auto: the process that listens at %s was not found; "
            "it is on another machine, or this user may not see its files: "
            "give its process id",
            address);
}

static void gone(struct sb__process *p)
{
    sb_log(SB_LOG_WARNING,
        "--server-pid: the process %lld has ended; its figures end here",
        (long long)p->pid);
    p->pid = 0;
}

static void take_io(struct sb__process *p, const struct sb_proc_tree *t,
    void (*take)(void *arg, const struct sb_counter *c), void *arg)
{
    const struct sb_counter in = { "process.read_bytes", (double)t->read,
        SB_COUNTER_TOTAL, "bytes" };
    const struct sb_counter out = { "process.write_bytes", (double)t->written,
        SB_COUNTER_TOTAL, "bytes" };

    if (t->has_io) {
        take(arg, &in);
        take(arg, &out);
    } else if (!p->warned) {
        sb_log(SB_LOG_WARNING,
            "--server-pid: the disk I/O of process %lld cannot be read; that "
            "needs the rights of its user",
            (long long)p->pid);
        p->warned = true;
    }
}

void sb__process_sample(struct sb__process *p,
    void (*take)(void *arg, const struct sb_counter *c), void *arg)
{
    struct sb_proc_tree t;

    if (!p->pid)
        return;
    if (sb_procstat_tree(p->pid, &t, NULL) ||
        (p->start_ticks && t.start_ticks != p->start_ticks)) {
        gone(p);
        return;
    }
    const struct sb_counter cpu = { "process.cpu", (double)t.cpu_ns / 1e9,
        SB_COUNTER_TOTAL, "processors" };
    const struct sb_counter rss = { "process.rss", (double)t.rss,
        SB_COUNTER_LEVEL, "bytes" };

    take(arg, &cpu);
    take(arg, &rss);
    take_io(p, &t, take, arg);
    p->start_ticks = t.start_ticks;
}
