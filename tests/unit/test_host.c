// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/host.h"
#include "check.h"
#include "check_folder.h"

// Writes a file below "root", with its folders.
static void put(const char *path, const char *text)
{
    char name[256];

    snprintf(name, sizeof(name), "root%s", path);
    for (char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        mkdir(name, 0777);
        *p = '/';
    }
    FILE *f = fopen(name, "w");
    fputs(text, f);
    fclose(f);
}

static void facts_of_proc(void)
{
    struct sb_host_facts f;

    put("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 17\n"
                         "model name\t: Good CPU @ 3 GHz\nprocessor\t: 1\n");
    put("/proc/meminfo", "MemTotal:       1024 kB\nMemFree:        512 kB\n");
    sb_host_facts_below(&f, "root");
    CHECK_STR(f.cpu, "Good CPU @ 3 GHz");
    CHECK_INT(f.memory, 1024 * 1024);
    CHECK(f.processors >= 1);
    CHECK(f.kernel[0]);
    CHECK_NEAR(f.container_cpus, 0, 0);
    CHECK_INT(f.container_memory, 0);
}

// The limits of a container may be set on any group above the process.
static void lowest_limit_of_the_groups_counts(void)
{
    struct sb_host_facts f;

    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/memory.max", "1000000\n");
    put("/sys/fs/cgroup/a/b/memory.max", "2000000\n");
    sb_host_facts_below(&f, "root");
    CHECK_NEAR(f.container_cpus, 1.5, 0);
    CHECK_INT(f.container_memory, 1000000);
    put("/proc/self/cgroup", "0::/\n");
    put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    sb_host_facts_below(&f, "root");
    CHECK_NEAR(f.container_cpus, 0.5, 0);
    CHECK_INT(f.container_memory, 0);
}

static void a_container_may_use_fewer_processors(void)
{
    struct sb_host_facts f = { .processors = 4 };

    CHECK_NEAR(sb_host_processors(&f), 4, 0);
    f.container_cpus = 1.5;
    CHECK_NEAR(sb_host_processors(&f), 1.5, 0);
    f.container_cpus = 8;
    CHECK_NEAR(sb_host_processors(&f), 4, 0);
    f = (struct sb_host_facts){ 0 };
    CHECK_NEAR(sb_host_processors(&f), 1, 0);
    CHECK(sb_host_usable() >= 1);
}

static void missing_files_are_no_error(void)
{
    struct sb_host_facts f;

    sb_host_facts_below(&f, "nowhere");
    CHECK_STR(f.cpu, "");
    CHECK_INT(f.memory, 0);
}

CHECK_FILE
{
    check_folder();
    RUN(facts_of_proc);
    RUN(lowest_limit_of_the_groups_counts);
    RUN(a_container_may_use_fewer_processors);
    RUN(missing_files_are_no_error);
    return check_done();
}
