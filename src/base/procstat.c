// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parsing of files in /proc, this process and the machine. For the tree of a
// server's processes see proctree.c.
#define _GNU_SOURCE // getdents64()
#include "base/procstat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/procstat_private.h"
#include "kit/clock.h"

// Parsing --------------------------------------------------------------------

// Reads up to n numbers; returns how many there were.
static size_t numbers(const char *text, uint64_t *out, size_t n)
{
    size_t i = 0;

    while (i < n) {
        char *end;

        text += strspn(text, " \t");
        // Some fields are negative, such as the terminal of a daemon.
        out[i] = *text == '-' ? (uint64_t)strtoll(text, &end, 10)
                              : strtoull(text, &end, 10);
        if (end == text)
            break;
        text = end;
        i++;
    }
    return i;
}

// Fields after the state, by their number in proc(5) minus 4.
enum { PPID = 0, UTIME = 10, STIME, CUTIME, CSTIME, START = 18, FIELDS };

bool sb_procstat_parse_stat(const char *text, struct sb_proc_stat *out)
{
    const char *after = strrchr(text, ')');
    uint64_t field[FIELDS];
    char *end;

    *out = (struct sb_proc_stat){ .pid = strtoll(text, &end, 10) };
    if (end == text || end[0] != ' ' || end[1] != '(' || !after ||
        after[1] != ' ' || !after[2] || after[3] != ' ')
        return false;
    out->state = after[2];
    if (numbers(after + 4, field, FIELDS) < FIELDS)
        return false;
    out->parent = (int64_t)field[PPID];
    out->own_ticks = field[UTIME] + field[STIME];
    out->child_ticks = field[CUTIME] + field[CSTIME];
    out->start_ticks = field[START];
    return true;
}

bool sb_procstat_parse_statm(
    const char *text, uint64_t *resident, uint64_t *shared)
{
    uint64_t field[3];

    if (numbers(text, field, 3) < 3)
        return false;
    *resident = field[1];
    *shared = field[2] < field[1] ? field[2] : field[1];
    return true;
}

// Finds the line "name: 123".
static bool line_of(const char *text, const char *name, uint64_t *out)
{
    size_t n = strlen(name);

    while (*text) {
        if (strncmp(text, name, n) == 0 && text[n] == ':')
            return numbers(text + n + 1, out, 1) == 1;
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return false;
}

bool sb_procstat_parse_io(const char *text, uint64_t *read, uint64_t *written)
{
    return line_of(text, "read_bytes", read) &&
           line_of(text, "write_bytes", written);
}

bool sb_procstat_parse_sched(const char *text, uint64_t *run, uint64_t *wait)
{
    uint64_t field[2];

    if (numbers(text, field, 2) < 2)
        return false;
    *run = field[0];
    *wait = field[1];
    return true;
}

static unsigned count_processors(const char *text)
{
    unsigned n = 0;

    while (*text) {
        n += strncmp(text, "cpu", 3) == 0 && text[3] >= '0' && text[3] <= '9';
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return n;
}

// Fields: user, nice, system, idle, iowait, irq, softirq, steal. The time of
// guests is also part of user and nice.
bool sb_procstat_parse_machine(const char *text, struct sb_proc_machine *out)
{
    uint64_t field[8] = { 0 };

    if (strncmp(text, "cpu ", 4) != 0 || numbers(text + 4, field, 8) < 4)
        return false;
    *out = (struct sb_proc_machine){
        .busy = field[0] + field[1] + field[2] + field[5] + field[6],
        .idle = field[3] + field[4],
        .stolen = field[7],
        .processors = count_processors(text),
    };
    return true;
}

// Reading --------------------------------------------------------------------

int sb__proc_read(const char *path, char *out, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t n = 0;

    if (fd < 0)
        return -errno;
    while (len < size - 1 && (n = read(fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    n = n < 0 ? -errno : 0; // a process may end while its file is read
    close(fd);
    out[len] = '\0';
    return (int)n;
}

uint64_t sb_procstat_tick_ns(void)
{
    long hz = sysconf(_SC_CLK_TCK);

    return SB_SECOND / (uint64_t)(hz > 0 ? hz : 100);
}

static int cannot_read(const char *path, int error, struct sb_err *err)
{
    return sb_err_set(err, SB_ESYS, "cannot read %s: %s", path,
        error ? strerror(error) : "unexpected contents");
}

// With thousands of processors the file has hundreds of kilobytes, most of them
// interrupts behind the lines of interest.
#define MACHINE_SIZE (512u * 1024)

int sb_procstat_machine(struct sb_proc_machine *out, struct sb_err *err)
{
    static const char path[] = "/proc/stat";
    char *text = malloc(MACHINE_SIZE);
    int rc;

    if (!text)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = sb__proc_read(path, text, MACHINE_SIZE);
    if (rc < 0 || !sb_procstat_parse_machine(text, out))
        rc = cannot_read(path, -rc, err);
    free(text);
    return rc;
}

static void add_thread(struct sb_proc_self *out, const char *id)
{
    char path[64], text[128];
    uint64_t run, wait;

    snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", id);
    if (id[0] == '.' || sb__proc_read(path, text, sizeof(text)) < 0 ||
        !sb_procstat_parse_sched(text, &run, &wait))
        return;
    out->run_ns += run;
    out->wait_ns += wait;
    out->threads++;
}

// Threads are listed in the order of their ids, so the oldest ones come first,
// and the same ones are read each time. The kernel lists as many threads as
// there is room for; readdir() has room for 1,000, which takes it 2 ms.
static int read_threads(struct sb_proc_self *out)
{
    _Alignas(struct dirent64) char list[SB_PROC_THREADS * 32];
    int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t len = 1;

    if (fd < 0)
        return -errno;
    while (len > 0 && out->threads < SB_PROC_THREADS) {
        len = getdents64(fd, (void *)list, sizeof(list));
        for (ssize_t at = 0; at < len && out->threads < SB_PROC_THREADS;) {
            const struct dirent64 *e = (const void *)(list + at);

            add_thread(out, e->d_name);
            at += e->d_reclen;
        }
    }
    close(fd);
    return 0;
}

int sb_procstat_self(struct sb_proc_self *out, struct sb_err *err)
{
    struct timespec t;
    int rc;

    *out = (struct sb_proc_self){ 0 };
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        return cannot_read("the processor time", errno, err);
    out->cpu_ns = (uint64_t)t.tv_sec * SB_SECOND + (uint64_t)t.tv_nsec;
    rc = read_threads(out);
    // A kernel without these statistics shows zeros.
    out->has_wait = rc == 0 && out->run_ns > 0;
    return 0;
}
