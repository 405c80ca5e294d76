// SPDX-License-Identifier: GPL-2.0-or-later
//
// Executes prepared statements on the library's socket without the library,
// which describes, copies and allocates each row of each result. This is done
// only on plain connections. Between two calls of the library, only complete
// answers are read, so the library's own buffer is empty then. The library
// prepares and closes the statements.
//
// COM_STMT_EXECUTE is the only packet sent; protocol.c parses the answer.
#include <stdio.h>
#include <stdlib.h>

#include "drivers/mysql/internal.h"
#include "kit/array.h"

// Rows and columns of an answer.

#define CR_MALFORMED 2027

static uint8_t *wire_in(const struct sbmy_wire *w)
{
    return (uint8_t *)w->in.data;
}

static int my_wire_malformed(struct sbmy_conn *c, struct sb_err *err)
{
    return sbmy_fail_with(c, CR_MALFORMED, "HY000", "Malformed packet", err);
}

// Reads the definition in the packet at p, which is complete. Returns the
// position after it, or NULL if it is invalid.
static const uint8_t *my_wire_column_at(
    const uint8_t *p, struct sbmy_column_def *out)
{
    uint32_t len = sbmy_get24(p);

    if (!sbmy_column_read(p + SBMY_HEAD, len, out))
        return NULL;
    return p + SBMY_HEAD + len;
}

// Returns the definitions of the columns of the answer (columns_known() in
// wire.c). NULL: they are those of the preparation, which the library has.
static const uint8_t *definitions(const struct sbmy_conn *c)
{
    const struct sbmy_wire *w = &c->wire;

    return w->answer.columns ? wire_in(w) + w->answer.columns : c->stmt->defs;
}

static bool shapes_of_library(
    struct sbmy_wire *w, struct sbmy_stmt *p, uint32_t n)
{
    const MYSQL_FIELD *f;

    if (p->ndefs != n)
        return false;
    f = sbmy_meta_fields(p);
    for (uint32_t i = 0; f && i < n; i++)
        w->shape[i] = sbmy_meta_shape(&f[i]);
    return f != NULL;
}

static bool shapes_of(struct sbmy_wire *w, const uint8_t *p, uint32_t n)
{
    struct sbmy_column_def def;

    for (uint32_t i = 0; p && i < n; i++) {
        p = my_wire_column_at(p, &def);
        if (p)
            w->shape[i] = (struct sbmy_shape){
                .type = def.type,
                .decimals = def.decimals,
                .flags = def.flags,
                .length = def.length,
            };
    }
    return p != NULL;
}

static int decode_columns(struct sbmy_conn *c, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    const uint8_t *defs = definitions(c);
    uint32_t n = w->answer.nfields;
    struct sbmy_shape *shape = sb_array_room(
        w->shape, &w->cap_shapes, 0, n, sizeof(*shape));
    size_t room = 0;
    char *text;

    if (!shape)
        return sb_err_no_memory(err);
    w->shape = shape;
    if (!(defs ? shapes_of(w, defs, n) : shapes_of_library(w, c->stmt, n)))
        return my_wire_malformed(c, err);
    for (uint32_t i = 0; i < n; i++)
        room += sbmy_binary_room(&w->shape[i]);
    text = sb_array_room(w->text, &w->cap_text, 0, room, 1);
    if (!text)
        return sb_err_no_memory(err);
    w->text = text;
    w->decoded = true;
    return 0;
}

// Returns the next row and stores its length in *len. A row of several packets
// is joined by overwriting the headers in between.
static const uint8_t *whole_row(struct sbmy_wire *w, size_t *len)
{
    uint8_t *in = wire_in(w), *row = in + w->row + SBMY_HEAD, *next;
    size_t part = sbmy_get24(in + w->row);

    *len = part;
    next = row + part;
    while (part == SBMY_PACKET_FULL) {
        part = sbmy_get24(next);
        memmove(row + *len, next + SBMY_HEAD, part);
        *len += part;
        next += SBMY_HEAD + part;
    }
    w->row = (size_t)(next - in);
    // Otherwise protocol.c has counted a row that did not arrive.
    assert(w->row <= w->in.len);
    return row;
}

