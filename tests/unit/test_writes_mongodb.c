// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bulks: the commands that they send, and the evaluation of the replies.
#include "fake_documents.h"

static struct doc d;

static const struct doc *numbered(int i)
{
    put_int(begin(&d), "_id", i);
    return end(&d);
}

static void add(struct sbmo_doc_bulk *b, int kind, int i)
{
    const struct doc *one = numbered(i);

    CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, kind, one->data, one->len), 0);
}

static struct sbmo_doc_bulk_result result(const struct sbmo_doc_bulk *b)
{
    struct sbmo_doc_bulk_result r;

    sbmo_doc_bulk_result(b, &r);
    return r;
}

#define MIXED "iuuiid"

static void ordered_bulks_keep_order(void)
{
    struct sbmo_doc_bulk *b;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 1);
    for (int i = 0; i < 6; i++)
        add(b, MIXED[i], i);
    CHECK(sbmo_doc_bulk_count(b) == 6);
    CHECK_INT(fake_mongodb.ncommands, 0);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_STR(commands(),
        "{insert:'t',ordered:true,documents:{0:{_id:0}}} "
        "{update:'t',ordered:true,updates:{0:{_id:1},1:{_id:2}}} "
        "{insert:'t',ordered:true,documents:{0:{_id:3},1:{_id:4}}} "
        "{delete:'t',ordered:true,deletes:{0:{_id:5}}} ");
    CHECK(sbmo_doc_bulk_count(b) == 0);
    CHECK_INT(op_count("insert"), 2);
    CHECK_INT(op_count("update"), 1);
    CHECK_INT(op_count("delete"), 1);
    // The bulk is empty now: nothing is sent.
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_INT(fake_mongodb.ncommands, 4);
    add(b, 'd', 9);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_STR(commands(), "{delete:'t',ordered:true,deletes:{0:{_id:9}}} ");
    sb_object_drop(b);
    finish_documents();
}

static void unordered_bulks_are_grouped(void)
{
    struct sbmo_doc_bulk *b;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "tt", 2);
    for (int i = 0; i < 6; i++)
        add(b, MIXED[i], i);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_STR(commands(),
        "{insert:'tt',ordered:false,documents:{0:{_id:0},1:{_id:3},2:{_id:4}}} "
        "{update:'tt',ordered:false,updates:{0:{_id:1},1:{_id:2}}} "
        "{delete:'tt',ordered:false,deletes:{0:{_id:5}}} ");
    // Flag 2: operations are not counted.
    CHECK_INT(stats.nops, 0);
    CHECK_INT(rec->tally.others, 0);
    finish_documents(); // frees it
}

static void bytes_of_a_command(void)
{
    struct sbmo_doc_bulk *b;
    struct doc want;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    add(b, 'i', 3);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    put_text(begin(&want), "insert", "t");
    put_bool(&want, "ordered", false);
    open_in(&want, 0x04, "documents");
    open_in(&want, 0x03, "0");
    put_int(&want, "_id", 3);
    end(&want);
    end(&want);
    end(&want);
    CHECK_INT(fake_mongodb.last.len, want.len);
    CHECK(memcmp(fake_mongodb.last.data, want.data, want.len) == 0);
    finish_documents();
}

// Returns the number of elements of the list in the command sent last. Checks
// their keys.
static unsigned list_length(void)
{
    struct sb_walk w;
    struct sb_elem e;
    unsigned n = 0;
    char key[16];

    sb_walk_begin(
        &w, (const uint8_t *)fake_mongodb.last.data, fake_mongodb.last.len);
    do
        CHECK(sb_walk_next(&w, &e) == 1);
    while (e.type != SB_BSON_ARRAY);
    sb_walk_begin(&w, e.value, e.len);
    while (sb_walk_next(&w, &e) == 1) {
        snprintf(key, sizeof(key), "%u", n++);
        CHECK_STR(e.key, key);
    }
    CHECK(w.at == w.end);
    return n;
}

