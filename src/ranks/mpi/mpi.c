// SPDX-License-Identifier: GPL-2.0-or-later
//
// The transport over MPI. Compiled once for each family of MPI libraries, whose
// binaries are not compatible. All calls that may wait for another process are
// in open() and close(); a receive that has begun is tested, not waited for.
// docs/internals/job.md.
#include <assert.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/export.h"
#include "ranks/transport.h"

// Receives that may be in progress: a rank that is slow or lost during a large
// message does not delay the others.
#define RECEIVES 64

struct request {
    MPI_Request mpi;
    char *data;
    size_t len;
    unsigned peer;
    bool done;
};

struct mpi {
    MPI_Comm comm;
    struct request *sending;
    size_t nsending, room;
    struct request receiving[RECEIVES]; // in the order of their begin
    unsigned nreceiving;
};

static int call_failed(struct sb_err *err, const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int len = 0;

    MPI_Error_string(code, text, &len);
    return sb_err_set(err, SB_ESYS, "%s: %.300s", call, text);
}

#ifdef OPEN_MPI
static bool is_started_by_srun(void)
{
    return getenv("PMIX_RANK") && !getenv("OMPI_COMM_WORLD_SIZE");
}
#endif

// srun --mpi=pmix carries out fences with and without data in different ways.
// On a busy host, the second fence of Open MPI's start, which has no data,
// ended before the first one in some processes: they crashed in the library,
// because messages of others came too early. So no fence has data; Open MPI
// then asks for the addresses of other processes when it needs them.
static void avoid_fences_with_data(void)
{
#ifdef OPEN_MPI
    if (is_started_by_srun())
        setenv("OMPI_MCA_pmix_base_collect_data", "0", 0);
#endif
}

