// SPDX-License-Identifier: GPL-2.0-or-later
//
// Compiled commands: the bytes that they send, the values that they accept,
// and rejected commands.
#include <float.h>
#include <math.h>

#include "fake_doc.h"

static struct doc d;

#define INT(n)                       \
    {                                \
        .type = SB_DOC_INT, .i = (n) \
    }
#define NUMBER(n)                       \
    {                                   \
        .type = SB_DOC_DOUBLE, .d = (n) \
    }
#define TEXT(t)                                             \
    {                                                       \
        .type = SB_DOC_TEXT, .s = (t), .len = sizeof(t) - 1 \
    }
#define BOOL(b)                       \
    {                                 \
        .type = SB_DOC_BOOL, .i = (b) \
    }
#define NONE                \
    {                       \
        .type = SB_DOC_NULL \
    }
#define ELEMENT(t)                                             \
    {                                                          \
        .type = SB_DOC_ELEMENT, .s = (t), .len = sizeof(t) - 1 \
    }

static struct sb_doc_op *compile(const struct doc *doc)
{
    struct sb_doc_op *op = sb_doc_compile(&c.pub, doc->data, doc->len, NULL);

    CHECK_STR(c.pub.sql_errmsg, "");
    return op;
}

static bool sent(const struct doc *doc)
{
    return last.len == doc->len && memcmp(last.data, doc->data, doc->len) == 0;
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
    static const struct sb_doc_value ints[] = { NUMBER(42) };
    static const struct sb_doc_value texts[] = { TEXT("abcdef") };
    struct sb_doc_op *op;
    uint8_t *body;

    start_docs();
    put_text(begin(&d), "find", "t");
    open_in(&d, 0x03, "filter");
    put_arg(&d, "_id", 1, NULL);
    end(&d);
    put_int(&d, "limit", 1);
    op = compile(end(&d));
    CHECK_INT(sb_doc_op_nargs(op), 1);
    next_answer(0, 0)->kind = SB_RESULT_ROWS;
    CHECK_INT(sb_doc_execute(op, ints, 1), 0);
    CHECK_INT(last.len, sizeof(want));
    CHECK(memcmp(last.data, want, sizeof(want)) == 0);
    body = (uint8_t *)c.doc_body.data;
    CHECK_INT(sb_doc_execute(op, texts, 1), 0);
    CHECK_STR(commands(), "{find:'t',filter:{_id:42},limit:1} "
                          "{find:'t',filter:{_id:'abcdef'},limit:1} ");
    CHECK_INT(op_count("find"), 2);
    CHECK_INT(rec->tally.reads, 1);
    // The buffer is not allocated again once it is large enough.
    for (int i = 0; i < 100; i++)
        CHECK_INT(sb_doc_execute(op, ints, 1), 0);
    CHECK((uint8_t *)c.doc_body.data == body);
    CHECK_INT(rec->tally.others, 101);
    sb_doc_op_free(op);
    finish_docs();
}

// Placeholders in arrays, in documents in arrays, twice, out of order, first
// and last; and bytes between them that look like placeholders.
static void placeholders_anywhere(void)
{
    static const struct sb_doc_value values[] = { NUMBER(1), TEXT("two"),
        ELEMENT("\x03\x0e\0\0\0\x10"
                "_id\0\x07\0\0\0") };
    static const struct sb_doc_value whole[] = { NUMBER(1), TEXT("two"),
        ELEMENT("\x03\x0e\0\0\0\x10_id\0\x07\0\0\0\0") };
    struct sb_doc_op *op;
    struct doc want;

    start_docs();
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
    CHECK_INT(sb_doc_op_nargs(op), 3);
    CHECK_INT(sb_doc_execute(op, values, 3), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "value 3 is malformed BSON");
    CHECK_INT(sb_doc_execute(op, whole, 3), 0);
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
    sb_doc_op_free(op);
    finish_docs();
}

// Returns the value that {x: {$arg: 1, type: type}} sends, as text.
static const char *sends(const char *type, struct sb_doc_value v)
{
    static char out[4096];
    struct sb_doc_op *op;

    put_arg(begin(&d), "x", 1, type);
    op = compile(end(&d));
    if (sb_doc_execute(op, &v, 1)) {
        CHECK_INT(c.err.code, SB_EUSAGE);
        CHECK_INT(c.pub.error, SB_SQL_FATAL);
        snprintf(out, sizeof(out), "%s", c.pub.sql_errmsg);
    } else {
        snprintf(out, sizeof(out), "%s", commands());
    }
    sb_doc_op_free(op);
    return out;
}

