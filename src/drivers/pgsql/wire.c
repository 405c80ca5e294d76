// SPDX-License-Identifier: GPL-2.0-or-later
//
// Executes prepared statements on libpq's socket without libpq, which costs the
// client several times as much: libpq requests the description of each
// execution again, and allocates each result, column and value. Only on plain
// connections, only while libpq is idle, and only for statements that libpq has
// executed once.
//
// The messages are those of the frontend/backend protocol 3.0: Bind, Execute,
// Sync; BindComplete, DataRow..., CommandComplete or ErrorResponse,
// ReadyForQuery.
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"
#include "kit/clock.h"
#include "kit/sock.h"

#define IN_START    2048u          // bytes; grows as answers need it
#define IN_KEEP     (1024u * 1024) // larger buffers are freed after an answer
#define OUT_MOST    (256u * 1024u * 1024) // longer ones are sent by libpq
#define HEAD        5u                    // type and length of a message
#define BEHIND_MOST 30000u // bytes of a message after an answer, as in libpq
#define REST_NS     UINT64_C(3000000000) // timeout for the rest of one
#define BLOCK_AFTER 8u // executions after which the socket blocks

// Numbers ------------------------------------------------------------------

static uint32_t get16(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;

    return (uint32_t)u[0] << 8 | u[1];
}

static uint32_t get32(const char *p)
{
    return get16(p) << 16 | get16(p + 2);
}

// Sending ------------------------------------------------------------------

static size_t pg_wire_room_for(
    const struct pgsql_stmt *st, const struct sb_value *v, uint32_t n)
{
    size_t size = 64 + st->name_len + 2 * (size_t)n;

    for (uint32_t i = 0; i < n; i++)
        size += 4 + (v[i].type < SB_VALUE_TEXT ? SB_NUMBER_ROOM : v[i].len);
    return size;
}

static char *put_formats(char *out, const struct sb_value *v, uint32_t n)
{
    uint32_t i = 0;

    while (i < n && v[i].type != SB_VALUE_BLOB)
        i++;
    if (i == n) // all in text format
        return pgsql_put16(out, 0);
    out = pgsql_put16(out, n);
    for (i = 0; i < n; i++)
        out = pgsql_put16(out, v[i].type == SB_VALUE_BLOB);
    return out;
}

static char *pg_wire_put_value(char *out, const struct sb_value *v)
{
    size_t n;

    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        n = sb_number_int(out + 4, v->i);
        break;
    case SB_VALUE_UINT:
        n = sb_number_uint(out + 4, v->u);
        break;
    case SB_VALUE_DOUBLE:
        n = pgsql_put_double(out + 4, v->d);
        break;
    case SB_VALUE_TEXT:
    case SB_VALUE_TIME:
    case SB_VALUE_BLOB:
        n = v->len;
        if (n > 0)
            memcpy(out + 4, v->s, n);
        break;
    case SB_VALUE_NULL:
    default:
        return pgsql_put32(out, UINT32_MAX);
    }
    pgsql_put32(out, (uint32_t)n);
    return out + 4 + n;
}

// Writes Bind, Execute and Sync. Returns the end.
static char *put_all(char *out, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n)
{
    static const char rest[] = { 'E', 0, 0, 0, 9, 0, 0, 0, 0, 0, 'S', 0, 0, 0,
        4 };
    char *start = out;

    *out = 'B';
    out += HEAD;
    *out++ = '\0'; // the unnamed portal
    memcpy(out, st->name, st->name_len + 1);
    out += st->name_len + 1;
    out = put_formats(out, v, n);
    out = pgsql_put16(out, n);
    for (uint32_t i = 0; i < n; i++)
        out = pg_wire_put_value(out, &v[i]);
    out = pgsql_put16(out, 0); // all columns as text
    pgsql_put32(start + 1, (uint32_t)(out - start) - 1);
    memcpy(out, rest, sizeof(rest));
    return out + sizeof(rest);
}

// Receiving ----------------------------------------------------------------

// Makes room for `want` bytes from w->at on, which are more than there are.
static inline bool pg_wire_make_room(struct pgsql_wire *w, size_t want)
{
    size_t more = want - (w->in.len - w->at);

    assert(w->at <= w->in.len && want > w->in.len - w->at);
    if (more < w->in.cap - w->in.len)
        return true;
    return sb_buf_grow(&w->in, more < IN_START ? IN_START - 1 : more) == 0;
}

