// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
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

// Version 1 has a hierarchy for each controller. In a container, its root is
// the container's group.
static void control_groups_of_version_1(void)
{
    struct sb_host_facts f;
    struct sb_host_state s;

    put("/proc/self/cgroup", "9:name=systemd:/x\n4:memory:/c/d\n"
                             "2:cpu,cpuacct:/c/d\n0::/x\n");
    put("/sys/fs/cgroup/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "25000\n");
    put("/sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/c/cpu.stat", "nr_periods 9\nnr_throttled 4\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    sb_host_facts_below(&f, "root");
    CHECK_NEAR(f.container_cpus, 0.25, 0);
    CHECK_INT(f.container_memory, 0);
    put("/sys/fs/cgroup/memory/c/memory.limit_in_bytes", "4096\n");
    sb_host_facts_below(&f, "root");
    CHECK_INT(f.container_memory, 4096);
    sb_host_look_below(&s, "root");
    CHECK_INT(s.groups.periods, 9);
    CHECK_INT(s.groups.throttled, 4);
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

static void what_happened(void)
{
    struct sb_host_state s;

    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/cpu.stat",
        "usage_usec 5\nnr_periods 100\nnr_throttled 7\nthrottled_usec 9\n");
    put("/sys/fs/cgroup/a/b/cpu.stat", "nr_periods 50\nnr_throttled 3\n");
    put("/proc/vmstat", "pgpgin 1\npswpin 2\npswpout 3\n");
    put("/proc/net/snmp", "Ip: Forwarding\nIp: 1\n"
                          "Tcp: RtoMin OutSegs RetransSegs InErrs\n"
                          "Tcp: 200 3000 40 5\n");
    put("/sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/"
        "package_throttle_count",
        "5\n");
    put("/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "2\n");
    sb_host_look_below(&s, "root");
    CHECK_INT(s.groups.periods, 150);
    CHECK_INT(s.groups.throttled, 10);
    CHECK_INT(s.swapped, 5 * sysconf(_SC_PAGESIZE));
    CHECK_INT(s.segments, 3000);
    CHECK_INT(s.resent, 40);
    CHECK_STR(s.clock, "hpet");
    CHECK_STR(s.governor, "powersave");
    CHECK_STR(s.frequency_driver, "acpi");
    CHECK_INT(s.hot, 7);
    CHECK(s.cpu.processors > 0);
    put("/proc/net/snmp", "Tcp: OutSegs RetransSegs\n");
    sb_host_look_below(&s, "root");
    CHECK_INT(s.segments, 0);
    sb_host_look_below(&s, "nowhere");
    CHECK_INT(s.groups.periods + s.swapped + s.segments + s.hot, 0);
    CHECK_STR(s.clock, "");
}

static struct sb_throttled throttled_server(const char *self)
{
    struct sb_throttled t;

    put("/proc/self/cgroup", self);
    sb_host_throttled_below(&t, 42, "root");
    return t;
}

// The server's groups, without those that have the client, too.
static void a_server_has_groups_of_its_own(void)
{
    struct sb_throttled t;

    put("/sys/fs/cgroup/s/cpu.stat", "nr_periods 100\nnr_throttled 7\n");
    put("/sys/fs/cgroup/s/db/cpu.stat", "nr_periods 50\nnr_throttled 3\n");
    put("/sys/fs/cgroup/cpu/v1/cpu.stat", "nr_periods 9\nnr_throttled 4\n");
    put("/proc/42/cgroup", "0::/s/db\n");
    t = throttled_server("0::/s2\n");
    CHECK_INT(t.periods, 150);
    CHECK_INT(t.throttled, 10);
    t = throttled_server("0::/s/client\n");
    CHECK_INT(t.periods, 50);
    CHECK_INT(t.throttled, 3);
    t = throttled_server("0::/s/db\n");
    CHECK_INT(t.periods, 0);
    put("/proc/42/cgroup", "4:memory:/s\n2:cpu,cpuacct:/v1\n");
    t = throttled_server("2:cpu,cpuacct:/\n");
    CHECK_INT(t.periods, 9);
    t = throttled_server("2:cpu,cpuacct:/v1\n");
    CHECK_INT(t.periods, 0);
    sb_host_throttled_below(&t, 43, "root");
    CHECK_INT(t.periods, 0);
}

static void missing_files_are_no_error(void)
{
    struct sb_host_facts f;

    sb_host_facts_below(&f, "nowhere");
    CHECK_STR(f.cpu, "");
    CHECK_INT(f.memory, 0);
}

static void a_flush_takes_time(void)
{
    CHECK(sb_host_flush(".") > 0);
    CHECK(isnan(sb_host_flush("nowhere")));
}

CHECK_FILE
{
    check_folder();
    RUN(facts_of_proc);
    RUN(lowest_limit_of_the_groups_counts);
    RUN(control_groups_of_version_1);
    RUN(a_container_may_use_fewer_processors);
    RUN(what_happened);
    RUN(a_server_has_groups_of_its_own);
    RUN(missing_files_are_no_error);
    RUN(a_flush_takes_time);
    return check_done();
}
