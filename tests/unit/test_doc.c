// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands of document databases: counts, failures and log lines.
#include <unistd.h>

#include "base/log.h"
#include "fake_doc.h"

static struct doc d;

static const struct doc *command(const char *name)
{
    put_text(begin(&d), name, "t");
    return end(&d);
}

static void kinds_and_names(void)
{
    struct sb_doc_name *name;

    start_docs();
    next_answer(0, 0)->kind = SB_RESULT_ROWS;
    CHECK_INT(run_doc(command("find")), 0);
    next_answer(0, 0)->kind = SB_RESULT_WRITE;
    answers[1].affected = 3;
    CHECK_INT(run_doc(command("insert")), 0);
    CHECK(sb_doc_affected(&c.pub) == 3);
    CHECK_INT(run_doc(command("ping")), 0);
    name = sb_doc_name(&c.pub, "mine");
    CHECK(name && name == sb_doc_name(&c.pub, "mine"));
    CHECK_INT(sb_doc_command(&c.pub, d.data, d.len, name), 0);
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(rec->tally.reads, 1);
    CHECK_INT(rec->tally.writes, 1);
    CHECK_INT(rec->tally.others, 3);
    CHECK_INT(op_count("find"), 2);
    CHECK_INT(op_count("insert"), 1);
    CHECK_INT(op_count("ping"), 1);
    CHECK_INT(op_count("mine"), 1);
    CHECK_INT(stats.op[op_index("find")].kind, SB_OP_READ);
    CHECK_INT(stats.op[op_index("insert")].kind, SB_OP_WRITE);
    CHECK_INT(stats.op[op_index("ping")].kind, SB_OP_OTHER);
    CHECK_STR(commands(), "{find:'t'} {insert:'t'} {ping:'t'} {ping:'t'} "
                          "{find:'t'} ");
    finish_docs();
}

static void empty_name_is_not_counted(void)
{
    struct sb_doc_name *name;

    start_docs();
    name = sb_doc_name(&c.pub, "");
    command("find");
    CHECK_INT(sb_doc_command(&c.pub, d.data, d.len, name), 0);
    CHECK_INT(rec->tally.reads + rec->tally.writes + rec->tally.others, 0);
    CHECK_INT(stats.nops, 0);
    next_answer(SB_EQUERY, 7);
    CHECK_INT(sb_doc_command(&c.pub, d.data, d.len, name), SB_EQUERY);
    CHECK_INT(rec->codes[0].count, 1);
    finish_docs();
}

static void new_statistics(void)
{
    struct sb_stats more;

    start_docs();
    CHECK_INT(run_doc(command("ping")), 0);
    CHECK_INT(sb_stats_init(&more, 1, 1, false), 0);
    sb_stats_op(&more, "another", SB_OP_OTHER);
    rec = &more.rec[0];
    CHECK_INT(run_doc(command("ping")), 0);
    sb_rec_flush(rec);
    CHECK_STR(more.op[1].name, "ping");
    CHECK_INT(sb_rec_op_tally(rec, 1)->count, 1);
    rec = &stats.rec[0];
    CHECK_INT(run_doc(command("ping")), 0);
    CHECK_INT(op_count("ping"), 2);
    // Without a recorder.
    rec = NULL;
    CHECK_INT(run_doc(command("ping")), 0);
    rec = &stats.rec[0];
    sb_stats_done(&more);
    finish_docs();
}

static void many_names(void)
{
    char name[16];

    start_docs();
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "made%d", i);
        CHECK_INT(run_doc(command(name)), 0);
        commands();
    }
    CHECK(ctx.doc_names->n <= 257);
    CHECK(op_count(SB_OPS_REST) > 700);
    CHECK_INT(run_doc(command("made3")), 0);
    CHECK_INT(op_count("made3"), 2);
    CHECK_INT(rec->tally.others, 1001);
    finish_docs();
}

