// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "kit/units.h"

#include "base/err.h"
#include "check.h"

struct sample {
    const char *text;
    int rc;
    int64_t value;
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define S            INT64_C(1000000000)
#define UNTOUCHED    INT64_C(-77)

static int seconds(const char *text, int64_t *out)
{
    return sb_units_duration(text, S, out);
}

static void check_all(int (*parse)(const char *text, int64_t *out),
    const struct sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t got = UNTOUCHED;
        int before = check_bad;

        CHECK_INT(parse(samples[i].text, &got), samples[i].rc);
        CHECK_INT(got, samples[i].rc ? UNTOUCHED : samples[i].value);
        if (check_bad > before)
            printf("# in \"%s\"\n", samples[i].text);
    }
}

static void counts(void)
{
    static const struct sample samples[] = {
        { "12", 0, 12 },
        { " +7 ", 0, 7 },
        { "-3", 0, -3 },
        { "10k", 0, 10000 },
        { "1.5M", 0, 1500000 },
        { "2G", 0, 2000000000 },
        { "1B", 0, 1000000000 },
        { "3t", 0, 3000000000000 },
        { ".5k", 0, 500 },
        { "5.", 0, 5 },
        { "1.0000000000000000000k", 0, 1000 },
        { "9223372036854775807", 0, INT64_MAX },
        { "-9223372036854775807", 0, -INT64_MAX },
        { "9223372036854775808", SB_ERANGE, 0 },
        { "99999999999999999999999", SB_ERANGE, 0 },
        { "10000000T", SB_ERANGE, 0 },
        { "1.5", SB_EUSAGE, 0 },
        { "1.0000000000000000001k", SB_EUSAGE, 0 },
        { "", SB_EUSAGE, 0 },
        { " ", SB_EUSAGE, 0 },
        { ".", SB_EUSAGE, 0 },
        { "k", SB_EUSAGE, 0 },
        { "-", SB_EUSAGE, 0 },
        { "--1", SB_EUSAGE, 0 },
        { "1kk", SB_EUSAGE, 0 },
        { "1 2", SB_EUSAGE, 0 },
        { "0x10", SB_EUSAGE, 0 },
        { "1e3", SB_EUSAGE, 0 },
        { "12a", SB_EUSAGE, 0 },
        { "1kilobytes", SB_EUSAGE, 0 },
    };

    check_all(sb_units_count, samples, COUNT(samples));
}

static void sizes(void)
{
    static const struct sample samples[] = {
        { "512", 0, 512 },
        { "512b", 0, 512 },
        { "64K", 0, 65536 },
        { "10m", 0, 10485760 },
        { "1.5GiB", 0, 1610612736 },
        { "2TB", 0, INT64_C(2) << 40 },
        { "1 pib", 0, INT64_C(1) << 50 },
        { "-0", 0, 0 },
        { "8191P", 0, INT64_C(8191) << 50 },
        { "8192P", SB_ERANGE, 0 },
        { "-1", SB_ERANGE, 0 },
        { "0.3K", SB_EUSAGE, 0 },
        { "4x", SB_EUSAGE, 0 },
        { "K", SB_EUSAGE, 0 },
        { "", SB_EUSAGE, 0 },
    };

    check_all(sb_units_size, samples, COUNT(samples));
}

static void durations(void)
{
    static const struct sample samples[] = {
        { "10", 0, 10 * S },
        { "1.5", 0, 3 * S / 2 },
        { "250ms", 0, S / 4 },
        { "90s", 0, 90 * S },
        { "1h30m", 0, 5400 * S },
        { "1h 30m 5s", 0, 5405 * S },
        { "2d", 0, 172800 * S },
        { "1.5us", 0, 1500 },
        { "3\xc2\xb5s", 0, 3000 },
        { "3\xce\xbcs", 0, 3000 },
        { "7ns", 0, 7 },
        { "0.25ns", 0, 0 },
        { "0", 0, 0 },
        { "-0s", 0, 0 },
        { "106751d", 0, S * 106751 * 86400 },
        { "106752d", SB_ERANGE, 0 },
        { "106751d23h59m", SB_ERANGE, 0 },
        { "9223372037", SB_ERANGE, 0 },
        { "-1s", SB_ERANGE, 0 },
        { "1h30", SB_EUSAGE, 0 },
        { "30 1h", SB_EUSAGE, 0 },
        { "30m1h", SB_EUSAGE, 0 },
        { "1s1s", SB_EUSAGE, 0 },
        { "10M", SB_EUSAGE, 0 },
        { "1w", SB_EUSAGE, 0 },
        { "1h-30m", SB_EUSAGE, 0 },
        { "s", SB_EUSAGE, 0 },
        { "", SB_EUSAGE, 0 },
    };
    int64_t ns;

    check_all(seconds, samples, COUNT(samples));
    CHECK_INT(sb_units_duration("10", 1000, &ns), 0);
    CHECK_INT(ns, 10000);
    CHECK_INT(sb_units_duration("1ms", 1000, &ns), 0);
    CHECK_INT(ns, 1000000);
}

