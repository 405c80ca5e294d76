// SPDX-License-Identifier: GPL-2.0-or-later
//
// Compiled commands: the bytes that they send, the values that they accept,
// and rejected commands.
#include <float.h>
#include <math.h>

#include "fake_documents.h"

static struct doc d;

#define INT(n)                         \
    {                                  \
        .type = SBMO_DOC_INT, .i = (n) \
    }
#define NUMBER(n)                         \
    {                                     \
        .type = SBMO_DOC_DOUBLE, .d = (n) \
    }
#define TEXT(t)                                               \
    {                                                         \
        .type = SBMO_DOC_TEXT, .s = (t), .len = sizeof(t) - 1 \
    }
#define BOOL(b)                         \
    {                                   \
        .type = SBMO_DOC_BOOL, .i = (b) \
    }
#define NONE                  \
    {                         \
        .type = SBMO_DOC_NULL \
    }
#define ELEMENT(t)                                               \
    {                                                            \
        .type = SBMO_DOC_ELEMENT, .s = (t), .len = sizeof(t) - 1 \
    }

static struct sbmo_doc_op *compile(const struct doc *doc)
{
    struct sbmo_doc_op *op = sbmo_doc_compile(
        &c.pub, doc->data, doc->len, NULL);

    CHECK_STR(c.pub.sql_errmsg, "");
    return op;
}

static bool sent(const struct doc *doc)
{
    return fake_mongodb.last.len == doc->len &&
           memcmp(fake_mongodb.last.data, doc->data, doc->len) == 0;
}

// {find: "t", filter: {_id: $1}, limit: 1} with bytes written out.
static void find_by_id(void)
{
    static const char want[] = "\x32\0\0\0"
                               "\x02"
                               "find\0"
                               "\x02\0\0\0"
                               "t\0"
                               "\x03"
                               "filter\0"
                               "\x0e\0\0\0"
                               "\x10"
                               "_id\0"
                               "\x2a\0\0\0"
                               "\0"
                               "\x10"
                               "limit\0"
                               "\1\0\0\0";
    static const struct sbmo_doc_value ints[] = { NUMBER(42) };
    static const struct sbmo_doc_value texts[] = { TEXT("abcdef") };
    struct sbmo_doc_op *op;
    const uint8_t *body;

    start_documents();
    put_text(begin(&d), "find", "t");
    open_in(&d, 0x03, "filter");
    put_arg(&d, "_id", 1, NULL);
    end(&d);
    put_int(&d, "limit", 1);
    op = compile(end(&d));
    CHECK_INT(sbmo_doc_op_nargs(op), 1);
    next_answer(0, 0)->kind = SB_RESULT_ROWS;
    CHECK_INT(execute_op(op, ints, 1), 0);
    CHECK_INT(fake_mongodb.last.len, sizeof(want));
    CHECK(memcmp(fake_mongodb.last.data, want, sizeof(want)) == 0);
    body = fake_mongodb.body;
    CHECK_INT(execute_op(op, texts, 1), 0);
    CHECK_STR(commands(), "{find:'t',filter:{_id:42},limit:1} "
                          "{find:'t',filter:{_id:'abcdef'},limit:1} ");
    CHECK_INT(op_count("find"), 2);
    CHECK_INT(rec->tally.reads, 1);
    // The buffer is not allocated again once it is large enough.
    for (int i = 0; i < 100; i++)
        CHECK_INT(execute_op(op, ints, 1), 0);
    CHECK(fake_mongodb.body == body);
    CHECK_INT(rec->tally.others, 101);
    sb_object_drop(op);
    // Other commands of the connection use it, too.
    put_arg(begin(&d), "ping", 1, NULL);
    op = compile(end(&d));
    CHECK_INT(execute_op(op, ints, 1), 0);
    CHECK(fake_mongodb.body == body);
    sb_object_drop(op);
    finish_documents();
}

