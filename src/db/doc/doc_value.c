// SPDX-License-Identifier: GPL-2.0-or-later
//
// Converts values to the types that their placeholders require.
#include <math.h>

#include "db/doc/doc.h"

#define EXACT  9007199254740992.0    // 2^53: all integers below are exact
#define INT_63 9223372036854775808.0 // 2^63

static const struct {
    const char *name, *says;
    uint8_t type;
} wants[] = {
    [SB__WANT_ANY] = { "any", "a value", 0 },
    [SB__WANT_INT32] = { "int32", "an int32", SB_BSON_INT32 },
    [SB__WANT_INT64] = { "int64", "an int64", SB_BSON_INT64 },
    [SB__WANT_DOUBLE] = { "double", "a double", SB_BSON_DOUBLE },
    [SB__WANT_TEXT] = { "string", "a string", SB_BSON_TEXT },
    [SB__WANT_BOOL] = { "bool", "a bool", SB_BSON_BOOL },
    [SB__WANT_DATE] = { "date", "a date (an integral number of ms)",
        SB_BSON_DATE },
};
#define WANTS ((int)(sizeof(wants) / sizeof(wants[0])))

int sb__want_named(const char *name, size_t len)
{
    for (int i = 0; i < WANTS; i++) {
        if (strlen(wants[i].name) == len &&
            memcmp(wants[i].name, name, len) == 0)
            return i;
    }
    return -1;
}

// Writes a description such as "the string 'abc'".
static void describe(const struct sb_doc_value *v, char *out, size_t size)
{
    int shown = v->len < 40 ? (int)v->len : 40;

    switch (v->type) {
    case SB_DOC_INT:
        snprintf(out, size, "%lld", (long long)v->i);
        break;
    case SB_DOC_DOUBLE:
        snprintf(out, size, "%.17g", v->d);
        break;
    case SB_DOC_TEXT:
        // Do not cut a UTF-8 character.
        while (shown > 0 && (uint32_t)shown < v->len &&
               ((unsigned char)v->s[shown] & 0xc0) == 0x80)
            shown--;
        snprintf(out, size, "the string '%.*s%s'", shown, v->s,
            (uint32_t)shown < v->len ? "..." : "");
        break;
    case SB_DOC_BOOL:
        snprintf(out, size, "%s", v->i ? "true" : "false");
        break;
    case SB_DOC_ELEMENT:
        snprintf(out, size, "BSON of type %u", (unsigned char)v->s[0]);
        break;
    default:
        snprintf(out, size, "of the unknown type %d", (int)v->type);
    }
}

static uint8_t *refuse_value(
    const struct sb_doc_value *v, enum sb__want want, struct sb_err *err)
{
    char what[80];

    describe(v, what, sizeof(what));
    sb_err_set(
        err, SB_EUSAGE, "is %s, but %s is required", what, wants[want].says);
    return NULL;
}

static uint8_t *put_int32(uint8_t *type, uint8_t *out, int32_t i)
{
    *type = SB_BSON_INT32;
    sb_put32(out, (uint32_t)i);
    return out + 4;
}

static uint8_t *put_8(
    uint8_t *type, uint8_t *out, enum sb_bson_type is, uint64_t bits)
{
    *type = (uint8_t)is;
    sb_put64(out, bits);
    return out + 8;
}

static uint8_t *put_double(uint8_t *type, uint8_t *out, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    return put_8(type, out, SB_BSON_DOUBLE, bits);
}

static uint8_t *put_text(uint8_t *type, uint8_t *out, const char *s, size_t len)
{
    *type = SB_BSON_TEXT;
    sb_put32(out, (uint32_t)len + 1);
    if (len)
        memcpy(out + 4, s, len);
    out[4 + len] = '\0';
    return out + 5 + len;
}

static uint8_t *put_bool(uint8_t *type, uint8_t *out, bool b)
{
    *type = SB_BSON_BOOL;
    *out = b;
    return out + 1;
}

// Writes the smallest type that has this value; -0 is not an integer.
static uint8_t *put_number(uint8_t *type, uint8_t *out, double d)
{
    if (d >= INT32_MIN && d <= INT32_MAX && d == (int32_t)d &&
        !(d == 0 && signbit(d)))
        return put_int32(type, out, (int32_t)d);
    if (d > -EXACT && d < EXACT && d == (double)(int64_t)d && d != 0)
        return put_8(type, out, SB_BSON_INT64, (uint64_t)(int64_t)d);
    return put_double(type, out, d);
}