static void at_most_1000_per_command(void)
{
    static const struct {
        int n;
        unsigned commands, last;
    } cases[] = { { 999, 1, 999 }, { 1000, 1, 1000 }, { 1001, 2, 1 },
        { 2000, 2, 1000 }, { 2500, 3, 500 } };
    struct sbmo_doc_bulk *b;

    start_documents();
    fake_mongodb.cut_json = true;
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        fake_mongodb.ncommands = 0;
        for (int i = 0; i < cases[k].n; i++)
            add(b, 'i', i);
        CHECK(sbmo_doc_bulk_count(b) == cases[k].n);
        CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
        CHECK_INT(fake_mongodb.ncommands, cases[k].commands);
        CHECK_INT(list_length(), cases[k].last);
        commands();
    }
    finish_documents();
}

static void at_most_12_mb_per_command(void)
{
    enum { SIZE = 5 << 20, BIG = 20 << 20 };
    uint8_t *text = calloc(1, BIG);
    struct sbmo_doc_bulk *b;

    start_documents();
    fake_mongodb.cut_json = true;
    b = sbmo_doc_bulk_open(&c.pub, "t", 1);
    // {x: binary}
    memcpy(text + 4, "\x05x", 3);
    sb_put32(text, SIZE);
    sb_put32(text + 7, SIZE - 13);
    for (int i = 0; i < 3; i++)
        CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, 'i', text, SIZE), 0);
    sb_put32(text, BIG);
    sb_put32(text + 7, BIG - 13);
    CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, 'i', text, BIG), 0);
    add(b, 'i', 1);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    // Commands: two documents, one, the big one, the small one.
    CHECK_INT(fake_mongodb.ncommands, 4);
    CHECK_INT(list_length(), 1);
    CHECK(fake_mongodb.last.len < 100);
    finish_documents();
    free(text);
}

static struct doc replies[8];

// {<list>: [{}, ...]}
static void put_list(struct doc *r, const char *list, int n)
{
    if (n == 0)
        return;
    open_in(r, 0x04, list);
    for (int k = 0; k < n; k++) {
        open_in(r, 0x03, k ? "1" : "0");
        end(r);
    }
    end(r);
}

// {n, nModified, upserted: [{}, ...], ok: 1}
static const struct doc *reply(int i, int n, int modified, int upserted)
{
    struct doc *r = begin(&replies[i]);

    put_int(r, "n", n);
    put_int(r, "nModified", modified);
    put_list(r, "upserted", upserted);
    put_int(r, "ok", 1);
    return end(r);
}

// {n: 1, <what>: ..., ok: 1}
static const struct doc *failure(int i, const char *what, int type)
{
    struct doc *r = begin(&replies[i]);

    put_int(r, "n", 1);
    if (type == 0x04) {
        put_list(r, what, 1);
    } else {
        open_in(r, 0x03, what);
        end(r);
    }
    put_int(r, "ok", 1);
    return end(r);
}

static void results_are_summed(void)
{
    struct sbmo_doc_bulk_result r;
    struct sbmo_doc_bulk *b;

    start_documents();
    fake_mongodb.cut_json = true;
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    for (int i = 0; i < 1005; i++)
        add(b, 'i', i);
    for (int i = 0; i < 5; i++)
        add(b, 'u', i);
    add(b, 'd', 1);
    add(b, 'd', 2);
    next_answer(0, 0)->reply = reply(0, 1000, 0, 0);
    fake_mongodb.answers[1].reply = reply(1, 5, 0, 0);
    fake_mongodb.answers[2].reply = reply(2, 5, 2, 2);
    fake_mongodb.answers[3].affected = 2; // unacknowledged: no reply
    fake_mongodb.nanswers = 4;
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    r = result(b);
    CHECK(r.inserted == 1005 && r.matched == 3 && r.modified == 2);
    CHECK(r.upserted == 2 && r.removed == 2);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    r = result(b);
    CHECK(r.inserted == 0 && r.removed == 0);
    finish_documents();
}

static void three_kinds(struct sbmo_doc_bulk *b)
{
    add(b, 'i', 1);
    add(b, 'u', 2);
    add(b, 'd', 3);
}

