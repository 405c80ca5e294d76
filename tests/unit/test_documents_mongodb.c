// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands: their kinds, results, errors, and texts for messages.
#include "check_log.h"
#include "fake_documents.h"

static struct doc d;

static const struct doc *command(const char *name)
{
    put_text(begin(&d), name, "t");
    return end(&d);
}

static int run_named(const char *name, const char *op)
{
    struct sbmo_doc_command x = { .op = op };

    command(name);
    x.body = d.data;
    x.len = d.len;
    return sbmo_doc_command(&c.pub, &x);
}

static void kinds_and_names(void)
{
    static const struct {
        const char *command;
        enum sb_op_kind kind;
    } cases[] = {
        { "find", SB_OP_READ },
        { "aggregate", SB_OP_READ },
        { "distinct", SB_OP_READ },
        { "count", SB_OP_READ },
        { "getMore", SB_OP_READ },
        { "insert", SB_OP_WRITE },
        { "update", SB_OP_CHANGE },
        { "delete", SB_OP_CHANGE },
        { "findAndModify", SB_OP_CHANGE },
        { "findandmodify", SB_OP_CHANGE },
        { "ping", SB_OP_OTHER },
        { "Find", SB_OP_OTHER },
    };

    start_documents();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CHECK_INT(run_doc(command(cases[i].command)), 0);
        CHECK_INT(op_count(cases[i].command), 1);
        CHECK_INT(
            stats.op[op_index(cases[i].command)].kind, (int)cases[i].kind);
    }
    commands();
    // The kind is that of the command, whatever its name.
    CHECK_INT(run_named("find", "mine"), 0);
    CHECK_INT(stats.op[op_index("mine")].kind, SB_OP_READ);
    CHECK_INT(op_count("find"), 1);
    CHECK_STR(commands(), "{find:'t'} ");
    finish_documents();
}

static void counts(void)
{
    start_documents();
    next_answer(0, 0)->kind = SB_RESULT_ROWS;
    CHECK_INT(run_doc(command("find")), 0);
    next_answer(0, 0)->kind = SB_RESULT_WRITE;
    fake_mongodb.answers[1].affected = 3;
    CHECK_INT(run_doc(command("insert")), 0);
    CHECK(sbmo_doc_affected(&c.pub) == 3);
    CHECK_INT(run_doc(command("ping")), 0);
    CHECK(sbmo_doc_affected(&c.pub) == 0);
    CHECK_INT(rec->tally.reads, 1);
    CHECK_INT(rec->tally.writes, 1);
    CHECK_INT(rec->tally.others, 1);
    // Under no name, only errors are counted.
    next_answer(0, 0)->kind = SB_RESULT_ROWS;
    CHECK_INT(run_named("find", ""), 0);
    CHECK_INT(rec->tally.reads, 1);
    CHECK_INT(op_count("find"), 1);
    next_answer(SB_EQUERY, 7);
    CHECK_INT(run_named("find", ""), SB_EQUERY);
    CHECK_INT(op_errors("find"), 0);
    CHECK_INT(rec->codes[0].count, 1);
    CHECK_STR(commands(), "{find:'t'} {insert:'t'} {ping:'t'} {find:'t'} "
                          "{find:'t'} ");
    finish_documents();
}

// Other users may write to the buffer of a command while its call waits.
static void commands_are_copied_for_other_users(void)
{
    start_documents();
    CHECK_INT(run_doc(command("ping")), 0);
    CHECK(fake_mongodb.body == d.data);
    sharing = true;
    CHECK_INT(run_doc(command("ping")), 0);
    CHECK(fake_mongodb.body != d.data);
    CHECK_STR(commands(), "{ping:'t'} {ping:'t'} ");
    finish_documents();
}

