// SPDX-License-Identifier: GPL-2.0-or-later
//
// Executes prepared statements on the library's socket without the library,
// which describes, copies and allocates each row of each result. This is done
// only on plain connections. Between two calls of the library, only complete
// answers are read, so the library's own buffer is empty then. The library
// prepares and closes the statements.
//
// COM_STMT_EXECUTE is the only packet sent; answer.c parses the answer.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/sock.h"
#include "drivers/mysql/mysql_priv.h"

#define IN_START  1024u          // bytes; grows as answers need it
#define KEEP_MOST (1024u * 1024) // larger buffers are freed after an answer
// The maximum that the library sends.
#define OUT_MOST         (1024u * 1024 * 1024)
#define STMT_EXECUTE     0x17
#define FIXED_OUT        32u     // bytes that are not values, at most
#define LENGTH_ROOM      9u      // length prefix of a text, at most
#define TYPE_UNSIGNED    0x8000u // flag in the type of a parameter
#define CR_GONE          2006
#define CR_LOST          2013
#define CR_TOO_LARGE     2020
#define CR_REFUSED       2068
#define NO_STATE         "HY000"
#define PROTOCOL_41      (1ul << 9)
#define OPTIONAL_COLUMNS (1ul << 25) // MySQL: changes the column count packet
#define ZSTD_COMPRESSION (1ul << 26)
#define QUERY_ATTRIBUTES (1ul << 27) // MySQL: parameters have names

static int no_memory(struct sb_err *err)
{
    return sb_err_set(err, SB_ENOMEM, "out of memory");
}

// net.compress is set for compressed connections in all libraries.
static bool is_plain(const struct sbmy_conn *c)
{
    unsigned long agreed = c->my->client_flag & c->my->server_capabilities;

    return c->o->bypass && !c->o->debug && c->wire.fd >= 0 &&
           !mysql_get_ssl_cipher(c->my) && !c->my->net.compress &&
           c->my->server_capabilities & PROTOCOL_41 &&
           !(agreed & (OPTIONAL_COLUMNS | ZSTD_COMPRESSION | QUERY_ATTRIBUTES));
}

static int milliseconds(unsigned seconds)
{
    return seconds == 0 || seconds > INT32_MAX / 1000 ? -1
                                                      : (int)seconds * 1000;
}

// True if the server may omit column definitions that did not change. Oracle's
// library never agrees to it.
static bool may_omit(struct sbmy_conn *c)
{
#ifdef MARIADB_CLIENT_CACHE_METADATA
    unsigned long extended = 0;

    return !mariadb_get_infov(c->my,
               MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES, &extended) &&
           extended & (unsigned long)(MARIADB_CLIENT_CACHE_METADATA >> 32);
#else
    return false;
#endif
}

void sbmy_wire_open(struct sbmy_conn *c)
{
    struct sbmy_wire *w = &c->wire;
    int flags;

    w->gone = w->more = w->late = false;
    w->why[0] = '\0';
    w->shown = NULL;
    w->plain = is_plain(c);
    if (!w->plain)
        return;
    w->may_omit = may_omit(c);
    // Reads the timeouts from the handle, because option files may set them.
    w->read_ms = milliseconds(c->my->options.read_timeout);
    w->write_ms = milliseconds(c->my->options.write_timeout);
    w->polls = w->read_ms >= 0 || sb_sock_is_local(w->fd);
    if (w->polls || w->write_ms >= 0)
        return;
    // Some libraries leave the socket non-blocking, which costs a poll() before
    // each recv(). Without timeouts this is not necessary.
    flags = fcntl(w->fd, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK)
        fcntl(w->fd, F_SETFL, flags & ~O_NONBLOCK);
}

void sbmy_wire_done(struct sbmy_wire *w)
{
    free(w->in);
    free(w->out);
    free(w->shape);
    free(w->text);
    free(w->name);
    *w = (struct sbmy_wire){ 0 };
}

// Losing the connection ------------------------------------------------------

// Closes the connection, because the rest of an answer would be read as the
// next one. The library detects this when it closes the handle.
static void hang_up(struct sbmy_conn *c)
{
    c->wire.gone = true;
    c->wire.more = false;
    shutdown(c->wire.fd, SHUT_RDWR);
}

static int lost_by(
    struct sbmy_conn *c, int native, const char *text, struct sb_err *err)
{
    hang_up(c);
    return sbmy_fail_with(c, native, NO_STATE, text, err);
}

static int lost_sending(struct sbmy_conn *c, struct sb_err *err)
{
    char text[100] = "Server has gone away";

    if (c->wire.late)
        snprintf(text, sizeof(text),
            "Server has gone away: it received nothing for %d s",
            c->wire.write_ms / 1000);
    return lost_by(c, CR_GONE, text, err);
}