// Placeholders in arrays, in documents in arrays, twice, out of order, first
// and last; and bytes between them that look like placeholders.
static void placeholders_anywhere(void)
{
    static const struct sbmo_doc_value values[] = { NUMBER(1), TEXT("two"),
        ELEMENT("\x03\x0e\0\0\0\x10"
                "_id\0\x07\0\0\0") };
    static const struct sbmo_doc_value whole[] = { NUMBER(1), TEXT("two"),
        ELEMENT("\x03\x0e\0\0\0\x10_id\0\x07\0\0\0\0") };
    struct sbmo_doc_op *op;
    struct doc want;

    start_documents();
    put_arg(begin(&d), "first", 2, NULL);
    open_in(&d, 0x03, "plain");
    open_in(&d, 0x04, "in");
    put_int(&d, "0", 5);
    end(&d);
    end(&d);
    open_in(&d, 0x04, "list");
    put_arg(&d, "0", 1, "int64");
    open_in(&d, 0x03, "1");
    put_arg(&d, "x", 2, NULL);
    put_arg(&d, "yy", 3, NULL);
    end(&d);
    open_in(&d, 0x03, "2");
    put_text(&d, "x", "$arg");
    end(&d);
    put_arg(&d, "3", 1, "double");
    end(&d);
    put_arg(&d, "last", 2, "string");
    op = compile(end(&d));
    CHECK_INT(sbmo_doc_op_nargs(op), 3);
    CHECK_INT(execute_op(op, values, 3), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "value 3 is malformed BSON");
    CHECK_INT(execute_op(op, whole, 3), 0);
    put_text(begin(&want), "first", "two");
    open_in(&want, 0x03, "plain");
    open_in(&want, 0x04, "in");
    put_int(&want, "0", 5);
    end(&want);
    end(&want);
    open_in(&want, 0x04, "list");
    key(&want, 0x12, "0");
    bytes(&want, "\1\0\0\0\0\0\0\0", 8);
    open_in(&want, 0x03, "1");
    put_text(&want, "x", "two");
    open_in(&want, 0x03, "yy");
    put_int(&want, "_id", 7);
    end(&want);
    end(&want);
    open_in(&want, 0x03, "2");
    put_text(&want, "x", "$arg");
    end(&want);
    key(&want, 0x01, "3");
    bytes(&want, "\0\0\0\0\0\0\xf0\x3f", 8);
    end(&want);
    put_text(&want, "last", "two");
    CHECK(sent(end(&want)));
    sb_object_drop(op);
    finish_documents();
}

// Returns the value that {x: {$arg: 1, type: type}} sends, as text.
static const char *sends(const char *type, struct sbmo_doc_value v)
{
    static char out[4096];
    struct sbmo_doc_op *op;

    put_arg(begin(&d), "x", 1, type);
    op = compile(end(&d));
    if (execute_op(op, &v, 1)) {
        CHECK_INT(c.err.code, SB_EUSAGE);
        CHECK_INT(c.pub.error, SB_SQL_FATAL);
        snprintf(out, sizeof(out), "%s", c.pub.sql_errmsg);
    } else {
        snprintf(out, sizeof(out), "%s", commands());
    }
    sb_object_drop(op);
    return out;
}

#define V(...) ((struct sbmo_doc_value)__VA_ARGS__)

static void any_value(void)
{
    start_documents();
    CHECK_STR(sends(NULL, V(NUMBER(3))), "{x:3} ");
    CHECK_STR(sends("any", V(NUMBER(-2147483648.0))), "{x:-2.14748e+09} ");
    CHECK_INT(fake_mongodb.last.len, 12);
    CHECK_STR(sends(NULL, V(NUMBER(2147483648.0))), "{x:2147483648L} ");
    CHECK_STR(
        sends(NULL, V(NUMBER(-9007199254740991.0))), "{x:-9007199254740991L} ");
    CHECK_STR(sends(NULL, V(NUMBER(9007199254740992.0))), "{x:9.0072e+15d} ");
    CHECK_STR(sends(NULL, V(NUMBER(1e300))), "{x:1e+300d} ");
    CHECK_STR(sends(NULL, V(NUMBER(0.5))), "{x:0.5d} ");
    CHECK_STR(sends(NULL, V(NUMBER(0))), "{x:0} ");
    CHECK_STR(sends(NULL, V(NUMBER(-0.0))), "{x:-0d} ");
    CHECK_STR(sends(NULL, V(NUMBER(INFINITY))), "{x:infd} ");
    CHECK(strstr(sends(NULL, V(NUMBER(NAN))), "nand"));
    CHECK_STR(sends(NULL, V(INT(3))), "{x:3L} ");
    CHECK_STR(sends(NULL, V(TEXT(""))), "{x:''} ");
    CHECK_STR(sends(NULL, V(BOOL(1))), "{x:true} ");
    CHECK_STR(sends(NULL, V(BOOL(0))), "{x:false} ");
    CHECK_STR(sends(NULL, V(NONE)), "{x:null} ");
    CHECK_STR(sends(NULL, V(ELEMENT("\x10\5\0\0\0"))), "{x:5} ");
    CHECK_STR(sends(NULL, V(ELEMENT("\x7f"))), "{x:0} ");
    CHECK_STR(sends(NULL, V({ .type = 77 })),
        "value 1 is of the unknown type 77, but a value is required");
    finish_documents();
}