static void results(void)
{
    const uint8_t *doc;
    struct doc reply;
    size_t len;

    start_documents();
    put_int(begin(&reply), "ok", 1);
    open_in(&reply, SB_BSON_ARRAY, "list");
    put_int(&reply, "0", 5);
    put_int(&reply, "1", 5);
    end(&reply);
    *next_answer(0, 0) = (struct answer){
        .kind = SB_RESULT_ROWS, .nrows = 2, .reply = end(&reply)
    };
    CHECK_INT(run_doc(command("find")), 0);
    CHECK(sbmo_doc_nrows(&c.pub) == 2);
    CHECK(sbmo_doc_reply(&c.pub, &len) == reply.data && len == reply.len);
    CHECK(sbmo_doc_reply_number(&c.pub, "ok") == 1);
    CHECK(sbmo_doc_reply_number(&c.pub, "list") == 2);
    CHECK(sbmo_doc_reply_number(&c.pub, "o") == 0);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 1);
    CHECK(len == fake_mongodb.row.len && doc[7] == 2);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 1);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 0);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 0);
    *next_answer(0, 0) = (struct answer){ .kind = SB_RESULT_ROWS, .nrows = 99 };
    CHECK_INT(run_doc(command("find")), 0);
    CHECK(sbmo_doc_reply(&c.pub, &len) == NULL && len == 0);
    CHECK(sbmo_doc_reply_number(&c.pub, "ok") == 0);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, "no more");
    CHECK_INT(rec->codes[0].native, 9);
    CHECK(sbmo_doc_nrows(&c.pub) == 99);
    // After a command that failed, and after SQL.
    next_answer(SB_EQUERY, 7);
    CHECK_INT(run_doc(command("find")), SB_EQUERY);
    CHECK(sbmo_doc_nrows(&c.pub) == 0);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "the result is no longer available"));
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), 0);
    sb_con_query(&c.pub, "select", 6);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), SB_EUSAGE);
    CHECK_INT(rec->codes[0].count, 1);
    finish_documents();
}

