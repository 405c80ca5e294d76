// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts documents and single values to text.
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "drivers/mongodb/internal.h"
#include "kit/number.h"

// Sets the error for a text that is not JSON. A text that begins with a word is
// probably SQL.
static void not_json(
    const char *json, size_t len, const char *why, struct sb_err *err)
{
    while (len && strchr(" \t\r\n", *json)) {
        json++;
        len--;
    }
    if (len && *json != '{' && *json != '[')
        sb_err_set(err, SB_EQUERY,
            "the mongodb driver accepts JSON documents, not SQL; for its "
            "workloads (mongodb/oltp and others) see --list");
    else
        sb_err_set(err, SB_EQUERY, "not a JSON document: %s",
            len ? why : "it is empty");
}

uint8_t *sbmo_from_json(
    const char *json, size_t len, size_t *doc_len, struct sb_err *err)
{
    bson_error_t e;
    bson_t *doc = bson_new_from_json((const uint8_t *)json, (ssize_t)len, &e);
    uint8_t *out;

    if (!doc) {
        not_json(json, len, e.message, err);
        return NULL;
    }
    out = malloc(doc->len);
    if (out) {
        memcpy(out, bson_get_data(doc), doc->len);
        *doc_len = doc->len;
    } else {
        sb_err_no_memory(err);
    }
    bson_destroy(doc);
    return out;
}

char *sbmo_to_json(
    const uint8_t *doc, size_t len, size_t *json_len, struct sb_err *err)
{
    bson_t b;
    char *text = NULL, *out;

    if (bson_init_static(&b, doc, len))
        text = bson_as_relaxed_extended_json(&b, json_len);
    if (!text) {
        sb_err_set(err, SB_EQUERY, "not a BSON document");
        return NULL;
    }
    out = strdup(text);
    bson_free(text);
    if (!out)
        sb_err_no_memory(err);
    return out;
}

static bool mo_add_text(struct sb_buf *m, const char *fmt, ...) SB_PRINTF(2, 3);

static bool mo_add_text(struct sb_buf *m, const char *fmt, ...)
{
    char text[80];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return n >= 0 && sbmo_add(m, text, (size_t)n);
}

static bool add_double(struct sb_buf *m, double d)
{
    char text[SB_NUMBER_ROOM];

    return sbmo_add(m, text, sb_number_double(text, d));
}

static bool mo_add_date(struct sb_buf *m, int64_t ms)
{
    int64_t part = ms % 1000;
    time_t s = (time_t)(ms / 1000);
    char text[40];
    struct tm t;

    if (part < 0) {
        part += 1000;
        s--;
    }
    if (!gmtime_r(&s, &t) ||
        !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &t))
        return mo_add_text(m, "%" PRId64, ms);
    return mo_add_text(m, "%s.%03d", text, (int)part);
}

static bool add_oid(struct sb_buf *m, const uint8_t *p)
{
    for (int i = 0; i < 12; i++) {
        if (!mo_add_text(m, "%02x", p[i]))
            return false;
    }
    return true;
}

static bool mo_add_decimal(struct sb_buf *m, const uint8_t *p)
{
    bson_decimal128_t d = { .low = sb_get64(p), .high = sb_get64(p + 8) };
    char text[BSON_DECIMAL128_STRING];

    bson_decimal128_to_string(&d, text);
    return sbmo_add(m, text, strlen(text));
}

// Formats a document with this one field and takes the text after its name.
static bool add_json(struct sb_buf *m, const struct sb_elem *e)
{
    uint32_t len = (uint32_t)(4 + 1 + 2 + e->len + 1);
    struct sb_buf doc = { 0 };
    uint8_t head[] = { (uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16),
        (uint8_t)(len >> 24), e->type, 'v', 0 };
    bool done = sbmo_add(&doc, head, sizeof(head)) &&
                sbmo_add(&doc, e->value, e->len) && sbmo_add(&doc, "", 1);
    char *text = NULL, *from, *to;
    size_t n = 0;

    if (done)
        text = sbmo_to_json((const uint8_t *)doc.data, doc.len, &n, NULL);
    sb_buf_done(&doc);
    from = text ? strchr(text, ':') : NULL;
    to = text ? strrchr(text, '}') : NULL;
    if (!from || !to || to <= from) {
        free(text);
        return done; // malformed bytes: an empty column
    }
    for (from++; *from == ' '; from++)
        continue;
    while (to > from && to[-1] == ' ')
        to--;
    done = sbmo_add(m, from, (size_t)(to - from));
    free(text);
    return done;
}

bool sbmo_value_text(struct sb_buf *m, const struct sb_elem *e)
{
    const char *text;
    size_t len;

    switch (e->type) {
    case SB_BSON_TEXT:
        text = sb_elem_text(e, &len);
        return sbmo_add(m, text, len);
    case SB_BSON_INT32:
    case SB_BSON_INT64:
        return mo_add_text(m, "%" PRId64, sb_elem_int(e));
    case SB_BSON_DOUBLE:
        return add_double(m, sb_get_double(e->value));
    case SB_BSON_BOOL:
        return mo_add_text(m, "%s", e->value[0] ? "true" : "false");
    case SB_BSON_DATE:
        return mo_add_date(m, (int64_t)sb_get64(e->value));
    case SB_BSON_OID:
        return add_oid(m, e->value);
    case SB_BSON_DECIMAL:
        return mo_add_decimal(m, e->value);
    case SB_BSON_BINARY:
        return sbmo_add(m, e->value + 5, e->len - 5);
    default:
        return add_json(m, e);
    }
}