static int lost_waiting(struct sbmy_conn *c, struct sb_err *err)
{
    char text[100] = "Lost connection to server during query";

    if (c->wire.late)
        snprintf(text, sizeof(text),
            "Lost connection to server during query: no answer for %d s",
            c->wire.read_ms / 1000);
    return lost_by(c, CR_LOST, text, err);
}

static int lost_the_thread(struct sbmy_conn *c, struct sb_err *err)
{
    return lost_by(c, CR_LOST,
        "Lost connection to server during query: malformed answer", err);
}

// Bytes after an answer cannot be told apart from the next answer, so the
// connection is closed. They may contain the server's reason for closing it.
static void hang_up_on(struct sbmy_conn *c, const uint8_t *in, size_t len)
{
    struct sbmy_wire *w = &c->wire;
    struct sbmy_answer a;
    struct sbmy_problem e = { 0 };

    sbmy_answer_begin(&a, 0, false);
    if (sbmy_answer_read(&a, in, len) == SBMY_STEP_DONE && a.error &&
        sbmy_problem_read(in + a.error, a.error_len, &e))
        snprintf(w->why, sizeof(w->why), "Server has gone away: error %d: %.*s",
            e.native, (int)(e.len < 150 ? e.len : 150), e.text);
    else
        snprintf(w->why, sizeof(w->why),
            "Server has gone away: it sent unexpected data");
    hang_up(c);
}

// Sending --------------------------------------------------------------------

static bool wait_for(struct sbmy_wire *w, short what, int ms)
{
    struct pollfd p = { .fd = w->fd, .events = what };
    int n;

    do
        n = poll(&p, 1, ms);
    while (n < 0 && errno == EINTR);
    w->late = n == 0;
    return n > 0;
}

static bool send_bytes(struct sbmy_wire *w, const uint8_t *p, size_t len)
{
    int flags = MSG_NOSIGNAL | (w->write_ms < 0 ? 0 : MSG_DONTWAIT);

    while (len > 0) {
        ssize_t n = send(w->fd, p, len, flags);

        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            if (!wait_for(w, POLLOUT, w->write_ms))
                return false;
        } else if (n == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

static uint8_t *put(uint8_t *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(v >> 8 * i);
    return out + bytes;
}

// Sends the command of len bytes that follows the first header in w->out.
// Longer commands are split into packets, of which the last is not full. *seq:
// the number of the answer's first packet.
static bool send_command(struct sbmy_wire *w, size_t len, uint8_t *seq)
{
    uint8_t *p = w->out;

    *seq = 0;
    while (len >= SBMY_PACKET_FULL) {
        // The header overwrites bytes that were already sent.
        put(put(p, SBMY_PACKET_FULL, 3), (*seq)++, 1);
        if (!send_bytes(w, p, SBMY_HEAD + SBMY_PACKET_FULL))
            return false;
        p += SBMY_PACKET_FULL;
        len -= SBMY_PACKET_FULL;
    }
    put(put(p, len, 3), (*seq)++, 1);
    return send_bytes(w, p, SBMY_HEAD + len);
}

static uint16_t type_of(const struct sb_value *v)
{
    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_INT:
        return MYSQL_TYPE_LONGLONG;
    case SB_VALUE_UINT:
        return MYSQL_TYPE_LONGLONG | TYPE_UNSIGNED;
    case SB_VALUE_DOUBLE:
        return MYSQL_TYPE_DOUBLE;
    case SB_VALUE_BLOB:
        return MYSQL_TYPE_BLOB;
    default:
        return MYSQL_TYPE_STRING;
    }
}

// Returns true if the types must be sent to the server. A NULL keeps the type
// that the server has.
static bool set_types(struct sbmy_stmt *p, const struct sb_value *v)
{
    bool tell = !p->bound;

    for (uint32_t i = 0; i < p->nparams; i++) {
        uint16_t type = type_of(&v[i]);

        if (v[i].type == SB_VALUE_NULL || p->types[i] == type)
            continue;
        p->types[i] = type;
        tell = true;
    }
    return tell;
}

static size_t room_for(const struct sb_value *v, uint32_t n)
{
    size_t size = FIXED_OUT + ((size_t)n + 7) / 8 + 2 * (size_t)n;

    for (uint32_t i = 0; i < n; i++)
        size += LENGTH_ROOM + (v[i].type < SB_VALUE_TEXT ? 0 : v[i].len);
    return size;
}

static uint8_t *put_text(uint8_t *out, const struct sb_value *v)
{
    if (v->len < 0xfb)
        *out++ = (uint8_t)v->len;
    else if (v->len <= UINT16_MAX)
        out = put(put(out, 0xfc, 1), v->len, 2);
    else if (v->len <= SBMY_PACKET_FULL)
        out = put(put(out, 0xfd, 1), v->len, 3);
    else
        out = put(put(out, 0xfe, 1), v->len, 8);
    if (v->len > 0)
        memcpy(out, v->s, v->len);
    return out + v->len;
}

static uint8_t *put_value(uint8_t *out, const struct sb_value *v)
{
    uint64_t bits;

    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_NULL:
        return out;
    case SB_VALUE_INT:
    case SB_VALUE_UINT:
        return put(out, v->u, 8);
    case SB_VALUE_DOUBLE:
        memcpy(&bits, &v->d, sizeof(bits));
        return put(out, bits, 8);
    default:
        return put_text(out, v);
    }
}

