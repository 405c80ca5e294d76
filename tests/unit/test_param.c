// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parameters, their number, and values that only some drivers accept.
#include <math.h>

#include "db/sql/sql.h"
#include "check_log.h"
#include "fake.h"

static struct sb_stmt_handle *st;

static struct sb_stmt_handle *open_stmt(const char *sql)
{
    return sb_stmt_open(&c.pub, sql, strlen(sql), NULL);
}

static void buffers_have_the_maximum_length(void)
{
    struct sb_param *p = sb_stmt_param(st, SB_SQL_TYPE_VARCHAR, 10);

    CHECK_INT(p->type, SB_SQL_TYPE_VARCHAR);
    CHECK_INT(p->max_len, 10);
    CHECK(p->is_null);
    memset(p->buffer, 'x', 11); // a NUL has room
    sb_param_free(p);
    p = sb_stmt_param(st, SB_SQL_TYPE_TIME, 0);
    CHECK_INT(p->max_len, 0);
    CHECK_INT(sb_param_room(p, 0), 0);
    CHECK_INT(sb_param_room(p, 1000), 1000);
    memset(p->buffer, 'x', 1000);
    CHECK_INT(sb_param_room(p, 1), 1);
    CHECK_INT(sb_param_room(p, UINT32_MAX), -1);
    CHECK_INT(sb_param_room(p, 1000), 1000);
    sb_param_free(p);
    // Numbers have none, whatever the length.
    p = sb_stmt_param(st, SB_SQL_TYPE_DOUBLE, UINT64_MAX);
    CHECK(p->buffer == NULL);
    CHECK_INT(p->max_len, 0);
    sb_param_free(p);
    sb_param_free(NULL);
}

static const char *refused(int type, uint64_t max_len)
{
    CHECK(sb_stmt_param(st, type, max_len) == NULL);
    CHECK_INT(c.err.code, SB_EUSAGE);
    return c.pub.sql_errmsg;
}

static void types_and_lengths_are_checked(void)
{
    CHECK_STR(refused(SB_SQL_TYPE_NONE, 1), "invalid parameter type 0");
    CHECK_STR(refused(-3, 1), "invalid parameter type -3");
    CHECK_STR(refused(SB_SQL_TYPE_BLOB + 1, 1), "invalid parameter type 14");
    CHECK_STR(refused(SB_SQL_TYPE_BLOB, UINT32_MAX),
        "the maximum length of a parameter is 4294967294 bytes");
    refused(SB_SQL_TYPE_TIME, UINT64_MAX); // the sum of bytes would overflow
}

static int cuts(uint64_t len)
{
    int n = 0;

    capture();
    for (int i = 0; i < 2; i++) {
        struct sb_param *p = sb_stmt_param(st, SB_SQL_TYPE_CHAR, 2);

        CHECK_INT(sb_param_room(p, len), 2);
        sb_param_free(p);
    }
    for (const char *at = captured(); (at = strstr(at, "was cut to 2")); at++)
        n++;
    return n;
}

static void each_run_warns_once_of_cuts(void)
{
    CHECK_INT(cuts(7), 1);
    CHECK_INT(cuts(8), 0);
    owner.cut = false; // another run
    CHECK_INT(cuts(9), 1);
}

// The address sanitizer sees a parameter that is freed too early or never.
static void a_parameter_outlives_its_creator(void)
{
    struct sb_param *p = sb_stmt_param(st, SB_SQL_TYPE_INT, 0);
    struct sb_stmt_handle *both[] = { open_stmt("a ?"), open_stmt("b ?") };

    CHECK_INT(sb_stmt_bind(both[0], &p, 1), 0);
    CHECK_INT(sb_stmt_bind(both[1], &p, 1), 0);
    sb_stmt_free(both[0]);
    p->i = 5;
    sb_param_free(p);
    sb_stmt_execute(both[1]);
    CHECK_INT(c.pub.error, SB_SQL_NONE);
    sb_stmt_free(both[1]);
}

static void numbers_are_compared(void)
{
    struct sb_param *p = sb_stmt_param(st, SB_SQL_TYPE_INT, 0);
    struct sb_param *both[] = { p, NULL };
    struct sb_stmt_handle *one = open_stmt("select ?");
    struct sb_stmt_handle *two = open_stmt("select ?, ?");

    CHECK_INT(sb_stmt_bind(one, both, 1), 0);
    CHECK_INT(sb_stmt_bind(one, NULL, 0), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "0 parameters bound, but the statement has 1 "
                                "placeholder: 'select ?'");
    CHECK_INT(sb_stmt_bind(two, both, 1), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "1 parameter bound, but the statement has 2 "
                                "placeholders: 'select ?, ?'");
    CHECK_INT(sb_stmt_bind(two, both, 2), SB_EUSAGE);
    CHECK_STR(c.pub.sql_errmsg, "parameter 2 of 'select ?, ?' is missing");
    sb_param_free(p);
}

static int number(double d)
{
    const struct sb_value v = { .type = SB_VALUE_DOUBLE, .d = d };

    sb_err_clear(&c.err);
    return sb__value_check(&c, &v);
}

static int natural(uint64_t u)
{
    const struct sb_value v = { .type = SB_VALUE_UINT, .u = u };

    sb_err_clear(&c.err);
    return sb__value_check(&c, &v);
}

static void special_values_need_a_driver_for_them(void)
{
    drv.caps = 0;
    CHECK_INT(number(1.5), 0);
    CHECK_INT(number(NAN), SB_ERANGE);
    CHECK_STR(c.pub.sql_errmsg,
        "NaN is out of range: the fake driver cannot store it");
    CHECK_INT(number(INFINITY), SB_ERANGE);
    CHECK_STR(c.pub.sql_errmsg,
        "Infinity is out of range: the fake driver cannot store it");
    CHECK_INT(number(-INFINITY), SB_ERANGE);
    CHECK_STR(c.pub.sql_errmsg,
        "-Infinity is out of range: the fake driver cannot store it");
    CHECK_INT(natural(UINT64_MAX), SB_ERANGE);
    CHECK_STR(c.pub.sql_errmsg,
        "18446744073709551615 is out of range: the fake driver "
        "does not support unsigned 64-bit integers");
    // Each has a capability of its own.
    drv.caps = SB_CAP_NAN;
    CHECK_INT(number(NAN), 0);
    CHECK_INT(number(INFINITY), SB_ERANGE);
    drv.caps = SB_CAP_INFINITY;
    CHECK_INT(number(-INFINITY), 0);
    CHECK_INT(number(NAN), SB_ERANGE);
    CHECK_INT(natural(UINT64_MAX), SB_ERANGE);
    drv.caps = SB_CAP_UNSIGNED;
    CHECK_INT(natural(UINT64_MAX), 0);
    drv.caps = 0;
}

CHECK_FILE
{
    start();
    st = open_stmt("select");
    RUN(buffers_have_the_maximum_length);
    RUN(types_and_lengths_are_checked);
    RUN(each_run_warns_once_of_cuts);
    RUN(a_parameter_outlives_its_creator);
    RUN(numbers_are_compared);
    RUN(special_values_need_a_driver_for_them);
    finish();
    return check_done();
}