static int sbmy_wire_fetch(struct sbmy_conn *c, struct sb_result *res,
    struct sb_cell *cells, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    int rc = w->decoded || w->rows_left == 0 ? 0 : decode_columns(c, err);
    const uint8_t *row;
    size_t len;

    if (rc || w->rows_left == 0)
        return rc;
    w->rows_left--;
    row = whole_row(w, &len);
    if (!sbmy_binary_row(row, len, w->shape, w->answer.nfields, cells, w->text))
        return my_wire_malformed(c, err);
    return 1;
}

static const char *sbmy_wire_column(struct sbmy_conn *c, uint32_t i)
{
    struct sbmy_wire *w = &c->wire;
    const uint8_t *p = definitions(c);
    struct sbmy_column_def def = { 0 };
    MYSQL_FIELD *fields;
    char *name;

    if (!p) {
        fields = sbmy_meta_fields(c->stmt);
        return fields && i < mysql_stmt_field_count(c->stmt->st)
                   ? fields[i].name
                   : NULL;
    }
    for (uint32_t k = 0; p && k <= i; k++)
        p = my_wire_column_at(p, &def);
    name = p ? sb_array_room(w->name, &w->cap_name, 0, def.name_len + 1, 1)
             : NULL;
    if (!name)
        return NULL;
    w->name = name;
    memcpy(name, def.name, def.name_len);
    name[def.name_len] = '\0';
    return name;
}

#define START     1024u          // bytes; grows as needed
#define KEEP_MOST (1024u * 1024) // larger buffers are freed after an answer
// The maximum that the library sends.
#define OUT_MOST         (1024u * 1024 * 1024)
#define STMT_EXECUTE     0x17
#define FIXED_OUT        32u     // bytes that are not values, at most
#define LENGTH_ROOM      9u      // length prefix of a text, at most
#define TYPE_UNSIGNED    0x8000u // flag in the type of a parameter
#define CR_LOST          2013
#define CR_TOO_LARGE     2020
#define NO_STATE         "HY000"
#define PROTOCOL_41      (1ul << 9)
#define OPTIONAL_COLUMNS (1ul << 25) // MySQL: changes the column count packet
#define ZSTD_COMPRESSION (1ul << 26)
#define QUERY_ATTRIBUTES (1ul << 27) // MySQL: parameters have names
#define COUNT_AVAILABLE  0x08        // flag: the number of parameters follows

// net.compress is set for compressed connections in all libraries.
static bool my_wire_is_plain(const struct sbmy_conn *c)
{
    unsigned long agreed = c->my->client_flag & c->my->server_capabilities;

    return c->o->bypass && !c->o->debug && c->socket.fd >= 0 &&
           !mysql_get_ssl_cipher(c->my) && !c->my->net.compress &&
           c->my->server_capabilities & PROTOCOL_41 &&
           !(agreed & (OPTIONAL_COLUMNS | ZSTD_COMPRESSION));
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

    w->plain = my_wire_is_plain(c);
    if (!w->plain)
        return;
    w->may_omit = may_omit(c);
    w->named = c->my->client_flag & c->my->server_capabilities &
               QUERY_ATTRIBUTES;
    // Reads the timeouts from the handle, because option files may set them.
    sbmy_socket_init(&c->socket, c->host, c->my->options.read_timeout,
        c->my->options.write_timeout);
}

void sbmy_wire_done(struct sbmy_wire *w)
{
    sb_buf_done(&w->in);
    sb_buf_done(&w->out);
    free(w->shape);
    free(w->text);
    free(w->name);
    *w = (struct sbmy_wire){ 0 };
}

// Losing the connection ------------------------------------------------------

// The connection is closed, because the rest of an answer would be read as the
// next one.
static int lost_by(
    struct sbmy_conn *c, int native, const char *text, struct sb_err *err)
{
    sbmy_socket_hang_up(c);
    return sbmy_fail_with(c, native, NO_STATE, text, err);
}

static int lost_sending(struct sbmy_conn *c, struct sb_err *err)
{
    char text[100] = "Server has gone away";
    // Without a write timeout, the read timeout ends the exchange.
    int ms = c->socket.write_ms < 0 ? c->socket.read_ms : c->socket.write_ms;

    if (c->socket.late)
        snprintf(text, sizeof(text),
            "Server has gone away: it received nothing for %d s", ms / 1000);
    return lost_by(c, SBMY_CR_GONE, text, err);
}