// Writes the NULL bitmap, the types, and the values.
static uint8_t *put_params(uint8_t *out, const struct sbmy_stmt *p, bool tell,
    const struct sb_value *v)
{
    uint8_t *nulls = out;

    out += (p->nparams + 7) / 8;
    memset(nulls, 0, (size_t)(out - nulls));
    *out++ = tell;
    for (uint32_t i = 0; tell && i < p->nparams; i++)
        out = put(out, p->types[i], 2);
    for (uint32_t i = 0; i < p->nparams; i++) {
        if (v[i].type == SB_VALUE_NULL)
            nulls[i / 8] |= (uint8_t)(1u << i % 8);
        out = put_value(out, &v[i]);
    }
    return out;
}

static bool grow(uint8_t **buf, size_t *cap, size_t want)
{
    size_t size = *cap ? *cap : IN_START;
    uint8_t *p;

    while (size < want)
        size *= 2;
    if (size == *cap)
        return true;
    p = realloc(*buf, size);
    if (!p)
        return false;
    *buf = p;
    *cap = size;
    return true;
}

static int send_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *v, uint8_t *seq, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    size_t room = room_for(v, p->nparams);
    uint8_t *out;

    if (room > OUT_MOST)
        return sbmy_fail_with(c, CR_TOO_LARGE, NO_STATE,
            "Got packet bigger than 'max_allowed_packet' bytes", err);
    if (!grow(&w->out, &w->out_cap, room))
        return no_memory(err);
    out = put(w->out + SBMY_HEAD, STMT_EXECUTE, 1);
    out = put(out, p->st->stmt_id, 4);
    out = put(out, 0, 1); // no cursor
    out = put(out, 1, 4); // once
    if (p->nparams > 0)
        out = put_params(out, p, set_types(p, v), v);
    if (!send_command(w, (size_t)(out - w->out) - SBMY_HEAD, seq))
        return lost_sending(c, err);
    return 0;
}

// Receiving ------------------------------------------------------------------

// Reads once. Returns 0, SB_ELOST or SB_ENOMEM. It first polls only for the
// beginning of an answer, because the rest of one may have arrived already.
static int read_more(struct sbmy_wire *w)
{
    bool wait = w->polls && w->len == 0;
    ssize_t n;

    if (!grow(&w->in, &w->cap, w->answer.want))
        return SB_ENOMEM;
    do {
        if (wait && !wait_for(w, POLLIN, w->read_ms))
            return SB_ELOST;
        n = recv(w->fd, w->in + w->len, w->cap - w->len,
            w->polls ? MSG_DONTWAIT : 0);
        wait = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    } while (wait || (n < 0 && errno == EINTR));
    if (n <= 0)
        return SB_ELOST;
    w->len += (size_t)n;
    return 0;
}

// Receives one answer into the start of w->in, of which w->len bytes have
// already arrived.
static int receive(struct sbmy_conn *c, uint8_t seq, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    enum sbmy_step step;

    sbmy_answer_begin(&w->answer, seq, w->may_omit);
    while ((step = sbmy_answer_read(&w->answer, w->in, w->len)) ==
           SBMY_STEP_MORE) {
        int rc = read_more(w);

        if (rc == SB_ENOMEM) {
            hang_up(c);
            return no_memory(err);
        }
        if (rc)
            return lost_waiting(c, err);
    }
    return step == SBMY_STEP_BAD ? lost_the_thread(c, err) : 0;
}

static int server_error(struct sbmy_conn *c, struct sb_err *err)
{
    const struct sbmy_wire *w = &c->wire;
    struct sbmy_problem e = { 0 };
    char text[400];

    sbmy_problem_read(w->in + w->answer.error, w->answer.error_len, &e);
    snprintf(
        text, sizeof(text), "%.*s", (int)(e.len < 399 ? e.len : 399), e.text);
    return sbmy_fail_with(c, e.native, e.state, text, err);
}