static void doubles(void)
{
    static const char *const bad[] = { "", " ", "inf", "nan", "0x10", "1e",
        "1,5", "1 2", "e", "1.2.3", "--1" };
    double d = 0.5;

    CHECK_INT(sb_units_double(" -2.5e-1 ", &d), 0);
    CHECK_NEAR(d, -0.25, 0);
    CHECK_INT(sb_units_double("0.2", &d), 0);
    CHECK_NEAR(d, 0.2, 0);
    CHECK_INT(sb_units_double("1e-400", &d), 0);
    for (size_t i = 0; i < COUNT(bad); i++) {
        d = 0.5;
        CHECK_INT(sb_units_double(bad[i], &d), SB_EUSAGE);
        CHECK_NEAR(d, 0.5, 0);
    }
    CHECK_INT(sb_units_double("1e999", &d), SB_ERANGE);
    CHECK_INT(sb_units_double("10k", &d), SB_EUSAGE);
    CHECK_NEAR(d, 0.5, 0);
}

static void parsed_percentages(void)
{
    static const char *const bad[] = { "", "%", "80", "80%%", "8k%", "inf%",
        "80%x" };
    double d = 0.5;

    CHECK_INT(sb_units_parse_percent("80%", &d), 0);
    CHECK_NEAR(d, 80, 0);
    CHECK_INT(sb_units_parse_percent("-0.5%", &d), 0);
    CHECK_NEAR(d, -0.5, 0);
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_INT(sb_units_parse_percent(bad[i], &d), SB_EUSAGE);
    CHECK_NEAR(d, -0.5, 0);
}

static void numbers(void)
{
    static const char *const bad[] = { "", "k", "10x", "1e", "1k5", "0x10",
        "infk", "10 k 1" };
    double d = 0.5;

    CHECK_INT(sb_units_number("0.5", &d), 0);
    CHECK_NEAR(d, 0.5, 0);
    CHECK_INT(sb_units_number("10k", &d), 0);
    CHECK_NEAR(d, 10000, 0);
    CHECK_INT(sb_units_number(" -1.5M ", &d), 0);
    CHECK_NEAR(d, -1500000, 0);
    CHECK_INT(sb_units_number("1e3T", &d), 0);
    CHECK_NEAR(d, 1e15, 0);
    CHECK_INT(sb_units_number("1e300T", &d), SB_ERANGE);
    for (size_t i = 0; i < COUNT(bad); i++)
        CHECK_INT(sb_units_number(bad[i], &d), SB_EUSAGE);
    CHECK_NEAR(d, 1e15, 0);
}

static void format_durations(void)
{
    static const struct sample samples[] = {
        { "0s", 0, 0 },
        { "1ns", 0, 1 },
        { "1.5us", 0, 1500 },
        { "250ms", 0, S / 4 },
        { "999.999999ms", 0, 999999999 },
        { "1.5s", 0, 3 * S / 2 },
        { "59s", 0, 59 * S },
        { "1m30s", 0, 90 * S },
        { "1h30m", 0, 5400 * S },
        { "1h0.25s", 0, 3600 * S + S / 4 },
        { "2d1h", 0, 176400 * S },
        { "106751d23h47m16.854775807s", 0, INT64_MAX },
    };
    char text[32];
    int64_t back;

    for (size_t i = 0; i < COUNT(samples); i++) {
        sb_units_format_duration(samples[i].value, text, sizeof(text));
        CHECK_STR(text, samples[i].text);
        CHECK_INT(sb_units_duration(text, S, &back), 0);
        CHECK_INT(back, samples[i].value);
    }
    sb_units_format_duration(-90 * S, text, sizeof(text));
    CHECK_STR(text, "-1m30s");
    sb_units_format_duration(-S / 4, text, sizeof(text));
    CHECK_STR(text, "-250ms");
    sb_units_format_duration(INT64_MIN, text, sizeof(text));
    CHECK_STR(text, "-106751d23h47m16.854775808s");
    sb_units_format_duration(5400 * S, text, 4);
    CHECK_STR(text, "1h3");
}

