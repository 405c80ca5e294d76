// SPDX-License-Identifier: GPL-2.0-or-later
#include "db/sql/sql.h"

#include <math.h>

#include "check.h"
#include "kit/sqlscan.h"

static unsigned scan_of(const char *dialect)
{
    if (strcmp(dialect, "mysql") == 0)
        return SB_SQLSCAN_BACKSLASH | SB_SQLSCAN_HASH | SB_SQLSCAN_BANG;
    if (strcmp(dialect, "mariadb") == 0) // in the mode NO_BACKSLASH_ESCAPES
        return SB_SQLSCAN_HASH | SB_SQLSCAN_BANG | SB_SQLSCAN_M_BANG;
    if (strcmp(dialect, "pgsql") == 0)
        return SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST;
    if (strcmp(dialect, "not conforming") == 0) // PostgreSQL
        return SB_SQLSCAN_DOLLAR | SB_SQLSCAN_NEST | SB_SQLSCAN_BACKSLASH;
    return 0;
}

// Returns the text with '@' for each placeholder.
static const char *marked(const char *sql, const char *dialect)
{
    static char out[256];
    struct sb__placeholders m;

    snprintf(out, sizeof(out), "%s", sql);
    CHECK_INT(sb__placeholders_scan(&m, sql, strlen(sql), scan_of(dialect)), 0);
    if (m.sql) {
        CHECK_INT(strlen(m.sql), m.len);
        snprintf(out, sizeof(out), "%s", m.sql);
    }
    for (uint32_t i = 0; i < m.n; i++)
        out[m.at[i]] = '@';
    sb__placeholders_done(&m);
    return out;
}

static void plain_text(void)
{
    CHECK_STR(marked("?", ""), "@");
    CHECK_STR(marked("", ""), "");
    CHECK_STR(
        marked("a=? AND b=?::int, (?,?)", "pgsql"), "a=@ AND b=@::int, (@,@)");
}

static void strings_and_names(void)
{
    CHECK_STR(marked("'?' ? 'it''s ?' ?", ""), "'?' @ 'it''s ?' @");
    CHECK_STR(marked("\"a?\"\"?\" ? `x?` ?", ""), "\"a?\"\"?\" @ `x?` @");
    CHECK_STR(marked("'\\' ? '", ""), "'\\' @ '");
    CHECK_STR(marked("'\\' ? ' ?", "mysql"), "'\\' ? ' @");
    CHECK_STR(marked("e'\\' ? ' ? '\\' ?", "pgsql"), "e'\\' ? ' @ '\\' @");
    CHECK_STR(marked("type'\\' ?", "pgsql"), "type'\\' @");
    CHECK_STR(
        marked("'\\' ? ' \"\\\" ?", "not conforming"), "'\\' ? ' \"\\\" @");
    CHECK_STR(marked("'\\' ?", "mariadb"), "'\\' @");
    CHECK_STR(marked("'open ?", ""), "'open ?");
}

static void comments(void)
{
    CHECK_STR(marked("? -- ?\n ?", ""), "@ -- ?\n @");
    CHECK_STR(marked("5--?", "mysql"), "5--@");
    CHECK_STR(marked("5--?", "pgsql"), "5--?");
    CHECK_STR(marked("? # ?\n?", "mysql"), "@ # ?\n@");
    CHECK_STR(marked("a # ?", "pgsql"), "a # @");
    CHECK_STR(marked("/* ? */ ? /*! ? */", "mysql"), "/* ? */ @ /*! @ */");
    CHECK_STR(marked("/*M! ? */ /*! ? */", "mysql"), "/*M! ? */ /*! @ */");
    CHECK_STR(marked("/*M! ? */ /*! ? */ /*M ? */", "mariadb"),
        "/*M! @ */ /*! @ */ /*M ? */");
    CHECK_STR(marked("/*/ ? */ ?", ""), "/*/ ? */ @");
    CHECK_STR(marked("/* /* */ ? */ ?", "pgsql"), "/* /* */ ? */ @");
    CHECK_STR(marked("/* /* */ ?", ""), "/* /* */ @");
    CHECK_STR(marked("?/?-?", ""), "@/@-@");
}

static void dollars(void)
{
    CHECK_STR(marked("$$ ? $$ ?", "pgsql"), "$$ ? $$ @");
    CHECK_STR(marked("$a$ ? $$ ? $a$ ?", "pgsql"), "$a$ ? $$ ? $a$ @");
    CHECK_STR(marked("$1 ? a$b$ ? $", "pgsql"), "$1 @ a$b$ @ $");
    CHECK_STR(marked("$$ ? $$", "mysql"), "$$ @ $$");
}

static void escapes(void)
{
    CHECK_STR(marked("a ?? b", "pgsql"), "a ? b");
    CHECK_STR(marked("a ??| ?", "pgsql"), "a ?| @");
    CHECK_STR(marked("? ??& ? ? ??", ""), "@ ?& @ @ ?");
    CHECK_STR(marked("???", ""), "?@");
    CHECK_STR(marked("????", "mysql"), "??");
    CHECK_STR(marked("?\?'?\?'??", ""), "?'?\?'?");
    CHECK_STR(marked("-- ??\n/*??*/\"??\"$$??$$ ?", "pgsql"),
        "-- ??\n/*??*/\"??\"$$??$$ @");
}