static int lost_waiting(struct sbmy_conn *c, struct sb_err *err)
{
    char text[100] = "Lost connection to server during query";

    if (c->socket.late)
        snprintf(text, sizeof(text),
            "Lost connection to server during query: no answer for %d s",
            c->socket.read_ms / 1000);
    return lost_by(c, CR_LOST, text, err);
}

static int lost_receiving(struct sbmy_conn *c, struct sb_err *err)
{
    return c->socket.unsent ? lost_sending(c, err) : lost_waiting(c, err);
}

static int lost_by_malformed(struct sbmy_conn *c, struct sb_err *err)
{
    return lost_by(c, CR_LOST,
        "Lost connection to server during query: malformed answer", err);
}

// Bytes after an answer cannot be told apart from the next answer, so the
// connection is closed. They may contain the server's reason for closing it.
static void hang_up_on(struct sbmy_conn *c, const uint8_t *in, size_t len)
{
    struct sbmy_answer a;
    struct sbmy_problem e = { 0 };

    sbmy_answer_begin(&a, 0, false);
    if (sbmy_answer_read(&a, in, len) == SBMY_STEP_DONE && a.error &&
        sbmy_problem_read(in + a.error, a.error_len, &e))
        snprintf(c->why, sizeof(c->why), "Server has gone away: error %d: %.*s",
            e.native, (int)(e.len < 150 ? e.len : 150), e.text);
    else
        snprintf(c->why, sizeof(c->why),
            "Server has gone away: it sent unexpected data");
    sbmy_socket_hang_up(c);
}

// Sending --------------------------------------------------------------------

static uint8_t *put_uint(uint8_t *out, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(v >> 8 * i);
    return out + bytes;
}

// Sends the command of len bytes that follows the header at p. Longer commands
// are split into packets, of which the last is not full. *seq: the number of
// the answer's first packet.
static bool send_command(
    struct sbmy_conn *c, uint8_t *p, size_t len, uint8_t *seq)
{
    *seq = 0;
    while (len >= SBMY_PACKET_FULL) {
        // The header overwrites bytes that were already sent.
        put_uint(put_uint(p, SBMY_PACKET_FULL, 3), (*seq)++, 1);
        if (!sbmy_socket_send(&c->socket, p, SBMY_HEAD + SBMY_PACKET_FULL))
            return false;
        p += SBMY_PACKET_FULL;
        len -= SBMY_PACKET_FULL;
    }
    put_uint(put_uint(p, len, 3), (*seq)++, 1);
    return sbmy_socket_request(&c->socket, p, SBMY_HEAD + len);
}

static uint16_t type_of(const struct sb_value *v)
{
    unsigned flag = v->type == SB_VALUE_UINT ? TYPE_UNSIGNED : 0;

    return (uint16_t)(sbmy_meta_type(v) | flag);
}

// Returns true if the types must be sent to the server. A NULL keeps the type
// that the server has.
static bool my_wire_set_types(struct sbmy_stmt *p, const struct sb_value *v)
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

static size_t my_wire_room_for(const struct sb_value *v, uint32_t n)
{
    size_t size = FIXED_OUT + ((size_t)n + 7) / 8 + 3 * (size_t)n;

    for (uint32_t i = 0; i < n; i++)
        size += LENGTH_ROOM + (v[i].type < SB_VALUE_TEXT ? 0 : v[i].len);
    return size;
}

// Writes a length or count of the protocol.
static uint8_t *put_length(uint8_t *out, uint64_t v)
{
    if (v < 0xfb)
        return put_uint(out, v, 1);
    if (v <= UINT16_MAX)
        return put_uint(put_uint(out, 0xfc, 1), v, 2);
    if (v <= SBMY_PACKET_FULL)
        return put_uint(put_uint(out, 0xfd, 1), v, 3);
    return put_uint(put_uint(out, 0xfe, 1), v, 8);
}

static uint8_t *my_wire_put_text(uint8_t *out, const struct sb_value *v)
{
    out = put_length(out, v->len);
    if (v->len > 0)
        memcpy(out, v->s, v->len);
    return out + v->len;
}

static uint8_t *my_wire_put_value(uint8_t *out, const struct sb_value *v)
{
    uint64_t bits;

    switch ((enum sb_value_type)v->type) {
    case SB_VALUE_NULL:
        return out;
    case SB_VALUE_INT:
    case SB_VALUE_UINT:
        return put_uint(out, v->u, 8);
    case SB_VALUE_DOUBLE:
        memcpy(&bits, &v->d, sizeof(bits));
        return put_uint(out, bits, 8);
    default:
        return my_wire_put_text(out, v);
    }
}

