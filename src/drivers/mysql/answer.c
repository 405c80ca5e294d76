// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/answer.h"

#include <string.h>

enum stage { FIRST, COLUMNS, BEHIND_COLUMNS, ROWS };

#define IS_OK       0x00
#define IS_ROW      0x00
#define IS_FILE     0xfb
#define IS_EOF      0xfe
#define IS_ERROR    0xff
#define EOF_LEN     5u
#define OK_LEN      7u     // at least
#define PROGRESS    0xffff // an "error" packet that reports progress
#define COLUMNS_MAX 65535u
#define FIXED_LEN   13u // end of a definition: a length byte, then 12 bytes

void sbmy_answer_begin(struct sbmy_answer *a, uint8_t seq, bool may_omit)
{
    *a = (struct sbmy_answer){
        .seq = seq,
        .agreed = may_omit,
        .want = SBMY_HEAD,
    };
}

const uint8_t *sbmy_get_number(
    const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    size_t n;

    if (p >= end || *p == 0xfb || *p == 0xff)
        return NULL;
    if (*p < 0xfb) {
        *out = *p;
        return p + 1;
    }
    n = *p == 0xfc ? 2 : *p == 0xfd ? 3 : 8;
    p++;
    if ((size_t)(end - p) < n)
        return NULL;
    *out = n == 2 ? sbmy_get16(p) : n == 3 ? sbmy_get24(p) : sbmy_get32(p);
    if (n == 8)
        *out |= (uint64_t)sbmy_get32(p + 4) << 32;
    return p + n;
}

static enum sbmy_step take_error(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (len < 3)
        return SBMY_STEP_BAD;
    if (a->stage == FIRST && sbmy_get16(p + 1) == PROGRESS)
        return SBMY_STEP_MORE;
    a->error = at;
    a->error_len = len;
    return SBMY_STEP_DONE;
}

bool sbmy_matched(const char *text, size_t len)
{
    size_t i = 0;

    while (i < len && (text[i] < '0' || text[i] > '9'))
        i++;
    return i < len && text[i] != '0';
}

// The text follows its length, and may be followed by the state of the session.
// From servers that do not send that, it has no length and ends the packet.
static bool matched_in_ok(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *text;
    uint64_t n;

    if (p == end)
        return false;
    text = sbmy_get_number(p, end, &n);
    if (!text || n > (uint64_t)(end - text)) {
        text = p;
        n = (uint64_t)(end - p);
    }
    return sbmy_matched((const char *)text, (size_t)n);
}

static enum sbmy_step take_ok(
    struct sbmy_answer *a, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;

    p = sbmy_get_number(p + 1, end, &a->affected);
    if (p)
        p = sbmy_get_number(p, end, &a->insert_id);
    if (!p || end - p < 4)
        return SBMY_STEP_BAD;
    a->status = (uint16_t)sbmy_get16(p);
    a->warnings = (uint16_t)sbmy_get16(p + 2);
    if (a->affected == 0)
        a->matched = matched_in_ok(p + 4, end);
    return SBMY_STEP_DONE;
}

static enum sbmy_step take_count(
    struct sbmy_answer *a, size_t after, const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;
    uint64_t n = 0;
    bool follow = true;

    p = sbmy_get_number(p, end, &n);
    if (!p || end - p > a->agreed || n == 0 || n > COLUMNS_MAX)
        return SBMY_STEP_BAD;
    if (p < end) {
        a->remembers = true;
        follow = *p != 0;
    }
    a->nfields = (uint32_t)n;
    a->left = follow ? a->nfields : 0;
    a->columns = follow ? after : 0;
    a->stage = follow ? COLUMNS : BEHIND_COLUMNS;
    return SBMY_STEP_MORE;
}

static enum sbmy_step take_first(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    switch (p[0]) {
    case IS_OK:
        return take_ok(a, p, len);
    case IS_ERROR:
        return take_error(a, at, p, len);
    case IS_FILE:
        a->file = true;
        return SBMY_STEP_DONE;
    default:
        return take_count(a, at + len, p, len);
    }
}

static enum sbmy_step take_row(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (p[0] == IS_ROW) {
        a->nrows++;
        return SBMY_STEP_MORE;
    }
    if (p[0] == IS_ERROR)
        return take_error(a, at, p, len);
    if (p[0] != IS_EOF)
        return SBMY_STEP_BAD;
    if (len >= OK_LEN)
        return take_ok(a, p, len);
    if (len != EOF_LEN)
        return SBMY_STEP_BAD;
    a->warnings = (uint16_t)sbmy_get16(p + 1);
    a->status = (uint16_t)sbmy_get16(p + 3);
    return SBMY_STEP_DONE;
}