static void typed_values(void)
{
    start_documents();
    CHECK_STR(sends("int32", V(NUMBER(3))), "{x:3} ");
    CHECK_STR(sends("int32", V(INT(3))), "{x:3} ");
    CHECK_STR(sends("int32", V(NONE)), "{x:null} ");
    CHECK_STR(sends("int32", V(ELEMENT("\x12\4\0\0\0\0\0\0\0"))), "{x:4} ");
    CHECK_STR(sends("int32", V(ELEMENT("\x0a"))), "{x:null} ");
    CHECK_STR(sends("int32", V(TEXT("abc"))),
        "value 1 is the string 'abc', but an int32 is required");
    CHECK_STR(sends("int32", V(NUMBER(2147483648.0))),
        "value 1 is 2147483648, but an int32 is required");
    CHECK_STR(sends("int32", V(INT(-2147483649))),
        "value 1 is -2147483649, but an int32 is required");
    CHECK_STR(sends("int32", V(NUMBER(1.5))),
        "value 1 is 1.5, but an int32 is required");
    CHECK_STR(sends("int32", V(BOOL(1))),
        "value 1 is true, but an int32 is required");
    CHECK_STR(sends("int32", V(ELEMENT("\x08\1"))),
        "value 1 is BSON of type 8, but an int32 is required");
    CHECK_STR(sends("int64", V(NUMBER(3))), "{x:3L} ");
    CHECK_STR(sends("int64", V(INT(INT64_MIN))), "{x:-9223372036854775808L} ");
    CHECK_STR(sends("int64", V(NUMBER(-9223372036854775808.0))),
        "{x:-9223372036854775808L} ");
    CHECK(strstr(sends("int64", V(NUMBER(9223372036854775808.0))),
        "but an int64 is required"));
    CHECK(strstr(sends("int64", V(NUMBER(NAN))), "but an int64 is required"));
    CHECK_STR(sends("double", V(NUMBER(3))), "{x:3d} ");
    CHECK_STR(sends("double", V(INT(3))), "{x:3d} ");
    CHECK_STR(sends("double", V(ELEMENT("\x10\5\0\0\0"))), "{x:5d} ");
    CHECK(strstr(sends("double", V(TEXT("1"))), "but a double is required"));
    CHECK_STR(sends("string", V(TEXT("a"))), "{x:'a'} ");
    CHECK_STR(sends("string", V(NUMBER(1))),
        "value 1 is 1, but a string is required");
    CHECK_STR(sends("bool", V(BOOL(1))), "{x:true} ");
    CHECK(strstr(sends("bool", V(NUMBER(1))), "but a bool is required"));
    CHECK_STR(
        sends("date", V(NUMBER(1700000000000.0))), "{x:date(1700000000000)} ");
    CHECK_STR(
        sends("date", V(ELEMENT("\x09\4\0\0\0\0\0\0\0"))), "{x:date(4)} ");
    CHECK_STR(sends("date", V(NUMBER(0.5))),
        "value 1 is 0.5, but a date (an integral number of ms) is required");
    CHECK_STR(sends("string", V(ELEMENT("\x05\0\0\0\0\0"))),
        "value 1 is BSON of type 5, but a string is required");
    // The text in the message is truncated between characters.
    CHECK_STR(sends("bool",
                  V(TEXT("123456789012345678901234567890123456789\xc3\xa4x"))),
        "value 1 is the string '123456789012345678901234567890123456789...', "
        "but a bool is required");
    finish_documents();
}

// Each value by its bytes --------------------------------------------------