static void results(void)
{
    const uint8_t *doc;
    struct doc reply;
    size_t len;

    start_docs();
    put_int(begin(&reply), "ok", 1);
    open_in(&reply, SB_BSON_ARRAY, "list");
    put_int(&reply, "0", 5);
    put_int(&reply, "1", 5);
    end(&reply);
    *next_answer(0, 0) = (struct answer){
        .kind = SB_RESULT_ROWS, .nrows = 2, .reply = end(&reply)
    };
    CHECK_INT(run_doc(command("find")), 0);
    CHECK(sb_doc_nrows(&c.pub) == 2);
    CHECK(sb_doc_reply(&c.pub, &len) == reply.data && len == reply.len);
    CHECK(sb_doc_reply_number(&c.pub, "ok") == 1);
    CHECK(sb_doc_reply_number(&c.pub, "list") == 2);
    CHECK(sb_doc_reply_number(&c.pub, "o") == 0);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 1);
    CHECK(len == row.len && doc[7] == 2);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 1);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 0);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 0);
    *next_answer(0, 0) = (struct answer){ .kind = SB_RESULT_ROWS, .nrows = 99 };
    CHECK_INT(run_doc(command("find")), 0);
    CHECK(sb_doc_reply(&c.pub, &len) == NULL && len == 0);
    CHECK(sb_doc_reply_number(&c.pub, "ok") == 0);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, "no more");
    CHECK_INT(rec->codes[0].native, 9);
    finish_docs();
}

// Results of SQL are invalid after a command, and the reverse.
static void mixed_with_sql(void)
{
    struct sb_sql_cell cell[1];
    struct sb_rs *rs;
    const uint8_t *doc;
    size_t len;

    start_docs();
    rs = sb_con_query(&c.pub, "select", 6);
    CHECK(rs && sb_rs_fetch(rs, cell) == 1);
    *next_answer(0, 0) = (struct answer){ .kind = SB_RESULT_ROWS, .nrows = 2 };
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(sb_rs_fetch(rs, cell), SB_EUSAGE);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), 1);
    rs = sb_con_query(&c.pub, "select", 6);
    CHECK(rs && sb_rs_fetch(rs, cell) == 1);
    CHECK_INT(sb_doc_next(&c.pub, &doc, &len), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "the result is no longer available"));
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    CHECK(sb_con_query(&c.pub, "update", 6) == NULL);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_INT(op_count("select"), 2);
    CHECK_INT(op_count("find"), 1);
    finish_docs();
}

static void failures(void)
{
    static const struct {
        int rc, error;
    } cases[] = {
        { SB_EQUERY, SB_SQL_FATAL },
        { SB_ERESTART, SB_SQL_IGNORABLE },
        { SB_EIGNORE, SB_SQL_IGNORABLE },
        { SB_ECANCELED, SB_SQL_FATAL },
        { SB_ENOMEM, SB_SQL_FATAL },
    };
    const uint8_t *doc;
    size_t len;

    start_docs();
    for (int i = 0; i < 5; i++) {
        next_answer(cases[i].rc, 100 + i)->affected = 4;
        CHECK_INT(run_doc(command("insert")), cases[i].rc);
        CHECK_INT(c.pub.error, cases[i].error);
        CHECK_INT(c.pub.sql_errno, 100 + i);
        CHECK_STR(c.pub.sql_errmsg, "refused");
        CHECK_STR(sb_con_failed_sql(&c.pub), "{insert:'t'}");
        CHECK_INT(rec->codes[i].native, 100 + i);
        CHECK_INT(rec->codes[i].count, 1);
        CHECK_INT(op_errors("insert"), i + 1);
        CHECK(sb_doc_affected(&c.pub) == 4);
        CHECK_INT(sb_doc_next(&c.pub, &doc, &len), SB_EUSAGE);
    }
    CHECK_INT(op_count("insert"), 0);
    CHECK_INT(rec->tally.writes + rec->tally.others, 0);
    // A driver that does not set an error message.
    next_answer(SB_EQUERY, 0)->plain = true;
    CHECK_INT(run_doc(command("insert")), SB_EQUERY);
    CHECK_STR(c.pub.sql_errmsg, sb_err_text(SB_EQUERY));
    CHECK_INT(run_doc(command("insert")), 0);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    CHECK_STR(sb_con_failed_sql(&c.pub), "");
    finish_docs();
}