static void failures_of_unordered_bulks(void)
{
    struct sbmo_doc_bulk_result r;
    struct sbmo_doc_bulk *b;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    three_kinds(b);
    next_answer(SB_EQUERY, 11000)->reply = reply(0, 7, 0, 0);
    fake_mongodb.answers[1] = (struct answer){
        .rc = SB_EIGNORE, .native = 12, .reply = reply(1, 0, 0, 0)
    };
    fake_mongodb.answers[2].reply = reply(2, 4, 0, 0);
    fake_mongodb.nanswers = 3;
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), SB_EQUERY);
    CHECK_INT(fake_mongodb.ncommands, 3);
    CHECK_INT(c.pub.sql_errno, 11000);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(c.pub.sql_errmsg, "refused");
    CHECK_STR(sb_con_failed_sql(&c.pub),
        "{insert:'t',ordered:false,documents:{0:{_id:1}}}");
    r = result(b);
    CHECK(r.inserted == 7 && r.removed == 4);
    CHECK_INT(rec->codes[0].count, 1);
    CHECK_INT(rec->codes[1].native, 12);
    CHECK(sbmo_doc_bulk_count(b) == 0);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    finish_documents();
}

static void errors_that_stop_a_bulk(void)
{
    static const int codes[] = { SB_ERESTART, SB_ELOST, SB_ECANCELED,
        SB_EQUERY };
    struct sbmo_doc_bulk *b;

    for (int i = 0; i < 4; i++) {
        start_documents();
        b = sbmo_doc_bulk_open(&c.pub, "t", 0);
        three_kinds(b);
        next_answer(SB_EQUERY, 11000)->reply = reply(0, 0, 0, 0);
        // SB_EQUERY without a reply: the command failed as a whole.
        fake_mongodb.answers[1] = (struct answer){ .rc = codes[i],
            .native = 5 };
        fake_mongodb.nanswers = 2;
        CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), codes[i]);
        CHECK_INT(fake_mongodb.ncommands, 2);
        CHECK_INT(c.pub.sql_errno, 5);
        CHECK(strstr(sb_con_failed_sql(&c.pub), "{update:'t'"));
        CHECK(sbmo_doc_bulk_count(b) == 0);
        finish_documents();
    }
}

// What the reply says is not counted if the connection was lost.
static void lost_connections_stop_a_bulk(void)
{
    for (int i = 0; i < 2; i++) {
        struct sbmo_doc_bulk *b;

        start_documents();
        opts.reconnect = i == 1;
        b = sbmo_doc_bulk_open(&c.pub, "t", 0);
        three_kinds(b);
        next_answer(0, 0)->reply = reply(0, 1, 0, 0);
        fake_mongodb.answers[1] = (struct answer){
            .rc = SB_ELOST, .native = 5, .reply = reply(1, 1, 1, 0)
        };
        fake_mongodb.nanswers = 2;
        CHECK_INT(
            sbmo_doc_bulk_execute(&c.pub, b), i ? SB_ERECONNECT : SB_ELOST);
        CHECK_INT(fake_mongodb.ncommands, 2);
        CHECK_INT(c.pub.error, i ? SB_SQL_IGNORABLE : SB_SQL_FATAL);
        CHECK(result(b).inserted == 1 && result(b).matched == 0);
        CHECK(sbmo_doc_bulk_count(b) == 0);
        opts.reconnect = false;
        finish_documents();
    }
}

// The reply of an earlier command is not taken for one to a command that was
// not sent.
static void refused_calls(void)
{
    struct sbmo_doc_bulk *b;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    add(b, 'i', 1);
    next_answer(0, 0)->reply = reply(0, 1, 0, 0);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK(result(b).inserted == 1);
    three_kinds(b);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "a pipeline is open"));
    CHECK(result(b).inserted == 0);
    CHECK(sbmo_doc_bulk_count(b) == 0);
    sb_con_pipeline_drop(&c.pub);
    CHECK_INT(fake_mongodb.ncommands, 1);
    finish_documents();
}