static struct sbmo_doc_value int_of(int64_t i)
{
    return (struct sbmo_doc_value){ .type = SBMO_DOC_INT, .i = i };
}

static struct sbmo_doc_value double_of(double n)
{
    return (struct sbmo_doc_value){ .type = SBMO_DOC_DOUBLE, .d = n };
}

static struct sbmo_doc_value text_of(const char *s)
{
    return (struct sbmo_doc_value){
        .type = SBMO_DOC_TEXT, .s = s, .len = (uint32_t)strlen(s)
    };
}

static struct sbmo_doc_value bool_of(bool b)
{
    return (struct sbmo_doc_value){ .type = SBMO_DOC_BOOL, .i = b };
}

// A type and the value.
static struct sbmo_doc_value element(const char *s, size_t len)
{
    return (struct sbmo_doc_value){
        .type = SBMO_DOC_ELEMENT, .s = s, .len = (uint32_t)len
    };
}
#define BYTES(s) element(s, sizeof(s) - 1)

static uint8_t type;         // that was sent
static const uint8_t *value; // its bytes

// Sends {x: value}. Returns the length of the value; -1: it was refused.
static int put(struct sbmo_doc_value v, const char *want)
{
    struct sbmo_doc_op *op;
    int rc;

    put_arg(begin(&d), "x", 1, want);
    op = compile(end(&d));
    rc = execute_op(op, &v, 1);
    sb_object_drop(op);
    if (rc) {
        CHECK_INT(rc, SB_EUSAGE);
        return -1;
    }
    type = (uint8_t)fake_mongodb.last.data[4];
    value = (const uint8_t *)fake_mongodb.last.data + 7;
    commands();
    return (int)fake_mongodb.last.len - 8;
}

static const char *refused(struct sbmo_doc_value v, const char *want)
{
    CHECK_INT(put(v, want), -1);
    CHECK(strncmp(c.pub.sql_errmsg, "value 1 ", 8) == 0);
    return c.pub.sql_errmsg + 8;
}

static void is_int32(struct sbmo_doc_value v, const char *want, int32_t i)
{
    CHECK_INT(put(v, want), 4);
    CHECK_INT(type, SB_BSON_INT32);
    CHECK_INT((int32_t)sb_get32(value), i);
}

static void is_int64(struct sbmo_doc_value v, const char *want, int64_t i)
{
    CHECK_INT(put(v, want), 8);
    CHECK_INT(type, SB_BSON_INT64);
    CHECK_INT((int64_t)sb_get64(value), i);
}

static void is_double(struct sbmo_doc_value v, const char *want, double n)
{
    double got;

    CHECK_INT(put(v, want), 8);
    CHECK_INT(type, SB_BSON_DOUBLE);
    got = sb_get_double(value);
    CHECK(memcmp(&got, &n, sizeof(n)) == 0);
}

// Returns whether the type has been accepted.
static bool is_type(const char *name, size_t len)
{
    struct sbmo_doc_op *op;

    open_in(begin(&d), 0x03, "x");
    put_int(&d, "$arg", 1);
    key(&d, 0x02, "type");
    sb_put32(d.data + d.len, (uint32_t)len + 1);
    d.len += 4;
    bytes(&d, name, len);
    bytes(&d, "", 1);
    end(&d);
    end(&d);
    op = sbmo_doc_compile(&c.pub, d.data, d.len, NULL);
    if (!op)
        CHECK(strstr(c.pub.sql_errmsg, "the type of placeholder 1 is not"));
    sb_object_drop(op);
    return op != NULL;
}

static void types_have_names(void)
{
    start_documents();
    CHECK(is_type("any", 3));
    CHECK(is_type("int32", 5));
    CHECK(is_type("int64", 5));
    CHECK(is_type("double", 6));
    CHECK(is_type("string", 6));
    CHECK(is_type("bool", 4));
    CHECK(is_type("date", 4));
    CHECK(!is_type("int", 3));
    CHECK(!is_type("int320", 6));
    CHECK(!is_type("", 0));
    CHECK(!is_type("date\0x", 6));
    finish_documents();
}

