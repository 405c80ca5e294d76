// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/work.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/energy.h"
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

// Control groups --------------------------------------------------------------

static bool owns(int64_t process, int64_t pid)
{
    return process >= pid && process < pid + 10;
}

static const char *group_of(const char *server, const char *self)
{
    static char out[SB_WORK_GROUP_MAX];

    put("/proc/42/cgroup", server);
    put("/proc/self/cgroup", self);
    sb_work_group("root", 42, owns, out, sizeof(out));
    return out;
}

static void groups(void)
{
    put("/sys/fs/cgroup/a/db/cgroup.procs", "42\n43\n");
    CHECK_STR(group_of("0::/a/db\n", "0::/a/client\n"), "/a/db");
    CHECK_STR(group_of("3:cpu:/x\n0::/a/db\n", "0::/\n"), "/a/db");
    CHECK_STR(group_of("0::/a/db\n", "0::/a/dbs\n"), "/a/db");
    // The client is in it, too.
    CHECK_STR(group_of("0::/a/db\n", "0::/a/db\n"), "");
    CHECK_STR(group_of("0::/a/db\n", "0::/a/db/client\n"), "");
    // The root group has everything, and others are not visible.
    CHECK_STR(group_of("0::/\n", "0::/a\n"), "");
    CHECK_STR(group_of("0::/../db\n", "0::/\n"), "");
    CHECK_STR(group_of("3:cpu:/x\n", "0::/\n"), "");
    // It has other processes, or does not say which.
    put("/sys/fs/cgroup/a/db/cgroup.procs", "42\n7\n");
    CHECK_STR(group_of("0::/a/db\n", "0::/a/client\n"), "");
    put("/sys/fs/cgroup/a/db/cgroup.procs", "42\n0\n");
    CHECK_STR(group_of("0::/a/db\n", "0::/a/client\n"), "");
    CHECK_STR(group_of("0::/b\n", "0::/a\n"), "");
}

static void totals_of_a_group(void)
{
    struct sb_work w = { 1, 2, 3, 4 };

    put("/sys/fs/cgroup/a/db/cpu.stat",
        "usage_usec 7000\nuser_usec 4000\nsystem_usec 3000\nnr_periods 0\n");
    put("/sys/fs/cgroup/a/db/io.stat",
        "259:0 rbytes=100 wbytes=20 rios=1 wios=1 dbytes=0 dios=0\n"
        "8:16 rbytes=1000 wbytes=200 rios=1 wios=1 dbytes=5 dios=0\n");
    sb_work_group_look("root", "/a/db", &w);
    CHECK_NEAR(w.cpu_us, 7000, 0);
    CHECK_NEAR(w.system_us, 3000, 0);
    // That of the processes is kept, if it is known.
    CHECK_NEAR(w.read, 3, 0);
    w.read = w.written = NAN;
    sb_work_group_look("root", "/a/db", &w);
    CHECK_NEAR(w.read, 1100, 0);
    CHECK_NEAR(w.written, 220, 0);
    w = (struct sb_work){ 1, 2, NAN, NAN };
    sb_work_group_look("root", "/none", &w);
    CHECK_NEAR(w.cpu_us, 1, 0);
    CHECK(isnan(w.read) && isnan(w.written));
}

// Processes -------------------------------------------------------------------

// The thread sanitizer starts a thread of its own in each process.
#ifdef __SANITIZE_THREAD__
#define THREADS_OF_A_CHILD 2
#else
#define THREADS_OF_A_CHILD 1
#endif