// The bytes of room for recv(); the NUL that the buffer has room for is unused.
static size_t room_left(const struct pgsql_wire *w)
{
    return w->in.cap - 1 - w->in.len;
}

// Reads once, after it has sent the request if that was not sent yet. Returns
// 0, SB_ELOST or SB_ENOMEM. It polls first only for the beginning of an answer,
// because the rest of one may have arrived already.
static int read_more(struct pgsql_conn *c, size_t want)
{
    struct pgsql_wire *w = &c->wire;
    struct sb_exchange x = { .fd = c->fd,
        .poll_first = !c->blocking && w->in.len == w->at,
        .out = w->out,
        .len = w->out_len,
        .deadline = UINT64_MAX };
    ssize_t n;

    if (!pg_wire_make_room(w, want))
        return SB_ENOMEM;
    x.in = w->in.data + w->in.len;
    x.cap = room_left(w);
    w->out_len = 0;
    n = c->host->exchange(&x);
    // A server that has closed the connection may have sent the reason.
    if (x.unsent && (n == -EPIPE || n == -ECONNRESET)) {
        x.len = 0;
        n = c->host->exchange(&x);
    }
    if (n <= 0)
        return SB_ELOST;
    w->in.len += (size_t)n;
    return 0;
}

// Reads until at least `want` bytes are available from w->at on.
static inline int need(struct pgsql_conn *c, size_t want)
{
    int rc = 0;

    while (rc == 0 && c->wire.in.len - c->wire.at < want)
        rc = read_more(c, want);
    return rc;
}

// Reads the number at the end of "INSERT 0 5" or "SELECT 3", if there is one.
static void read_tag(struct pgsql_wire *w, const char *tag, size_t len)
{
    size_t i = len > 0 ? len - 1 : 0; // its NUL
    uint64_t n = 0, unit = 1;

    while (i > 0 && tag[i - 1] >= '0' && tag[i - 1] <= '9') {
        n += unit * (uint64_t)(tag[--i] - '0');
        unit *= 10;
    }
    w->counted = unit > 1;
    w->affected = n;
}

static const char *pg_wire_field(const char *p, const char *end, char code)
{
    while (p < end && *p) {
        if (*p == code)
            return p + 1;
        p += strlen(p) + 1;
    }
    return "";
}

static void log_notice(
    const struct pgsql_conn *c, const char *body, const char *end)
{
    char line[420];

    snprintf(line, sizeof(line), "pgsql: %s: %s", pg_wire_field(body, end, 'S'),
        pg_wire_field(body, end, 'M'));
    pgsql_one_line(line, line, sizeof(line));
    c->host->log(5, line);
}

// An error after ReadyForQuery does not belong to the statement: it is the
// reason why the server closes the connection.
static void pg_wire_take_error(
    struct pgsql_conn *c, const char *body, const char *end)
{
    if (c->wire.ready)
        pgsql_keep_closing(
            c, pg_wire_field(body, end, 'C'), pg_wire_field(body, end, 'M'));
    else
        c->wire.error = c->wire.at;
}

// Handles one complete message. Returns false if it is unexpected here.
static bool take_message(struct pgsql_conn *c, char type, size_t len)
{
    struct pgsql_wire *w = &c->wire;
    char *body = w->in.data + w->at + HEAD;

    switch (type) {
    case 'D':
        w->nrows++;
        return len >= 2;
    case 'C':
        read_tag(w, body, len);
        w->commit = len == 7 && memcmp(body, "COMMIT", 7) == 0;
        w->rollback = len == 9 && memcmp(body, "ROLLBACK", 9) == 0;
        return len > 0;
    case 'Z':
        c->status = len > 0 ? body[0] : 'E';
        w->ready = true;
        return true;
    case 'E':
        if (len == 0 || body[len - 1] != '\0')
            return false;
        pg_wire_take_error(c, body, body + len);
        return true;
    case 'N':
        if (len > 0 && body[len - 1] == '\0')
            log_notice(c, body, body + len);
        return true;
    case '2': // BindComplete
    case 'I': // EmptyQueryResponse
    case 'S': // ParameterStatus
    case 'A': // NotificationResponse
        return true;
    default:
        return false;
    }
}