// Parses one whole packet, whose body is at `at`. MORE: the answer continues.
static enum sbmy_step take_packet(
    struct sbmy_answer *a, size_t at, const uint8_t *p, size_t len)
{
    if (len == 0)
        return SBMY_STEP_BAD;
    switch (a->stage) {
    case FIRST:
        return take_first(a, at, p, len);
    case COLUMNS:
        if (p[0] == IS_ERROR)
            return take_error(a, at, p, len);
        if (--a->left == 0) {
            a->columns_end = at + len;
            a->stage = BEHIND_COLUMNS;
        }
        return SBMY_STEP_MORE;
    case BEHIND_COLUMNS:
        a->stage = ROWS;
        if (p[0] == IS_EOF && len == EOF_LEN) {
            a->rows = at + len;
            return SBMY_STEP_MORE;
        }
        a->rows = at - SBMY_HEAD;
        return take_row(a, at, p, len);
    default:
        return take_row(a, at, p, len);
    }
}

// Checks the number of a packet. If the server sends an error packet without a
// request before it closes the connection, its number does not follow.
static bool in_order(struct sbmy_answer *a, const uint8_t *head)
{
    if (head[3] == a->seq)
        return true;
    if (a->stage != FIRST || sbmy_get24(head) == 0 ||
        head[SBMY_HEAD] != IS_ERROR)
        return false;
    a->seq = head[3];
    return true;
}

enum sbmy_step sbmy_answer_read(
    struct sbmy_answer *a, const uint8_t *in, size_t len)
{
    for (;;) {
        enum sbmy_step step = SBMY_STEP_MORE;
        size_t at = a->at + SBMY_HEAD;
        uint32_t size;

        a->want = at;
        if (len < at)
            return SBMY_STEP_MORE;
        size = sbmy_get24(in + a->at);
        a->want = at + size;
        if (len < a->want)
            return SBMY_STEP_MORE;
        if (!in_order(a, in + a->at))
            return SBMY_STEP_BAD;
        a->seq++;
        if (!a->goes_on)
            step = take_packet(a, at, in + at, size);
        a->goes_on = size == SBMY_PACKET_FULL;
        if (a->goes_on && (step != SBMY_STEP_MORE || a->stage != ROWS))
            return SBMY_STEP_BAD; // only rows can be that long
        a->at = a->want;
        if (step != SBMY_STEP_MORE)
            return step;
    }
}

bool sbmy_problem_read(
    const uint8_t *body, size_t len, struct sbmy_problem *out)
{
    const uint8_t *end = body + len;

    if (len < 3 || body[0] != IS_ERROR)
        return false;
    *out = (struct sbmy_problem){
        .native = (int)sbmy_get16(body + 1),
        .state = "HY000",
    };
    body += 3;
    if (end - body >= 6 && *body == '#') {
        memcpy(out->state, body + 1, 5);
        body += 6;
    }
    out->text = (const char *)body;
    out->len = (size_t)(end - body);
    return true;
}

static const uint8_t *get_text(
    const uint8_t *p, const uint8_t *end, const uint8_t **text, uint64_t *len)
{
    p = sbmy_get_number(p, end, len);
    if (!p || (uint64_t)(end - p) < *len)
        return NULL;
    *text = p;
    return p + *len;
}

// A definition contains catalog, schema, table, original table, name and
// original name; some servers append details of the type. Therefore the fields
// with a fixed position are read from the end.
bool sbmy_column_read(
    const uint8_t *body, size_t len, struct sbmy_column_def *out)
{
    const uint8_t *p = body, *end = body + len, *text = NULL, *fixed;
    uint64_t n = 0;

    if (len < FIXED_LEN)
        return false;
    fixed = end - FIXED_LEN;
    for (int i = 0; p && i < 5; i++)
        p = get_text(p, fixed, &text, &n);
    if (!p || fixed[0] != FIXED_LEN - 1)
        return false;
    *out = (struct sbmy_column_def){
        .length = sbmy_get32(fixed + 3),
        .type = fixed[7],
        .flags = (uint16_t)sbmy_get16(fixed + 8),
        .decimals = fixed[10],
        .name = (const char *)text,
        .name_len = (size_t)n,
    };
    return true;
}
