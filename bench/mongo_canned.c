// SPDX-License-Identifier: GPL-2.0-or-later
//
// A server for MongoDB's wire protocol that stores nothing. It answers commands
// with constant replies as fast as possible, so that a benchmark measures the
// client.
// Usage: mongo_canned [THREADS]
//     prints the port of 127.0.0.1 on which it listens; ends when its standard
//     input is closed, or by a signal
// Build: cc -O2 mongo_canned.c -o mongo_canned $(pkg-config --cflags --libs
// libbson-1.0) -lpthread
//
//     hello, isMaster         a standalone server (also as the old OP_QUERY)
//     find                    one document {c: 119 characters}, no cursor
//     aggregate, list...      an empty result
//     insert, update, delete  n: the number of documents sent
//     count                   n: 0
//     anything else           ok
#include <arpa/inet.h>
#include <bson/bson.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define OP_REPLY 1
#define OP_QUERY 2004
#define OP_MSG   2013

#define HEADER      16
#define MESSAGE_MAX (48 * 1024 * 1024) // bytes
#define READ_MIN    (64 * 1024)        // size of the buffer for a read
#define THREADS     64                 // maximum

#define CHECKSUM     1u
#define MORE_TO_COME 2u

struct bytes {
    uint8_t *p;
    size_t len, cap;
};

struct client {
    int fd;
    bool waits; // for room to write
    struct bytes in, out;
    bson_t *reply;
};

// The unread part of a message, and whether all reads were inside of it.
struct view {
    const uint8_t *p, *end;
    bool bad;
};

struct request {
    uint32_t id, op, flags;
    const char *name, *collection, *db; // "": none
    int32_t statements;
};

static uint32_t u32(const uint8_t *p)
{
    uint32_t n;

    memcpy(&n, p, sizeof(n));
    return BSON_UINT32_FROM_LE(n);
}

static void set32(uint8_t *p, uint32_t n)
{
    n = BSON_UINT32_TO_LE(n);
    memcpy(p, &n, sizeof(n));
}

