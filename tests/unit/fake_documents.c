// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_documents.h"

struct fake_documents fake_mongodb;

const struct sb_driver sb_driver = { .name = "mongodb",
    .dialect = "fake",
    .conn_size = sizeof(struct sbmo_conn),
    .caps = SB_CAP_NO_SQL,
    .generic = &generic_ops,
    .sql = &sql_ops };

// Prints the types that tests use, in a form similar to JSON.
static void print(struct sb_buf *out, const uint8_t *doc, size_t len)
{
    struct sb_walk w;
    struct sb_elem e;

    sb_buf_adds(out, "{");
    sb_walk_begin(&w, doc, len);
    while (sb_walk_next(&w, &e) == 1) {
        sb_buf_addf(
            out, "%s%s:", out->data[out->len - 1] == '{' ? "" : ",", e.key);
        if (e.type == 0x02)
            sb_buf_addf(out, "'%s'", (const char *)e.value + 4);
        else if (e.type == 0x03 || e.type == 0x04)
            print(out, e.value, e.len);
        else if (e.type == 0x0a)
            sb_buf_adds(out, "null");
        else if (e.type == 0x09)
            sb_buf_addf(out, "date(%lld)", (long long)sb_get64(e.value));
        else if (e.type == 0x12)
            sb_buf_addf(out, "%lldL", (long long)sb_get64(e.value));
        else if (e.type == 0x01)
            sb_buf_addf(out, "%gd", sb_elem_number(&e));
        else if (e.type == 0x08)
            sb_buf_adds(out, e.value[0] ? "true" : "false");
        else
            sb_buf_addf(out, "%g", sb_elem_number(&e));
    }
    sb_buf_adds(out, "}");
}

static void add_to(char *text, size_t size, const char *fmt, ...)
    SB_PRINTF(3, 4);

static void add_to(char *text, size_t size, const char *fmt, ...)
{
    size_t n = strlen(text);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text + n, size - n, fmt, ap);
    va_end(ap);
}

static const struct answer *next(void)
{
    static const struct answer good;
    struct fake_documents *f = &fake_mongodb;

    f->ncommands++;
    return f->ncommands <= f->nanswers ? &f->answers[f->ncommands - 1] : &good;
}

static int give(
    const struct answer *a, struct sb_result *res, struct sb_err *err)
{
    res->kind = a->kind;
    res->nrows = fake_mongodb.rows_left = a->nrows;
    res->affected = a->affected;
    fake_mongodb.reply = a->reply;
    if (a->rc && !a->plain)
        sb_err_native(err, a->rc, a->native, "", "refused");
    return a->rc;
}

int sbmo_command(struct sb_conn *conn, const uint8_t *body, size_t len,
    struct sb_result *res, struct sb_err *err)
{
    struct fake_documents *f = &fake_mongodb;
    struct sb_buf text;

    if (sbmo_own(conn) != &f->conn || !sb_bson_framed(body, len))
        f->misused = true;
    sb_buf_init(&text, 0);
    print(&text, body, len);
    add_to(f->history, sizeof(f->history), "%.*s ", f->cut_json ? 40 : 4000,
        text.data);
    sb_buf_done(&text);
    sb_buf_clear(&f->last);
    sb_buf_add(&f->last, body, len);
    f->body = body;
    return give(next(), res, err);
}

int sbmo_next(struct sb_conn *conn, struct sb_result *res, const uint8_t **doc,
    size_t *len, struct sb_err *err)
{
    struct fake_documents *f = &fake_mongodb;

    if (sbmo_own(conn) != &f->conn)
        f->misused = true;
    if (f->rows_left == 0)
        return 0;
    if (f->rows_left == 99)
        return sb_err_native(err, SB_EQUERY, 9, "", "no more");
    put_int(begin(&f->row), "n", (int32_t)f->rows_left--);
    end(&f->row);
    *doc = f->row.data;
    *len = f->row.len;
    return 1;
}

const uint8_t *sbmo_reply(struct sb_conn *conn, size_t *len)
{
    const struct doc *reply = fake_mongodb.reply;

    if (!reply)
        return NULL;
    *len = reply->len;
    return reply->data;
}

int sbmo_transaction(struct sb_conn *conn, const struct sbmo_doc_transaction *t,
    struct sb_err *err)
{
    struct fake_documents *f = &fake_mongodb;
    struct sb_result res;

    f->body = t->options;
    add_to(f->steps, sizeof(f->steps), "step(%d,%zu) ", t->step, t->len);
    return give(next(), &res, err);
}

uint8_t *sbmo_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err)
{
    uint8_t *out = malloc(5);

    if (len < 2 || !out) {
        free(out);
        sb_err_set(err, SB_EUSAGE, "no JSON: %.*s", (int)len, json);
        return NULL;
    }
    memcpy(out, "\5\0\0\0", 5);
    *doc_len = 5;
    return out;
}

char *sbmo_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err)
{
    struct sb_buf text;

    fake_mongodb.conversions++;
    if (fake_mongodb.no_json) {
        sb_err_set(err, SB_EUSAGE, "not BSON");
        return NULL;
    }
    sb_buf_init(&text, 0);
    print(&text, doc, len);
    *json_len = text.len;
    return text.data;
}