// Stores the value if it is an integer in the range of int64_t; returns false
// otherwise.
static bool integer(const struct sb_doc_value *v, int64_t *i)
{
    if (v->type == SB_DOC_INT) {
        *i = v->i;
        return true;
    }
    if (v->type != SB_DOC_DOUBLE || !(v->d >= -INT_63 && v->d < INT_63) ||
        v->d != floor(v->d))
        return false;
    *i = (int64_t)v->d;
    return true;
}

static uint8_t *put_any(const struct sb_doc_value *v, uint8_t *type,
    uint8_t *out, struct sb_err *err)
{
    switch (v->type) {
    case SB_DOC_INT:
        return put_8(type, out, SB_BSON_INT64, (uint64_t)v->i);
    case SB_DOC_DOUBLE:
        return put_number(type, out, v->d);
    case SB_DOC_TEXT:
        return put_text(type, out, v->s, v->len);
    case SB_DOC_BOOL:
        return put_bool(type, out, v->i != 0);
    default:
        return refuse_value(v, SB__WANT_ANY, err);
    }
}

// Writes a value given as BSON: unchanged if it has the required type,
// otherwise converted.
static uint8_t *put_element(const struct sb_doc_value *v, enum sb__want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    const uint8_t *p = (const uint8_t *)v->s;
    struct sb_doc_value plain = { .type = SB_DOC_INT };
    size_t len = v->len ? v->len - 1 : 0;

    if (!v->len || sb_bson_size(p[0], p + 1, len) != len) {
        sb_err_set(err, SB_EUSAGE, "is malformed BSON");
        return NULL;
    }
    if (want == SB__WANT_ANY || p[0] == wants[want].type ||
        p[0] == SB_BSON_NULL) {
        *type = p[0];
        if (len)
            memcpy(out, p + 1, len);
        return out + len;
    }
    if (p[0] == SB_BSON_INT32) {
        plain.i = (int32_t)sb_get32(p + 1);
    } else if (p[0] == SB_BSON_INT64) {
        plain.i = (int64_t)sb_get64(p + 1);
    } else if (p[0] == SB_BSON_DOUBLE) {
        uint64_t bits = sb_get64(p + 1);

        plain.type = SB_DOC_DOUBLE;
        memcpy(&plain.d, &bits, sizeof(bits));
    } else {
        return refuse_value(v, want, err);
    }
    assert(want != SB__WANT_ANY && plain.type != SB_DOC_ELEMENT); // an end
    return sb__value_put(&plain, want, type, out, err);
}

static uint8_t *put_typed(const struct sb_doc_value *v, enum sb__want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    int64_t i;

    switch (want) {
    case SB__WANT_INT32:
        if (integer(v, &i) && i >= INT32_MIN && i <= INT32_MAX)
            return put_int32(type, out, (int32_t)i);
        break;
    case SB__WANT_INT64:
        if (integer(v, &i))
            return put_8(type, out, SB_BSON_INT64, (uint64_t)i);
        break;
    case SB__WANT_DATE:
        if (integer(v, &i))
            return put_8(type, out, SB_BSON_DATE, (uint64_t)i);
        break;
    case SB__WANT_DOUBLE:
        if (v->type == SB_DOC_DOUBLE || v->type == SB_DOC_INT)
            return put_double(
                type, out, v->type == SB_DOC_INT ? (double)v->i : v->d);
        break;
    case SB__WANT_TEXT:
        if (v->type == SB_DOC_TEXT)
            return put_text(type, out, v->s, v->len);
        break;
    case SB__WANT_BOOL:
        if (v->type == SB_DOC_BOOL)
            return put_bool(type, out, v->i != 0);
        break;
    case SB__WANT_ANY:
    default:
        return put_any(v, type, out, err);
    }
    return refuse_value(v, want, err);
}

uint8_t *sb__value_put(const struct sb_doc_value *v, enum sb__want want,
    uint8_t *type, uint8_t *out, struct sb_err *err)
{
    assert(type < out); // the key is between them
    if (v->type == SB_DOC_ELEMENT)
        return put_element(v, want, type, out, err);
    if (v->type == SB_DOC_NULL) {
        *type = SB_BSON_NULL;
        return out;
    }
    return put_typed(v, want, type, out, err);
}