// A child that uses processor time until it is told to end, and then has none.
static void processes(void)
{
    int to[2], from[2], status;
    struct sb_switches s = { 0 };
    struct sb_worker w, own;
    struct sb_work a, b;
    struct sb_err err = { 0 };
    char c = 0;
    pid_t pid;

    CHECK(pipe(to) == 0 && pipe(from) == 0);
    pid = fork();
    if (pid == 0) {
        volatile unsigned long n = 0;

        close(to[1]);
        while (read(to[0], &c, 1) == 1) {
            for (unsigned long i = 0; i < 50000000; i++)
                n++;
            if (write(from[1], &c, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(to[0]);
    CHECK_INT(sb_worker_find(&w, pid, &err), 0);
    CHECK_INT(sb_work_look(&w, &a, &err), 0);
    CHECK_INT(sb_switches_look(&s, &w, &err), 0);
    CHECK_NEAR(s.total, 0, 0);
    CHECK(write(to[1], &c, 1) == 1 && read(from[0], &c, 1) == 1);
    CHECK_INT(sb_work_look(&w, &b, &err), 0);
    CHECK_INT(sb_switches_look(&s, &w, &err), 0);
    CHECK(b.cpu_us >= a.cpu_us + 10000);
    CHECK(b.system_us >= a.system_us && b.system_us < b.cpu_us);
    CHECK_INT(s.nthreads, THREADS_OF_A_CHILD);
    CHECK(s.total >= 0 && s.lost == 0);
    // This process is its parent, and no server of itself.
    CHECK_INT(sb_worker_find(&own, getpid(), &err), SB_EUSAGE);
    CHECK(strstr(err.msg, "is a parent of this program") != NULL);
    w.start_ticks++; // another process had this number
    CHECK_INT(sb_work_look(&w, &b, &err), SB_ENOTFOUND);
    close(to[1]);
    waitpid(pid, &status, 0);
    CHECK_INT(sb_work_look(&w, &b, &err), SB_ENOTFOUND);
    CHECK_INT(sb_switches_look(&s, &w, &err), SB_ENOTFOUND);
    CHECK_INT(sb_worker_find(&w, pid, &err), SB_ENOTFOUND);
    sb_switches_done(&s);
    close(from[0]);
    close(from[1]);
}

struct thread {
    int64_t id;
    uint64_t n;
};

static void look(struct sb_switches *s, size_t n, const struct thread *t)
{
    sb_switches_begin(s);
    for (size_t i = 0; i < n; i++)
        sb_switches_put(s, t[i].id, t[i].n);
    sb_switches_end(s);
}

#define LOOK(s, ...)                                                          \
    look(s, sizeof((struct thread[]){ __VA_ARGS__ }) / sizeof(struct thread), \
        (struct thread[]){ __VA_ARGS__ })

static void context_switches(void)
{
    struct sb_switches s = { 0 };

    LOOK(&s, { 5, 1000 }, { 2, 500 });
    CHECK_NEAR(s.total, 0, 0);
    // A new thread counts from its beginning.
    LOOK(&s, { 2, 510 }, { 3, 7 }, { 5, 1100 });
    CHECK_NEAR(s.total, 117, 0);
    CHECK_NEAR(s.lost, 0, 0);
    // What a thread that has ended did in the end is lost.
    LOOK(&s, { 3, 9 }, { 5, 1100 });
    CHECK_NEAR(s.total, 119, 0);
    CHECK_NEAR(s.lost, 10, 0);
    // Another thread has the id of one that has ended.
    LOOK(&s, { 3, 4 }, { 5, 1101 });
    CHECK_NEAR(s.total, 124, 0);
    CHECK_NEAR(s.lost, 19, 0);
    CHECK_INT(s.nthreads, 2);
    sb_switches_done(&s);
}

// Energy ----------------------------------------------------------------------

#define RAPL "/sys/class/powercap/intel-rapl:"
#define S    UINT64_C(1000000000)

static void zone(
    const char *number, const char *name, const char *uj, const char *range)
{
    char path[128];

    snprintf(path, sizeof(path), RAPL "%s/name", number);
    put(path, name);
    snprintf(path, sizeof(path), RAPL "%s/energy_uj", number);
    put(path, uj);
    snprintf(path, sizeof(path), RAPL "%s/max_energy_range_uj", number);
    put(path, range);
}

static void energy(void)
{
    struct sb_energy e;

    sb_energy_begin(&e, "root/none", 0);
    CHECK_INT(e.nzones, 0);
    CHECK_STR(e.why, "this machine has no counters of energy (RAPL)");
    sb_energy_look(&e, "root/none", S);
    CHECK_NEAR(e.joules, 0, 0);
    // Cores are part of a package; psys has packages.
    zone("0", "package-0\n", "1000000\n", "262143000000\n");
    zone("0:0", "core\n", "5\n", "262143000000\n");
    zone("0:1", "dram\n", "0\n", "65000000000\n");
    zone("1", "psys\n", "9\n", "262143000000\n");
    zone("2", "package-1\n", "262142000000\n", "262143000000\n");
    sb_energy_begin(&e, "root", 0);
    CHECK_INT(e.nzones, 3);
    zone("0", "package-0\n", "11000000\n", "262143000000\n");
    zone("0:0", "core\n", "7000005\n", "262143000000\n");
    zone("0:1", "dram\n", "2000000\n", "65000000000\n");
    // Its counter has started again.
    zone("2", "package-1\n", "3000000\n", "262143000000\n");
    sb_energy_look(&e, "root", S);
    CHECK_NEAR(e.joules, 10 + 2 + 4, 1e-9);
    sb_energy_look(&e, "root", 2 * S);
    CHECK_NEAR(e.joules, 16, 1e-9);
    // Long enough for the counter of the memory to start twice.
    sb_energy_look(&e, "root", 100 * S);
    CHECK_INT(e.nzones, 0);
    CHECK_STR(
        e.why, "intervals of 98 s are too long for the counters of energy");
}

static void energy_that_is_not_readable(void)
{
    struct sb_energy e;

    zone("0", "package-0\n", "1000000\n", "262143000000\n");
    sb_energy_begin(&e, "root", 0);
    CHECK(e.nzones > 0);
    remove("root" RAPL "0/energy_uj");
    sb_energy_look(&e, "root", S);
    CHECK_INT(e.nzones, 0);
    CHECK_STR(e.why, RAPL "0/energy_uj: No such file or directory");
    sb_energy_begin(&e, "root", 0);
    CHECK_INT(e.nzones, 0);
    CHECK_STR(e.why, RAPL "0/energy_uj: No such file or directory");
}

CHECK_FILE
{
    check_folder();
    RUN(groups);
    RUN(totals_of_a_group);
    RUN(processes);
    RUN(context_switches);
    RUN(energy);
    RUN(energy_that_is_not_readable);
    return check_done();
}
