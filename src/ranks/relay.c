// SPDX-License-Identifier: GPL-2.0-or-later
#include "ranks/relay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define CHUNK 65536

// One end of the connection between a process and its parent: frames, each with
// the rank that a message comes from or goes to.
struct end {
    int fd;
    struct sb_buf in, out;
    size_t taken, sent; // of them
};

struct frame {
    uint64_t len;
    uint64_t peer;
};

struct sb_relay {
    struct sb_job *job;
    uint64_t run; // number of the run, from 1
    bool begun;   // another rank: this run waits for its process
    int child;    // the end of the process, before the fork
    struct end end;
    uint64_t over;   // see sb_relay_over()
    unsigned *ended; // rank 0: the number of the last run that ended there
};

// A connection ----------------------------------------------------------------

static void end_done(struct end *e)
{
    if (e->fd >= 0)
        close(e->fd);
    e->fd = -1;
    sb_buf_done(&e->in);
    sb_buf_done(&e->out);
    e->taken = e->sent = 0;
}

static void end_init(struct end *e, int fd)
{
    e->fd = fd;
    sb_buf_init(&e->in, 0);
    sb_buf_init(&e->out, 0);
    e->taken = e->sent = 0;
}

static int put_frame(struct end *e, unsigned peer, const void *data, size_t len)
{
    const struct frame f = { len, peer };

    sb_buf_add(&e->out, &f, sizeof(f));
    sb_buf_add(&e->out, data, len);
    return e->out.failed ? SB_ENOMEM : 0;
}

