// SPDX-License-Identifier: GPL-2.0-or-later
//
// Text that the PostgreSQL driver sends, and the classes of errors. The test
// includes the source files, which do not need libpq.
#include <stdlib.h>

#include "check.h"
#include "drivers/pgsql/binary.h"
#include "drivers/pgsql/internal.h"

static const char *double_text(double d)
{
    static char out[SB_NUMBER_ROOM];

    CHECK_INT(pgsql_put_double(out, d), strlen(out));
    return out;
}

static void doubles(void)
{
    CHECK_STR(double_text(0.1), "0.1");
    CHECK_STR(double_text(3), "3");
    CHECK(strtod(double_text(-1.7976931348623157e308), NULL) ==
          -1.7976931348623157e308);
    CHECK(strtod(double_text(0.1 + 0.2), NULL) == 0.1 + 0.2);
    CHECK_STR(double_text(NAN), "NaN");
    CHECK_STR(double_text(-NAN), "NaN");
    CHECK_STR(double_text(-INFINITY), "-Infinity");
}

static const char *copied(struct sb_value v)
{
    static char out[200];
    size_t most = pgsql_copy_size(&v), n;

    memset(out, 'x', sizeof(out));
    n = pgsql_copy_value(out, &v);
    CHECK(n <= most);
    CHECK(out[most] == 'x');
    out[n] = '\0';
    return out;
}

static struct sb_value bytes(int type, const char *s)
{
    return (
        struct sb_value){ .type = type, .len = (uint32_t)strlen(s), .s = s };
}

static void copies(void)
{
    struct sb_value null = { .type = SB_VALUE_NULL };
    struct sb_value seven = { .type = SB_VALUE_INT, .i = -7 };
    struct sb_value most = { .type = SB_VALUE_UINT, .u = UINT64_MAX };

    CHECK_STR(copied(null), "\\N");
    CHECK_STR(copied(seven), "-7");
    CHECK_STR(copied(most), "18446744073709551615");
    CHECK_STR(copied(bytes(SB_VALUE_TEXT, "plain")), "plain");
    CHECK_STR(copied(bytes(SB_VALUE_TEXT, "")), "");
    CHECK_STR(
        copied(bytes(SB_VALUE_TEXT, "\\N\t\n\r\\.")), "\\\\N\\t\\n\\r\\\\.");
    CHECK_STR(copied(bytes(SB_VALUE_TEXT, "\\\\\\\\")), "\\\\\\\\\\\\\\\\");
    CHECK_STR(copied(bytes(SB_VALUE_BLOB, "\xff\x01")), "\\\\xff01");
}

static const char *literal(const char *s, bool backslash)
{
    static char out[64];
    char small[3] = "zz";
    size_t n = pgsql_put_literal(s, strlen(s), backslash, out, sizeof(out));

    CHECK_INT(n, strlen(out));
    CHECK_INT(pgsql_put_literal(s, strlen(s), backslash, small, 2), n);
    CHECK(small[1] == '\0' && small[2] == '\0');
    return out;
}

static void literals(void)
{
    CHECK_STR(literal("it's", false), "'it''s'");
    CHECK_STR(literal("a\\b", false), "'a\\b'");
    CHECK_STR(literal("a\\b'", true), " E'a\\\\b'''");
    CHECK_STR(literal("ab", true), "'ab'");
    CHECK_STR(literal("", true), "''");
}

static const char *numbered(const char *sql, uint32_t want)
{
    static char out[400];

    CHECK_INT(pgsql_number_marks(sql, strlen(sql), PGSQL_SCAN, out), want);
    CHECK(strlen(out) <= 6 * strlen(sql));
    return out;
}

static void placeholders(void)
{
    CHECK_STR(numbered("SELECT 1", 0), "SELECT 1");
    CHECK_STR(numbered("?", 1), "$1");
    CHECK_STR(numbered("a=? AND b='?' -- ?\n AND c=?", 2),
        "a=$1 AND b='?' -- ?\n AND c=$2");
    CHECK_STR(numbered("(?,?,?,?,?,?,?,?,?,?)", 10),
        "($1,$2,$3,$4,$5,$6,$7,$8,$9,$10)");
    CHECK_STR(numbered("j ?? ? AND j ??| ? AND '?\?' ???", 3),
        "j ? $1 AND j ?| $2 AND '?\?' ?$3");
    CHECK_STR(numbered("$$?$$ ? e'\\'?' ?", 2), "$$?$$ $1 e'\\'?' $2");
}

