// SPDX-License-Identifier: GPL-2.0-or-later
//
// Which operation a text of a server belongs to.
#include "db/texts.h"

#include "check.h"

static struct sb__texts *texts;

enum { SELECT = 1, UPDATE = 3 };

static const char *find(const char *sql, int word)
{
    const char *name = sb__texts_find(texts, sql, strlen(sql), 0, word);

    return name ? name : "none";
}

static void add(const char *operation, const char *sql)
{
    sb__texts_add(texts, operation, sql, strlen(sql), 0);
}

static void prepared_statements(void)
{
    add("point", "SELECT c FROM t1 WHERE id=?");
    add("point", "SELECT c FROM t2 WHERE id=?");
    CHECK_STR(find("select c from t3 where id = $1", SELECT), "point");
    CHECK_STR(find("select c from t3", SELECT), "none");
    CHECK(sb__texts_prepared(texts, "point"));
    CHECK(!sb__texts_prepared(texts, "select"));
}

static void first_words(void)
{
    sb__texts_add_word(texts, "select", SELECT);
    sb__texts_add_word(texts, "query", 0);
    CHECK_STR(find("SELECT 1", SELECT), "select");
    // A prepared statement with this text has a name of its own.
    CHECK_STR(find("SELECT c FROM t1 WHERE id=7", SELECT), "point");
    CHECK_STR(find("UPDATE t", UPDATE), "none");
    CHECK_STR(find("VACUUM", 0), "none");
    CHECK(!sb__texts_prepared(texts, "select"));
}

static void several_operations(void)
{
    add("a", "UPDATE t SET a=1");
    add("b", "UPDATE t SET a=2");
    CHECK_STR(find("UPDATE t SET a=3", UPDATE), "none");
    sb__texts_add_word(texts, "x/update", UPDATE);
    CHECK_STR(find("UPDATE u", UPDATE), "x/update");
    sb__texts_add_word(texts, "y/update", UPDATE);
    CHECK_STR(find("UPDATE u", UPDATE), "none");
}

static void not_kept(void)
{
    sb__texts_add(NULL, "a", "b", 1, 0);
    sb__texts_add_word(NULL, "a", 1);
    CHECK(!sb__texts_find(NULL, "b", 1, 0, 1));
    CHECK(!sb__texts_prepared(NULL, "a"));
}

CHECK_FILE
{
    texts = sb__texts_new();
    RUN(prepared_statements);
    RUN(first_words);
    RUN(several_operations);
    RUN(not_kept);
    sb__texts_free(texts);
    return check_done();
}
