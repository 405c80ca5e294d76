// SPDX-License-Identifier: GPL-2.0-or-later
//
// A process with its children: a server that has a process for each connection
// uses little by itself.
#include <dirent.h>
#include <errno.h>
#include <unistd.h>

#include "base/procstat.h"
#include "base/procstat_private.h"
#include "kit/array.h"

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
    return sb__proc_read(path, text, sizeof(text)) == 0 &&
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

struct sums {
    struct sb_proc_tree *out;
    uint64_t shared; // the most that one process shares, in pages
    uint64_t private;
    bool denied;       // the I/O of a process may not be read
    unsigned io_known; // processes whose I/O was read
};

static void add_process(struct sums *m, const struct sb_proc_stat *s)
{
    uint64_t resident, shared, in, written;
    char path[48], text[1024];
    int rc;

    m->out->processes++;
    m->out->cpu_ns += (s->own_ticks + s->child_ticks) * sb_procstat_tick_ns();
    snprintf(path, sizeof(path), "/proc/%lld/statm", (long long)s->pid);
    if (sb__proc_read(path, text, sizeof(text)) == 0 &&
        sb_procstat_parse_statm(text, &resident, &shared)) {
        m->private += resident - shared;
        m->shared = shared > m->shared ? shared : m->shared;
    }
    // The kernel adds the I/O of a child that has ended to its parent, as it
    // does with processor time.
    snprintf(path, sizeof(path), "/proc/%lld/io", (long long)s->pid);
    rc = sb__proc_read(path, text, sizeof(text));
    if (rc == 0 && sb_procstat_parse_io(text, &in, &written)) {
        m->out->read += in;
        m->out->written += written;
        m->io_known++;
    }
    // A process that has ended since it was listed has no file.
    m->denied = m->denied ||
                ((rc == -EACCES || rc == -EPERM) && s->state != 'Z');
}

// Adds the children of all processes in `todo`, level by level.
static int add_children(
    struct sums *m, const struct list *all, struct list *todo)
{
    for (size_t i = 0; i < todo->n; i++) {
        int64_t pid = todo->p[i].pid;

        add_process(m, &todo->p[i]);
        for (size_t k = first_child(all, pid);
             k < all->n && all->p[k].parent == pid; k++) {
            // pid 0 is its own parent.
            if (all->p[k].pid != pid && !list_add(todo, &all->p[k]))
                return SB_ENOMEM;
        }
    }
    return 0;
}

static int gone(int64_t pid, struct sb_err *err)
{
    return sb_err_set(err, SB_ENOTFOUND, "there is no process with the id %lld",
        (long long)pid);
}

int sb_procstat_tree(int64_t pid, struct sb_proc_tree *out, struct sb_err *err)
{
    struct list all = { 0 }, todo = { 0 };
    struct sums m = { .out = out };
    struct sb_proc_stat first;
    char text[24];
    int rc;

    *out = (struct sb_proc_tree){ 0 };
    snprintf(text, sizeof(text), "%lld", (long long)pid);
    if (!read_stat(text, &first) || first.state == 'Z')
        return gone(pid, err);
    out->start_ticks = first.start_ticks;
    rc = list_all(&all, err);
    if (rc == 0 && (!list_add(&todo, &first) || add_children(&m, &all, &todo)))
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    out->has_io = !m.denied && m.io_known > 0;
    out->rss = (m.private + m.shared) * (uint64_t)sysconf(_SC_PAGESIZE);
    free(all.p);
    free(todo.p);
    return rc;
}