static bool has_several(const char *sql)
{
    char scratch[100];

    return pgsql_several(sql, strlen(sql), PGSQL_SCAN, scratch);
}

static void several_statements(void)
{
    CHECK(!has_several("SELECT ';', ?"));
    CHECK(!has_several("SELECT 1; \n"));
    CHECK(has_several("SELECT 1; SELECT 2"));
    CHECK(has_several("SELECT '?'; SELECT ?"));
    CHECK(!has_several("SELECT 1 -- ;\n + 1"));
    CHECK(!has_several("SELECT j ?? 'a';;"));
    CHECK(has_several("SELECT 1;;SELECT 2"));
}

static void errors(void)
{
    CHECK_INT(pgsql_classify("40001", ""), SB_ERESTART);
    CHECK_INT(pgsql_classify("40P01", ""), SB_ERESTART);
    CHECK_INT(pgsql_classify("55P03", ""), SB_ERESTART);
    CHECK_INT(pgsql_classify("23505", ""), SB_EIGNORE);
    CHECK_INT(pgsql_classify("23503", ""), SB_EQUERY);
    CHECK_INT(pgsql_classify("08006", ""), SB_ELOST);
    CHECK_INT(pgsql_classify("57P01", ""), SB_ELOST);
    CHECK_INT(pgsql_classify("57014", ""), SB_EQUERY);
    CHECK_INT(pgsql_classify("08P01", "server conn crashed?"), SB_ELOST);
    CHECK_INT(pgsql_classify("08P01", "query_wait_timeout"), SB_ELOST);
    CHECK_INT(pgsql_classify("08P01",
                  "transaction blocks not allowed in statement pooling mode"),
        SB_EQUERY);
    CHECK(strstr(pgsql_hint("08P01", "query_wait_timeout"), "pool_size"));
    CHECK(!pgsql_hint("08P01", "server conn crashed?"));
    CHECK_INT(pgsql_classify("", ""), SB_EQUERY);
    CHECK_INT(pgsql_classify("40000", ""), SB_ERESTART);
    CHECK_INT(pgsql_classify("40003", ""), SB_EQUERY);
    CHECK_INT(pgsql_classify("72000", ""), SB_ERESTART);
    CHECK_INT(
        pgsql_classify("XX000", "tuple concurrently updated"), SB_ERESTART);
    CHECK_INT(pgsql_classify("XX000", "could not open relation with OID 7"),
        SB_ERESTART);
    CHECK_INT(pgsql_classify("XX000", "cache lookup failed for function 7"),
        SB_ERESTART);
    CHECK_INT(pgsql_classify("XX000", "unexpected chunk number"), SB_EQUERY);
    CHECK_INT(pgsql_classify("22023", "tuple concurrently updated"), SB_EQUERY);
    CHECK(pgsql_plan_changed("0A000", "anders", "RevalidateCachedQuery"));
    CHECK(pgsql_plan_changed(
        "0A000", "cached plan must not change result type", "planner"));
    CHECK(!pgsql_plan_changed("0A000", "not supported", "planner"));
    CHECK(!pgsql_plan_changed("42601", "syntax", "RevalidateCachedQuery"));
    CHECK(pgsql_not_known("0A000") && pgsql_not_known("42601"));
    CHECK(!pgsql_not_known("42P01") && !pgsql_not_known(""));
}

static void lines(void)
{
    char out[40] = "in  place\n";

    pgsql_one_line(out, out, sizeof(out));
    CHECK_STR(out, "in place");
    CHECK_INT(pgsql_one_line(" two\n\tlines \n", out, sizeof(out)), 9);
    CHECK_STR(out, "two lines");
    CHECK_INT(pgsql_one_line("abcdef", out, 4), 3);
    CHECK_STR(out, "abc");
    CHECK_INT(pgsql_one_line("", out, sizeof(out)), 0);
    CHECK_STR(out, "");
}

CHECK_FILE
{
    RUN(doubles);
    RUN(copies);
    RUN(literals);
    RUN(placeholders);
    RUN(several_statements);
    RUN(errors);
    RUN(lines);
    return check_done();
}
