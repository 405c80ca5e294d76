// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // sched_getaffinity()
#include "base/host.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

FILE *sb__host_open(const char *root, const char *path)
{
    char name[PATH_MAX];

    snprintf(name, sizeof(name), "%s%s", root, path);
    return fopen(name, "re");
}

// Copies the value of the first line "key : value" to out. False if there is
// none.
static bool find_line(FILE *f, const char *key, char *out, size_t size)
{
    char line[1024];
    size_t len = strlen(key);

    while (fgets(line, sizeof(line), f)) {
        char *colon = strchr(line, ':');

        if (!colon || strncmp(line, key, len) != 0 ||
            strchr("\t :", line[len]) == NULL)
            continue;
        char *value = colon + 1 + strspn(colon + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(out, size, "%s", value);
        return true;
    }
    return false;
}

static void read_cpu(struct sb_host_facts *f, const char *root)
{
    FILE *file = sb__host_open(root, "/proc/cpuinfo");

    if (!file)
        return;
    if (!find_line(file, "model name", f->cpu, sizeof(f->cpu))) {
        rewind(file);
        find_line(file, "Model", f->cpu, sizeof(f->cpu)); // ARM boards
    }
    fclose(file);
}

static void read_memory(struct sb_host_facts *f, const char *root)
{
    FILE *file = sb__host_open(root, "/proc/meminfo");
    char text[64];

    if (!file)
        return;
    if (find_line(file, "MemTotal", text, sizeof(text)))
        f->memory = strtoull(text, NULL, 10) * 1024;
    fclose(file);
}

// Reads the first line of a file and closes it. 0 or the number of an error.
static int read_line(FILE *file, char *out, size_t size)
{
    int rc = 0;

    if (!file)
        return errno;
    errno = 0;
    if (!fgets(out, (int)size, file))
        rc = errno ? errno : ENODATA;
    fclose(file);
    if (rc == 0)
        out[strcspn(out, "\n")] = '\0';
    return rc;
}

int sb__host_line(const char *root, const char *path, char *out, size_t size)
{
    return read_line(sb__host_open(root, path), out, size);
}

FILE *sb__host_open_group(const char *root, const char *dir, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, name);
    return sb__host_open(root, path);
}

static bool read_group_line(
    const char *root, const char *dir, const char *name, char *out, size_t size)
{
    return read_line(sb__host_open_group(root, dir, name), out, size) == 0;
}

// The number of processors that a group may use; 0: no limit, or another file.
static double group_cpus(const char *root, const char *dir)
{
    char text[128], period_text[128];
    double quota = 0, period = 0;

    if (read_group_line(root, dir, "cpu.max", text, sizeof(text))) {
        if (sscanf(text, "%lf %lf", &quota, &period) != 2)
            return 0; // "max 100000"
    } else if (read_group_line(
                   root, dir, "cpu.cfs_quota_us", text, sizeof(text)) &&
               read_group_line(root, dir, "cpu.cfs_period_us", period_text,
                   sizeof(period_text))) {
        quota = strtod(text, NULL); // -1: no limit
        period = strtod(period_text, NULL);
    }
    return quota > 0 && period > 0 ? quota / period : 0;
}

// In bytes. 0: no limit, or another file. Version 1 has a very high number
// for no limit.
static uint64_t group_memory(const char *root, const char *dir)
{
    char text[128];

    if ((read_group_line(root, dir, "memory.max", text, sizeof(text)) ||
            read_group_line(
                root, dir, "memory.limit_in_bytes", text, sizeof(text))) &&
        isdigit((unsigned char)text[0])) {
        uint64_t max = strtoull(text, NULL, 10);

        return max < UINT64_C(1) << 60 ? max : 0;
    }
    return 0;
}

// Takes the limits of one control group into account: the lowest one counts.
static void read_group(void *arg, const char *root, const char *dir)
{
    struct sb_host_facts *f = arg;
    double cpus = group_cpus(root, dir);
    uint64_t memory = group_memory(root, dir);

    if (cpus > 0 && (f->container_cpus == 0 || cpus < f->container_cpus))
        f->container_cpus = cpus;
    if (memory > 0 &&
        (f->container_memory == 0 || memory < f->container_memory))
        f->container_memory = memory;
}

typedef void group_visitor(void *arg, const char *root, const char *dir);

// Visits a control group and all above it, up to `length` bytes of dir.
static void each_above(
    const char *root, char *dir, size_t length, group_visitor *visit, void *arg)
{
    for (;;) {
        visit(arg, root, dir);
        char *slash = strrchr(dir, '/');
        if (!slash || (size_t)(slash - dir) < length)
            break;
        *slash = '\0';
    }
}