// Writes the NULL bitmap, the types, and the values. named: writes the number
// of parameters, too, and with each type an empty name.
static uint8_t *put_params(uint8_t *out, const struct sbmy_stmt *p, bool named,
    bool tell, const struct sb_value *v)
{
    uint8_t *nulls;

    if (named)
        out = put_length(out, p->nparams);
    nulls = out;
    out += (p->nparams + 7) / 8;
    memset(nulls, 0, (size_t)(out - nulls));
    *out++ = tell;
    for (uint32_t i = 0; tell && i < p->nparams; i++)
        out = put_uint(out, p->types[i], named ? 3 : 2);
    for (uint32_t i = 0; i < p->nparams; i++) {
        if (v[i].type == SB_VALUE_NULL)
            nulls[i / 8] |= (uint8_t)(1u << i % 8);
        out = my_wire_put_value(out, &v[i]);
    }
    return out;
}

// Makes room for `size` bytes from the start of the buffer, of which len are in
// it. The byte for the NUL, which sb_buf_grow() adds, is not used.
static inline bool my_wire_make_room(struct sb_buf *b, size_t size)
{
    size_t more;

    if (size < b->cap)
        return true;
    more = size - b->len;
    return sb_buf_grow(b, more < START ? START - 1 : more) == 0;
}

static int send_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *v, uint8_t *seq, struct sb_err *err)
{
    size_t room = my_wire_room_for(v, p->nparams);
    bool named = c->wire.named && p->nparams > 0;
    uint8_t *start, *out;

    if (room > OUT_MOST)
        return sbmy_fail_with(c, CR_TOO_LARGE, NO_STATE,
            "Got packet bigger than 'max_allowed_packet' bytes", err);
    if (!my_wire_make_room(&c->wire.out, room)) // its len stays 0
        return sb_err_no_memory(err);
    start = (uint8_t *)c->wire.out.data;
    out = put_uint(start + SBMY_HEAD, STMT_EXECUTE, 1);
    out = put_uint(out, p->id, 4);
    out = put_uint(out, named ? COUNT_AVAILABLE : 0, 1); // no cursor
    out = put_uint(out, 1, 4);                           // once
    if (p->nparams > 0)
        out = put_params(out, p, named, my_wire_set_types(p, v), v);
    assert((size_t)(out - start) <= room); // see my_wire_room_for()
    if (!send_command(c, start, (size_t)(out - start) - SBMY_HEAD, seq))
        return lost_sending(c, err);
    return 0;
}

// Receiving ------------------------------------------------------------------

// Receives one answer into the start of w->in, which contains what has already
// arrived of it.
static int receive_answer(struct sbmy_conn *c, uint8_t seq, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    struct sbmy_answer *a = &w->answer;
    enum sbmy_step step;

    sbmy_answer_begin(a, seq, w->may_omit);
    do {
        if (!my_wire_make_room(&w->in, a->want)) {
            sbmy_socket_hang_up(c);
            return sb_err_no_memory(err);
        }
        if (a->want > w->in.len && !sbmy_socket_receive(&c->socket, wire_in(w),
                                       &w->in.len, a->want, w->in.cap - 1))
            return lost_receiving(c, err);
        step = sbmy_answer_read(a, wire_in(w), w->in.len);
    } while (step == SBMY_STEP_MORE);
    return step == SBMY_STEP_BAD ? lost_by_malformed(c, err) : 0;
}

static int my_wire_server_error(struct sbmy_conn *c, struct sb_err *err)
{
    const struct sbmy_wire *w = &c->wire;
    struct sbmy_problem e = { 0 };
    char text[400];

    sbmy_problem_read(wire_in(w) + w->answer.error, w->answer.error_len, &e);
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

    if (!sbmy_socket_request(&c->socket, empty, sizeof(empty)))
        return lost_sending(c, err);
    w->in.len = 0;
    rc = receive_answer(c, (uint8_t)(w->answer.seq + 1), err);
    if (rc)
        return rc;
    if (w->answer.file || w->answer.status & SBMY_MORE_RESULTS)
        return lost_by_malformed(c, err);
    return sbmy_fail_with(c, SBMY_CR_FILE_REFUSED, NO_STATE,
        "the server requested a local file, which is refused", err);
}

