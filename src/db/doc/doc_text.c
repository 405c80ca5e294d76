// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands as text, for errors and for --db-debug.
#include <stdlib.h>

#include "db/doc/doc.h"

// Maximum bytes of a command that are converted to JSON: the text is longer
// than any message.
#define PART_MAX 4096u

// Appends a complete document with as many elements as fit. Returns false if
// some were left out.
static bool copy_part(
    struct sb_buf *out, const uint8_t *doc, size_t len, unsigned depth)
{
    size_t at = out->len;
    struct sb_walk w;
    struct sb_elem e;
    int more;

    sb_walk_begin(&w, doc, len);
    sb_buf_add(out, doc, 4);
    while ((more = sb_walk_next(&w, &e)) == 1) {
        size_t head = e.key_len + 2;

        if (out->len + head + e.len <= PART_MAX) {
            sb_buf_add(out, e.value - head, head + e.len);
            continue;
        }
        if ((e.type == SB_BSON_DOCUMENT || e.type == SB_BSON_ARRAY) &&
            depth < SB_BSON_DEPTH && out->len + head <= PART_MAX) {
            sb_buf_add(out, e.value - head, head);
            copy_part(out, e.value, e.len, depth + 1);
        }
        break;
    }
    sb_buf_add(out, "", 1);
    if (!out->failed)
        sb_put32((uint8_t *)out->data + at, (uint32_t)(out->len - at));
    return more == 0;
}

static char *unreadable(size_t len, size_t *n)
{
    char text[64], *out;

    *n = (size_t)snprintf(text, sizeof(text), "(a command of %zu bytes)", len);
    out = malloc(*n + 1);
    if (out)
        memcpy(out, text, *n + 1);
    return out;
}

char *sb__doc_text(
    const struct sb_con_priv *c, const uint8_t *body, size_t len, size_t *n)
{
    struct sb_buf part;
    struct sb_err ignored;
    bool whole = true;
    char *json, *longer;

    sb_buf_init(&part, 0);
    if (len > PART_MAX && sb_bson_framed(body, len)) {
        whole = copy_part(&part, body, len, 1);
        body = (const uint8_t *)part.data;
        len = part.failed ? 0 : part.len;
    }
    json = len ? c->drv->doc->to_json(body, len, n, &ignored) : NULL;
    sb_buf_done(&part);
    if (!json)
        return unreadable(len, n);
    if (whole)
        return json;
    longer = realloc(json, *n + sizeof("..."));
    if (!longer)
        return json;
    memcpy(longer + *n, "...", sizeof("..."));
    *n += 3;
    return longer;
}
