// SPDX-License-Identifier: GPL-2.0-or-later
//
// Connects in steps, so that another thread can cancel it and other users can
// run meanwhile.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "drivers/pgsql/internal.h"
#include "kit/clock.h"
#include "kit/limits.h"

// How often a connect in progress checks whether it was canceled.
#define TICK_MS 50
// How often to try again if the queue of a Unix socket is full.
#define AGAIN_MS 10

#define MS UINT64_C(1000000)

// One connect, with all of its attempts.
struct dial {
    struct pgsql_conn *c;
    const struct pgsql_target *t;
    uint64_t since, deadline;     // ns; UINT64_MAX: no deadline
    int64_t limit;                // ns from `since` to the deadline; 0: none
    bool unhelped;                // no helper was free until the deadline
    PostgresPollingStatusType st; // of the last step
};

static const char *hint(const char *text, char *room, size_t size)
{
    if (strstr(text, "Too many open files")) {
        sb_limit_of_files(room, size);
        return room;
    }
    if (strstr(text, "too many clients") ||
        strstr(text, "remaining connection"))
        return " (the server's max_connections is reached)";
    if (strstr(text, "database \"") && strstr(text, "does not exist"))
        return " (create it first, with createdb)";
    return "";
}

// libpq 17 and 18 give no reason if no descriptor is left.
static void find_reason(char *text, size_t size)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    snprintf(text, size, "unable to connect: %s",
        fd >= 0 ? "libpq gives no reason" : strerror(errno));
    if (fd >= 0)
        close(fd);
}

static int dial_refused(struct pgsql_conn *c, struct sb_err *err)
{
    char raw[1000], text[400], room[80], state[6] = "08001";

    snprintf(raw, sizeof(raw), "%s", PQerrorMessage(c->db));
    pgsql_take_state(raw, state);
    pgsql_sentences(raw, text, sizeof(text));
    if (!text[0])
        find_reason(text, sizeof(text));
    // The contents of a connection string are not shown: see target.c.
    if (c->env->conninfo && strncmp(text, "invalid ", 8) == 0)
        pgsql_cut_quotes(text);
    sb_err_set(err, SB_ECONNECT, "%s%s", text, hint(text, room, sizeof(room)));
    if (err)
        snprintf(err->state, sizeof(err->state), "%s", state);
    return SB_ECONNECT;
}

static bool was_canceled(struct pgsql_conn *c)
{
    return atomic_load_explicit(&c->canceled, memory_order_relaxed);
}

// Returns libpq's own connect timeout in ns; 0: none.
static int64_t libpq_timeout(struct pgsql_conn *c)
{
    PQconninfoOption *all = PQconninfo(c->db);
    int64_t seconds = 0;

    for (PQconninfoOption *i = all; i && i->keyword; i++) {
        if (i->val && strcmp(i->keyword, "connect_timeout") == 0)
            seconds = strtol(i->val, NULL, 10);
    }
    PQconninfoFree(all);
    return seconds > 0 ? seconds * 1000000000 : 0;
}

// Whether to go on: 0, SB_ECANCELED or SB_ETIMEOUT.
static int check_dial(const struct dial *d)
{
    if (was_canceled(d->c))
        return SB_ECANCELED;
    return sb_clock_monotonic() >= d->deadline ? SB_ETIMEOUT : 0;
}

// Waits until the socket is ready. Returns 0, SB_ECANCELED, SB_ETIMEOUT, or
// SB_ESYS.
static int wait_socket(struct dial *d, short what)
{
    struct pgsql_conn *c = d->c;
    int n, rc;

    do {
        n = c->host->wait(
            PQsocket(c->db), what, sb_clock_until(d->deadline, TICK_MS * MS));
        if (n < 0) {
            errno = -n;
            return SB_ESYS;
        }
        rc = check_dial(d);
    } while (n == 0 && rc == 0);
    return n > 0 && rc == SB_ETIMEOUT ? 0 : rc;
}

static void set_limit(struct dial *d, int64_t limit)
{
    d->limit = limit;
    d->deadline = limit ? d->since + (uint64_t)limit : UINT64_MAX;
}

// Steps ----------------------------------------------------------------------

static void start_dial(void *arg)
{
    struct dial *d = arg;

    d->c->db = PQconnectStartParams(d->t->key, d->t->value, 0);
    d->st = PGRES_POLLING_WRITING;
}