// Returns the number of bytes that were sent, or -1 if the other side is gone.
static ssize_t flush(struct end *e)
{
    size_t before = e->sent;

    assert(before <= e->out.len);
    while (e->fd >= 0 && e->sent < e->out.len) {
        ssize_t n = send(e->fd, e->out.data + e->sent, e->out.len - e->sent,
            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            return -1;
        if (n < 0)
            break;
        e->sent += (size_t)n;
    }
    ssize_t moved = (ssize_t)(e->sent - before);
    if (e->sent == e->out.len) {
        sb_buf_clear(&e->out);
        e->sent = 0;
    }
    return moved;
}

// Reads what has arrived. Returns false if the other side is gone.
static bool read_frames(struct end *e)
{
    char chunk[CHUNK];
    ssize_t n;

    assert(e->taken <= e->in.len);
    if (e->taken == e->in.len) {
        sb_buf_clear(&e->in);
        e->taken = 0;
    }
    while ((n = recv(e->fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
        if (sb_buf_add(&e->in, chunk, (size_t)n))
            return false;
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

// The next frame that is complete: its data lie in e->in until the next
// read_frames().
static bool next_frame(
    struct end *e, unsigned *peer, const char **data, size_t *len)
{
    struct frame f;
    size_t left = e->in.len - e->taken;

    if (left < sizeof(f))
        return false;
    memcpy(&f, e->in.data + e->taken, sizeof(f));
    if (left - sizeof(f) < f.len)
        return false;
    *peer = (unsigned)f.peer;
    *data = e->in.data + e->taken + sizeof(f);
    *len = (size_t)f.len;
    e->taken += sizeof(f) + *len;
    return true;
}

// The transport of the new process ------------------------------------------

static int parent_gone(struct sb_err *err)
{
    return sb_err_set(err, SB_ELOST, "the process of this rank has ended");
}

static int child_send(struct sb_transport *t, unsigned to, const void *data,
    size_t len, struct sb_err *err)
{
    struct end *e = t->priv;

    if (put_frame(e, to, data, len))
        return sb_err_set(err, SB_ENOMEM, "out of memory for a message");
    return flush(e) < 0 ? parent_gone(err) : 0;
}

static int child_receive(
    struct sb_transport *t, struct sb_transport_message *m, struct sb_err *err)
{
    struct end *e = t->priv;
    const char *data;
    bool there = read_frames(e);

    if (flush(e) < 0)
        there = false;
    if (!next_frame(e, &m->from, &data, &m->len))
        return there ? 0 : parent_gone(err);
    m->data = malloc(m->len + 1);
    if (!m->data)
        return sb_err_set(err, SB_ENOMEM, "out of memory for a message");
    memcpy(m->data, data, m->len);
    return 1;
}

static bool child_sending(struct sb_transport *t)
{
    const struct end *e = t->priv;

    return e->out.len > 0;
}

static void child_close(struct sb_transport *t)
{
    end_done(t->priv);
}

// Its parent tells the others that it has ended.
static void child_abandon(struct sb_transport *t, int status)
{
    (void)t, (void)status;
}

static const struct sb_transport_ops child_ops = {
    .abi = SB_TRANSPORT_ABI,
    .send = child_send,
    .receive = child_receive,
    .sending = child_sending,
    .close = child_close,
    .abandon = child_abandon,
};

void sb_relay_child(struct sb_relay *r, struct sb_transport *t)
{
    assert(r->child >= 0);
    end_done(&r->end);
    end_init(&r->end, r->child);
    *t = r->job->t;
    t->ops = &child_ops;
    t->priv = &r->end;
}

// Messages between parents --------------------------------------------------

static void on_run(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_relay *r = arg;

    (void)from;
    if (r->job->of)
        return;
    r->run = sb_wire_get(w);
    r->begun = true;
    r->over = 0;
    end_done(&r->end);
    end_init(&r->end, -1);
}

// Those of an earlier run are dropped.
static void on_relay(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_relay *r = arg;
    uint64_t run = sb_wire_get(w);
    size_t len;
    const char *data = sb_wire_get_bytes(w, &len);

    if (!w->bad && run == r->run && put_frame(&r->end, from, data, len))
        sb_err_set(&r->job->broken, SB_ENOMEM, "out of memory for a message");
}

static void on_run_end(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb_relay *r = arg;
    uint64_t run = sb_wire_get(w);

    if (r->ended)
        r->ended[from] = (unsigned)run;
    else if (run == r->run)
        r->over = sb_clock_monotonic();
}

struct sb_relay *sb_relay_new(struct sb_job *job)
{
    struct sb_relay *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->job = job;
    r->child = -1;
    end_init(&r->end, -1);
    if (job->rank == 0) {
        r->ended = calloc(job->ranks, sizeof(*r->ended));
        if (!r->ended) {
            free(r);
            return NULL;
        }
    }
    sb_job_on(job, SB_JOB_RUN, on_run, r);
    sb_job_on(job, SB_JOB_RELAY, on_relay, r);
    sb_job_on(job, SB_JOB_RUN_END, on_run_end, r);
    return r;
}

void sb_relay_free(struct sb_relay *r)
{
    if (!r)
        return;
    sb_job_on(r->job, SB_JOB_RUN, NULL, NULL);
    sb_job_on(r->job, SB_JOB_RELAY, NULL, NULL);
    sb_job_on(r->job, SB_JOB_RUN_END, NULL, NULL);
    end_done(&r->end);
    if (r->child >= 0)
        close(r->child);
    free(r->ended);
    free(r);
}

static void send_run(struct sb_relay *r, enum sb_job_what what)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, r->run);
    if (r->job->of)
        sb_job_tell_all(r->job, what, &b);
    else
        sb_job_send(r->job, 0, what, &b);
    sb_buf_done(&b);
}

int sb_relay_accept(struct sb_relay *r, struct sb_err *err)
{
    int fd[2];

    assert(r->end.fd < 0 && r->child < 0); // those of the last run are closed
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
        return sb_err_set(
            err, SB_ESYS, "cannot create a socket: %s", strerror(errno));
    r->end.fd = fd[0];
    r->child = fd[1];
    r->begun = false;
    return 0;
}

int sb_relay_begin(struct sb_relay *r, struct sb_err *err)
{
    r->run++;
    end_done(&r->end);
    end_init(&r->end, -1);
    int rc = sb_relay_accept(r, err);

    if (rc)
        return rc;
    send_run(r, SB_JOB_RUN);
    *err = r->job->broken;
    return err->code;
}

bool sb_relay_begun(const struct sb_relay *r)
{
    return r->begun;
}

uint64_t sb_relay_over(const struct sb_relay *r)
{
    return r->over;
}

bool sb_relay_failed(const struct sb_relay *r)
{
    unsigned rank;

    return r->job->of && sb_job_failed(r->job, &rank);
}

// Passes a message of the process on to another rank.
static void pass_on(
    struct sb_relay *r, unsigned to, const char *data, size_t len)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, r->run);
    sb_wire_put_bytes(&b, data, len);
    sb_job_send(r->job, to, SB_JOB_RELAY, &b);
    sb_buf_done(&b);
}

bool sb_relay_step(struct sb_relay *r)
{
    const char *data;
    unsigned to;
    size_t len;
    bool moved = false;

    // The parent has its copy of the end of the process no more.
    if (r->child >= 0) {
        close(r->child);
        r->child = -1;
    }
    sb_job_poll(r->job);
    // Without rank 0, the run is over.
    if (r->job->rank > 0 && !r->over && (r->job->quit || r->job->broken.code))
        r->over = sb_clock_monotonic();
    moved = flush(&r->end) > 0;
    if (r->end.fd < 0)
        return moved;
    read_frames(&r->end);
    while (next_frame(&r->end, &to, &data, &len)) {
        moved = true;
        if (to < r->job->ranks)
            pass_on(r, to, data, len);
    }
    return moved;
}

static bool all_ended(void *arg)
{
    const struct sb_relay *r = arg;

    assert(r->ended && r->job->of);
    for (unsigned i = 1; i < r->job->ranks; i++)
        if (r->ended[i] != r->run && !r->job->of[i].left &&
            !r->job->of[i].failed)
            return false;
    return true;
}

static int wait_for_all(
    struct sb_relay *r, uint64_t limit_ns, struct sb_err *err)
{
    uint64_t until = sb_clock_monotonic() + limit_ns;

    unsigned rank = 0;
    bool all = sb_job_wait(r->job, all_ended, r, until);
    const struct sb_job_rank *failed = sb_job_failed(r->job, &rank);

    if (failed)
        return sb_err_set(err, SB_ESYS, "rank %u (%.60s): %s", rank,
            failed->host, failed->why);
    if (all)
        return 0;
    if (r->job->broken.code) {
        *err = r->job->broken;
        return err->code;
    }
    for (unsigned i = 1; i < r->job->ranks; i++)
        if (r->ended[i] != r->run)
            return sb_err_set(err, SB_ELOST,
                "rank %u (%.60s) was lost: it does not answer after a run", i,
                r->job->of[i].host);
    return 0;
}

// The process of rank 0 must not wait for one that was killed.
static void tell_failure(struct sb_relay *r, int status)
{
    struct sb_buf b, why;
    const char kind = SB_JOB_FAILED, bye = SB_JOB_BYE;

    sb_buf_init(&why, 0);
    sb_buf_addf(&why,
        status > 128 ? "its process was ended by signal %d"
                     : "its process ended with status %d",
        status > 128 ? status - 128 : status);
    sb_buf_init(&b, 0);
    sb_buf_add(&b, &kind, 1);
    sb_wire_put_text(&b, why.data);
    if (!b.failed)
        pass_on(r, 0, b.data, b.len);
    pass_on(r, 0, &bye, 1);
    sb_buf_done(&b);
    sb_buf_done(&why);
}

int sb_relay_end(
    struct sb_relay *r, int status, uint64_t limit_ns, struct sb_err *err)
{
    int rc = 0;

    sb_relay_step(r); // its last messages
    if (r->job->rank > 0 && status)
        tell_failure(r, status);
    send_run(r, SB_JOB_RUN_END);
    if (r->job->rank == 0)
        rc = wait_for_all(r, limit_ns, err);
    end_done(&r->end);
    return rc;
}
