// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE // memfd_create()
#include "ranks/job.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"

// Sleep while waiting: not a loop that keeps a processor busy. Long waits have
// long naps.
#define NAP_MIN UINT64_C(50000)
#define NAP_MAX UINT64_C(5000000)
// Messages handled in a row before the caller looks at the time.
#define BURST 1000

static void on_hello(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job *j = arg;

    if (!j->of)
        return;
    sb_wire_get_text(w, j->of[from].host, sizeof(j->of[from].host));
    j->of[from].hello = true;
}

static void on_failed(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job *j = arg;

    if (!j->of || j->of[from].failed)
        return;
    sb_wire_get_text(w, j->of[from].why, sizeof(j->of[from].why));
    j->of[from].failed = true;
}

static void on_quit(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job *j = arg;

    (void)from, (void)w;
    j->quit = true;
}

// A rank receives all messages to it before it leaves: MPI does not end while
// one is on its way.
static void on_bye(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job *j = arg;

    (void)w;
    if (!j->of)
        return;
    sb_job_send(j, from, SB_JOB_END, NULL);
    j->of[from].left = true;
}

static void on_end(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_job *j = arg;

    (void)from, (void)w;
    j->end = true;
}

static void say_hello(struct sb_job *j, const char *host)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put_text(&b, host);
    sb_job_send(j, 0, SB_JOB_HELLO, &b);
    sb_buf_done(&b);
}

struct sb_job *sb_job_new(const struct sb_transport *t, const char *host)
{
    struct sb_job *j = calloc(1, sizeof(*j));

    if (!j)
        return NULL;
    j->t = *t;
    j->rank = t->rank;
    j->ranks = t->ranks;
    assert(j->rank < j->ranks);
    if (j->rank == 0) {
        j->of = calloc(j->ranks, sizeof(*j->of));
        if (!j->of) {
            free(j);
            return NULL;
        }
        j->of[0].hello = true;
        snprintf(j->of[0].host, sizeof(j->of[0].host), "%s", host);
    } else {
        say_hello(j, host);
    }
    sb_job_on(j, SB_JOB_HELLO, on_hello, j);
    sb_job_on(j, SB_JOB_FAILED, on_failed, j);
    sb_job_on(j, SB_JOB_QUIT, on_quit, j);
    sb_job_on(j, SB_JOB_BYE, on_bye, j);
    sb_job_on(j, SB_JOB_END, on_end, j);
    return j;
}

void sb_job_free(struct sb_job *j)
{
    if (!j)
        return;
    free(j->early[0].data);
    free(j->early[1].data);
    free(j->of);
    free(j);
}

// Returns where a message that has come too early is kept; NULL: the message is
// dropped.
static struct sb_transport_message *early(struct sb_job *j, uint64_t what)
{
    return what == SB_JOB_GO     ? &j->early[0]
           : what == SB_JOB_STOP ? &j->early[1]
                                 : NULL;
}

void sb_job_on(
    struct sb_job *j, enum sb_job_what what, sb_job_handler *call, void *arg)
{
    assert(what < SB_JOB_WHATS);
    j->handler[what].call = call;
    j->handler[what].arg = arg;
}

void sb_job_send(struct sb_job *j, unsigned to, enum sb_job_what what,
    const struct sb_buf *body)
{
    const char kind = (char)what;
    struct sb_buf b;

    assert(to < j->ranks);
    if (j->broken.code)
        return;
    sb_buf_init(&b, 0);
    sb_buf_add(&b, &kind, 1);
    if (body && body->len)
        sb_buf_add(&b, body->data, body->len);
    if (b.failed || (body && body->failed))
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for a message");
    else
        j->t.ops->send(&j->t, to, b.data, b.len, &j->broken);
    sb_buf_done(&b);
}

void sb_job_tell_all(
    struct sb_job *j, enum sb_job_what what, const struct sb_buf *body)
{
    assert(j->of); // only rank 0 knows the others
    for (unsigned i = 1; i < j->ranks; i++)
        if (!j->of[i].left && j->of[i].heard >= j->wary_since)
            sb_job_send(j, i, what, body);
}

// Takes over the data of the message.
static void handle_message(
    struct sb_job *j, const struct sb_transport_message *m)
{
    struct sb_wire w = sb_wire_of(m->data, m->len);
    uint64_t what = sb_wire_get(&w);
    bool known = what < SB_JOB_WHATS && m->from < j->ranks;
    struct sb_transport_message *keep = known ? early(j, what) : NULL;