// Whether a list of names, separated by commas, has the name.
static bool lists(const char *names, const char *name)
{
    size_t len = strlen(name);

    for (const char *at = names; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, len) == 0 && (!at[len] || at[len] == ','))
            return true;
    }
    return false;
}

// Visits the control groups of a process: those of version 2, and those of
// version 1 that limit processors and memory, each in a hierarchy of its own.
// In a container of version 1, folders below its own group do not exist.
static void each_group_of(
    const char *process, const char *root, group_visitor *visit, void *arg)
{
    static const char *const controllers[] = { "", "cpu", "memory" };
    char line[PATH_MAX], dir[PATH_MAX + 16];

    snprintf(line, sizeof(line), "/proc/%s/cgroup", process);
    FILE *file = sb__host_open(root, line);
    while (file && fgets(line, sizeof(line), file)) {
        char *names = strchr(line, ':');
        char *path = names ? strchr(++names, ':') : NULL;

        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (strcmp(path, "/") == 0)
            *path = '\0';
        for (size_t i = 0; i < 3; i++) {
            const char *name = controllers[i];
            bool hit = *name ? lists(names, name) : !*names;

            if (!hit)
                continue;
            snprintf(dir, sizeof(dir), "%s%s%s", *name ? "/" : "", name, path);
            each_above(root, dir, *name ? strlen(name) + 1 : 0, visit, arg);
        }
    }
    if (file)
        fclose(file);
}

static void each_group(const char *root, group_visitor *visit, void *arg)
{
    each_group_of("self", root, visit, arg);
}

static unsigned count_processors(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

void sb_host_facts_below(struct sb_host_facts *f, const char *root)
{
    struct sb_host_state state;
    struct utsname u;

    memset(f, 0, sizeof(*f));
    gethostname(f->name, sizeof(f->name) - 1);
    if (uname(&u) == 0)
        snprintf(f->kernel, sizeof(f->kernel), "%s %s", u.sysname, u.release);
    f->processors = count_processors();
    read_cpu(f, root);
    read_memory(f, root);
    each_group(root, read_group, f);
    sb_host_look_below(&state, root);
    snprintf(f->clock, sizeof(f->clock), "%s", state.clock);
    snprintf(f->governor, sizeof(f->governor), "%s", state.governor);
    snprintf(f->frequency_driver, sizeof(f->frequency_driver), "%s",
        state.frequency_driver);
}

void sb_host_facts(struct sb_host_facts *f)
{
    sb_host_facts_below(f, "");
}

double sb_host_processors(const struct sb_host_facts *f)
{
    double n = f->processors > 0 ? f->processors : 1;

    return f->container_cpus > 0 ? fmin(n, f->container_cpus) : n;
}

unsigned sb_host_usable(void)
{
    struct sb_host_facts f = { .processors = count_processors() };

    each_group("", read_group, &f);
    return (unsigned)ceil(sb_host_processors(&f));
}

// What happened ---------------------------------------------------------------

// Adds the numbers behind the names in a file with lines "name 123".
static void add_lines(
    FILE *file, const char *const *names, uint64_t *const *sums, size_t n)
{
    char line[256], name[64];
    uint64_t value;

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "%63s %" SCNu64, name, &value) != 2)
            continue;
        for (size_t i = 0; i < n; i++) {
            if (strcmp(names[i], name) == 0)
                *sums[i] += value;
        }
    }
    if (file)
        fclose(file);
}

static void add_throttled(void *arg, const char *root, const char *dir)
{
    static const char *const names[] = { "nr_periods", "nr_throttled" };
    struct sb_throttled *t = arg;
    uint64_t *const sums[] = { &t->periods, &t->throttled };

    add_lines(sb__host_open_group(root, dir, "cpu.stat"), names, sums, 2);
}

struct named_group {
    const char *dir;
    bool found;
};

static void find_group(void *arg, const char *root, const char *dir)
{
    struct named_group *g = arg;

    (void)root;
    g->found = g->found || strcmp(g->dir, dir) == 0;
}

// Leaves out the groups that have this process, too.
static void add_others_throttled(void *arg, const char *root, const char *dir)
{
    struct named_group own = { .dir = dir };

    each_group(root, find_group, &own);
    if (!own.found)
        add_throttled(arg, root, dir);
}

void sb_host_throttled_below(
    struct sb_throttled *t, int64_t pid, const char *root)
{
    char process[24];

    *t = (struct sb_throttled){ 0 };
    snprintf(process, sizeof(process), "%" PRId64, pid);
    each_group_of(process, root, add_others_throttled, t);
}

void sb_host_throttled(struct sb_throttled *t, int64_t pid)
{
    sb_host_throttled_below(t, pid, "");
}