static void poll_step(void *arg)
{
    struct dial *d = arg;

    d->st = PQconnectPoll(d->c->db);
}

static bool dial_canceled(void *arg)
{
    const struct dial *d = arg;

    return was_canceled(d->c);
}

// Takes a step, where it does not block other users if it looks up a name. 0,
// SB_ECANCELED or SB_ETIMEOUT.
static int step(struct dial *d, void (*take)(void *arg), bool looks_up)
{
    int rc;

    if (!looks_up) {
        take(d);
        return 0;
    }
    rc = d->c->host->apart(take, dial_canceled, d, d->deadline);
    d->unhelped = rc == SB_ETIMEOUT;
    return rc;
}

static int take_steps(struct dial *d, enum pgsql_names names)
{
    int rc = 0;

    while (d->st != PGRES_POLLING_OK && d->st != PGRES_POLLING_FAILED) {
        rc = wait_socket(d, d->st == PGRES_POLLING_READING ? POLLIN : POLLOUT);
        if (rc == 0)
            rc = step(d, poll_step, names == PGSQL_NAMES);
        if (rc)
            return rc;
    }
    return 0;
}

static int too_late(const struct dial *d, struct sb_err *err)
{
    double seconds = (double)d->limit / 1e9;

    if (d->unhelped)
        return sb_err_set(err, SB_ECONNECT,
            "no thread was free to look up the name of the host before the "
            "connect timeout of %.3g s",
            seconds);
    return sb_err_set(err, SB_ECONNECT,
        "connecting to \"%s\" port %s took longer than %.3g s",
        PQhost(d->c->db), PQport(d->c->db), seconds);
}

static int stopped(const struct dial *d, int rc, struct sb_err *err)
{
    switch (rc) {
    case SB_ECANCELED:
        return sb_err_set(err, rc, "connecting was canceled");
    case SB_ETIMEOUT:
        return too_late(d, err);
    default:
        return sb_err_set(err, SB_ECONNECT, "cannot wait for the server: %s",
            strerror(errno));
    }
}

// Logs notices of the server for debugging. Errors that no statement caused
// also arrive here.
static void notice(void *arg, const PGresult *r)
{
    struct pgsql_conn *c = arg;
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *why = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    char text[400], line[420];

    if (state && why && pgsql_classify(state, why) == SB_ELOST)
        pgsql_keep_closing(c, state, why);
    pgsql_one_line(PQresultErrorMessage(r), text, sizeof(text));
    snprintf(line, sizeof(line), "pgsql: %s", text);
    c->host->log(5, line);
}

// One attempt. *full: the queue of the server's Unix socket is full.
static int attempt(struct dial *d, bool *full, struct sb_err *err)
{
    enum pgsql_names names = pgsql_target_names(d->t);
    struct pgsql_conn *c = d->c;
    int rc = step(d, start_dial, names != PGSQL_NO_NAME);

    *full = false;
    if (rc)
        return stopped(d, rc, err);
    if (!c->db)
        return pgsql_no_memory(err);
    if (!d->limit)
        set_limit(d, libpq_timeout(c));
    PQsetNoticeReceiver(c->db, notice, c);
    // Only messages in this form have the SQLSTATE of a refused connection.
    PQsetErrorVerbosity(c->db, PQERRORS_VERBOSE);
    if (PQstatus(c->db) == CONNECTION_BAD) {
        // The only cause that libpq has for this: see unix(7), connect().
        *full = strstr(PQerrorMessage(c->db), strerror(EAGAIN)) != NULL;
        return dial_refused(c, err);
    }
    rc = take_steps(d, names);
    if (rc)
        return stopped(d, rc, err);
    return d->st == PGRES_POLLING_OK ? 0 : dial_refused(c, err);
}

int pgsql_dial(
    struct pgsql_conn *c, const struct pgsql_target *t, struct sb_err *err)
{
    struct dial d = { .c = c, .t = t, .since = sb_clock_monotonic() };
    bool full;
    int rc;

    set_limit(&d, c->env->o->connect_timeout);
    while ((rc = attempt(&d, &full, err)) != 0 && full) {
        c->host->sleep(sb_clock_until(d.deadline, AGAIN_MS * MS));
        int over = check_dial(&d);
        if (over == SB_ETIMEOUT)
            break; // with the error of libpq
        if (over)
            return stopped(&d, over, err);
        PQfinish(c->db);
        c->db = NULL;
    }
    return rc;
}