    if (j->of && m->from < j->ranks)
        j->of[m->from].heard = sb_clock_monotonic();
    if (known && j->handler[what].call) {
        j->handler[what].call(j->handler[what].arg, m->from, &w);
    } else if (keep && !keep->data) {
        *keep = *m;
        return;
    }
    free(m->data);
}

// Handles the messages for which there is a handler now.
static void handle_early(struct sb_job *j)
{
    for (size_t i = 0; i < sizeof(j->early) / sizeof(j->early[0]); i++) {
        const struct sb_transport_message m = j->early[i];

        if (!m.data || !j->handler[(unsigned char)m.data[0]].call)
            continue;
        j->early[i].data = NULL;
        handle_message(j, &m);
    }
}

void sb_job_each_poll(struct sb_job *j, void (*call)(void *arg), void *arg)
{
    j->each_poll = call;
    j->each_poll_arg = arg;
}

void sb_job_poll(struct sb_job *j)
{
    struct sb_transport_message m;

    handle_early(j);
    for (int i = 0; i < BURST && !j->broken.code &&
                    j->t.ops->receive(&j->t, &m, &j->broken) == 1;
         i++)
        handle_message(j, &m);
    if (j->each_poll)
        j->each_poll(j->each_poll_arg);
}

bool sb_job_wait(
    struct sb_job *j, bool (*done)(void *arg), void *arg, uint64_t until)
{
    uint64_t since = sb_clock_monotonic();

    for (;;) {
        sb_job_poll(j);
        uint64_t now = sb_clock_monotonic(), nap = (now - since) / 20;

        if (done(arg))
            return true;
        if (j->quit || j->broken.code || now >= until)
            return false;
        nap = nap < NAP_MIN ? NAP_MIN : nap > NAP_MAX ? NAP_MAX : nap;
        nanosleep(&(const struct timespec){ .tv_nsec = (long)nap }, NULL);
    }
}

void sb_job_fail(struct sb_job *j, const char *why)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_buf_addf(&b, "%.*s", 390, why);
    struct sb_buf text = b;

    sb_buf_init(&b, 0);
    sb_wire_put_text(&b, text.data);
    sb_job_send(j, 0, SB_JOB_FAILED, &b);
    sb_buf_done(&text);
    sb_buf_done(&b);
}

const struct sb_job_rank *sb_job_failed(
    const struct sb_job *j, unsigned *number)
{
    assert(j->of);
    for (unsigned i = 1; i < j->ranks; i++)
        if (j->of[i].failed) {
            *number = i;
            return &j->of[i];
        }
    return NULL;
}

// Leaving ---------------------------------------------------------------------

static bool all_left(void *arg)
{
    const struct sb_job *j = arg;

    for (unsigned i = 1; i < j->ranks; i++)
        if (!j->of[i].left)
            return false;
    return true;
}

static bool all_sent(void *arg)
{
    struct sb_job *j = arg;

    return !j->t.ops->sending(&j->t);
}

static bool has_quit(void *arg)
{
    const struct sb_job *j = arg;

    return j->quit;
}

static bool has_end(void *arg)
{
    const struct sb_job *j = arg;

    return j->end;
}

// A rank that has lost rank 0 waits only until the limit.
static bool follow_out(struct sb_job *j, uint64_t limit_ns)
{
    sb_job_wait(
        j, has_quit, j, j->lost ? sb_clock_monotonic() + limit_ns : UINT64_MAX);
    if (!j->quit)
        return false;
    sb_job_send(j, 0, SB_JOB_BYE, NULL);
    j->quit = false; // it would end the wait
    return sb_job_wait(j, has_end, j, sb_clock_monotonic() + limit_ns);
}

static void name_those_left(const struct sb_job *j)
{
    for (unsigned i = 1; i < j->ranks; i++)
        if (!j->of[i].left)
            sb_log(SB_LOG_WARNING,
                "rank %u (%s) does not answer: it will be ended", i,
                j->of[i].host[0] ? j->of[i].host : "unknown host");
}

bool sb_job_leave(struct sb_job *j, uint64_t limit_ns)
{
    uint64_t until = sb_clock_monotonic() + limit_ns;
    bool together;

    if (j->rank == 0) {
        sb_job_tell_all(j, SB_JOB_QUIT, NULL);
        together = sb_job_wait(j, all_left, j, until);
        if (!together)
            name_those_left(j);
    } else {
        together = follow_out(j, limit_ns);
        until = sb_clock_monotonic() + limit_ns;
    }
    if (together)
        together = sb_job_wait(j, all_sent, j, until);
    if (together)
        j->t.ops->close(&j->t);
    return together;
}

// The files of a test ---------------------------------------------------------

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

// Rank 0 sends them.

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

// The other ranks ask for them.

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
