// SPDX-License-Identifier: GPL-2.0-or-later
//
// Values of placeholders: the type that is written, and what is refused.
#include <math.h>

#include "check.h"
#include "db/doc/doc.h"

static struct sb_err err;
static uint8_t bytes[256];
static uint8_t type;

static struct sb_doc_value int_of(int64_t i)
{
    return (struct sb_doc_value){ .type = SB_DOC_INT, .i = i };
}

static struct sb_doc_value double_of(double d)
{
    return (struct sb_doc_value){ .type = SB_DOC_DOUBLE, .d = d };
}

static struct sb_doc_value text_of(const char *s)
{
    return (struct sb_doc_value){
        .type = SB_DOC_TEXT, .s = s, .len = (uint32_t)strlen(s)
    };
}

static struct sb_doc_value bool_of(bool b)
{
    return (struct sb_doc_value){ .type = SB_DOC_BOOL, .i = b };
}

// A type and the value.
static struct sb_doc_value element(const char *s, size_t len)
{
    return (struct sb_doc_value){
        .type = SB_DOC_ELEMENT, .s = s, .len = (uint32_t)len
    };
}
#define ELEMENT(s) element(s, sizeof(s) - 1)

// Writes a value. Returns its length; -1: it was refused.
static int put(struct sb_doc_value v, enum sb__want want)
{
    size_t room = sb__value_room(&v);
    uint8_t *end;

    sb_err_clear(&err);
    type = 0xee;
    memset(bytes, 0xee, sizeof(bytes));
    end = sb__value_put(&v, want, &type, bytes, &err);
    if (!end) {
        CHECK_INT(err.code, SB_EUSAGE);
        return -1;
    }
    CHECK_INT(err.code, 0);
    CHECK(end >= bytes && (size_t)(end - bytes) <= room);
    CHECK_INT(*end, 0xee); // nothing behind it is written
    return (int)(end - bytes);
}

static const char *refused(struct sb_doc_value v, enum sb__want want)
{
    CHECK_INT(put(v, want), -1);
    return err.msg;
}

static void is_int32(struct sb_doc_value v, enum sb__want want, int32_t i)
{
    CHECK_INT(put(v, want), 4);
    CHECK_INT(type, SB_BSON_INT32);
    CHECK_INT((int32_t)sb_get32(bytes), i);
}

static void is_int64(struct sb_doc_value v, enum sb__want want, int64_t i)
{
    CHECK_INT(put(v, want), 8);
    CHECK_INT(type, SB_BSON_INT64);
    CHECK_INT((int64_t)sb_get64(bytes), i);
}

static void is_double(struct sb_doc_value v, enum sb__want want, double d)
{
    double got;

    CHECK_INT(put(v, want), 8);
    CHECK_INT(type, SB_BSON_DOUBLE);
    got = sb_get_double(bytes);
    CHECK(memcmp(&got, &d, sizeof(d)) == 0);
}

static int want_of(const char *name)
{
    return sb__want_named(name, strlen(name));
}

static void types_have_names(void)
{
    CHECK_INT(want_of("any"), SB__WANT_ANY);
    CHECK_INT(want_of("int32"), SB__WANT_INT32);
    CHECK_INT(want_of("int64"), SB__WANT_INT64);
    CHECK_INT(want_of("double"), SB__WANT_DOUBLE);
    CHECK_INT(want_of("string"), SB__WANT_TEXT);
    CHECK_INT(want_of("bool"), SB__WANT_BOOL);
    CHECK_INT(want_of("date"), SB__WANT_DATE);
    CHECK_INT(want_of("int"), -1);
    CHECK_INT(want_of("int320"), -1);
    CHECK_INT(want_of(""), -1);
    CHECK_INT(sb__want_named("dates", 4), SB__WANT_DATE);
}

// As Lua has only doubles, the smallest type that has the value is chosen.
static void numbers_have_the_smallest_type(void)
{
    is_int32(double_of(0), SB__WANT_ANY, 0);
    is_int32(double_of(INT32_MAX), SB__WANT_ANY, INT32_MAX);
    is_int32(double_of(INT32_MIN), SB__WANT_ANY, INT32_MIN);
    is_int64(double_of(2147483648.0), SB__WANT_ANY, INT64_C(2147483648));
    is_int64(double_of(-2147483649.0), SB__WANT_ANY, -INT64_C(2147483649));
    is_int64(
        double_of(9007199254740991.0), SB__WANT_ANY, INT64_C(9007199254740991));
    // From 2^53 on, a double may stand for other integers.
    is_double(double_of(9007199254740992.0), SB__WANT_ANY, 9007199254740992.0);
    is_double(double_of(0.5), SB__WANT_ANY, 0.5);
    is_double(double_of(-0.0), SB__WANT_ANY, -0.0);
    is_double(double_of(NAN), SB__WANT_ANY, NAN);
    is_double(double_of(-INFINITY), SB__WANT_ANY, -INFINITY);
    is_int64(int_of(1), SB__WANT_ANY, 1);
}