static void lost_and_reconnected(void)
{
    size_t len;

    start_docs();
    opts.reconnect = true;
    connects = 0;
    next_answer(SB_ELOST, 6);
    CHECK_INT(run_doc(command("find")), SB_ERECONNECT);
    CHECK_INT(c.pub.error, SB_SQL_IGNORABLE);
    CHECK(sb__con_lost(&c) && !c.outcome); // the next one has nothing to free
    CHECK_INT(sb_con_reset(&c.pub), 0);
    CHECK(!sb__con_lost(&c) && connects == 1);
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(rec->tally.reconnects, 1);
    opts.reconnect = false;
    next_answer(SB_ELOST, 6);
    CHECK_INT(run_doc(command("find")), SB_ELOST);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    // The connection was closed after the loss.
    c.outcome = SB__OUTCOME_NONE;
    sb__con_enter(&c, SB__CON_AWAY);
    CHECK_INT(run_doc(command("find")), SB_ELOST);
    CHECK_STR(c.pub.sql_errmsg, "the connection was lost");
    CHECK(sb_doc_reply(&c.pub, &len) == NULL);
    sb__con_enter(&c, SB__CON_CLOSED);
    CHECK_INT(run_doc(command("find")), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    CHECK(sb_doc_compile(&c.pub, d.data, d.len, NULL) == NULL);
    CHECK_STR(c.pub.sql_errmsg, "the connection is closed");
    finish_docs();
}

static const char *rejected(const uint8_t *body, size_t len)
{
    CHECK_INT(sb_doc_command(&c.pub, body, len, NULL), SB_EUSAGE);
    CHECK_INT(c.pub.error, SB_SQL_FATAL);
    return c.pub.sql_errmsg;
}

static void rejected_commands(void)
{
    start_docs();
    command("find");
    CHECK(strstr(
        rejected(d.data, 3), "the 3 bytes given are not a BSON document"));
    CHECK(strstr(rejected(d.data, d.len - 1), "are not a BSON document"));
    CHECK(strstr(rejected(NULL, 0), "are not a BSON document"));
    d.data[d.len - 1] = 1;
    CHECK(strstr(rejected(d.data, d.len), "are not a BSON document"));
    CHECK(strstr(rejected((const uint8_t *)"\5\0\0\0", 5), "has none"));
    CHECK(strstr(rejected((const uint8_t *)"\7\0\0\0\12\0", 7), "has none"));
    CHECK_INT(ncommands, 0);
    CHECK_INT(rec->ncodes, 0);
    CHECK_INT(sb_con_pipeline(&c.pub), 0);
    command("find");
    CHECK(strstr(rejected(d.data, d.len), "a pipeline is open"));
    sb_con_pipeline_drop(&c.pub);
    sb__con_enter(&c, SB__CON_LOADING);
    CHECK(strstr(rejected(d.data, d.len), "loading a table"));
    sb__con_enter(&c, SB__CON_OPEN);
    CHECK(sb_doc_has(&c.pub));
    drv.doc = NULL;
    CHECK(!sb_doc_has(&c.pub));
    CHECK_STR(
        rejected(d.data, d.len), "the fake driver does not support documents");
    CHECK(sb_doc_compile(&c.pub, d.data, d.len, NULL) == NULL);
    CHECK(strstr(c.pub.sql_errmsg, "does not support documents"));
    finish_docs();
}

static void transactions(void)
{
    start_docs();
    CHECK_INT(sb_doc_transaction(&c.pub, SB_DOC_BEGIN, NULL, 0), 0);
    command("find");
    CHECK_INT(sb_doc_transaction(&c.pub, SB_DOC_COMMIT, d.data, d.len), 0);
    CHECK_INT(sb_doc_transaction(&c.pub, SB_DOC_ABORT, NULL, 0), 0);
    CHECK_STR(logged(), "step(0,0) step(1,17) step(2,0) ");
    CHECK_INT(op_count("begin"), 1);
    CHECK_INT(op_count("commit"), 1);
    CHECK_INT(op_count("abort"), 1);
    CHECK_INT(rec->tally.others, 3);
    next_answer(SB_ERESTART, 112);
    CHECK_INT(sb_doc_transaction(&c.pub, SB_DOC_COMMIT, NULL, 0), SB_ERESTART);
    CHECK_STR(sb_con_failed_sql(&c.pub), "commit");
    CHECK_INT(op_errors("commit"), 1);
    CHECK_INT(sb_doc_transaction(&c.pub, 3, NULL, 0), SB_EUSAGE);
    CHECK_INT(sb_doc_transaction(&c.pub, 0, d.data, 4), SB_EUSAGE);
    CHECK(strstr(c.pub.sql_errmsg, "not a BSON document"));
    doc_ops.transaction = NULL;
    CHECK_INT(sb_doc_transaction(&c.pub, 0, NULL, 0), SB_EUSAGE);
    CHECK_STR(
        c.pub.sql_errmsg, "the fake driver does not support transactions");
    doc_ops.transaction = doc_transaction;
    finish_docs();
}

static void json(void)
{
    uint8_t *doc;
    char *text;
    size_t len;

    start_docs();
    CHECK_INT(sb_doc_from_json(&c.pub, "{}", 2, &doc, &len), 0);
    CHECK_INT(len, 5);
    CHECK_INT(sb_doc_to_json(&c.pub, doc, len, &text, &len), 0);
    CHECK_STR(text, "{}");
    sb_doc_free(doc);
    sb_doc_free(text);
    CHECK_INT(sb_doc_from_json(&c.pub, "x", 1, &doc, &len), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "no JSON: x");
    CHECK(!doc && len == 0);
    CHECK_INT(
        sb_doc_to_json(&c.pub, (const uint8_t *)"\6\0\0\0", 5, &text, &len),
        SB_EUSAGE);
    CHECK(!text);
    finish_docs();
}

// The text of a large command takes no more time than that of a small one.
static void text_of_large_commands(void)
{
    static uint8_t big[1 << 20];
    struct doc small;
    char name[8], *text;
    size_t n, len, element;

    start_docs();
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
    text = sb__doc_text(&c, big, len + 2, &n);
    CHECK(n > 1024 && n < 10000 && strlen(text) == n);
    CHECK(strncmp(text, "{insert:'t',documents:{0:1,", 27) == 0);
    CHECK_STR(text + n - 5, "}}...");
    free(text);
    next_answer(SB_EQUERY, 1);
    CHECK_INT(sb_doc_command(&c.pub, big, len + 2, NULL), SB_EQUERY);
    n = strlen(sb_con_failed_sql(&c.pub));
    CHECK_INT(n, 203);
    // Malformed inside: the text ends there.
    big[element] = 0x44;
    text = sb__doc_text(&c, big, len + 2, &n);
    CHECK_STR(text, "{insert:'t',documents:{0:1}}...");
    free(text);
    finish_docs();
}

static char captured[4096];

// --db-debug logs a line for each command. Without it no JSON is made.
static void debug_lines(void)
{
    int fd[2], was;
    ssize_t n;

    start_docs();
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_STR(logged(), "");
    c.debug = true;
    fflush(stderr);
    CHECK(pipe(fd) == 0);
    was = dup(2);
    dup2(fd[1], 2);
    CHECK_INT(run_doc(command("find")), 0);
    CHECK_INT(sb_doc_transaction(&c.pub, SB_DOC_BEGIN, NULL, 0), 0);
    fflush(stderr);
    dup2(was, 2);
    close(was);
    close(fd[1]);
    n = read(fd[0], captured, sizeof(captured) - 1);
    close(fd[0]);
    captured[n > 0 ? n : 0] = '\0';
    CHECK(strstr(captured, "fake: user 0: 0.000 ms: {find:'t'}\n"));
    CHECK(strstr(captured, "fake: user 0: 0.000 ms: begin\n"));
    finish_docs();
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_NOTICE);
    RUN(kinds_and_names);
    RUN(empty_name_is_not_counted);
    RUN(new_statistics);
    RUN(many_names);
    RUN(results);
    RUN(mixed_with_sql);
    RUN(failures);
    RUN(lost_and_reconnected);
    RUN(rejected_commands);
    RUN(transactions);
    RUN(json);
    RUN(text_of_large_commands);
    RUN(debug_lines);
    return check_done();
}
