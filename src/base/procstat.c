// SPDX-License-Identifier: GPL-2.0-or-later
//
// Reads /proc: parses its files, and reads this process, the machine, and the
// tree of a server's processes; finds the process that listens at an address.

#define _GNU_SOURCE // getdents64()
#include "base/procstat.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kit/array.h"
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
    out->system_ticks = field[STIME] + field[CSTIME];
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

bool sb_procstat_parse_switches(const char *text, uint64_t *switches)
{
    uint64_t waited, preempted;

    if (!line_of(text, "voluntary_ctxt_switches", &waited) ||
        !line_of(text, "nonvoluntary_ctxt_switches", &preempted))
        return false;
    *switches = waited + preempted;
    return true;
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

// Reads a file of /proc; what does not fit is cut. out is terminated by a NUL.
// 0 or -errno.
static int proc_read(const char *path, char *out, size_t size)
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
    rc = proc_read(path, text, MACHINE_SIZE);
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
    if (id[0] == '.' || proc_read(path, text, sizeof(text)) < 0 ||
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

// A process with its children: a server that has a process for each connection
// uses little by itself.

struct list {
    struct sb_proc_stat *p;
    size_t n, cap;
};

static bool list_add(struct list *l, const struct sb_proc_stat *s)
{
    struct sb_proc_stat *more = sb_array_room(
        l->p, &l->cap, l->n, 1, sizeof(*more));

    if (!more)
        return false;
    l->p = more;
    l->p[l->n++] = *s;
    return true;
}

static int by_parent(const void *a, const void *b)
{
    const struct sb_proc_stat *x = a, *y = b;

    return x->parent < y->parent ? -1 : x->parent > y->parent;
}

static bool read_stat(const char *pid, struct sb_proc_stat *out)
{
    char path[48], text[1024];

    snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
    return proc_read(path, text, sizeof(text)) == 0 &&
           sb_procstat_parse_stat(text, out);
}

// Lists all processes, sorted by parent.
static int list_all(struct list *l, struct sb_err *err)
{
    DIR *dir = opendir("/proc");
    struct sb_proc_stat s;
    struct dirent *e;
    bool fine = true;

    if (!dir)
        return sb_err_set(
            err, SB_ESYS, "cannot read /proc: %s", strerror(errno));
    while (fine && (e = readdir(dir)) != NULL) {
        if (e->d_name[0] >= '0' && e->d_name[0] <= '9' &&
            read_stat(e->d_name, &s))
            fine = list_add(l, &s);
    }
    closedir(dir);
    if (!fine)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (l->n)
        qsort(l->p, l->n, sizeof(*l->p), by_parent);
    return 0;
}

// Returns the index of the first child of pid, or l->n.
static size_t first_child(const struct list *l, int64_t pid)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (l->p[mid].parent < pid)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// Calls visit() for the process and its children, level by level. first: what
// was read of the process before the others were listed.
static int each_process(const struct sb_proc_stat *first,
    void (*visit)(void *arg, const struct sb_proc_stat *s), void *arg,
    struct sb_err *err)
{
    struct list all = { 0 }, todo = { 0 };
    int rc = list_all(&all, err);
    bool fine = rc == 0 && list_add(&todo, first);

    for (size_t i = 0; fine && i < todo.n; i++) {
        int64_t pid = todo.p[i].pid;

        visit(arg, &todo.p[i]);
        for (size_t k = first_child(&all, pid);
             fine && k < all.n && all.p[k].parent == pid; k++) {
            // pid 0 is its own parent.
            if (all.p[k].pid != pid)
                fine = list_add(&todo, &all.p[k]);
        }
    }
    free(all.p);
    free(todo.p);
    return rc || fine ? rc : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// The process with a pid, if it runs.
static int find_process(
    int64_t pid, struct sb_proc_stat *out, struct sb_err *err)
{
    char text[24];

    snprintf(text, sizeof(text), "%lld", (long long)pid);
    if (!read_stat(text, out) || out->state == 'Z')
        return sb_err_set(err, SB_ENOTFOUND,
            "there is no process with the id %lld", (long long)pid);
    return 0;
}

struct sums {
    struct sb_proc_tree *out;
    uint64_t shared; // the most that one process shares, in pages
    uint64_t private;
    bool denied;       // the I/O of a process may not be read
    unsigned io_known; // processes whose I/O was read
};

static void add_process(void *arg, const struct sb_proc_stat *s)
{
    uint64_t resident, shared, in, written;
    struct sums *m = arg;
    char path[48], text[1024];
    int rc;

    m->out->processes++;
    m->out->cpu_ns += (s->own_ticks + s->child_ticks) * sb_procstat_tick_ns();
    m->out->system_ns += s->system_ticks * sb_procstat_tick_ns();
    snprintf(path, sizeof(path), "/proc/%lld/statm", (long long)s->pid);
    if (proc_read(path, text, sizeof(text)) == 0 &&
        sb_procstat_parse_statm(text, &resident, &shared)) {
        m->private += resident - shared;
        m->shared = shared > m->shared ? shared : m->shared;
    }
    // The kernel adds the I/O of a child that has ended to its parent, as it
    // does with processor time.
    snprintf(path, sizeof(path), "/proc/%lld/io", (long long)s->pid);
    rc = proc_read(path, text, sizeof(text));
    if (rc == 0 && sb_procstat_parse_io(text, &in, &written)) {
        m->out->read += in;
        m->out->written += written;
        m->io_known++;
    }
    // A process that has ended since it was listed has no file.
    m->denied = m->denied ||
                ((rc == -EACCES || rc == -EPERM) && s->state != 'Z');
}

int sb_procstat_tree(int64_t pid, struct sb_proc_tree *out, struct sb_err *err)
{
    struct sums m = { .out = out };
    struct sb_proc_stat first;
    int rc = find_process(pid, &first, err);

    *out = (struct sb_proc_tree){ 0 };
    if (rc == 0) {
        out->start_ticks = first.start_ticks;
        rc = each_process(&first, add_process, &m, err);
    }
    out->has_io = !m.denied && m.io_known > 0;
    out->rss = (m.private + m.shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    return rc;
}

struct switches {
    void (*visit)(void *arg, int64_t thread, uint64_t switches);
    void *arg;
};

static void visit_threads(void *arg, const struct sb_proc_stat *s)
{
    const struct switches *w = arg;
    char path[80], text[4096];
    struct dirent *e;
    uint64_t n;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%lld/task", (long long)s->pid);
    dir = opendir(path);
    while (dir && (e = readdir(dir)) != NULL) {
        if (!isdigit((unsigned char)e->d_name[0]))
            continue;
        snprintf(path, sizeof(path), "/proc/%lld/task/%.20s/status",
            (long long)s->pid, e->d_name);
        if (proc_read(path, text, sizeof(text)) == 0 &&
            sb_procstat_parse_switches(text, &n))
            w->visit(w->arg, strtoll(e->d_name, NULL, 10), n);
    }
    if (dir)
        closedir(dir);
}

int sb_procstat_switches(int64_t pid,
    void (*visit)(void *arg, int64_t thread, uint64_t switches), void *arg,
    struct sb_err *err)
{
    struct switches w = { visit, arg };
    struct sb_proc_stat first;
    int rc = find_process(pid, &first, err);

    return rc ? rc : each_process(&first, visit_threads, &w, err);
}

#define GENERATIONS_MAX 1000

bool sb_procstat_descends(int64_t process, int64_t pid)
{
    struct sb_proc_stat s = { .parent = process };

    // Parents may end meanwhile, so that the walk has no certain end.
    for (int i = 0; i < GENERATIONS_MAX && s.parent > 0; i++) {
        if (s.parent == pid)
            return true;
        if (find_process(s.parent, &s, NULL))
            return false;
    }
    return false;
}

// Finds the process that listens at an address: the socket's inode is in
// /proc/net, and the process has an open file that names the inode.

#define TCP_LISTEN_STATE 10u
#define UNIX_LISTENS     0x10000u // flag of a socket that accepts connections

// Addresses ------------------------------------------------------------------

struct place {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } a;
    unsigned port;
};

// "10.0.0.1:5432", "[::1]:5432", "localhost:27017"
static bool parse_place(const char *address, struct place *out)
{
    const char *colon = strrchr(address, ':');
    char host[256];
    size_t n;

    memset(out, 0, sizeof(*out));
    if (!colon || colon == address)
        return false;
    n = (size_t)(colon - address);
    if (address[0] == '[' && colon[-1] == ']')
        snprintf(host, sizeof(host), "%.*s", (int)n - 2, address + 1);
    else
        snprintf(host, sizeof(host), "%.*s", (int)n, address);
    out->port = (unsigned)strtoul(colon + 1, NULL, 10);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof(host), "127.0.0.1");
    if (inet_pton(AF_INET, host, &out->a.v4.sin_addr) == 1)
        out->a.any.sa_family = AF_INET;
    else if (inet_pton(AF_INET6, host, &out->a.v6.sin6_addr) == 1)
        out->a.any.sa_family = AF_INET6;
    return out->port > 0 && out->a.any.sa_family;
}

static bool same_host(const struct place *p, const struct sockaddr *a)
{
    if (!a || a->sa_family != p->a.any.sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return memcmp(&((const struct sockaddr_in *)(const void *)a)->sin_addr,
                   &p->a.v4.sin_addr, sizeof(p->a.v4.sin_addr)) == 0;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
               &p->a.v6.sin6_addr, sizeof(p->a.v6.sin6_addr)) == 0;
}

// A process of this machine may listen on the port of a server that is on
// another machine.
static bool is_local(const struct place *p)
{
    struct ifaddrs *all = NULL;
    bool found = false;

    if (p->a.any.sa_family == AF_INET &&
        (ntohl(p->a.v4.sin_addr.s_addr) >> 24) == 127)
        return true;
    if (getifaddrs(&all))
        return false;
    for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next)
        found = same_host(p, i->ifa_addr);
    freeifaddrs(all);
    return found;
}

// Sockets --------------------------------------------------------------------

// "  sl  local_address rem_address   st ...  uid timeout inode":
// the local address ends with ":PORT" in hexadecimal.
static uint64_t tcp_inode(const char *line, unsigned port)
{
    unsigned at, state;
    char local[40];
    uint64_t inode;

    if (sscanf(line,
            " %*u: %39[0-9A-F]:%x %*[0-9A-F]:%*x %x %*s %*s %*s %*u %*u "
            "%" SCNu64,
            local, &at, &state, &inode) != 4)
        return 0;
    return at == port && state == TCP_LISTEN_STATE ? inode : 0;
}

// "Num RefCount Protocol Flags Type St Inode Path"
static uint64_t unix_inode(const char *line, const char *path)
{
    unsigned flags;
    uint64_t inode;
    int at = 0;

    if (sscanf(line, "%*[^:]: %*x %*x %x %*x %*x %" SCNu64 " %n", &flags,
            &inode, &at) != 2 ||
        !at)
        return 0;
    if (!(flags & UNIX_LISTENS) ||
        strncmp(line + at, path, strlen(path)) != 0 ||
        line[at + (int)strlen(path)] != '\n')
        return 0;
    return inode;
}

static uint64_t search(const char *file, unsigned port, const char *path)
{
    FILE *f = fopen(file, "re");
    char line[512];
    uint64_t inode = 0;

    while (f && !inode && fgets(line, sizeof(line), f))
        inode = path ? unix_inode(line, path) : tcp_inode(line, port);
    if (f)
        fclose(f);
    return inode;
}

static uint64_t inode_of(const char *address)
{
    struct place p;
    uint64_t inode;

    if (address[0] == '/')
        return search("/proc/net/unix", 0, address);
    if (!parse_place(address, &p) || !is_local(&p))
        return 0;
    inode = search("/proc/net/tcp", p.port, NULL);
    return inode ? inode : search("/proc/net/tcp6", p.port, NULL);
}

// Processes ------------------------------------------------------------------

static bool has_socket(const char *pid, const char *name)
{
    char path[64], link[64], target[64];
    DIR *dir;
    struct dirent *e;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
    dir = opendir(path);
    while (dir && !found && (e = readdir(dir)) != NULL) {
        ssize_t n;

        snprintf(link, sizeof(link), "/proc/%.20s/fd/%.20s", pid, e->d_name);
        n = readlink(link, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = '\0';
        found = strcmp(target, name) == 0;
    }
    if (dir)
        closedir(dir);
    return found;
}

// Children may have inherited the socket: the oldest process is the server.
static int64_t process_with(uint64_t inode)
{
    DIR *dir = opendir("/proc");
    struct dirent *e;
    char name[48];
    uint64_t start = UINT64_MAX;
    int64_t pid = 0;

    snprintf(name, sizeof(name), "socket:[%" PRIu64 "]", inode);
    while (dir && (e = readdir(dir)) != NULL) {
        char path[48], text[1024];
        struct sb_proc_stat s;

        if (!isdigit((unsigned char)e->d_name[0]) ||
            !has_socket(e->d_name, name))
            continue;
        snprintf(path, sizeof(path), "/proc/%.20s/stat", e->d_name);
        if (proc_read(path, text, sizeof(text)) == 0 &&
            sb_procstat_parse_stat(text, &s) && s.start_ticks < start) {
            start = s.start_ticks;
            pid = s.pid;
        }
    }
    if (dir)
        closedir(dir);
    return pid;
}

int64_t sb_procstat_listener(const char *address)
{
    uint64_t inode = inode_of(address);

    return inode ? process_with(inode) : 0;
}
