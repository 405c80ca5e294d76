// SPDX-License-Identifier: GPL-2.0-or-later
//
// The MongoDB driver: kinds of commands, errors in replies, values as text.
#include <stdlib.h>

#include "check.h"
#include "drivers/mongodb/internal.h"

static struct sb_err err;
static uint8_t *doc;
static size_t len;

static void json(const char *text)
{
    free(doc);
    doc = sbmo_from_json(text, strlen(text), &len, &err);
    CHECK(doc != NULL);
}

static struct sbmo_command parse_command(const char *text)
{
    struct sbmo_command c;

    json(text);
    CHECK(sbmo_look(&c, doc, len));
    return c;
}

static void kinds(void)
{
    struct sbmo_command c = parse_command(
        "{\"find\": \"t\", \"batchSize\": 7}");

    CHECK_INT(c.kind->way, SBMO_READ);
    CHECK_INT(c.kind->shape, SBMO_CURSOR);
    CHECK_INT(c.kind->result, SB_RESULT_ROWS);
    CHECK_INT(c.batch, 7);
    CHECK(c.kind->read_concern && !c.kind->write_concern);
    c = parse_command(
        "{\"insert\": \"t\", \"documents\": [{}, {}, {}], \"$db\": \"d\"}");
    CHECK_INT(c.kind->result, SB_RESULT_WRITE);
    CHECK_INT(c.statements, 3);
    CHECK_STR(c.db, "d");
    CHECK(!c.multi && !c.own_write_concern);
    c = parse_command(
        "{\"findandmodify\": \"t\", \"writeConcern\": {\"w\": 0}}");
    CHECK_STR(c.kind->name, "findAndModify");
    CHECK(c.own_write_concern);
    c = parse_command("{\"FIND\": \"t\"}");
    CHECK_INT(c.kind->way, SBMO_OTHER);
    c = parse_command("{\"listIndexes\": \"t\"}");
    CHECK_INT(c.kind->result, SB_RESULT_ROWS);
    CHECK(!c.kind->read_concern);
    c = parse_command("{\"create\": \"t\"}");
    CHECK_INT(c.kind->result, SB_RESULT_NONE);
    CHECK_INT(c.kind->way, SBMO_WRITE);
    c = parse_command("{\"ping\": 1}");
    CHECK_INT(c.kind->result, SB_RESULT_NONE);
    CHECK_INT(c.kind->shape, SBMO_REPLY);
}

static void many_at_once(void)
{
    CHECK(parse_command("{\"update\":\"t\",\"updates\":[{\"q\":{},\"u\":{}},"
                        "{\"q\":{},\"u\":{},\"multi\":true}]}")
              .multi);
    CHECK(!parse_command(
        "{\"update\":\"t\",\"updates\":[{\"q\":{},\"u\":{\"multi\":1}}]}")
               .multi);
    CHECK(
        parse_command("{\"delete\":\"t\",\"deletes\":[{\"q\":{},\"limit\":0}]}")
            .multi);
    CHECK(!parse_command(
        "{\"delete\":\"t\",\"deletes\":[{\"q\":{},\"limit\":1}]}")
               .multi);
}

static void pipelines(void)
{
    struct sbmo_command c = parse_command(
        "{\"aggregate\":\"t\",\"pipeline\":[{\"$match\":"
        "{}}],\"cursor\":{\"batchSize\":9}}");

    CHECK_INT(c.kind->way, SBMO_READ);
    CHECK_INT(c.batch, 9);
    c = parse_command("{\"aggregate\":\"t\",\"pipeline\":[{\"$match\":{}},"
                      "{\"$out\":\"x\"}]}");
    CHECK_INT(c.kind->way, SBMO_READWRITE);
    CHECK_INT(c.kind->result, SB_RESULT_WRITE);
    CHECK_INT(
        parse_command("{\"aggregate\":\"t\",\"pipeline\":[{\"$merge\":{}}]}")
            .kind->way,
        SBMO_READWRITE);
    CHECK(parse_command(
        "{\"aggregate\":\"t\",\"pipeline\":[{\"$changeStream\":{}}]}")
              .tailable);
    CHECK(parse_command("{\"find\":\"t\",\"tailable\":true}").tailable);
}

static void malformed_commands(void)
{
    struct sbmo_command c;

    CHECK(!sbmo_look(&c, (const uint8_t *)"\5\0\0\0", 5)); // {}
    CHECK(!sbmo_look(&c, (const uint8_t *)"\5\0\0\0", 4));
    CHECK(sbmo_from_json("{bad", 4, &len, &err) == NULL);
    CHECK(strstr(err.msg, "JSON") != NULL);
    CHECK(sbmo_from_json("", 0, &len, &err) == NULL);
    CHECK(sbmo_to_json((const uint8_t *)"\7\0\0\0", 5, &len, &err) == NULL);
}

static bool complains(struct sbmo_complaint *c, const char *reply)
{
    json(reply);
    return sbmo_read_complaint(c, doc, len);
}

static void complaints(void)
{
    struct sbmo_complaint c;

    CHECK(!complains(&c, "{\"ok\": 1, \"n\": 3}"));
    CHECK(!complains(&c, "{}"));
    CHECK(!complains(&c, "{\"ok\": 1, \"writeErrors\": []}"));
    CHECK(complains(&c, "{\"ok\": 0, \"code\": 112, \"errmsg\": \"no\", "
                        "\"codeName\": \"N\"}"));
    CHECK_INT(c.native, 112);
    CHECK_STR(c.text, "no");
    CHECK_INT(c.len, 2);
    CHECK_STR(c.name, "N");
    CHECK(!c.write_concern && !c.transient && !c.unknown && !c.retryable);
    CHECK(complains(&c, "{\"ok\": 0.0}")); // failed, without details
    CHECK_INT(c.native, 8);
    CHECK(
        complains(&c, "{\"ok\": 1, \"writeErrors\": [{\"index\": 3, \"code\": "
                      "11000}, {\"code\": 5}, {\"code\": 6}]}"));
    CHECK_INT(c.native, 11000);
    CHECK_INT(c.others, 2);
}