static void failures(void)
{
    start_documents();
    for (int i = 0; i < 2; i++) {
        next_answer(i ? SB_EIGNORE : SB_EQUERY, 100 + i)->affected = 4;
        CHECK_INT(run_doc(command("insert")), i ? SB_EIGNORE : SB_EQUERY);
        CHECK_INT(c.pub.error, i ? SB_SQL_IGNORABLE : SB_SQL_FATAL);
        CHECK_INT(c.pub.sql_errno, 100 + i);
        CHECK_STR(c.pub.sql_errmsg, "refused");
        CHECK_STR(sb_con_failed_sql(&c.pub), "{insert:'t'}");
        CHECK_INT(op_errors("insert"), i + 1);
        CHECK(sbmo_doc_affected(&c.pub) == 4);
    }
    next_answer(SB_EQUERY, 0)->plain = true;
    CHECK_INT(run_doc(command("insert")), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, sb_err_text(SB_EQUERY));
    CHECK_INT(run_doc(command("insert")), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    finish_documents();
}

static void closed_connections(void)
{
    size_t len = 9;

    start_documents();
    next_answer(SB_ELOST, 6)->reply = command("ping");
    CHECK_INT(run_doc(command("find")), SB_ELOST);
    CHECK(sbmo_doc_reply(&c.pub, &len) == d.data && len == d.len);
    sb__con_enter(&c, SB__CON_AWAY);
    CHECK(sbmo_doc_reply(&c.pub, &len) == NULL && len == 0);
    CHECK(sbmo_doc_affected(&c.pub) == 0);
    CHECK_INT(run_doc(command("find")), SB_ELOST);
    CHECK_STR(c.pub.sql_errmsg, "the connection was lost");
    sb__con_enter(&c, SB__CON_CLOSED);
    CHECK_INT(run_doc(command("find")), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    CHECK(sbmo_doc_compile(&c.pub, d.data, d.len, NULL) == NULL);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    CHECK_INT(fake_mongodb.ncommands, 1);
    finish_documents();
}

static const char *rejected(const uint8_t *body, size_t len)
{
    CHECK_INT(run_bytes(body, len), SB_EUSAGE);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    return c.pub.sql_errmsg;
}

static void reject_malformed(void)
{
    command("find");
    CHECK(strstr(
        rejected(d.data, 3), "the 3 bytes given are not a BSON document"));
    CHECK(strstr(rejected(d.data, d.len - 1), "are not a BSON document"));
    CHECK(strstr(rejected(NULL, 0), "are not a BSON document"));
    d.data[d.len - 1] = 1;
    CHECK(strstr(rejected(d.data, d.len), "are not a BSON document"));
    CHECK(strstr(rejected((const uint8_t *)"\5\0\0\0", 5), "has none"));
    CHECK(strstr(rejected((const uint8_t *)"\7\0\0\0\12\0", 7), "has none"));
}

static void rejected_commands(void)
{
    start_documents();
    reject_malformed();
    sharing = true;
    reject_malformed();
    CHECK_INT(rec->ncodes, 0);
    // After a failure whose text is still there.
    next_answer(SB_EQUERY, 7);
    CHECK_INT(run_doc(command("insert")), SB_EQUERY);
    reject_malformed();
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    command("find");
    CHECK(strstr(rejected(d.data, d.len), "a pipeline is open"));
    sb_con_pipeline_drop(&c.pub);
    sb__con_enter(&c, SB__CON_LOADING);
    CHECK(strstr(rejected(d.data, d.len), "loading a table"));
    sb__con_enter(&c, SB__CON_OPEN);
    sb__con_enter(&c, SB__CON_CLOSED);
    reject_malformed();
    CHECK_INT(fake_mongodb.ncommands, 1);
    finish_documents();
}

// The connection belongs to another driver.
static void connections_of_other_drivers(void)
{
    const uint8_t *doc;
    size_t len;

    start_documents();
    c.drv = &drv;
    c.outcome = SB__OUTCOME_OWN;
    CHECK(strstr(rejected(command("find")->data, d.len),
        "the connection is one of the fake driver"));
    CHECK(sbmo_doc_compile(&c.pub, d.data, d.len, NULL) == NULL);
    CHECK(sbmo_doc_bulk_open(&c.pub, "t", 0) == NULL);
    CHECK(strstr(c.pub.sql_errmsg, "the connection is one of"));
    CHECK(sbmo_doc_nrows(&c.pub) == 0 && sbmo_doc_affected(&c.pub) == 0);
    CHECK(sbmo_doc_reply(&c.pub, &len) == NULL);
    CHECK_INT(sbmo_doc_next(&c.pub, &doc, &len), SB_EUSAGE);
    CHECK_INT(fake_mongodb.ncommands, 0);
    finish_documents();
}

static int step(int which, const uint8_t *options, size_t len)
{
    struct sbmo_doc_transaction t = { which, options, len };

    return sbmo_doc_transaction(&c.pub, &t);
}

static void transactions(void)
{
    start_documents();
    CHECK_INT(step(SBMO_DOC_BEGIN, NULL, 0), 0);
    command("find");
    CHECK_INT(step(SBMO_DOC_COMMIT, d.data, d.len), 0);
    CHECK(fake_mongodb.body == d.data);
    CHECK_INT(step(SBMO_DOC_ABORT, NULL, 0), 0);
    CHECK_STR(fake_mongodb.steps, "step(0,0) step(1,17) step(2,0) ");
    CHECK_INT(op_count("begin"), 1);
    CHECK_INT(op_count("commit"), 1);
    CHECK_INT(op_count("abort"), 1);
    CHECK_INT(stats.op[op_index("begin")].kind, SB_OP_OTHER);
    CHECK_INT(rec->tally.others, 3);
    next_answer(SB_ERESTART, 112);
    CHECK_INT(step(SBMO_DOC_COMMIT, NULL, 0), SB_ERESTART);
    CHECK_STR(sb_con_failed_sql(&c.pub), "commit");
    CHECK_INT(op_errors("commit"), 1);
    CHECK_INT(step(3, NULL, 0), SB_EUSAGE);
    CHECK_INT(step(-1, NULL, 0), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "unknown step of a transaction: -1");
    CHECK_INT(step(0, d.data, 4), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "not a BSON document"));
    CHECK_INT(fake_mongodb.ncommands, 4);
    // Other users may write to the buffer of the options.
    sharing = true;
    fake_mongodb.steps[0] = '\0';
    CHECK_INT(step(SBMO_DOC_BEGIN, d.data, d.len), 0);
    CHECK(fake_mongodb.body && fake_mongodb.body != d.data);
    CHECK_INT(step(SBMO_DOC_COMMIT, NULL, 0), 0);
    CHECK(!fake_mongodb.body);
    CHECK_STR(fake_mongodb.steps, "step(0,17) step(1,0) ");
    finish_documents();
}

static void json(void)
{
    uint8_t *doc;
    char *text;
    size_t len;

    start_documents();
    CHECK_INT(sbmo_doc_from_json(&c.pub, "{}", 2, &doc, &len), 0);
    CHECK_INT(len, 5);
    CHECK_INT(sbmo_doc_to_json(&c.pub, doc, len, &text, &len), 0);
    CHECK_STR(text, "{}");
    sbmo_doc_free(doc);
    sbmo_doc_free(text);
    CHECK_INT(sbmo_doc_from_json(&c.pub, "x", 1, &doc, &len), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "no JSON: x");
    CHECK(!doc && len == 0);
    CHECK_INT(
        sbmo_doc_to_json(&c.pub, (const uint8_t *)"\6\0\0\0", 5, &text, &len),
        SB_EUSAGE);
    CHECK(!text && len == 0);
    CHECK_STR(c.pub.sql_errmsg, "the 5 bytes given are not a BSON document");
    fake_mongodb.no_json = true;
    CHECK_INT(
        sbmo_doc_to_json(&c.pub, (const uint8_t *)"\5\0\0\0", 5, &text, &len),
        SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "not BSON");
    CHECK_INT(rec->ncodes, 0);
    finish_documents();
}

// --db-debug logs a line for each command. Without it no JSON is made.
static void debug_lines(void)
{
    start_documents();
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(fake_mongodb.conversions, 0);
    c.debug = true;
    capture();
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(step(SBMO_DOC_BEGIN, NULL, 0), 0);
    CHECK(strstr(captured(), "mongodb: user 0: 0.000 ms: {find:'t'}\n"
                             "mongodb: user 0: 0.000 ms: begin\n"));
    CHECK_INT(fake_mongodb.conversions, 1);
    finish_documents();
}

// Texts ----------------------------------------------------------------------

// The text of a large command takes no more time than that of a small one.
static void text_of_large_commands(void)
{
    static uint8_t big[1 << 20];
    struct doc small;
    char name[8], *text;
    size_t n, len, element;

    start_documents();
    put_text(begin(&small), "insert", "t");
    open_in(&small, 0x04, "documents");
    put_int(&small, "0", 1);
    element = small.len;
    memcpy(big, small.data, element);
    for (len = element; len < sizeof(big) - 100;) {
        snprintf(name, sizeof(name), "%zu", (len - element) % 1000);
        begin(&small);
        put_int(&small, name, 5);
        memcpy(big + len, small.data + 4, small.len - 4);
        len += small.len - 4;
    }
    big[len] = big[len + 1] = '\0';
    // Lengths of the list and of the document.
    sb_put32(big + element - 7 - 4, (uint32_t)(len + 1 - (element - 11)));
    sb_put32(big, (uint32_t)(len + 2));
    CHECK(sb_bson_framed(big, len + 2));
    text = sbmo_doc_text(big, len + 2, &n);
    CHECK(n > 1024 && n < 10000 && strlen(text) == n);
    CHECK(strncmp(text, "{insert:'t',documents:{0:1,", 27) == 0);
    CHECK_STR(text + n - 5, "}}...");
    free(text);
    next_answer(SB_EQUERY, 1);
    CHECK_INT(run_bytes(big, len + 2), SB_EQUERY);
    n = strlen(sb_con_failed_sql(&c.pub));
    CHECK_INT(n, 203);
    // Malformed inside: the text ends there.
    big[element] = 0x44;
    text = sbmo_doc_text(big, len + 2, &n);
    CHECK_STR(text, "{insert:'t',documents:{0:1}}...");
    free(text);
    finish_documents();
}

#define PART_MAX 4096u

static uint8_t large[16384];
static size_t large_len, opened[4];
static int depth;

static void add(const void *p, size_t n)
{
    memcpy(large + large_len, p, n);
    large_len += n;
}

static void add_key(uint8_t type, const char *name)
{
    add(&type, 1);
    add(name, strlen(name) + 1);
}

static void open_large(uint8_t type, const char *name)
{
    if (name)
        add_key(type, name);
    else
        large_len = depth = 0;
    opened[depth++] = large_len;
    large_len += 4;
}

static void close_large(void)
{
    size_t at = opened[--depth];

    large[large_len++] = '\0';
    sb_put32(large + at, (uint32_t)(large_len - at));
}

// A text of n bytes.
static void add_text(const char *name, size_t n)
{
    uint8_t size[4];

    add_key(0x02, name);
    sb_put32(size, (uint32_t)n + 1);
    add(size, 4);
    memset(large + large_len, 'x', n);
    large[large_len + n] = '\0';
    large_len += n + 1;
}

static const char *text_of(const uint8_t *body, size_t size)
{
    static char copy[16384];
    size_t n = 99;
    char *text = sbmo_doc_text(body, size, &n);

    snprintf(copy, sizeof(copy), "%s", text ? text : "(null)");
    CHECK_INT(n, strlen(copy));
    free(text);
    return copy;
}

static void short_commands_are_complete(void)
{
    start_documents();
    put_text(begin(&d), "find", "t");
    put_int(&d, "limit", 1);
    end(&d);
    CHECK_STR(text_of(d.data, d.len), "{find:'t',limit:1}");
    // Exactly as long as what is converted at most.
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4 - 1 - 1);
    close_large();
    CHECK_INT(large_len, PART_MAX);
    CHECK(strstr(text_of(large, large_len), "xx'}") != NULL);
    CHECK(strstr(text_of(large, large_len), "...") == NULL);
    finish_documents();
}

