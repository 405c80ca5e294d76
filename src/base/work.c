// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/host.h"
#include "base/procstat.h"
#include "kit/array.h"

// Control groups, version 2 ---------------------------------------------------

// Writes the group of a process, as this process sees it: "" if it has none, or
// one that is not visible here.
static void group_of(const char *root, const char *pid, char *out, size_t size)
{
    char path[48], line[SB_WORK_GROUP_MAX + 4];
    FILE *file;

    out[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%s/cgroup", pid);
    file = sb__host_open(root, path);
    while (file && !out[0] && fgets(line, sizeof(line), file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::/", 4) == 0 && strncmp(line + 3, "/..", 3) != 0)
            snprintf(out, size, "%s", line + 3);
    }
    if (file)
        fclose(file);
}

// Processes of groups below this one have no effect: the server would be in one
// of them.
static bool has_only(const char *root, const char *group, int64_t pid,
    bool (*owns)(int64_t process, int64_t pid))
{
    FILE *file = sb__host_open_group(root, group, "cgroup.procs");
    bool only = file != NULL;
    int64_t process;

    while (only && fscanf(file, "%" SCNd64, &process) == 1)
        only = owns(process, pid);
    if (file)
        fclose(file);
    return only;
}

void sb_work_group(const char *root, int64_t pid,
    bool (*owns)(int64_t process, int64_t pid), char *out, size_t size)
{
    char text[24], own[SB_WORK_GROUP_MAX];
    size_t len;

    snprintf(text, sizeof(text), "%" PRId64, pid);
    group_of(root, text, out, size);
    group_of(root, "self", own, sizeof(own));
    len = strlen(out);
    if (len < 2 || !own[0] ||
        (strncmp(own, out, len) == 0 && (own[len] == '/' || !own[len])) ||
        !has_only(root, out, pid, owns))
        out[0] = '\0';
}

static void read_time(const char *root, const char *group, struct sb_work *out)
{
    FILE *file = sb__host_open_group(root, group, "cpu.stat");
    double usage = NAN, system = NAN, value;
    char line[256], name[64];

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%63s %lf", name, &value) != 2)
            continue;
        if (strcmp(name, "usage_usec") == 0)
            usage = value;
        if (strcmp(name, "system_usec") == 0)
            system = value;
    }
    if (file)
        fclose(file);
    if (!isfinite(usage))
        return;
    out->cpu_us = usage;
    out->system_us = system;
}

// A line for each device: "259:0 rbytes=4096 wbytes=0 rios=1 ...". A group
// without I/O has none.
static void read_io(const char *root, const char *group, struct sb_work *out)
{
    FILE *file = sb__host_open_group(root, group, "io.stat");
    char line[512];

    if (!file)
        return;
    out->read = out->written = 0;
    while (fgets(line, sizeof(line), file)) {
        const char *in = strstr(line, " rbytes="),
                   *to = strstr(line, " wbytes=");

        out->read += in ? strtod(in + strlen(" rbytes="), NULL) : 0;
        out->written += to ? strtod(to + strlen(" wbytes="), NULL) : 0;
    }
    fclose(file);
}

void sb_work_group_look(
    const char *root, const char *group, struct sb_work *out)
{
    read_time(root, group, out);
    if (isnan(out->read))
        read_io(root, group, out);
}

// Processes -------------------------------------------------------------------

int sb_worker_find(struct sb_worker *w, int64_t pid, struct sb_err *err)
{
    struct sb_proc_tree t;
    int rc = sb_procstat_tree(pid, &t, err);

    *w = (struct sb_worker){ .pid = pid, .start_ticks = t.start_ticks };
    if (rc)
        return rc;
    if (sb_procstat_descends(getpid(), pid))
        return sb_err_set(err, SB_EUSAGE,
            "process %lld is a parent of this program", (long long)pid);
    sb_work_group("", pid, sb_procstat_descends, w->group, sizeof(w->group));
    return 0;
}

int sb_work_look(
    const struct sb_worker *w, struct sb_work *out, struct sb_err *err)
{
    struct sb_proc_tree t;
    int rc = sb_procstat_tree(w->pid, &t, err);

    if (rc == 0 && t.start_ticks != w->start_ticks)
        rc = sb_err_set(
            err, SB_ENOTFOUND, "process %lld has ended", (long long)w->pid);
    if (rc)
        return rc;
    *out = (struct sb_work){ .cpu_us = (double)t.cpu_ns / 1e3,
        .system_us = (double)t.system_ns / 1e3,
        .read = t.has_io ? (double)t.read : NAN,
        .written = t.has_io ? (double)t.written : NAN };
    if (w->group[0])
        sb_work_group_look("", w->group, out);
    return 0;
}

// Context switches ------------------------------------------------------------

void sb_switches_done(struct sb_switches *s)
{
    free(s->thread);
    *s = (struct sb_switches){ 0 };
}

void sb_switches_begin(struct sb_switches *s)
{
    for (size_t i = 0; i < s->nthreads; i++)
        s->thread[i].seen = false;
}

// The index of the first thread whose id is not below this one.
static size_t place_of(const struct sb_switches *s, int64_t id)
{
    size_t low = 0, high = s->nthreads;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->thread[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct sb_switches_thread *insert(struct sb_switches *s, size_t at)
{
    struct sb_switches_thread *t = sb_array_room(
        s->thread, &s->capacity, s->nthreads, 1, sizeof(*t));

    if (!t) {
        s->failed = true;
        return NULL;
    }
    s->thread = t;
    memmove(t + at + 1, t + at, (s->nthreads - at) * sizeof(*t));
    s->nthreads++;
    t[at] = (struct sb_switches_thread){ 0 };
    return t + at;
}

void sb_switches_put(struct sb_switches *s, int64_t thread, uint64_t n)
{
    size_t at = place_of(s, thread);
    struct sb_switches_thread *t = s->thread + at;

    if (at == s->nthreads || t->id != thread)
        t = insert(s, at);
    if (!t)
        return;
    // Another thread may have got the id of one that has ended.
    if (n < t->n) {
        s->lost += (double)t->counted;
        *t = (struct sb_switches_thread){ 0 };
    }
    // Those of threads that the first look finds were before.
    if (s->begun) {
        s->total += (double)(n - t->n);
        t->counted += n - t->n;
    }
    t->id = thread;
    t->n = n;
    t->seen = true;
}

void sb_switches_end(struct sb_switches *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->nthreads; i++) {
        if (s->thread[i].seen)
            s->thread[n++] = s->thread[i];
        else
            s->lost += (double)s->thread[i].counted;
    }
    s->nthreads = n;
    s->begun = true;
}

static void put_thread(void *arg, int64_t thread, uint64_t n)
{
    sb_switches_put(arg, thread, n);
}

int sb_switches_look(
    struct sb_switches *s, const struct sb_worker *w, struct sb_err *err)
{
    int rc;

    sb_switches_begin(s);
    rc = sb_procstat_switches(w->pid, put_thread, s, err);
    if (rc == 0)
        sb_switches_end(s);
    return rc;
}