static int receive_one(struct pgsql_conn *c)
{
    struct pgsql_wire *w = &c->wire;
    int rc = need(c, HEAD);
    uint32_t size = rc ? 0 : get32(w->in.data + w->at + 1);

    if (rc)
        return rc;
    if (size < 4)
        return SB_ELOST;
    rc = need(c, 1 + (size_t)size);
    if (rc)
        return rc;
    if (!take_message(c, w->in.data[w->at], size - 4))
        return SB_ELOST;
    w->at += 1 + (size_t)size;
    return 0;
}

// Closes the socket, because libpq must not read the rest of a message.
static void close_socket(struct pgsql_conn *c)
{
    c->gone = true;
    shutdown(c->fd, SHUT_RDWR);
}

// Reads until at least `want` bytes are available from w->at on, or until the
// time *until (0: it is set to REST_NS from now).
static int need_soon(struct pgsql_conn *c, size_t want, uint64_t *until)
{
    struct pgsql_wire *w = &c->wire;

    if (!pg_wire_make_room(w, want))
        return SB_ENOMEM;
    if (!*until)
        *until = sb_clock_monotonic() + REST_NS;
    while (w->in.len - w->at < want) {
        ssize_t n;
        int events;

        if (sb_clock_monotonic() >= *until)
            return SB_ETIMEOUT;
        events = c->host->wait(c->fd, POLLIN, *until);
        if (events < 0)
            return SB_ELOST;
        if (events == 0)
            continue;
        n = recv(c->fd, w->in.data + w->in.len, room_left(w), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EINTR && !sb_sock_would_block(errno)))
            return SB_ELOST;
        if (n > 0)
            w->in.len += (size_t)n;
    }
    return 0;
}

// Handles messages received right after an answer: notices, or the reason why
// the server closes the connection. If the rest of one does not arrive in time,
// it is invalid.
static int receive_behind(struct pgsql_conn *c)
{
    static const char types[] = { 'E', 'N', 'S', 'A' };
    struct pgsql_wire *w = &c->wire;
    uint64_t until = 0;
    int rc = 0;

    while (rc == 0 && w->at < w->in.len) {
        const char *head = w->in.data + w->at;
        size_t have = w->in.len - w->at, size = HEAD;

        if (!memchr(types, head[0], sizeof(types)))
            return SB_EQUERY;
        if (have >= HEAD)
            size = 1 + (size_t)get32(head + 1);
        if (size < HEAD || size > BEHIND_MOST)
            return SB_EQUERY;
        if (have < HEAD || have < size)
            rc = need_soon(c, size, &until);
        else if (take_message(c, head[0], size - HEAD))
            w->at += size;
        else
            return SB_EQUERY;
    }
    return rc;
}

// Receives all messages up to ReadyForQuery, and those that arrived with it.
// Errors in the latter do not affect the statement, which has its answer.
static int pg_wire_receive(struct pgsql_conn *c)
{
    struct pgsql_wire *w = &c->wire;
    int rc = 0;

    w->in.len = w->at = 0;
    w->nrows = w->affected = 0;
    w->counted = w->commit = w->rollback = w->ready = false;
    w->error = SIZE_MAX;
    while (rc == 0 && !w->ready)
        rc = receive_one(c);
    if (rc)
        return rc;
    rc = receive_behind(c);
    if (rc) {
        if (rc != SB_ELOST)
            pgsql_keep_closing(c, PGSQL_VIOLATION,
                "the server sent unexpected data after an answer");
        close_socket(c);
        w->in.len = w->at;
    }
    w->at = 0;
    return 0;
}

// Errors -------------------------------------------------------------------

static int pg_wire_server_error(struct pgsql_conn *c, struct sb_err *err)
{
    const struct pgsql_wire *w = &c->wire;
    const char *body = w->in.data + w->error + HEAD;
    const char *end = body + get32(w->in.data + w->error + 1) - 4;
    struct pgsql_problem p = {
        .state = pg_wire_field(body, end, 'C'),
        .text = pg_wire_field(body, end, 'M'),
        .detail = pg_wire_field(body, end, 'D'),
        .routine = pg_wire_field(body, end, 'R'),
    };

    return pgsql_fail_with(c, &p, err);
}