static void read_swap(struct sb_host_state *s, const char *root)
{
    static const char *const names[] = { "pswpin", "pswpout" };
    uint64_t *const sums[] = { &s->swapped, &s->swapped };
    long page = sysconf(_SC_PAGESIZE);

    add_lines(sb__host_open(root, "/proc/vmstat"), names, sums, 2);
    s->swapped *= page > 0 ? (uint64_t)page : 4096;
}

static uint64_t count_of(const char *root, unsigned processor, const char *name)
{
    char path[128], text[64];

    snprintf(path, sizeof(path),
        "/sys/devices/system/cpu/cpu%u/thermal_throttle/%s", processor, name);
    return sb__host_line(root, path, text, sizeof(text)) == 0
               ? strtoull(text, NULL, 10)
               : 0;
}

static void read_heat(struct sb_host_state *s, const char *root)
{
    s->hot = count_of(root, 0, "package_throttle_count");
    for (unsigned i = 0; i < s->cpu.processors; i++)
        s->hot += count_of(root, i, "core_throttle_count");
}

// Two lines, the names of the counters and their values: "Tcp: OutSegs ...",
// "Tcp: 123 ...".
static void read_tcp(struct sb_host_state *s, const char *root)
{
    FILE *file = sb__host_open(root, "/proc/net/snmp");
    char names[1024] = "", line[1024], *name_at, *value_at;
    bool found = false;

    while (file && !found && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "Tcp:", 4) != 0)
            continue;
        found = *names;
        if (!found)
            memcpy(names, line, sizeof(names));
    }
    if (file)
        fclose(file);
    if (!found)
        return;
    char *name = strtok_r(names, " \n", &name_at);
    char *value = strtok_r(line, " \n", &value_at);
    while (name && value) {
        if (strcmp(name, "OutSegs") == 0)
            s->segments = strtoull(value, NULL, 10);
        if (strcmp(name, "RetransSegs") == 0)
            s->resent = strtoull(value, NULL, 10);
        name = strtok_r(NULL, " \n", &name_at);
        value = strtok_r(NULL, " \n", &value_at);
    }
}

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"
#define CLOCK   "/sys/devices/system/clocksource/clocksource0/"

void sb_host_look_below(struct sb_host_state *s, const char *root)
{
    *s = (struct sb_host_state){ 0 };
    each_group(root, add_throttled, &s->groups);
    read_swap(s, root);
    read_tcp(s, root);
    sb__host_line(
        root, CLOCK "current_clocksource", s->clock, sizeof(s->clock));
    sb__host_line(
        root, CPUFREQ "scaling_governor", s->governor, sizeof(s->governor));
    sb__host_line(root, CPUFREQ "scaling_driver", s->frequency_driver,
        sizeof(s->frequency_driver));
    if (sb_procstat_machine(&s->cpu, NULL) == 0)
        read_heat(s, root);
    s->clock_ns = (int64_t)(sb_clock_wall() - sb_clock_monotonic());
}

void sb_host_look(struct sb_host_state *s)
{
    sb_host_look_below(s, "");
}

// Flushes ------------------------------------------------------------------

#define FLUSH_BYTES 4096
#define FLUSHES     20
#define FLUSH_NS    UINT64_C(100000000)

// Opens a file without a name on the device. Returns -1 if this is another
// one, or the folder cannot be written.
static int open_on(const char *folder, dev_t device)
{
    char path[PATH_MAX];
    struct stat st;

    if (!folder || stat(folder, &st) || st.st_dev != device)
        return -1;
    snprintf(path, sizeof(path), "%s/sysbench.XXXXXX", folder);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

// Overwrites the same bytes, as servers do in their logs: a file that grows
// needs more than one write.
static double shortest_flush(int fd)
{
    static const char bytes[FLUSH_BYTES];
    uint64_t begin = sb_clock_monotonic(), last = begin;
    double least = NAN;

    for (int i = 0; i <= FLUSHES && last - begin < FLUSH_NS; i++) {
        uint64_t at = sb_clock_monotonic();

        if (pwrite(fd, bytes, sizeof(bytes), 0) != sizeof(bytes) ||
            fdatasync(fd))
            return NAN;
        last = sb_clock_monotonic();
        if (i > 0)
            least = fmin(least, (double)(last - at));
    }
    return least;
}

double sb_host_flush(const char *folder)
{
    const char *const others[] = { folder, ".", getenv("TMPDIR"), "/var/tmp",
        "/tmp" };
    struct stat st;
    int fd = -1;

    if (stat(folder, &st))
        return NAN;
    for (size_t i = 0; fd < 0 && i < sizeof(others) / sizeof(others[0]); i++)
        fd = open_on(others[i], st.st_dev);
    if (fd < 0)
        return NAN;
    double ns = shortest_flush(fd);
    close(fd);
    return ns;
}