// As Lua has only doubles, the smallest type that has the value is chosen.
static void numbers_have_the_smallest_type(void)
{
    start_documents();
    is_int32(double_of(0), "any", 0);
    is_int32(double_of(INT32_MAX), "any", INT32_MAX);
    is_int32(double_of(INT32_MIN), "any", INT32_MIN);
    is_int64(double_of(2147483648.0), "any", INT64_C(2147483648));
    is_int64(double_of(-2147483649.0), "any", -INT64_C(2147483649));
    is_int64(double_of(9007199254740991.0), "any", INT64_C(9007199254740991));
    // From 2^53 on, a double may stand for other integers.
    is_double(double_of(9007199254740992.0), "any", 9007199254740992.0);
    is_double(double_of(0.5), "any", 0.5);
    is_double(double_of(-0.0), "any", -0.0);
    is_double(double_of(NAN), "any", NAN);
    is_double(double_of(-INFINITY), "any", -INFINITY);
    is_int64(int_of(1), "any", 1);
    finish_documents();
}

static void other_values(void)
{
    const struct sbmo_doc_value null = { .type = SBMO_DOC_NULL };

    start_documents();
    CHECK_INT(put(text_of("abc"), "any"), 8);
    CHECK_INT(type, SB_BSON_TEXT);
    CHECK(memcmp(value, "\4\0\0\0abc", 8) == 0);
    CHECK_INT(put(text_of(""), "string"), 5);
    CHECK(memcmp(value, "\1\0\0\0", 5) == 0);
    CHECK_INT(put(bool_of(true), "any"), 1);
    CHECK_INT(type, SB_BSON_BOOL);
    CHECK_INT(value[0], 1);
    CHECK_INT(put(bool_of(false), "bool"), 1);
    CHECK_INT(value[0], 0);
    // Null fits every type.
    CHECK_INT(put(null, "int32"), 0);
    CHECK_INT(type, SB_BSON_NULL);
    CHECK_STR(refused((struct sbmo_doc_value){ .type = 99 }, "any"),
        "is of the unknown type 99, but a value is required");
    finish_documents();
}

static void integers_are_checked(void)
{
    start_documents();
    is_int32(double_of(5), "int32", 5);
    is_int32(int_of(INT32_MIN), "int32", INT32_MIN);
    CHECK_STR(refused(int_of(INT64_C(2147483648)), "int32"),
        "is 2147483648, but an int32 is required");
    refused(int_of(-INT64_C(2147483649)), "int32");
    is_int64(double_of(5), "int64", 5);
    is_int64(double_of(-9223372036854775808.0), "int64", INT64_MIN);
    CHECK_STR(refused(double_of(9223372036854775808.0), "int64"),
        "is 9.2233720368547758e+18, but an int64 is required");
    refused(double_of(NAN), "int64");
    CHECK_STR(refused(double_of(1.5), "date"),
        "is 1.5, but a date (an integral number of ms) is required");
    CHECK_INT(put(double_of(1000), "date"), 8);
    CHECK_INT(type, SB_BSON_DATE);
    CHECK_INT(sb_get64(value), 1000);
    finish_documents();
}

static void other_types_are_checked(void)
{
    start_documents();
    is_double(double_of(3), "double", 3);
    is_double(int_of(3), "double", 3);
    CHECK_STR(
        refused(bool_of(true), "double"), "is true, but a double is required");
    CHECK_STR(refused(bool_of(false), "string"),
        "is false, but a string is required");
    CHECK_STR(refused(text_of("yes"), "bool"),
        "is the string 'yes', but a bool is required");
    refused(int_of(1), "bool");
    refused(text_of("1"), "int32");
    finish_documents();
}

// A character of two value at the 40th.
static void long_texts_are_cut_in_messages(void)
{
    start_documents();
    CHECK_STR(
        refused(text_of("0123456789012345678901234567890123456789"), "bool"),
        "is the string '0123456789012345678901234567890123456789', but a bool "
        "is required");
    CHECK_STR(
        refused(
            text_of("012345678901234567890123456789012345678\xc3\xa9"), "bool"),
        "is the string '012345678901234567890123456789012345678...', but a "
        "bool is required");
    finish_documents();
}

static void elements_are_copied(void)
{
    start_documents();
    CHECK_INT(put(BYTES("\x10\5\0\0\0"), "any"), 4);
    CHECK_INT(type, SB_BSON_INT32);
    CHECK_INT(sb_get32(value), 5);
    CHECK_INT(put(BYTES("\x0a"), "bool"), 0);
    CHECK_INT(type, SB_BSON_NULL);
    CHECK_INT(put(BYTES("\x07"
                        "abcdefghijkl"),
                  "any"),
        12);
    CHECK_INT(type, SB_BSON_OID);
    CHECK(memcmp(value, "abcdefghijkl", 12) == 0);
    finish_documents();
}