static void failures_of_ordered_bulks(void)
{
    struct sbmo_doc_bulk *b;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 1);
    three_kinds(b);
    // Executed, but the write concern failed: the next command is sent.
    next_answer(SB_EQUERY, 64)->reply = failure(0, "writeConcernError", 0x03);
    fake_mongodb.answers[1] = (struct answer){ .rc = SB_EQUERY,
        .native = 11000,
        .reply = failure(1, "writeErrors", 0x04) };
    fake_mongodb.nanswers = 2;
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), SB_EQUERY);
    CHECK_INT(fake_mongodb.ncommands, 2);
    CHECK_INT(c.pub.sql_errno, 11000);
    CHECK(result(b).inserted == 1 && result(b).matched == 1);
    // The write concern of the last command failed: that is the error.
    three_kinds(b);
    next_answer(0, 0)->reply = reply(0, 1, 0, 0);
    fake_mongodb.nanswers = 5;
    fake_mongodb.answers[3] = (struct answer){ 0 };
    fake_mongodb.answers[4] = (struct answer){ .rc = SB_EQUERY,
        .native = 64,
        .reply = failure(2, "writeConcernError", 0x03) };
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), SB_EQUERY);
    CHECK_INT(c.pub.sql_errno, 64);
    CHECK(result(b).removed == 1);
    finish_documents();
}

static void compiled_documents(void)
{
    static const struct sbmo_doc_value value[] = { { .type = SBMO_DOC_DOUBLE,
        .d = 5 } };
    static const struct sbmo_doc_value wrong[] = {
        { .type = SBMO_DOC_TEXT, .s = "no", .len = 2 }
    };
    struct sbmo_doc_bulk *b;
    struct sbmo_doc_op *op;

    start_documents();
    b = sbmo_doc_bulk_open(&c.pub, "t", 1);
    put_arg(begin(&d), "_id", 1, "int32");
    end(&d);
    op = sbmo_doc_compile(&c.pub, d.data, d.len, NULL);
    CHECK_INT(sbmo_doc_bulk_add_op(&c.pub, b, 'i', op, wrong, 1), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg,
        "value 1 is the string 'no', but an int32 is required");
    CHECK_INT(sbmo_doc_bulk_add_op(&c.pub, b, 'i', op, value, 0), SB_EUSAGE);
    // Rejected values added nothing.
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_INT(fake_mongodb.ncommands, 0);
    CHECK_INT(sbmo_doc_bulk_add_op(&c.pub, b, 'i', op, value, 1), 0);
    add(b, 'i', 6);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), 0);
    CHECK_STR(commands(),
        "{insert:'t',ordered:true,documents:{0:{_id:5},1:{_id:6}}} ");
    sb_object_drop(op);
    finish_documents();
}

static void rejected_input(void)
{
    struct sbmo_doc_bulk *b;

    start_documents();
    CHECK(sbmo_doc_bulk_open(&c.pub, "", 0) == NULL);
    CHECK(strstr(c.pub.sql_errmsg, "name of a collection"));
    b = sbmo_doc_bulk_open(&c.pub, "t", 0);
    CHECK(b && c.pub.error == SB_SQL_NONE);
    numbered(1);
    CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, 'x', d.data, d.len), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "operations of kind 120"));
    CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, 'i', d.data, d.len - 1), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "are not a BSON document"));
    CHECK(sbmo_doc_bulk_count(b) == 0);
    add(b, 'i', 1);
    sb__children_orphan(&c);
    CHECK_INT(sbmo_doc_bulk_add(&c.pub, b, 'i', d.data, d.len), SB_EUSAGE);
    CHECK_INT(sbmo_doc_bulk_execute(&c.pub, b), SB_EUSAGE);
    CHECK(sbmo_doc_bulk_count(b) == 0);
    CHECK_INT(fake_mongodb.ncommands, 0);
    sb_object_drop(b);
    finish_documents();
}

CHECK_FILE
{
    RUN(ordered_bulks_keep_order);
    RUN(unordered_bulks_are_grouped);
    RUN(bytes_of_a_command);
    RUN(at_most_1000_per_command);
    RUN(at_most_12_mb_per_command);
    RUN(results_are_summed);
    RUN(failures_of_unordered_bulks);
    RUN(errors_that_stop_a_bulk);
    RUN(lost_connections_stop_a_bulk);
    RUN(refused_calls);
    RUN(failures_of_ordered_bulks);
    RUN(compiled_documents);
    RUN(rejected_input);
    return check_done();
}