static const char *filled(const char *sql, bool pgsql, const struct sb_value *v)
{
    static struct sb_buf b;
    struct sb__quoting q = { .casts = pgsql };
    struct sb__placeholders m;
    struct sb_err err;

    sb_buf_done(&b);
    sb_buf_init(&b, 0);
    sb__placeholders_scan(&m, sql, strlen(sql), 0);
    CHECK_INT(sb__placeholders_fill(&b, &m, sql, strlen(sql), &q, v, &err), 0);
    sb__placeholders_done(&m);
    return b.data;
}

static void values(void)
{
    struct sb_value v[] = {
        { .type = SB_VALUE_INT, .i = 42 },
        { .type = SB_VALUE_INT, .i = -7 },
        { .type = SB_VALUE_DOUBLE, .d = 0.1 },
        { .type = SB_VALUE_NULL },
        { .type = SB_VALUE_TEXT, .s = "o'c?", .len = 4 },
        { .type = SB_VALUE_BLOB, .s = "\x00\xaf", .len = 2 },
    };

    CHECK_STR(filled("a=?,1-?,?;?|?'?'?", false, v),
        "a=42,1-(-7),0.1e0;NULL|'o''c?''?'X'00af'");
    CHECK_STR(filled("?", true, v + 5), "'\\x00af'::bytea");
    CHECK_STR(filled("none", false, NULL), "none");
    CHECK_STR(filled("?? ??| ?, ?\?'?\?'?", false, v), "? ?| 42, ?'?\?'(-7)");
    CHECK_STR(filled("a ?? b", false, NULL), "a ? b");
}

// Returns the literal of a value; "" if the value has none.
static const char *literal(const struct sb__quoting *q, struct sb_value v)
{
    static struct sb_buf b;
    struct sb_err err = { 0 };
    int rc;

    sb_buf_done(&b);
    sb_buf_init(&b, 0);
    rc = sb__quote_rows(&b, q, &v, 1, 1, &err);
    if (rc == 0) {
        b.data[b.len - 1] = '\0'; // the parenthesis after the row
        return b.data + 1;
    }
    CHECK_INT(rc, SB_ERANGE);
    CHECK(strstr(err.msg, "this database has no SQL literal for"));
    return "";
}

static void numbers(void)
{
    static const struct {
        double d;
        const char *plain, *pgsql, *sqlite;
    } cases[] = {
        { 0, "0e0", "0", "0e0" },
        { 5, "5e0", "5", "5e0" },
        { -5, "(-5e0)", "(-5)", "(-5e0)" },
        { 0.1, "0.1e0", "0.1", "0.1e0" },
        { 0.1 + 0.2, "0.30000000000000004e0", "0.30000000000000004",
            "0.30000000000000004e0" },
        { -1e300, "(-1e+300)", "(-1e+300)", "(-1e+300)" },
        { -0.0, "(-0e0)", "'-0'::float8", "(-0e0)" },
        { NAN, "", "'NaN'::float8", "" },
        { INFINITY, "", "'Infinity'::float8", "9e999" },
        { -INFINITY, "", "'-Infinity'::float8", "(-9e999)" },
    };
    const struct sb__quoting plain = { 0 }, pgsql = { .casts = true },
                             sqlite = { .huge = true };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sb_value v = { .type = SB_VALUE_DOUBLE, .d = cases[i].d };

        CHECK_STR(literal(&plain, v), cases[i].plain);
        CHECK_STR(literal(&pgsql, v), cases[i].pgsql);
        CHECK_STR(literal(&sqlite, v), cases[i].sqlite);
    }
    CHECK_STR(literal(&(struct sb__quoting){ .binary = true },
                  (struct sb_value){
                      .type = SB_VALUE_BLOB, .s = "\x00\xaf", .len = 2 }),
        "_binary X'00af'");
    CHECK_STR(literal(&plain,
                  (struct sb_value){ .type = SB_VALUE_UINT, .u = UINT64_MAX }),
        "18446744073709551615");
    CHECK_STR(literal(&plain,
                  (struct sb_value){ .type = SB_VALUE_INT, .i = INT64_MIN }),
        "(-9223372036854775808)");
}

static void long_text(void)
{
    static char text[3000];
    struct sb_value v = { .type = SB_VALUE_TEXT, .s = text, .len = 3000 };

    memset(text, '\'', sizeof(text));
    CHECK_INT(strlen(filled("?", false, &v)), 6002);
    v.len = 255;
    CHECK_INT(strlen(filled("?", false, &v)), 512);
}

static void quote_returns_the_needed_size(void)
{
    char out[4] = "xyz";

    CHECK_INT(sb__quote_plain("abc", 3, out, sizeof(out)), 5);
    CHECK_STR(out, "'ab");
    CHECK_INT(sb__quote_plain("", 0, out, sizeof(out)), 2);
    CHECK_STR(out, "''");
    CHECK_INT(sb__quote_plain("a", 1, NULL, 0), 3);
    CHECK_INT(sb__quote_plain("a\0'", 3, out, sizeof(out)), 23);
    CHECK_STR(out, "CAS");
}

CHECK_FILE
{
    RUN(plain_text);
    RUN(strings_and_names);
    RUN(comments);
    RUN(dollars);
    RUN(escapes);
    RUN(values);
    RUN(numbers);
    RUN(long_text);
    RUN(quote_returns_the_needed_size);
    return check_done();
}