// The threads of the library inherit the mask: the program waits for these
// signals itself, so they must not end the process in a thread of the library.
static int init(int *provided)
{
    sigset_t mask, before;

    sigfillset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, &before);
    int rc = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, provided);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static void library_version(char text[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int len = 0;

    text[0] = '\0';
    MPI_Get_library_version(text, &len);
}

// The launcher of Open MPI 4 waits a second by default
// (odls_base_sigkill_timeout), that of Open MPI 5 a quarter of it, without a
// setting. srun waits longer (KillWait, by default 30 s). For MPICH, the time
// of Open MPI 4 is used, too.
static uint64_t time_until_kill(void)
{
#ifdef OPEN_MPI
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int major = 0;

    library_version(text);
    if (sscanf(text, "Open MPI v%d", &major) == 1 && major >= 5 &&
        !is_started_by_srun())
        return 250000000;
#endif
    return 1000000000;
}

static int start_mpi(struct sb_transport *t, struct mpi *m, struct sb_err *err)
{
    int provided, rank, ranks;

    avoid_fences_with_data();
    int rc = init(&provided);

    if (rc)
        return call_failed(err, "MPI_Init_thread", rc);
    if (provided < MPI_THREAD_FUNNELED)
        return sb_err_set(
            err, SB_EUNSUPPORTED, "this MPI library does not allow threads");
    rc = MPI_Comm_dup(MPI_COMM_WORLD, &m->comm);
    if (rc)
        return call_failed(err, "MPI_Comm_dup", rc);
    MPI_Comm_set_errhandler(m->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(m->comm, &rank);
    MPI_Comm_size(m->comm, &ranks);
    t->rank = (unsigned)rank;
    t->ranks = (unsigned)ranks;
    t->kill_after = time_until_kill();
    return 0;
}

static int mpi_open(struct sb_transport *t, struct sb_err *err)
{
    struct mpi *m = calloc(1, sizeof(*m));

    if (!m)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    int rc = start_mpi(t, m, err);
    if (rc) {
        free(m);
        return rc;
    }
    t->priv = m;
    return 0;
}

// The libraries describe themselves in several lines.
static void mpi_library(char *out, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];

    library_version(text);
    text[strcspn(text, ",\n")] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\t')
            *c = ' ';
    snprintf(out, size, "%s%s",
        strncmp(text, "Open MPI v", 10) ? "" : "Open MPI ",
        strncmp(text, "Open MPI v", 10) ? text : text + 10);
}

static struct request *new_send(struct mpi *m)
{
    assert(m->nsending <= m->room);
    if (m->nsending == m->room) {
        size_t room = m->room ? 2 * m->room : 16;
        struct request *p = realloc(m->sending, room * sizeof(*p));

        if (!p)
            return NULL;
        m->sending = p;
        m->room = room;
    }
    return &m->sending[m->nsending];
}

static int mpi_send(struct sb_transport *t, unsigned to, const void *data,
    size_t len, struct sb_err *err)
{
    struct mpi *m = t->priv;
    struct request *r = new_send(m);
    char *copy = malloc(len ? len : 1);

    if (len > INT32_MAX) {
        free(copy);
        return sb_err_set(
            err, SB_ERANGE, "a message of %zu bytes is too long for MPI", len);
    }
    if (!r || !copy) {
        free(copy);
        return sb_err_set(err, SB_ENOMEM, "out of memory for a message");
    }
    memcpy(copy, data, len);
    *r = (struct request){ .data = copy, .len = len, .peer = to };
    int rc = MPI_Isend(copy, (int)len, MPI_BYTE, (int)to, 0, m->comm, &r->mpi);
    if (rc) {
        free(copy);
        return call_failed(err, "MPI_Isend", rc);
    }
    m->nsending++;
    return 0;
}

// Frees what has been sent. An error belongs to a rank that is lost; the loss
// is noticed by its silence.
static void advance_sending(struct mpi *m)
{
    size_t left = 0;

    for (size_t i = 0; i < m->nsending; i++) {
        struct request *r = &m->sending[i];
        int done = 0;

        if (MPI_Test(&r->mpi, &done, MPI_STATUS_IGNORE) || done)
            free(r->data);
        else
            m->sending[left++] = *r;
    }
    m->nsending = left;
}

static int begin_receive(struct mpi *m, MPI_Message *message,
    const MPI_Status *status, struct sb_err *err)
{
    struct request *r = &m->receiving[m->nreceiving];
    int len = 0;

    assert(m->nreceiving < RECEIVES);
    MPI_Get_count(status, MPI_BYTE, &len);
    *r = (struct request){ .data = malloc(len > 0 ? (size_t)len : 1),
        .len = (size_t)len,
        .peer = (unsigned)status->MPI_SOURCE };
    if (!r->data)
        return sb_err_set(err, SB_ENOMEM, "out of memory for a message");
    int rc = MPI_Imrecv(r->data, len, MPI_BYTE, message, &r->mpi);
    if (rc) {
        free(r->data);
        return call_failed(err, "MPI_Imrecv", rc);
    }
    m->nreceiving++;
    return 0;
}

static int begin_receives(struct mpi *m, struct sb_err *err)
{
    int rc = 0, found = 1;

    while (rc == 0 && found && m->nreceiving < RECEIVES) {
        MPI_Message message;
        MPI_Status status;

        rc = MPI_Improbe(
            MPI_ANY_SOURCE, MPI_ANY_TAG, m->comm, &found, &message, &status);
        if (rc)
            return call_failed(err, "MPI_Improbe", rc);
        if (found)
            rc = begin_receive(m, &message, &status, err);
    }
    return rc;
}

// Whether an earlier message of the same process is not complete.
static bool is_next(const struct mpi *m, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (m->receiving[k].peer == m->receiving[i].peer)
            return false;
    return true;
}

static void forget(struct mpi *m, unsigned i)
{
    struct request *r = &m->receiving[i];

    assert(i < m->nreceiving);
    free(r->data);
    m->nreceiving--;
    memmove(r, r + 1, (m->nreceiving - i) * sizeof(*r));
}

static bool take_received(struct mpi *m, struct sb_transport_message *out)
{
    for (unsigned i = 0; i < m->nreceiving; i++) {
        struct request *r = &m->receiving[i];
        int done = r->done;

        if (!done && MPI_Test(&r->mpi, &done, MPI_STATUS_IGNORE)) {
            // Of a rank that is lost.
            forget(m, i--);
            continue;
        }
        r->done = done;
        if (!done || !is_next(m, i))
            continue;
        *out = (struct sb_transport_message){ r->peer, r->data, r->len };
        r->data = NULL;
        forget(m, i);
        return true;
    }
    return false;
}

static int mpi_receive(struct sb_transport *t, struct sb_transport_message *out,
    struct sb_err *err)
{
    struct mpi *m = t->priv;
    int rc = begin_receives(m, err);

    advance_sending(m);
    return rc ? rc : take_received(m, out);
}

static bool mpi_sending(struct sb_transport *t)
{
    const struct mpi *m = t->priv;

    return m->nsending > 0;
}

// Messages to the launcher of MPICH, Hydra or Slurm, by PMI 1 -----------------

#ifdef MPICH_NUMVERSION
// Returns the connection to it, or -1 if the command cannot be sent.
static int tell_launcher(const char *command)
{
    const char *number = getenv("PMI_FD");
    int fd = number ? (int)strtol(number, NULL, 10) : -1;
    size_t len = strlen(command);

    return fd >= 0 && send(fd, command, len, MSG_NOSIGNAL) == (ssize_t)len ? fd
                                                                           : -1;
}

// Hydra may drop what it has not read when a job is aborted.
static void wait_for_reader(int fd)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    struct stat st;
    int unread;

    if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
        return;
    for (int i = 0; i < 1000; i++) {
        if (ioctl(fd, FIONREAD, &unread) || unread == 0)
            return;
        nanosleep(&nap, NULL);
    }
}