static void format_sizes(void)
{
    static const struct sample samples[] = {
        { "0", 0, 0 },
        { "1", 0, 1 },
        { "1536", 0, 1536 },
        { "64K", 0, 65536 },
        { "3M", 0, 3 << 20 },
        { "2G", 0, INT64_C(2) << 30 },
        { "5T", 0, INT64_C(5) << 40 },
        { "8191P", 0, INT64_C(8191) << 50 },
        { "9223372036854775807", 0, INT64_MAX },
    };
    char text[32];
    int64_t back;

    for (size_t i = 0; i < COUNT(samples); i++) {
        sb_units_format_size(samples[i].value, text, sizeof(text));
        CHECK_STR(text, samples[i].text);
        CHECK_INT(sb_units_size(text, &back), 0);
        CHECK_INT(back, samples[i].value);
    }
    sb_units_format_size(65536, text, 3);
    CHECK_STR(text, "64");
}

static void decimals_of_milliseconds(void)
{
    static const struct {
        double ms;
        int usual;
        const char *want;
    } samples[] = { { 0, 2, "0.00" }, { 0, 3, "0.000" }, { 12.345, 2, "12.35" },
        { 0.1, 2, "0.10" }, { 0.09996, 2, "0.10" }, { 0.0999, 2, "0.0999" },
        { 0.0123, 2, "0.0123" }, { 0.0123, 3, "0.0123" }, { 0.01, 2, "0.0100" },
        { 0.001234, 2, "0.00123" }, { 0.00123, 3, "0.00123" },
        { 0.000123, 2, "0.000123" }, { 0.000028, 2, "0.000028" },
        { 1e-9, 2, "0.000000" }, { 0.05, 5, "0.05000" }, { -1, 2, "-1.00" } };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char text[32];

        snprintf(text, sizeof(text), "%.*f",
            sb_units_ms_decimals(samples[i].ms, samples[i].usual),
            samples[i].ms);
        CHECK_STR(text, samples[i].want);
    }
}

static void percentages(void)
{
    static const struct {
        double n, of;
        const char *text;
    } samples[] = { { 0, 7, "0" }, { 7, 7, "100" }, { 1, 2, "50.0" },
        { 1, 3, "33.3" }, { 1, 12, "8.33" }, { 87, 200000, "0.0435" },
        { 44, 100, "44.0" }, { 0.00996, 1, "0.996" }, { 0.09996, 1, "10.0" },
        { 999999, 1000000, "99.9" }, { 9994, 10000, "99.9" },
        { 1, 100000000, "< 0.0001" }, { 3, 2, "150" }, { 3, 0, "-" },
        { NAN, 1, "-" }, { 1, NAN, "-" }, { INFINITY, 1, "-" },
        { 1e300, 1, "1000000000" } };
    char text[SB_UNITS_PERCENT];

    for (size_t i = 0; i < COUNT(samples); i++)
        CHECK_STR(sb_units_percent(text, samples[i].n, samples[i].of),
            samples[i].text);
}

static void three_digits(void)
{
    static const struct {
        double value;
        const char *text;
    } samples[] = { { 0, "0" }, { 0.012345, "0.0123" }, { 9.876, "9.88" },
        { 123.4, "123" }, { 999.4, "999" }, { 999.6, "999.6" },
        { 36130.2, "36130" }, { -12345.6, "-12346" }, { 2.5e6, "2500000" } };

    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        char text[40];

        snprintf(text, sizeof(text), "%.*g", sb_units_digits(samples[i].value),
            samples[i].value);
        CHECK_STR(text, samples[i].text);
    }
    CHECK_INT(sb_units_digits(NAN), 3);
}

CHECK_FILE
{
    RUN(counts);
    RUN(sizes);
    RUN(durations);
    RUN(doubles);
    RUN(parsed_percentages);
    RUN(numbers);
    RUN(format_durations);
    RUN(format_sizes);
    RUN(decimals_of_milliseconds);
    RUN(percentages);
    RUN(three_digits);
    return check_done();
}