// Definitions that the server omitted are those that it sent last, or those of
// the preparation. They must match the number of columns.
static bool columns_known(
    const struct sbmy_answer *a, const struct sbmy_stmt *p)
{
    return a->nfields == 0 || a->columns || a->nfields == p->ndefs;
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
        return sb_err_no_memory(err);
    memcpy(defs, wire_in(w) + w->answer.columns, len);
    p->defs = defs;
    p->defs_len = len;
    p->ndefs = w->answer.nfields;
    return 0;
}

static void describe_result(struct sbmy_conn *c, struct sb_result *res)
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

static const struct sbmy_result_ops wire_result;

// Makes the answer that has just arrived the current result of p.
static int begin_result(struct sbmy_conn *c, struct sbmy_stmt *p,
    struct sb_result *res, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    const struct sbmy_answer *a = &w->answer;

    assert(a->at <= w->in.len);
    if (!(a->status & SBMY_MORE_RESULTS) && w->in.len > a->at)
        hang_up_on(c, wire_in(w) + a->at, w->in.len - a->at);
    if (a->file)
        return refuse_file(c, err);
    if (a->error)
        return my_wire_server_error(c, err);
    if (!columns_known(a, p))
        return lost_by_malformed(c, err);
    // The library needs the state of the transaction, but must not look for
    // more results, which it cannot read.
    c->my->server_status = a->status & ~SBMY_MORE_RESULTS;
    c->my->warning_count = a->warnings;
    // The server will not send definitions again that the driver lost.
    if (a->remembers && a->columns && keep_defs(c, p, err)) {
        sbmy_socket_hang_up(c);
        return SB_ENOMEM;
    }
    sbmy_result_set(c, &wire_result, p);
    c->more = a->status & SBMY_MORE_RESULTS;
    w->row = a->rows;
    w->rows_left = a->nrows;
    w->decoded = false;
    describe_result(c, res);
    return 0;
}

int sbmy_wire_execute(struct sbmy_conn *c, struct sbmy_stmt *p,
    const struct sb_value *values, struct sb_result *res, struct sb_err *err)
{
    int rc, native;
    uint8_t seq = 0;

    assert(c->wire.plain);
    c->wire.in.len = 0;
    rc = send_execute(c, p, values, &seq, err);
    if (rc == 0)
        rc = receive_answer(c, seq, err);
    if (rc == 0)
        rc = begin_result(c, p, res, err);
    p->bound = rc == 0;
    if (rc == 0)
        return 0;
    native = err ? err->native : 0;
    return rc != SB_ECANCELED && c->state == SBMY_USABLE &&
                   sbmy_stmt_forgotten(c, native)
               ? SB_EUNSUPPORTED
               : rc;
}

static int next_result(
    struct sbmy_conn *c, struct sb_result *res, struct sb_err *err)
{
    struct sbmy_wire *w = &c->wire;
    struct sbmy_stmt *p = c->stmt;
    size_t past = w->answer.at;
    int rc;

    assert(c->more && past <= w->in.len);
    sbmy_result_unset(c);
    w->in.len -= past;
    memmove(w->in.data, w->in.data + past, w->in.len);
    *res = (struct sb_result){ 0 };
    rc = receive_answer(c, w->answer.seq, err);
    if (rc == 0)
        rc = begin_result(c, p, res, err);
    return rc ? rc : 1;
}

// Empties the buffer, and frees that of an unusually long statement, so that
// users do not keep it.
static void trim_buffer(struct sb_buf *b)
{
    b->len = 0;
    if (b->cap > KEEP_MOST)
        sb_buf_trim(b, KEEP_MOST);
}

static void my_wire_free_result(struct sbmy_conn *c)
{
    struct sbmy_wire *w = &c->wire;
    struct sb_result unused;

    while (c->more && next_result(c, &unused, NULL) > 0)
        continue;
    sbmy_result_unset(c);
    trim_buffer(&w->in);
    trim_buffer(&w->out);
}

static const struct sbmy_result_ops wire_result = {
    .fetch = sbmy_wire_fetch,
    .column = sbmy_wire_column,
    .next = next_result,
    .free = my_wire_free_result,
};