// If a process exits without MPI_Finalize(), Hydra ends only those of its host.
static void mpi_abandon(struct sb_transport *t, int status)
{
    char command[64];

    (void)t;
    wait_for_reader(STDOUT_FILENO);
    wait_for_reader(STDERR_FILENO);
    snprintf(command, sizeof(command), "cmd=abort exitcode=%d\n", status);
    tell_launcher(command);
}

static bool hangs_at_the_end(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];

    library_version(text);
    return MPICH_NUMVERSION < 40200000 && strstr(text, "ch4:ucx");
}

// MPI_Finalize() of MPICH before 4.2 hangs over TCP: a process that has
// disconnected waits for the others at the launcher, and no longer answers
// those that still disconnect from it (MPICH's pull request 6596). All messages
// have arrived here, so only the launcher must know that this is no crash.
// Returns false if it does not answer.
static bool end_without_finalize(void)
{
    static const char answer[] = "cmd=finalize_ack";
    char got[64] = ""; // Slurm adds rc=0
    size_t n = 0;

    if (!hangs_at_the_end())
        return false;

    int fd = tell_launcher("cmd=finalize\n");
    struct pollfd readable = { .fd = fd, .events = POLLIN };

    while (fd >= 0 && n < sizeof(got) - 1 && !strchr(got, '\n') &&
           poll(&readable, 1, 10000) == 1) {
        ssize_t k = recv(fd, got + n, sizeof(got) - 1 - n, 0);

        if (k <= 0)
            break;
        n += (size_t)k;
    }
    return strncmp(got, answer, strlen(answer)) == 0;
}
#else
// Open MPI ends all processes if the status is not 0.
static void mpi_abandon(struct sb_transport *t, int status)
{
    (void)t, (void)status;
}

static bool end_without_finalize(void)
{
    return false;
}
#endif

static void mpi_close(struct sb_transport *t)
{
    struct mpi *m = t->priv;

    if (!end_without_finalize()) {
        MPI_Comm_free(&m->comm);
        MPI_Finalize();
    }
    free(m->sending);
    free(m);
    t->priv = NULL;
}

SB_FFI const struct sb_transport_ops sb_transport_ops = {
    .abi = SB_TRANSPORT_ABI,
    .open = mpi_open,
    .library = mpi_library,
    .send = mpi_send,
    .receive = mpi_receive,
    .sending = mpi_sending,
    .close = mpi_close,
    .abandon = mpi_abandon,
};