// Sends an empty file to a server that requests one. The statement fails.
static int refuse_file(struct sbmy_conn *c, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    uint8_t empty[SBMY_HEAD] = { 0, 0, 0, w->answer.seq };
    int rc;

    if (!send_bytes(w, empty, sizeof(empty)))
        return lost_sending(c, err);
    w->len = 0;
    rc = receive(c, (uint8_t)(w->answer.seq + 1), err);
    if (rc)
        return rc;
    if (w->answer.file || w->answer.status & SBMY_MORE_RESULTS)
        return lost_the_thread(c, err);
    return sbmy_fail_with(c, CR_REFUSED, NO_STATE,
        "the server requested a local file, which is refused", err);
}

// Definitions that the server omitted are those that it sent last, or those of
// the preparation. They must match the number of columns.
static bool columns_known(
    const struct sbmy_answer *a, const struct sbmy_stmt *p)
{
    if (a->nfields == 0 || a->columns)
        return true;
    return a->nfields == (p->defs ? p->ndefs : mysql_stmt_field_count(p->st));
}

// Keeps the definitions; only for servers that send them only when they
// changed.
static int keep_defs(
    struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_err *err)
{
    const struct sbmy_wire *w = &c->wire;
    size_t len = w->answer.columns_end - w->answer.columns;
    uint8_t *defs = len == p->defs_len ? p->defs : realloc(p->defs, len);

    if (!defs)
        return no_memory(err);
    memcpy(defs, w->in + w->answer.columns, len);
    p->defs = defs;
    p->defs_len = len;
    p->ndefs = w->answer.nfields;
    return 0;
}

static void describe(struct sbmy_conn *c, struct sb_result *res)
{
    const struct sbmy_answer *a = &c->wire.answer;

    if (a->nfields > 0) {
        res->kind = SB_RESULT_ROWS;
        res->nfields = a->nfields;
        res->nrows = a->nrows;
        return;
    }
    res->affected = a->affected;
    res->insert_id = a->insert_id;
    res->matched = a->matched;
    res->kind = a->affected ? SB_RESULT_WRITE : SB_RESULT_NONE;
}

// Makes the answer that has just arrived the current result of p.
static int take(struct sbmy_conn *c, struct sbmy_stmt *p, struct sb_result *res,
    struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    const struct sbmy_answer *a = &w->answer;

    if (!(a->status & SBMY_MORE_RESULTS) && w->len > a->at)
        hang_up_on(c, w->in + a->at, w->len - a->at);
    if (a->file)
        return refuse_file(c, err);
    if (a->error)
        return server_error(c, err);
    if (!columns_known(a, p))
        return lost_the_thread(c, err);
    // The library needs the state of the transaction, but must not look for
    // more results, which it cannot read.
    c->my->server_status = a->status & ~SBMY_MORE_RESULTS;
    c->my->warning_count = a->warnings;
    w->more = a->status & SBMY_MORE_RESULTS;
    w->shown = p;
    w->row = a->rows;
    w->rows_left = a->nrows;
    w->decoded = false;
    if (a->remembers && a->columns && keep_defs(c, p, err))
        return SB_ENOMEM;
    describe(c, res);
    return 0;
}

int sbmy_wire_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, struct sb_result *res, struct sb_err *err)
{
    int rc, native;
    uint8_t seq = 0;

    c->wire.len = 0;
    rc = send_execute(c, p, values, &seq, err);
    if (rc == 0)
        rc = receive(c, seq, err);
    if (rc == 0)
        rc = take(c, p, res, err);
    p->bound = rc == 0;
    if (rc == 0)
        return 0;
    native = err ? err->native : 0;
    return rc != SB_ECANCELED && !c->wire.gone && sbmy_stmt_forgotten(c, native)
               ? SB_EUNSUPPORTED
               : rc;
}

int sbmy_wire_next(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    struct sbmy_stmt *p = w->shown;
    size_t past = w->answer.at;
    int rc;

    w->more = false;
    w->len -= past;
    memmove(w->in, w->in + past, w->len);
    *res = (struct sb_result){ 0 };
    rc = receive(c, w->answer.seq, err);
    if (rc == 0)
        rc = take(c, p, res, err);
    return rc ? rc : 1;
}

// Frees the buffer of an unusually long statement, so that users do not keep
// it.
static void trim(uint8_t **buf, size_t *cap)
{
    if (*cap <= KEEP_MOST)
        return;
    free(*buf);
    *buf = NULL;
    *cap = 0;
}

void sbmy_wire_drop(struct sbmy_conn *c)
{
    struct sbmy_wire *w = &c->wire;
    struct sb_result unused;

    while (w->more && sbmy_wire_next(c, &unused, NULL) > 0)
        continue;
    w->shown = NULL;
    w->len = 0;
    trim(&w->in, &w->cap);
    trim(&w->out, &w->out_cap);
}