// The last element that fits ends at PART_MAX.
static void long_commands_are_cut(void)
{
    const char *text;

    start_documents();
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4 - 1);
    CHECK_INT(large_len, PART_MAX);
    add_text("b", 1);
    close_large();
    text = text_of(large, large_len);
    CHECK(strncmp(text, "{a:'xxx", 7) == 0);
    CHECK_STR(text + strlen(text) - 7, "xx'}...");
    CHECK(strstr(text, "b:") == NULL);
    open_large(0, NULL);
    add_text("a", PART_MAX - 4 - 3 - 4);
    add_text("b", 1);
    close_large();
    CHECK_STR(text_of(large, large_len), "{}...");
    finish_documents();
}

// A document within a command is cut, not left out.
static void documents_in_commands_are_cut(void)
{
    start_documents();
    open_large(0, NULL);
    add_text("insert", 2);
    open_large(0x04, "docs");
    open_large(0x03, "0");
    add_text("s", 3);
    close_large();
    open_large(0x03, "1");
    add_text("s", 1);
    add_text("t", 5000);
    close_large();
    open_large(0x03, "2");
    add_text("s", 3);
    close_large();
    close_large();
    add_text("z", 1);
    close_large();
    CHECK_STR(text_of(large, large_len),
        "{insert:'xx',docs:{0:{s:'xxx'},1:{s:'x'}}}...");
    finish_documents();
}

static void unreadable_commands_have_their_length(void)
{
    start_documents();
    fake_mongodb.no_json = true;
    CHECK_STR(text_of((const uint8_t *)"abc", 3), "(a command of 3 bytes)");
    memset(large, 'x', sizeof(large));
    CHECK_STR(text_of(large, 5000), "(a command of 5000 bytes)");
    fake_mongodb.no_json = false;
    CHECK_STR(text_of(large, 0), "(a command of 0 bytes)");
    finish_documents();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_NOTICE);
    RUN(kinds_and_names);
    RUN(counts);
    RUN(commands_are_copied_for_other_users);
    RUN(results);
    RUN(failures);
    RUN(closed_connections);
    RUN(rejected_commands);
    RUN(connections_of_other_drivers);
    RUN(transactions);
    RUN(json);
    RUN(debug_lines);
    RUN(text_of_large_commands);
    RUN(short_commands_are_complete);
    RUN(long_commands_are_cut);
    RUN(documents_in_commands_are_cut);
    RUN(unreadable_commands_have_their_length);
    return check_done();
}