static void write_concerns(void)
{
    struct sbmo_complaint c;

    CHECK(complains(&c, "{\"ok\": 1, \"writeConcernError\": {\"code\": 100}}"));
    CHECK_INT(c.native, 100);
    CHECK(c.write_concern);
    // A write error takes precedence over a write concern error.
    CHECK(complains(&c, "{\"ok\": 1, \"writeConcernError\": {\"code\": 100}, "
                        "\"writeErrors\": [{\"code\": 5}]}"));
    CHECK_INT(c.native, 5);
    CHECK(!c.write_concern);
}

static void labels(void)
{
    struct sbmo_complaint c;

    CHECK(complains(&c, "{\"ok\": 0, \"code\": 9, \"errorLabels\": "
                        "[\"TransientTransactionError\"]}"));
    CHECK(c.transient && !c.unknown && !c.retryable);
    CHECK_INT(sbmo_set_complaint(&c, &err), SB_ERESTART);
    complains(&c, "{\"ok\": 0, \"code\": 9, \"errorLabels\": "
                  "[\"SystemOverloadedError\", \"RetryableError\"]}");
    CHECK_INT(sbmo_set_complaint(&c, &err), SB_ERESTART);
    complains(&c, "{\"errorLabels\": [\"RetryableWriteError\", "
                  "\"UnknownTransactionCommitResult\"]}");
    CHECK(!c.transient && c.unknown && c.retryable);
}

static void error_messages(void)
{
    struct sbmo_complaint c;

    complains(&c, "{\"ok\": 1, \"writeErrors\": [{\"code\": 11000, \"errmsg\": "
                  "\"E11000 twice\"}, {\"code\": 1}]}");
    CHECK_INT(sbmo_set_complaint(&c, &err), SB_EQUERY);
    CHECK_INT(err.native, 11000);
    CHECK_STR(err.msg, "E11000 twice; 1 further statements failed as well");
    complains(&c, "{\"ok\": 1, \"writeConcernError\": {\"code\": 100, "
                  "\"errmsg\": \"Not enough\", \"codeName\": "
                  "\"UnsatisfiableWriteConcern\"}}");
    CHECK_INT(sbmo_set_complaint(&c, &err), SB_EQUERY);
    CHECK_STR(err.msg,
        "write concern not met: Not enough (UnsatisfiableWriteConcern) (it "
        "requires more servers than exist)");
}

// Returns a value as text. value: JSON.
static struct sb_buf text;
static const char *shown(const char *value)
{
    char line[300];
    struct sb_elem e;

    snprintf(line, sizeof(line), "{\"x\": %s}", value);
    json(line);
    text.len = 0;
    CHECK(sb_bson_find(doc, len, "x", &e));
    CHECK(sbmo_value_text(&text, &e));
    CHECK(sbmo_add(&text, "", 1));
    return text.data;
}

static void texts(void)
{
    CHECK_STR(shown("\"a\\\"b\""), "a\"b");
    CHECK_STR(shown("-5"), "-5");
    CHECK_STR(
        shown("{\"$numberLong\": \"9007199254740993\"}"), "9007199254740993");
    CHECK_STR(shown("0.1"), "0.1");
    CHECK_STR(shown("1e300"), "1e+300");
    CHECK_STR(shown("{\"$numberDouble\": \"3.0\"}"), "3");
    CHECK_STR(shown("0.30000000000000004"), "0.30000000000000004");
    CHECK_STR(shown("true"), "true");
    CHECK_STR(shown("{\"$oid\": \"0123456789abcdef01234567\"}"),
        "0123456789abcdef01234567");
    CHECK_STR(shown("{\"$date\": {\"$numberLong\": \"1500\"}}"),
        "1970-01-01 00:00:01.500");
    CHECK_STR(shown("{\"$date\": {\"$numberLong\": \"-1\"}}"),
        "1969-12-31 23:59:59.999");
    CHECK_STR(shown("{\"$numberDecimal\": \"1.20\"}"), "1.20");
    CHECK_STR(
        shown("{\"$binary\": {\"base64\": \"YWJj\", \"subType\": \"00\"}}"),
        "abc");
    CHECK_STR(shown("[1, {\"a\": \"}\"}]"), "[ 1, { \"a\" : \"}\" } ]");
    CHECK_STR(shown("{\"a\": {\"b\": 1}}"), "{ \"a\" : { \"b\" : 1 } }");
    CHECK_STR(shown("{\"$minKey\": 1}"), "{ \"$minKey\" : 1 }");
}

static void document_to_json(void)
{
    char *out;
    size_t n;

    json("{\"a\": 1, \"b\": [\"x\", null]}");
    out = sbmo_to_json(doc, len, &n, &err);
    CHECK_STR(out, "{ \"a\" : 1, \"b\" : [ \"x\", null ] }");
    CHECK_INT(n, strlen(out));
    free(out);
}

CHECK_FILE
{
    RUN(kinds);
    RUN(many_at_once);
    RUN(pipelines);
    RUN(malformed_commands);
    RUN(complaints);
    RUN(write_concerns);
    RUN(labels);
    RUN(error_messages);
    RUN(texts);
    RUN(document_to_json);
    free(doc);
    sb_buf_done(&text);
    return check_done();
}