static void elements_are_converted(void)
{
    start_documents();
    is_int64(BYTES("\x10\xff\xff\xff\xff"), "int64", -1);
    is_int32(BYTES("\x12\5\0\0\0\0\0\0\0"), "int32", 5);
    is_int32(BYTES("\x01\0\0\0\0\0\0\x14\x40"), "int32", 5);
    CHECK_STR(refused(BYTES("\x12\0\0\0\0\1\0\0\0"), "int32"),
        "is 4294967296, but an int32 is required");
    CHECK_STR(refused(BYTES("\x07"
                            "abcdefghijkl"),
                  "int32"),
        "is BSON of type 7, but an int32 is required");
    finish_documents();
}

static void malformed_elements_are_refused(void)
{
    start_documents();
    CHECK_STR(refused(BYTES(""), "any"), "is malformed BSON");
    CHECK_STR(refused(BYTES("\x10\5\0\0"), "any"), "is malformed BSON");
    CHECK_STR(refused(BYTES("\x10\5\0\0\0\0"), "int32"), "is malformed BSON");
    finish_documents();
}

// Compiling and executing ---------------------------------------------------

static const char *compile_error(const struct doc *doc)
{
    struct sbmo_doc_op *op = sbmo_doc_compile(
        &c.pub, doc->data, doc->len, NULL);

    CHECK(op == NULL);
    sb_object_drop(op);
    CHECK_INT(c.err.code, SB_EUSAGE);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    return c.pub.sql_errmsg;
}

// Builds n nested documents.
static void nested(unsigned n)
{
    d.len = 0;
    for (unsigned i = 1; i < n; i++)
        bytes(&d, "\0\0\0\0\x03x", 7);
    memset(d.data + d.len, '\0', 4 + n);
    d.len += 4 + n;
    for (unsigned i = 0; i < n; i++)
        sb_put32(d.data + (size_t)i * 7, (uint32_t)(d.len - (size_t)i * 8));
}

static void rejected_commands(void)
{
    struct sbmo_doc_value one[] = { NUMBER(1) };
    struct sbmo_doc_op *op;

    start_documents();
    put_arg(begin(&d), "x", 0, NULL);
    CHECK(
        strstr(compile_error(end(&d)), "requires a number n from 1 to 65535"));
    put_arg(begin(&d), "x", 65536, NULL);
    CHECK(
        strstr(compile_error(end(&d)), "requires a number n from 1 to 65535"));
    open_in(begin(&d), 0x03, "x");
    put_text(&d, "$arg", "1");
    end(&d);
    CHECK(
        strstr(compile_error(end(&d)), "requires a number n from 1 to 65535"));
    put_arg(begin(&d), "x", 1, "int");
    CHECK(strstr(
        compile_error(end(&d)), "the type of placeholder 1 is not one of"));
    open_in(begin(&d), 0x03, "x");
    put_int(&d, "$arg", 1);
    put_int(&d, "of", 1);
    end(&d);
    CHECK(strstr(compile_error(end(&d)), "placeholder 1 has a key 'of'"));
    put_int(begin(&d), "$arg", 1);
    CHECK(strstr(compile_error(end(&d)), "but not the whole document"));
    put_text(begin(&d), "find", "t");
    end(&d);
    d.data[10] = 99; // the length of the text
    CHECK_STR(compile_error(&d), "the document is malformed BSON at byte 4");
    put_text(begin(&d), "find", "t");
    end(&d)->data[4] = 0x21;
    CHECK_STR(compile_error(&d), "the document is malformed BSON at byte 4");
    put_text(begin(&d), "find", "t");
    end(&d)->len--;
    CHECK(strstr(compile_error(&d), "are not a BSON document"));
    nested(300);
    CHECK(strstr(compile_error(&d), "nested more than 200 levels deep"));
    // Wrong number of values.
    put_text(begin(&d), "find", "t");
    put_arg(&d, "x", 2, NULL);
    op = compile(end(&d));
    CHECK_INT(execute_op(op, one, 1), SB_EUSAGE);
    CHECK(
        strstr(c.pub.sql_errmsg, "has 2 placeholders, but 1 value was given"));
    CHECK_INT(fake_mongodb.ncommands, 0);
    sb_object_drop(op);
    // An empty document is not a command.
    op = sbmo_doc_compile(&c.pub, (const uint8_t *)"\5\0\0\0", 5, NULL);
    CHECK(op != NULL);
    CHECK_INT(execute_op(op, NULL, 0), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "this document has none"));
    sb_object_drop(op);
    finish_documents();
}

