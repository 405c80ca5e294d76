// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // memfd_create()
#include "ranks/job_files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/log.h"

// The largest file that is sent.
#define FILE_MAX (UINT64_C(1) << 30)

enum state { WANTED, ASKED, MISSING, HERE };

struct file {
    struct file *next;
    enum state state;
    int fd; // of the copy, HERE
    char path[];
};

struct sb_job_files {
    struct sb_job *job;
    pthread_t main; // the only thread that uses the job
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct file *first;
};

// Rank 0 ----------------------------------------------------------------------

static bool read_file(const char *path, struct sb_buf *b)
{
    char part[65536];
    struct stat st;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
              (uint64_t)st.st_size <= FILE_MAX;
    while (ok && (n = read(fd, part, sizeof(part))) > 0)
        ok = sb_buf_add(b, part, (size_t)n) == 0;
    close(fd);
    return ok && n == 0;
}

static void on_get(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job_files *f = arg;
    struct sb_buf body, content;
    size_t len;
    const char *name = sb_wire_get_bytes(w, &len);
    char *path = strndup(name, len);

    sb_buf_init(&body, 0);
    sb_buf_init(&content, FILE_MAX);
    bool found = path && !w->bad && read_file(path, &content);
    sb_wire_put_bytes(&body, name, len);
    sb_wire_put(&body, found);
    sb_wire_put_bytes(&body, content.data, content.len);
    sb_job_send(f->job, from, SB_JOB_FILE, &body);
    sb_buf_done(&content);
    sb_buf_done(&body);
    free(path);
}

// Other ranks -----------------------------------------------------------------

static struct file *find_file(const struct sb_job_files *f, const char *path)
{
    struct file *p = f->first;

    while (p && strcmp(p->path, path) != 0)
        p = p->next;
    return p;
}

// Returns the file, which is asked for if it is new; NULL if out of memory.
static struct file *want_file(struct sb_job_files *f, const char *path)
{
    struct file *p = find_file(f, path);
    size_t len = strlen(path) + 1;

    if (p)
        return p;
    p = calloc(1, sizeof(*p) + len);
    if (!p)
        return NULL;
    memcpy(p->path, path, len);
    p->fd = -1;
    p->next = f->first;
    f->first = p;
    return p;
}

// Sends the requests of other threads.
static void ask(void *arg)
{
    struct sb_job_files *f = arg;

    pthread_mutex_lock(&f->lock);
    for (struct file *p = f->first; p; p = p->next) {
        struct sb_buf b;

        if (p->state != WANTED)
            continue;
        sb_buf_init(&b, 0);
        sb_wire_put_text(&b, p->path);
        sb_job_send(f->job, 0, SB_JOB_GET_FILE, &b);
        sb_buf_done(&b);
        p->state = ASKED;
    }
    // Without rank 0 there are no files.
    for (struct file *p = f->first; p; p = p->next)
        if (p->state == ASKED && (f->job->quit || f->job->broken.code))
            p->state = MISSING;
    pthread_cond_broadcast(&f->arrived);
    pthread_mutex_unlock(&f->lock);
}

// A file without a name, in memory.
static int copy_of(const char *data, size_t len)
{
    int fd = memfd_create("sysbench-file", MFD_CLOEXEC);

    while (fd >= 0 && len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(fd);
            return -1;
        }
        data += n;
        len -= (size_t)n;
    }
    return fd;
}

static void on_file(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job_files *f = arg;
    size_t path_len, len;
    const char *path = sb_wire_get_bytes(w, &path_len);
    bool found = sb_wire_get(w) != 0;
    const char *data = sb_wire_get_bytes(w, &len);

    (void)from;
    pthread_mutex_lock(&f->lock);
    for (struct file *p = f->first; p && !w->bad; p = p->next) {
        if (p->state != ASKED || strlen(p->path) != path_len ||
            memcmp(p->path, path, path_len) != 0)
            continue;
        p->fd = found ? copy_of(data, len) : -1;
        p->state = p->fd >= 0 ? HERE : MISSING;
        if (found && p->fd < 0)
            sb_log(SB_LOG_WARNING, "no copy of '%s' of rank 0: %s", p->path,
                strerror(errno));
    }
    pthread_cond_broadcast(&f->arrived);
    pthread_mutex_unlock(&f->lock);
}

struct request {
    struct sb_job_files *files;
    const struct file *file;
};

static bool is_answered(void *arg)
{
    const struct request *r = arg;

    pthread_mutex_lock(&r->files->lock);
    bool answered = r->file->state == HERE || r->file->state == MISSING;
    pthread_mutex_unlock(&r->files->lock);
    return answered;
}

static bool fetch(void *arg, const char *path, char copy[SB_FILE_PATH])
{
    struct sb_job_files *f = arg;

    pthread_mutex_lock(&f->lock);
    struct file *p = want_file(f, path);
    if (p && !pthread_equal(pthread_self(), f->main)) {
        while (p->state == WANTED || p->state == ASKED)
            pthread_cond_wait(&f->arrived, &f->lock);
    }
    pthread_mutex_unlock(&f->lock);
    if (!p)
        return false;
    struct request r = { f, p };

    if (pthread_equal(pthread_self(), f->main))
        sb_job_wait(f->job, is_answered, &r, UINT64_MAX);
    assert((p->state == HERE) == (p->fd >= 0));
    // Each open of this path has a position of its own.
    snprintf(copy, SB_FILE_PATH, "/proc/self/fd/%d", p->fd);
    return p->state == HERE;
}

struct sb_job_files *sb_job_files_new(struct sb_job *j)
{
    struct sb_job_files *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->job = j;
    f->main = pthread_self();
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->arrived, NULL);
    if (j->rank == 0) {
        sb_job_on(j, SB_JOB_GET_FILE, on_get, f);
        return f;
    }
    sb_job_on(j, SB_JOB_FILE, on_file, f);
    sb_job_each_poll(j, ask, f);
    sb_files_from(fetch, f);
    return f;
}

void sb_job_files_free(struct sb_job_files *f)
{
    if (!f)
        return;
    if (f->job->rank > 0)
        sb_files_from(NULL, NULL);
    sb_job_on(f->job, SB_JOB_GET_FILE, NULL, NULL);
    sb_job_on(f->job, SB_JOB_FILE, NULL, NULL);
    sb_job_each_poll(f->job, NULL, NULL);
    while (f->first) {
        struct file *p = f->first;

        f->first = p->next;
        if (p->fd >= 0)
            close(p->fd);
        free(p);
    }
    pthread_cond_destroy(&f->arrived);
    pthread_mutex_destroy(&f->lock);
    free(f);
}