#define V(...) ((struct sb_doc_value)__VA_ARGS__)

static void any_value(void)
{
    start_docs();
    CHECK_STR(sends(NULL, V(NUMBER(3))), "{x:3} ");
    CHECK_STR(sends("any", V(NUMBER(-2147483648.0))), "{x:-2.14748e+09} ");
    CHECK_INT(last.len, 12);
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
    finish_docs();
}

static void typed_values(void)
{
    start_docs();
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
    finish_docs();
}

static const char *compile_error(const struct doc *doc)
{
    struct sb_doc_op *op = sb_doc_compile(&c.pub, doc->data, doc->len, NULL);

    CHECK(op == NULL);
    sb_doc_op_free(op);
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
    struct sb_doc_value one[] = { NUMBER(1) };
    struct sb_doc_op *op;

    start_docs();
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
    CHECK(strstr(compile_error(&d), "more than 200 levels of documents"));
    // Wrong number of values.
    put_text(begin(&d), "find", "t");
    put_arg(&d, "x", 2, NULL);
    op = compile(end(&d));
    CHECK_INT(sb_doc_execute(op, one, 1), SB_EUSAGE);
    CHECK(
        strstr(c.pub.sql_errmsg, "has 2 placeholders, but 1 value was given"));
    CHECK_INT(ncommands, 0);
    sb_doc_op_free(op);
    // An empty document is not a command.
    op = sb_doc_compile(&c.pub, (const uint8_t *)"\5\0\0\0", 5, NULL);
    CHECK(op != NULL);
    CHECK_INT(sb_doc_execute(op, NULL, 0), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "this document has none"));
    sb_doc_op_free(op);
    finish_docs();
}

static void without_placeholders(void)
{
    struct sb_doc_op *op;
    struct sb_doc_value one[] = { NUMBER(1) };

    start_docs();
    put_text(begin(&d), "ping", "t");
    end(&d);
    op = sb_doc_compile(&c.pub, d.data, d.len, "my ping");
    CHECK_INT(sb_doc_op_nargs(op), 0);
    CHECK_INT(sb_doc_execute(op, NULL, 0), 0);
    CHECK(sent(&d));
    CHECK_INT(op_count("my ping"), 1);
    CHECK_INT(op_count("ping"), -1);
    CHECK_INT(sb_doc_execute(op, one, 1), SB_EUSAGE);
    finish_docs(); // frees it
}

static void outlives_its_connection(void)
{
    struct sb_doc_op *a, *b;

    start_docs();
    put_text(begin(&d), "ping", "t");
    end(&d);
    a = compile(&d);
    b = compile(&d);
    sb_doc_op_free(a);
    a = compile(&d);
    sb__children_orphan(&c);
    CHECK(c.children == NULL);
    CHECK_INT(sb_doc_execute(a, NULL, 0), SB_EUSAGE);
    CHECK_INT(ncommands, 0);
    sb_doc_op_free(a);
    CHECK(ctx.orphans == (struct sb__child *)b);
    finish_docs();
}

// Compiling a command keeps the current result. Executing one frees a huge
// buffer.
static void results_and_buffers(void)
{
    static char huge[2 << 20];
    struct sb_doc_value v[] = {
        { .type = SB_DOC_TEXT, .s = huge, .len = sizeof(huge) }
    };
    struct sb_doc_op *op;
    const uint8_t *doc;
    size_t len;

    start_docs();
    cut_json = true;
    memset(huge, 'x', sizeof(huge));
    put_arg(begin(&d), "insert", 1, NULL);
    put_arg(&d, "again", 1, "string");
    end(&d);
    *next_answer(0, 0) = (struct answer){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(run_doc(&d), 0);
    op = compile(&d);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 1);
    CHECK_INT(sb_doc_execute(op, v, 1), 0);
    CHECK_INT(last.len, 2 * (sizeof(huge) + 5) + 20);
    CHECK(c.doc_body.data == NULL && c.doc_body.cap == 0);
    finish_docs();
}

CHECK_FILE
{
    RUN(find_by_id);
    RUN(placeholders_anywhere);
    RUN(any_value);
    RUN(typed_values);
    RUN(rejected_commands);
    RUN(without_placeholders);
    RUN(outlives_its_connection);
    RUN(results_and_buffers);
    return check_done();
}