static void without_placeholders(void)
{
    struct sbmo_doc_op *op;
    struct sbmo_doc_value one[] = { NUMBER(1) };

    start_documents();
    put_text(begin(&d), "ping", "t");
    end(&d);
    op = sbmo_doc_compile(&c.pub, d.data, d.len, "my ping");
    CHECK_INT(sbmo_doc_op_nargs(op), 0);
    CHECK_INT(execute_op(op, NULL, 0), 0);
    CHECK(sent(&d));
    CHECK_INT(op_count("my ping"), 1);
    CHECK_INT(op_count("ping"), -1);
    CHECK_INT(execute_op(op, one, 1), SB_EUSAGE);
    finish_documents(); // frees it
}

// Its connection was freed, or it is one of another connection.
static void outlives_its_connection(void)
{
    struct sb_con_priv another;
    struct sbmo_doc_op *a, *b;

    start_documents();
    put_text(begin(&d), "ping", "t");
    end(&d);
    a = compile(&d);
    b = compile(&d);
    another = c;
    CHECK_INT(sbmo_doc_execute(
                  &another.pub, &(struct sbmo_doc_execution){ a, NULL, 0 }),
        SB_EUSAGE);
    CHECK_STR(log_line, "1: attempt to use an already closed connection");
    CHECK_INT(execute_op(a, NULL, 0), 0);
    log_line[0] = '\0';
    sb__children_orphan(&c);
    CHECK(c.children == NULL);
    CHECK_INT(execute_op(a, NULL, 0), SB_EUSAGE);
    CHECK_STR(log_line, "1: attempt to use an already closed connection");
    CHECK_INT(fake_mongodb.ncommands, 1);
    CHECK_INT(sbmo_doc_op_nargs(a) + sbmo_doc_op_nargs(b), 0);
    sb_object_drop(a);
    finish_documents(); // frees both
    CHECK(ctx.orphans == NULL);
}

// Compiling a command keeps the current result. Executing one frees a huge
// buffer.
static void results_and_buffers(void)
{
    static char huge[2 << 20];
    struct sbmo_doc_value v[] = {
        { .type = SBMO_DOC_TEXT, .s = huge, .len = sizeof(huge) }
    };
    struct sbmo_doc_op *op;
    const uint8_t *doc, *body;
    size_t len;

    start_documents();
    fake_mongodb.cut_json = true;
    memset(huge, 'x', sizeof(huge));
    put_arg(begin(&d), "insert", 1, NULL);
    put_arg(&d, "again", 1, "string");
    end(&d);
    *next_answer(0, 0) = (struct answer){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(run_doc(&d), 0);
    op = compile(&d);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 1);
    CHECK_INT(execute_op(op, v, 1), 0);
    CHECK_INT(fake_mongodb.last.len, 2 * (sizeof(huge) + 5) + 20);
    body = fake_mongodb.body;
    v[0].len = 1;
    CHECK_INT(execute_op(op, v, 1), 0);
    CHECK(fake_mongodb.body != body);
    finish_documents();
}

CHECK_FILE
{
    RUN(find_by_id);
    RUN(placeholders_anywhere);
    RUN(any_value);
    RUN(typed_values);
    RUN(types_have_names);
    RUN(numbers_have_the_smallest_type);
    RUN(other_values);
    RUN(integers_are_checked);
    RUN(other_types_are_checked);
    RUN(long_texts_are_cut_in_messages);
    RUN(elements_are_copied);
    RUN(elements_are_converted);
    RUN(malformed_elements_are_refused);
    RUN(rejected_commands);
    RUN(without_placeholders);
    RUN(outlives_its_connection);
    RUN(results_and_buffers);
    return check_done();
}
