// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // sched_getaffinity()
#include "base/host.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static FILE *open_below(const char *root, const char *path)
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
    FILE *file = open_below(root, "/proc/cpuinfo");

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
    FILE *file = open_below(root, "/proc/meminfo");
    char text[64];

    if (!file)
        return;
    if (find_line(file, "MemTotal", text, sizeof(text)))
        f->memory = strtoull(text, NULL, 10) * 1024;
    fclose(file);
}

// Reads a small file of numbers: "max 100000". False if it does not exist.
static bool read_small(
    const char *root, const char *dir, const char *name, char *out, int size)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof(path), "/sys/fs/cgroup%s/%s", dir, name);
    file = open_below(root, path);
    if (!file)
        return false;
    bool any = fgets(out, size, file) != NULL;
    fclose(file);
    return any;
}

// Takes the limits of one control group into account: the lowest one counts.
static void read_group(
    struct sb_host_facts *f, const char *root, const char *dir)
{
    char text[128];
    double quota, period;

    if (read_small(root, dir, "cpu.max", text, sizeof(text)) &&
        sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 &&
        (f->container_cpus == 0 || quota / period < f->container_cpus))
        f->container_cpus = quota / period;
    if (read_small(root, dir, "memory.max", text, sizeof(text)) &&
        isdigit((unsigned char)text[0])) {
        uint64_t max = strtoull(text, NULL, 10);

        if (f->container_memory == 0 || max < f->container_memory)
            f->container_memory = max;
    }
}

// Control groups of version 2: this process's and all above it. The older
// version is not read.
static void read_groups(struct sb_host_facts *f, const char *root)
{
    FILE *file = open_below(root, "/proc/self/cgroup");
    char line[PATH_MAX], *dir = NULL;

    while (file && !dir && fgets(line, sizeof(line), file)) {
        if (strncmp(line, "0::", 3) == 0)
            dir = line + 3;
    }
    if (file)
        fclose(file);
    if (!dir)
        return;
    dir[strcspn(dir, "\n")] = '\0';
    for (;;) {
        if (strcmp(dir, "/") == 0)
            *dir = '\0';
        read_group(f, root, dir);
        char *slash = strrchr(dir, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
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
    struct utsname u;

    memset(f, 0, sizeof(*f));
    gethostname(f->name, sizeof(f->name) - 1);
    if (uname(&u) == 0)
        snprintf(f->kernel, sizeof(f->kernel), "%s %s", u.sysname, u.release);
    f->processors = count_processors();
    read_cpu(f, root);
    read_memory(f, root);
    read_groups(f, root);
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

    read_groups(&f, "");
    return (unsigned)ceil(sb_host_processors(&f));
}