static void other_values(void)
{
    const struct sb_doc_value null = { .type = SB_DOC_NULL };

    CHECK_INT(put(text_of("abc"), SB__WANT_ANY), 8);
    CHECK_INT(type, SB_BSON_TEXT);
    CHECK(memcmp(bytes, "\4\0\0\0abc", 8) == 0);
    CHECK_INT(put(text_of(""), SB__WANT_TEXT), 5);
    CHECK(memcmp(bytes, "\1\0\0\0", 5) == 0);
    CHECK_INT(put(bool_of(true), SB__WANT_ANY), 1);
    CHECK_INT(type, SB_BSON_BOOL);
    CHECK_INT(bytes[0], 1);
    CHECK_INT(put(bool_of(false), SB__WANT_BOOL), 1);
    CHECK_INT(bytes[0], 0);
    // Null fits every type.
    CHECK_INT(put(null, SB__WANT_INT32), 0);
    CHECK_INT(type, SB_BSON_NULL);
    CHECK_STR(refused((struct sb_doc_value){ .type = 99 }, SB__WANT_ANY),
        "is of the unknown type 99, but a value is required");
}

static void integers_are_checked(void)
{
    is_int32(double_of(5), SB__WANT_INT32, 5);
    is_int32(int_of(INT32_MIN), SB__WANT_INT32, INT32_MIN);
    CHECK_STR(refused(int_of(INT64_C(2147483648)), SB__WANT_INT32),
        "is 2147483648, but an int32 is required");
    refused(int_of(-INT64_C(2147483649)), SB__WANT_INT32);
    is_int64(double_of(5), SB__WANT_INT64, 5);
    is_int64(double_of(-9223372036854775808.0), SB__WANT_INT64, INT64_MIN);
    CHECK_STR(refused(double_of(9223372036854775808.0), SB__WANT_INT64),
        "is 9.2233720368547758e+18, but an int64 is required");
    refused(double_of(NAN), SB__WANT_INT64);
    CHECK_STR(refused(double_of(1.5), SB__WANT_DATE),
        "is 1.5, but a date (an integral number of ms) is required");
    CHECK_INT(put(double_of(1000), SB__WANT_DATE), 8);
    CHECK_INT(type, SB_BSON_DATE);
    CHECK_INT(sb_get64(bytes), 1000);
}

static void other_types_are_checked(void)
{
    is_double(double_of(3), SB__WANT_DOUBLE, 3);
    is_double(int_of(3), SB__WANT_DOUBLE, 3);
    CHECK_STR(refused(bool_of(true), SB__WANT_DOUBLE),
        "is true, but a double is required");
    CHECK_STR(refused(bool_of(false), SB__WANT_TEXT),
        "is false, but a string is required");
    CHECK_STR(refused(text_of("yes"), SB__WANT_BOOL),
        "is the string 'yes', but a bool is required");
    refused(int_of(1), SB__WANT_BOOL);
    refused(text_of("1"), SB__WANT_INT32);
}

// A character of two bytes at the 40th.
static void long_texts_are_cut_in_messages(void)
{
    CHECK_STR(refused(text_of("0123456789012345678901234567890123456789"),
                  SB__WANT_BOOL),
        "is the string '0123456789012345678901234567890123456789', but a bool "
        "is required");
    CHECK_STR(
        refused(text_of("012345678901234567890123456789012345678\xc3\xa9"),
            SB__WANT_BOOL),
        "is the string '012345678901234567890123456789012345678...', but a "
        "bool is required");
}

static void elements_are_copied(void)
{
    CHECK_INT(put(ELEMENT("\x10\5\0\0\0"), SB__WANT_ANY), 4);
    CHECK_INT(type, SB_BSON_INT32);
    CHECK_INT(sb_get32(bytes), 5);
    CHECK_INT(put(ELEMENT("\x0a"), SB__WANT_BOOL), 0);
    CHECK_INT(type, SB_BSON_NULL);
    CHECK_INT(put(ELEMENT("\x07"
                          "abcdefghijkl"),
                  SB__WANT_ANY),
        12);
    CHECK_INT(type, SB_BSON_OID);
    CHECK(memcmp(bytes, "abcdefghijkl", 12) == 0);
}

static void elements_are_converted(void)
{
    is_int64(ELEMENT("\x10\xff\xff\xff\xff"), SB__WANT_INT64, -1);
    is_int32(ELEMENT("\x12\5\0\0\0\0\0\0\0"), SB__WANT_INT32, 5);
    is_int32(ELEMENT("\x01\0\0\0\0\0\0\x14\x40"), SB__WANT_INT32, 5);
    CHECK_STR(refused(ELEMENT("\x12\0\0\0\0\1\0\0\0"), SB__WANT_INT32),
        "is 4294967296, but an int32 is required");
    CHECK_STR(refused(ELEMENT("\x07"
                              "abcdefghijkl"),
                  SB__WANT_INT32),
        "is BSON of type 7, but an int32 is required");
}

static void malformed_elements_are_refused(void)
{
    CHECK_STR(refused(ELEMENT(""), SB__WANT_ANY), "is malformed BSON");
    CHECK_STR(
        refused(ELEMENT("\x10\5\0\0"), SB__WANT_ANY), "is malformed BSON");
    CHECK_STR(refused(ELEMENT("\x10\5\0\0\0\0"), SB__WANT_INT32),
        "is malformed BSON");
}

CHECK_FILE
{
    RUN(types_have_names);
    RUN(numbers_have_the_smallest_type);
    RUN(other_values);
    RUN(integers_are_checked);
    RUN(other_types_are_checked);
    RUN(long_texts_are_cut_in_messages);
    RUN(elements_are_copied);
    RUN(elements_are_converted);
    RUN(malformed_elements_are_refused);
    return check_done();
}