// Makes room for more bytes at the end.
static uint8_t *room(struct bytes *b, size_t more)
{
    size_t cap = b->cap ? b->cap : 4096;

    while (cap - b->len < more)
        cap *= 2;
    if (cap != b->cap) {
        b->p = bson_realloc(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->len;
}

static void put(struct bytes *b, const void *p, size_t len)
{
    memcpy(room(b, len), p, len);
    b->len += len;
}

static void put32(struct bytes *b, uint32_t n)
{
    set32(room(b, 4), n);
    b->len += 4;
}

// Requests ---------------------------------------------------------------

static size_t left(const struct view *v)
{
    return v->bad ? 0 : (size_t)(v->end - v->p);
}

static const uint8_t *take(struct view *v, size_t len)
{
    const uint8_t *p = v->p;

    if (left(v) < len) {
        v->bad = true;
        return NULL;
    }
    v->p += len;
    return p;
}

static uint32_t take32(struct view *v)
{
    const uint8_t *p = take(v, 4);

    return p ? u32(p) : 0;
}

static void skip_text(struct view *v)
{
    const uint8_t *nul = left(v) ? memchr(v->p, 0, left(v)) : NULL;

    v->bad |= !nul;
    v->p = nul ? nul + 1 : v->p;
}

static bool take_document(struct view *v, bson_t *doc)
{
    uint32_t len = left(v) >= 5 ? u32(v->p) : 0;
    const uint8_t *p = len >= 5 ? take(v, len) : NULL;

    v->bad |= !p || !bson_init_static(doc, p, len);
    return !v->bad;
}

static int32_t count(const bson_iter_t *list)
{
    bson_iter_t at;
    int32_t n = 0;

    for (bool any = bson_iter_recurse(list, &at); any && bson_iter_next(&at);)
        n++;
    return n;
}

// The names of the arrays in write commands.
static bool is_list(const char *name)
{
    return strcmp(name, "documents") == 0 || strcmp(name, "updates") == 0 ||
           strcmp(name, "deletes") == 0;
}

static void read_body(struct request *r, struct view *msg)
{
    bson_iter_t at;
    bson_t doc;

    if (!take_document(msg, &doc) || !bson_iter_init(&at, &doc))
        return;
    while (bson_iter_next(&at)) {
        const char *name = bson_iter_key(&at);

        if (!*r->name) {
            r->name = name;
            if (BSON_ITER_HOLDS_UTF8(&at))
                r->collection = bson_iter_utf8(&at, NULL);
        } else if (strcmp(name, "$db") == 0 && BSON_ITER_HOLDS_UTF8(&at)) {
            r->db = bson_iter_utf8(&at, NULL);
        } else if (is_list(name) && BSON_ITER_HOLDS_ARRAY(&at)) {
            r->statements += count(&at);
        }
    }
    msg->bad |= at.err_off != 0;
}

// Counts consecutive documents without keys.
static void read_sequence(struct request *r, struct view *msg)
{
    uint32_t size = take32(msg);
    const uint8_t *p = size >= 4 ? take(msg, size - 4) : NULL;
    struct view part = { .p = p, .end = msg->p, .bad = !p };
    bson_t doc;

    skip_text(&part);
    while (left(&part) && take_document(&part, &doc))
        r->statements++;
    msg->bad |= part.bad;
}

static void read_msg(struct request *r, struct view *msg)
{
    r->flags = take32(msg);
    if (r->flags & CHECKSUM) {
        msg->bad |= left(msg) < 4;
        msg->end -= msg->bad ? 0 : 4;
    }
    while (left(msg)) {
        uint8_t kind = *take(msg, 1);

        if (kind == 0)
            read_body(r, msg);
        else if (kind == 1)
            read_sequence(r, msg);
        else
            msg->bad = true;
    }
}

static void read_query(struct request *r, struct view *msg)
{
    take32(msg); // flags
    skip_text(msg);
    take(msg, 8); // how many to skip and to return
    read_body(r, msg);
}

// Returns false if the message is invalid.
static bool read_request(struct request *r, const uint8_t *p, uint32_t len)
{
    struct view msg = { .p = p + HEADER, .end = p + len };

    *r = (struct request){ .id = u32(p + 4),
        .op = u32(p + 12),
        .name = "",
        .collection = "",
        .db = "" };
    if (r->op == OP_MSG)
        read_msg(r, &msg);
    else if (r->op == OP_QUERY)
        read_query(r, &msg);
    return !msg.bad && *r->name;
}

// Replies ----------------------------------------------------------------

static void add_hello(bson_t *b)
{
    struct timeval now;

    bson_gettimeofday(&now);
    BSON_APPEND_BOOL(b, "helloOk", true);
    BSON_APPEND_BOOL(b, "ismaster", true);
    BSON_APPEND_BOOL(b, "isWritablePrimary", true);
    BSON_APPEND_INT32(b, "maxBsonObjectSize", 16 * 1024 * 1024);
    BSON_APPEND_INT32(b, "maxMessageSizeBytes", MESSAGE_MAX);
    BSON_APPEND_INT32(b, "maxWriteBatchSize", 100000);
    BSON_APPEND_TIMEVAL(b, "localTime", &now);
    BSON_APPEND_INT32(b, "logicalSessionTimeoutMinutes", 30);
    BSON_APPEND_INT32(b, "minWireVersion", 0);
    BSON_APPEND_INT32(b, "maxWireVersion", 17);
    BSON_APPEND_BOOL(b, "readOnly", false);
}

static void add_cursor(bson_t *b, const struct request *r)
{
    static const char text[] =
        "68487932199-96439406143-93774651418-41631865787"
        "-96406072701-20604855487-25459966574-28203206787"
        "-41238978918-19503783441";
    bson_t cursor, batch, doc;
    char ns[256];

    snprintf(ns, sizeof(ns), "%s.%s", r->db, r->collection);
    BSON_APPEND_DOCUMENT_BEGIN(b, "cursor", &cursor);
    BSON_APPEND_ARRAY_BEGIN(&cursor, "firstBatch", &batch);
    if (strcmp(r->name, "find") == 0) {
        BSON_APPEND_DOCUMENT_BEGIN(&batch, "0", &doc);
        bson_append_utf8(&doc, "c", 1, text, sizeof(text) - 1);
        bson_append_document_end(&batch, &doc);
    }
    bson_append_array_end(&cursor, &batch);
    BSON_APPEND_INT64(&cursor, "id", 0);
    BSON_APPEND_UTF8(&cursor, "ns", ns);
    bson_append_document_end(b, &cursor);
}

static bool any(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

static void make_reply(bson_t *b, const struct request *r)
{
    static const char *const hello[] = { "hello", "isMaster", "ismaster",
        NULL };
    static const char *const rows[] = { "find", "aggregate", "listIndexes",
        "listCollections", NULL };
    static const char *const counted[] = { "insert", "update", "delete",
        "count", NULL };

    bson_reinit(b);
    if (any(r->name, rows)) {
        add_cursor(b, r);
    } else if (any(r->name, counted)) {
        BSON_APPEND_INT32(b, "n", r->statements);
        if (strcmp(r->name, "update") == 0)
            BSON_APPEND_INT32(b, "nModified", r->statements);
    } else if (any(r->name, hello)) {
        add_hello(b);
    }
    BSON_APPEND_DOUBLE(b, "ok", 1);
}

static void answer(struct client *c, const struct request *r)
{
    size_t at = c->out.len;

    make_reply(c->reply, r);
    put32(&c->out, 0); // the length: below
    put32(&c->out, r->id);
    put32(&c->out, r->id);
    if (r->op == OP_MSG) {
        put32(&c->out, OP_MSG);
        put32(&c->out, 0);   // flags
        put(&c->out, "", 1); // a section: the body
    } else {
        put32(&c->out, OP_REPLY);
        put32(&c->out, 8);                   // flags
        put(&c->out, "\0\0\0\0\0\0\0\0", 8); // cursor
        put32(&c->out, 0);                   // number of the first document
        put32(&c->out, 1);                   // how many
    }
    put(&c->out, bson_get_data(c->reply), c->reply->len);
    set32(c->out.p + at, (uint32_t)(c->out.len - at));
}

// Clients ----------------------------------------------------------------

// Answers all complete messages. Returns false after a protocol error.
static bool digest(struct client *c)
{
    size_t at = 0;

    while (c->in.len - at >= HEADER) {
        uint32_t len = u32(c->in.p + at);
        struct request r;

        if (len < HEADER || len > MESSAGE_MAX)
            return false;
        if (c->in.len - at < len) {
            room(&c->in, len); // the rest of a long one comes in one piece
            break;
        }
        if (!read_request(&r, c->in.p + at, len))
            return false;
        if (!(r.flags & MORE_TO_COME))
            answer(c, &r);
        at += len;
    }
    if (at && c->in.len > at)
        memmove(c->in.p, c->in.p + at, c->in.len - at);
    c->in.len -= at;
    return true;
}

static bool again(void)
{
    return errno == EAGAIN || errno == EINTR;
}

static bool send_out(struct client *c, int epoll)
{
    ssize_t n = 0;

    if (c->out.len)
        n = send(c->fd, c->out.p, c->out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && !again())
        return false;
    if (n > 0) {
        c->out.len -= (size_t)n;
        memmove(c->out.p, c->out.p + n, c->out.len);
    }
    if (c->waits != (c->out.len > 0)) {
        c->waits = !c->waits;
        epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd,
            &(struct epoll_event){
                .events = EPOLLIN | (c->waits ? EPOLLOUT : 0), .data.ptr = c });
    }
    return true;
}

static bool serve(struct client *c, int epoll)
{
    uint8_t *p = room(&c->in, READ_MIN);
    ssize_t n = recv(c->fd, p, c->in.cap - c->in.len, MSG_DONTWAIT);

    if (n == 0 || (n < 0 && !again()))
        return false;
    if (n > 0)
        c->in.len += (size_t)n;
    return digest(c) && send_out(c, epoll);
}

static void *work(void *arg)
{
    int epoll = *(int *)arg;
    struct epoll_event e[64];

    for (;;) {
        int n = epoll_wait(epoll, e, 64, -1);

        for (int i = 0; i < n; i++) {
            struct client *c = e[i].data.ptr;

            if (serve(c, epoll))
                continue;
            close(c->fd);
            bson_free(c->in.p);
            bson_free(c->out.p);
            bson_destroy(c->reply);
            bson_free(c);
        }
    }
    return NULL;
}

// Returns the listening socket; prints its port on standard output.
static int listening(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
        listen(fd, 4096) || getsockname(fd, (struct sockaddr *)&a, &len))
        return -1;
    printf("%d\n", ntohs(a.sin_port));
    fflush(stdout);
    return fd;
}

static void welcome(int server, int epoll)
{
    int fd = accept(server, NULL, NULL);
    struct client *c;

    if (fd < 0) {
        perror("mongo_canned: accept");
        return;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    c = bson_malloc0(sizeof(*c));
    c->fd = fd;
    c->reply = bson_new();
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd,
        &(struct epoll_event){ .events = EPOLLIN, .data.ptr = c });
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    struct pollfd wait[2] = { { .fd = 0, .events = POLLIN },
        { .events = POLLIN } };
    int epoll[THREADS];
    char ignored[256];

    if (argc > 2 || threads < 1 || threads > THREADS) {
        fprintf(stderr, "mongo_canned [THREADS, 1 to %d]\n", THREADS);
        return 1;
    }
    for (long i = 0; i < threads; i++) {
        pthread_t thread;

        epoll[i] = epoll_create1(0);
        if (epoll[i] < 0 || pthread_create(&thread, NULL, work, &epoll[i])) {
            perror("mongo_canned");
            return 1;
        }
    }
    wait[1].fd = listening();
    if (wait[1].fd < 0) {
        perror("mongo_canned: 127.0.0.1");
        return 1;
    }
    for (unsigned next = 0; poll(wait, 2, -1) >= 0;) {
        if (wait[0].revents && read(0, ignored, sizeof(ignored)) <= 0)
            return 0;
        if (wait[1].revents)
            welcome(wait[1].fd, epoll[next++ % (unsigned)threads]);
    }
    return 0;
}
