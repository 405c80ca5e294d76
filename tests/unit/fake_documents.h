// SPDX-License-Identifier: GPL-2.0-or-later
//
// The part of the MongoDB driver that the document API calls, replaced
// (fake_documents.c); a connection of this driver, with a recorder; and
// functions that build documents. Commands are answered by answers[] in order;
// all later ones succeed.
#ifndef FAKE_DOCUMENTS_H
#define FAKE_DOCUMENTS_H

#include "drivers/mongodb/documents.h"
#include "fake_recorded.h"

// Documents ------------------------------------------------------------------

struct doc {
    uint8_t data[4096];
    size_t len;
    size_t open[16];
    int depth;
};

static inline struct doc *begin(struct doc *d)
{
    d->len = 4;
    d->depth = 0;
    d->open[0] = 0;
    return d;
}

static inline void bytes(struct doc *d, const void *p, size_t len)
{
    memcpy(d->data + d->len, p, len);
    d->len += len;
}

static inline void key(struct doc *d, uint8_t type, const char *name)
{
    d->data[d->len++] = type;
    bytes(d, name, strlen(name) + 1);
}

static inline void put_text(struct doc *d, const char *name, const char *text)
{
    key(d, 0x02, name);
    sb_put32(d->data + d->len, (uint32_t)strlen(text) + 1);
    d->len += 4;
    bytes(d, text, strlen(text) + 1);
}

static inline void put_int(struct doc *d, const char *name, int32_t i)
{
    key(d, 0x10, name);
    sb_put32(d->data + d->len, (uint32_t)i);
    d->len += 4;
}

static inline void put_bool(struct doc *d, const char *name, bool b)
{
    key(d, 0x08, name);
    d->data[d->len++] = b;
}

static inline void open_in(struct doc *d, uint8_t type, const char *name)
{
    key(d, type, name);
    d->open[++d->depth] = d->len;
    d->len += 4;
}

static inline struct doc *end(struct doc *d)
{
    size_t at = d->open[d->depth--];

    d->data[d->len++] = '\0';
    sb_put32(d->data + at, (uint32_t)(d->len - at));
    return d;
}

// {"$arg": n, "type": type}; type may be NULL.
static inline void put_arg(
    struct doc *d, const char *name, int n, const char *type)
{
    open_in(d, 0x03, name);
    put_int(d, "$arg", n);
    if (type)
        put_text(d, "type", type);
    end(d);
}

// The driver -----------------------------------------------------------------

struct answer {
    int rc, native;
    int32_t kind;
    uint64_t nrows, affected;
    const struct doc *reply;
    bool plain; // *err is not set
};

// Defined in fake_documents.c.
extern struct fake_documents {
    struct sbmo_conn conn;
    struct answer answers[16];
    unsigned nanswers, ncommands;
    const uint8_t *body;  // of the last command, as it was passed
    struct sb_buf last;   // a copy of it
    char history[4096];   // commands as JSON, truncated, in order
    char steps[256];      // of transactions
    unsigned conversions; // to JSON
    bool cut_json;        // history keeps 40 bytes of a command
    bool no_json;         // conversions to JSON fail
    bool misused;         // a function was called with wrong arguments
    const struct doc *reply;
    uint64_t rows_left;
    struct doc row;
} fake_mongodb;

// The connection `c` of this driver -------------------------------------------

static inline void start_documents(void)
{
    sb_buf_done(&fake_mongodb.last);
    sb_buf_done(&fake_mongodb.conn.compiled);
    memset(&fake_mongodb, 0, sizeof(fake_mongodb));
    start_recorded();
    c.drv = &sb_driver;
    c.conn = (struct sb_conn *)&fake_mongodb.conn;
}

static inline void finish_documents(void)
{
    CHECK(!fake_mongodb.misused);
    finish_recorded();
    sb_buf_done(&fake_mongodb.last);
    sb_buf_done(&fake_mongodb.conn.compiled);
}

// Returns the commands since the last call.
static inline const char *commands(void)
{
    static char copy[sizeof(fake_mongodb.history)];

    memcpy(copy, fake_mongodb.history, sizeof(copy));
    fake_mongodb.history[0] = '\0';
    return copy;
}

static inline struct answer *next_answer(int rc, int native)
{
    struct fake_documents *f = &fake_mongodb;
    struct answer *a =
        &f->answers[f->ncommands < f->nanswers ? f->nanswers : f->ncommands];

    f->nanswers = (unsigned)(a - f->answers) + 1;
    *a = (struct answer){ .rc = rc, .native = native };
    return a;
}

static inline int run_bytes(const void *body, size_t len)
{
    struct sbmo_doc_command command = { body, len, NULL };

    return sbmo_doc_command(&c.pub, &command);
}

static inline int run_doc(const struct doc *d)
{
    return run_bytes(d->data, d->len);
}

static inline int execute_op(
    struct sbmo_doc_op *op, const struct sbmo_doc_value *values, uint32_t n)
{
    struct sbmo_doc_execution x = { op, values, n };

    return sbmo_doc_execute(&c.pub, &x);
}

#endif
