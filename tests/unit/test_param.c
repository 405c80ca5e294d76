// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parameters, their number, and values that only some drivers accept.
#include "db/sql/sql.h"
#include "check_log.h"
#include "fake.h"

static struct sb_drivers owner;
static struct sb_err err;

static void buffers_have_the_maximum_length(void)
{
    struct sb_param *p = sb__param_new(&owner, SB_SQL_TYPE_VARCHAR, 10, &err);

    CHECK_INT(p->type, SB_SQL_TYPE_VARCHAR);
    CHECK_INT(p->max_len, 10);
    CHECK(p->is_null);
    memset(p->buffer, 'x', 11); // a NUL has room
    sb_param_free(p);
    p = sb__param_new(&owner, SB_SQL_TYPE_TIME, 0, &err);
    CHECK_INT(p->max_len, 0);
    CHECK_INT(sb_param_room(p, 0), 0);
    CHECK_INT(sb_param_room(p, 1000), 1000);
    memset(p->buffer, 'x', 1000);
    CHECK_INT(sb_param_room(p, 1), 1);
    CHECK_INT(sb_param_room(p, UINT32_MAX), -1);
    CHECK_INT(sb_param_room(p, 1000), 1000);
    sb_param_free(p);
    // Numbers have none, whatever the length.
    p = sb__param_new(&owner, SB_SQL_TYPE_DOUBLE, UINT64_MAX, &err);
    CHECK(p->buffer == NULL);
    CHECK_INT(p->max_len, 0);
    sb_param_free(p);
    sb_param_free(NULL);
}

static const char *refused(int type, uint64_t max_len)
{
    sb_err_clear(&err);
    CHECK(sb__param_new(&owner, type, max_len, &err) == NULL);
    CHECK_INT(err.code, SB_EUSAGE);
    return err.msg;
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

static int cuts_of(struct sb_drivers *of, uint64_t len)
{
    int n = 0;

    capture();
    for (int i = 0; i < 2; i++) {
        struct sb_param *p = sb__param_new(of, SB_SQL_TYPE_CHAR, 2, &err);

        CHECK_INT(sb_param_room(p, len), 2);
        sb_param_free(p);
    }
    for (const char *at = captured(); (at = strstr(at, "was cut to 2")); at++)
        n++;
    return n;
}

static void each_run_warns_once_of_cuts(void)
{
    struct sb_drivers first = { 0 }, second = { 0 };

    CHECK_INT(cuts_of(&first, 7), 1);
    CHECK_INT(cuts_of(&first, 8), 0);
    CHECK_INT(cuts_of(&second, 9), 1);
}

// The address sanitizer sees a parameter that is freed too early or never.
static void a_parameter_outlives_its_creator(void)
{
    struct sb_param *p = sb__param_new(&owner, SB_SQL_TYPE_INT, 0, &err);

    CHECK(sb__param_keep(p) == p);
    CHECK(sb__param_keep(p) == p);
    sb_param_free(p);
    sb_param_free(p);
    p->i = 5;
    CHECK_INT(p->type, SB_SQL_TYPE_INT);
    sb_param_free(p);
}

static const char *counted(size_t n, unsigned marks)
{
    static char text[120];

    sb__params_counted(text, sizeof(text), n, marks);
    return text;
}

static void numbers_are_compared(void)
{
    struct sb_param *p = sb__param_new(&owner, SB_SQL_TYPE_INT, 0, &err);
    struct sb_param *both[] = { p, NULL };

    CHECK_STR(counted(1, 2),
        "1 parameter bound, but the statement has 2 placeholders");
    CHECK_STR(counted(0, 1),
        "0 parameters bound, but the statement has 1 placeholder");
    CHECK_INT(sb__params_check(both, 1, 1, "select ?", &err), 0);
    CHECK_INT(sb__params_check(NULL, 0, 0, "select", &err), 0);
    CHECK_INT(sb__params_check(both, 1, 2, "select ?, ?", &err), SB_EUSAGE);
    CHECK_STR(err.msg, "1 parameter bound, but the statement has 2 "
                       "placeholders: 'select ?, ?'");
    CHECK_INT(sb__params_check(both, 2, 2, "select ?, ?", &err), SB_EUSAGE);
    CHECK_STR(err.msg, "parameter 2 of 'select ?, ?' is missing");
    sb_param_free(p);
}

static int number(double d)
{
    const struct sb_value v = { .type = SB_VALUE_DOUBLE, .d = d };

    sb_err_clear(&err);
    return sb__value_check(&drv, &v, &err);
}

static int natural(uint64_t u)
{
    const struct sb_value v = { .type = SB_VALUE_UINT, .u = u };

    sb_err_clear(&err);
    return sb__value_check(&drv, &v, &err);
}

static void special_values_need_a_driver_for_them(void)
{
    drv.caps = 0;
    CHECK_INT(number(1.5), 0);
    CHECK_INT(number(NAN), SB_ERANGE);
    CHECK_STR(err.msg, "NaN is out of range: the fake driver cannot store it");
    CHECK_INT(number(INFINITY), SB_ERANGE);
    CHECK_STR(
        err.msg, "Infinity is out of range: the fake driver cannot store it");
    CHECK_INT(number(-INFINITY), SB_ERANGE);
    CHECK_STR(
        err.msg, "-Infinity is out of range: the fake driver cannot store it");
    CHECK_INT(natural(UINT64_MAX), SB_ERANGE);
    CHECK_STR(err.msg, "18446744073709551615 is out of range: the fake driver "
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
    RUN(buffers_have_the_maximum_length);
    RUN(types_and_lengths_are_checked);
    RUN(each_run_warns_once_of_cuts);
    RUN(a_parameter_outlives_its_creator);
    RUN(numbers_are_compared);
    RUN(special_values_need_a_driver_for_them);
    return check_done();
}