static int pg_wire_lost_con(struct pgsql_conn *c, int rc, struct sb_err *err)
{
    struct pgsql_problem p = {
        .state = "",
        .text = "the server closed the connection unexpectedly",
        .detail = "",
        .routine = "",
    };

    close_socket(c);
    if (rc == SB_ENOMEM)
        return sb_err_no_memory(err);
    return c->wire.error != SIZE_MAX ? pg_wire_server_error(c, err)
                                     : pgsql_fail_with(c, &p, err);
}

// Executing ------------------------------------------------------------------

bool pgsql_wire_ready(const struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n)
{
    return c->plain && !c->gone && st->shape >= PGSQL_NO_ROWS &&
           n <= INT16_MAX && pg_wire_room_for(st, v, n) < OUT_MOST;
}

int pgsql_wire_execute(struct pgsql_conn *c, const struct pgsql_stmt *st,
    const struct sb_value *v, uint32_t n, struct sb_err *err)
{
    char *out;
    int rc;

    assert(!c->wire_stmt && st->name_len > 0);
    c->bound.len = 0;
    out = sb_buf_room(&c->bound, pg_wire_room_for(st, v, n));
    if (!out)
        return sb_err_no_memory(err);
    c->wire.error = SIZE_MAX;
    if (++c->wire_executions == BLOCK_AFTER && !c->local)
        pgsql_set_blocking(c, true);
    pgsql_set_busy(c, true);
    c->wire.out = out;
    c->wire.out_len = (size_t)(put_all(out, st, v, n) - out);
    rc = pg_wire_receive(c);
    pgsql_set_busy(c, false);
    if (rc)
        return pg_wire_lost_con(c, rc, err);
    if (c->wire.error != SIZE_MAX)
        return pg_wire_server_error(c, err);
    if (c->wire.commit)
        rc = pgsql_check_commit(c, "COMMIT", err);
    if (rc == 0)
        c->wire_stmt = st;
    return rc;
}

void pgsql_wire_describe(const struct pgsql_conn *c, struct sb_result *res)
{
    const struct pgsql_wire *w = &c->wire;

    if (c->wire_stmt->shape == PGSQL_ROWS) {
        res->kind = SB_RESULT_ROWS;
        res->nfields = c->wire_stmt->nfields;
        res->nrows = w->nrows;
    } else if (w->counted) {
        res->kind = SB_RESULT_WRITE;
    }
    res->affected = w->affected;
}

// Reads the row in the message at w->at.
static int read_row(
    struct pgsql_wire *w, uint32_t n, struct sb_cell *cells, struct sb_err *err)
{
    const char *p = w->in.data + w->at + HEAD;
    const char *end = w->in.data + w->at + 1 + get32(w->in.data + w->at + 1);
    bool fits = get16(p) == n;

    p += 2;
    for (uint32_t i = 0; i < n && fits; i++) {
        uint32_t len;

        fits = end - p >= 4;
        len = fits ? get32(p) : 0;
        p += 4;
        if (len == UINT32_MAX) {
            cells[i] = (struct sb_cell){ 0 };
            continue;
        }
        fits = fits && (size_t)(end - p) >= len;
        cells[i] = (struct sb_cell){ .s = p, .len = len };
        p += len;
    }
    w->at = (size_t)(end - w->in.data);
    assert(w->at <= w->in.len); // receive_one() received the whole message
    return fits ? 1 : sb_err_set(err, SB_EQUERY, "malformed row");
}

int pgsql_wire_fetch(struct pgsql_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct pgsql_wire *w = &c->wire;

    while (w->at < w->in.len) {
        const char *head = w->in.data + w->at;

        if (head[0] == 'D')
            return read_row(w, res->nfields, cells, err);
        w->at += 1 + (size_t)get32(head + 1);
    }
    return 0;
}

void pgsql_wire_clear(struct pgsql_conn *c)
{
    struct pgsql_wire *w = &c->wire;

    c->wire_stmt = NULL;
    w->in.len = w->at = 0;
    if (w->in.cap > IN_KEEP)
        sb_buf_trim(&w->in, IN_KEEP);
}
