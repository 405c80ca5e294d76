// SPDX-License-Identifier: GPL-2.0-or-later
//
// Recorded answers of servers: complete, truncated at every byte, and with
// every byte changed.
#include <stdlib.h>

#include "check.h"
#include "drivers/mysql/protocol.h"
#include "guard_page.h"

// MySQL 5.6, which sends definitions with each result. The rows are: -1,
// 2^64 - 1, 0.5, 'text', a time; and NULLs, 7 and ''.
static const char mysql_rows[] =
    "0100000105"
    "2400000203646566067362746573740372656303726563016901690c3f000b000000030000"
    "0000002400000303646566067362746573740372656303726563017501750c3f0014000000"
    "0820000000002400000403646566067362746573740372656303726563016401640c3f0016"
    "0000000500001f000024000005036465660673627465737403726563037265630173017"
    "30c2d0050000000fd000000000024000006036465660673627465737403726563037265630"
    "1"
    "7401740c3f00170000000c8000030000"
    "05000007fe00002200"
    "270000080000ffffffffffffffffffffffff000000000000e03f04746578740be807021d17"
    "3b3bc0d40100"
    "0b000009005407000000000000000005"
    "00000afe00002200";
// MariaDB 10.11, which sent the definitions when the statement was prepared.
static const char mariadb_rows[] =
    "02000001050005000002fe00002200270000030000ffffffffffffffffffffffff00000000"
    "0000e03f04746578740be807021d173b3bc0d401000b000004005407000000000000000005"
    "000005fe00002200";
static const char insert[] =
    "2e00000100020002000000265265636f7264733a203220204475706c6963617465733a2030"
    "20205761726e696e67733a2030";
// An UPDATE that found one row, which had the new values.
static const char update[] =
    "300000010000000200000028526f7773206d6174636865643a203120204368616e6765643a"
    "203020205761726e696e67733a2030";
// An error instead of the first row.
static const char mysql_error[] =
    "010000010135000002036465660000001f2853454c45435420692046524f4d207265632057"
    "484552452069203c203529000c3f000b00000003800000000005000003fe00000200290000"
    "04"
    "ffda0423323130303053756271756572792072657475726e73206d6f7265207468616e2031"
    "20726f77";
static const char mariadb_error[] =
    "02000001010005000002fe0000020029000003ffda04233231303030537562717565727920"
    "72657475726e73206d6f7265207468616e203120726f77";
// Without EOF packets: an OK packet ends the rows.
static const char no_eof[] = "0100000101"
                             "1700000203646566000000013100"
                             "0c3f0001000000088100000000"
                             "0a000003000001000000000000"
                             "00"
                             "07000004fe000002000100";

static const char *const all[] = { mysql_rows, mariadb_rows, insert,
    mysql_error, mariadb_error, no_eof, update };
#define ALL (sizeof(all) / sizeof(all[0]))

static size_t bytes_of(const char *hex, uint8_t *out)
{
    size_t n = strlen(hex) / 2;

    for (size_t i = 0; i < n; i++) {
        const char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return n;
}

static enum sbmy_step read_hex(
    const char *hex, uint8_t *bytes, struct sbmy_answer *a)
{
    size_t n = bytes_of(hex, bytes);

    sbmy_answer_begin(a, 1, true);
    return sbmy_answer_read(a, bytes, n);
}

static void whole_answers(void)
{
    uint8_t in[GUARD_MOST];
    struct sbmy_answer a;

    CHECK_INT(read_hex(mysql_rows, in, &a), SBMY_STEP_DONE);
    CHECK_INT(a.nfields, 5);
    CHECK_INT(a.nrows, 2);
    CHECK_INT(a.status, 0x22);
    CHECK_INT(a.columns, 5);
    CHECK_INT(a.columns_end, 5 + 5 * 40);
    CHECK_INT(a.rows, a.columns_end + 9);
    CHECK_INT(a.error, 0);
    CHECK_INT(a.seq, 11);
    CHECK(!a.remembers);
    CHECK_INT(read_hex(mariadb_rows, in, &a), SBMY_STEP_DONE);
    CHECK_INT(a.nfields, 5);
    CHECK_INT(a.nrows, 2);
    CHECK_INT(a.columns, 0);
    CHECK_INT(a.rows, 15);
    CHECK(a.remembers);
    // Definitions are missing although the capability was not agreed.
    sbmy_answer_begin(&a, 1, false);
    CHECK_INT(
        sbmy_answer_read(&a, in, bytes_of(mariadb_rows, in)), SBMY_STEP_BAD);
    sbmy_answer_begin(&a, 1, false);
    CHECK_INT(
        sbmy_answer_read(&a, in, bytes_of(mysql_rows, in)), SBMY_STEP_DONE);
    CHECK_INT(read_hex(insert, in, &a), SBMY_STEP_DONE);
    CHECK_INT(a.nfields, 0);
    CHECK_INT(a.affected, 2);
    CHECK(!a.matched);
    CHECK_INT(a.insert_id, 0);
    CHECK_INT(a.status, 2);
    CHECK_INT(read_hex(update, in, &a), SBMY_STEP_DONE);
    CHECK_INT(a.affected, 0);
    CHECK(a.matched);
    CHECK_INT(read_hex(no_eof, in, &a), SBMY_STEP_DONE);
    CHECK_INT(a.nrows, 1);
    CHECK_INT(a.status, 2);
    CHECK_INT(a.warnings, 1);
}

// The server's text may be in any language.
static bool matched(const char *text)
{
    return sbmy_matched(text, strlen(text));
}

// An OK packet without changed rows, whose text and what follows it are `hex`.
static bool matched_in(const char *hex)
{
    uint8_t in[GUARD_MOST];
    char packet[200];
    struct sbmy_answer a;

    snprintf(packet, sizeof(packet), "%02zx00000100000002000000%s",
        7 + strlen(hex) / 2, hex);
    CHECK_INT(read_hex(packet, in, &a), SBMY_STEP_DONE);
    return a.matched;
}

static void rows_that_matched(void)
{
    CHECK(!sbmy_matched(NULL, 0));
    CHECK(!matched("x"));
    CHECK(!matched("Rows matched: "));
    CHECK(!matched("Rows matched: 0  Changed: 0  Warnings: 3"));
    CHECK(matched("Rows matched: 20  Changed: 0  Warnings: 0"));
    CHECK(matched("Datensätze gefunden: 3  Geändert: 0"));
    // Without a text; an empty text; "a: 0" and "a: 4" with a length.
    CHECK(!matched_in(""));
    CHECK(!matched_in("00"));
    CHECK(!matched_in("04613a2030"));
    CHECK(matched_in("04613a2034"));
    // Behind the text: the state of the session, a database named "1".
    CHECK(!matched_in("0004010231"));
    CHECK(!matched_in("04613a20300401020131"));
    // A text without a length: "Rows: 1".
    CHECK(matched_in("526f77733a2031"));
    CHECK(!matched_in("526f77733a2030"));
}

static void errors(void)
{
    static const char text[] = "Subquery returns more than 1 row";
    uint8_t in[GUARD_MOST];
    struct sbmy_answer a;
    struct sbmy_problem e;

    for (size_t i = 3; i < 5; i++) {
        CHECK_INT(read_hex(all[i], in, &a), SBMY_STEP_DONE);
        CHECK(a.error > 0);
        CHECK(sbmy_problem_read(in + a.error, a.error_len, &e));
        CHECK_INT(e.native, 1242);
        CHECK_STR(e.state, "21000");
        CHECK_INT(e.len, strlen(text));
        CHECK(memcmp(e.text, text, e.len) == 0);
    }
    // An error of an old server, without SQLSTATE.
    bytes_of("ff1504657272", in);
    CHECK(sbmy_problem_read(in, 6, &e));
    CHECK_INT(e.native, 1045);
    CHECK_STR(e.state, "HY000");
    CHECK_INT(e.len, 3);
    for (size_t n = 0; n < 3; n++)
        CHECK(!sbmy_problem_read(in, n, &e));
    // A server's closing message has the sequence number 0.
    CHECK_INT(read_hex("09000000ff8707233037303031", in, &a), SBMY_STEP_DONE);
    CHECK(sbmy_problem_read(in + a.error, a.error_len, &e));
    CHECK_INT(e.native, 1927);
    // Other packets must continue the sequence.
    CHECK_INT(read_hex("0700000000000002000000", in, &a), SBMY_STEP_BAD);
}

// The result does not depend on how the bytes are split.
static void in_pieces(void)
{
    uint8_t in[GUARD_MOST];
    struct sbmy_answer a, b;

    for (size_t i = 0; i < ALL; i++) {
        size_t len = bytes_of(all[i], in);

        CHECK_INT(read_hex(all[i], in, &a), SBMY_STEP_DONE);
        CHECK_INT(a.at, len);
        sbmy_answer_begin(&b, 1, true);
        for (size_t n = 0; n < len; n++) {
            CHECK_INT(sbmy_answer_read(&b, guarded(in, n), n), SBMY_STEP_MORE);
            CHECK(b.want > n && b.want <= len);
        }
        CHECK_INT(sbmy_answer_read(&b, guarded(in, len), len), SBMY_STEP_DONE);
        CHECK(memcmp(&a, &b, sizeof(a)) == 0);
    }
}

// Reads definitions and rows as wire.c does. Nothing may be read beyond the end
// of the answer.
static void read_contents(const struct sbmy_answer *a, const uint8_t *in)
{
    struct sbmy_shape shape[8] = { { .type = 3 }, { .type = 8, .flags = 32 },
        { .type = 5, .decimals = 31 }, { .type = 253 },
        { .type = 12, .decimals = 3 } };
    struct sbmy_column_def def = { 0 };
    struct sbmy_problem e;
    struct sb_cell cells[8];
    char text[8 * 700];
    size_t at = a->columns;
    volatile unsigned char seen = 0;

    if (a->error)
        CHECK(sbmy_problem_read(in + a->error, a->error_len, &e));
    for (uint32_t i = 0; at && i < a->nfields && i < 8; i++) {
        if (!sbmy_column_read(in + at + 4, sbmy_get24(in + at), &def))
            return;
        for (size_t k = 0; k < def.name_len; k++)
            seen ^= (unsigned char)def.name[k];
        shape[i] = (struct sbmy_shape){ def.type, def.decimals, def.flags,
            def.length };
        at += 4 + sbmy_get24(in + at);
    }
    at = a->rows;
    for (uint64_t i = 0; i < a->nrows && a->nfields <= 8; i++) {
        size_t len = sbmy_get24(in + at);

        sbmy_binary_row(in + at + 4, len, shape, a->nfields, cells, text);
        at += 4 + len;
    }
}

static void changed_bytes(void)
{
    uint8_t in[GUARD_MOST];
    struct sbmy_answer a;
    unsigned done = 0, bad = 0;

    for (size_t i = 0; i < ALL; i++) {
        size_t len = bytes_of(all[i], in);

        for (size_t k = 0; k < len; k++) {
            for (unsigned v = 0; v < 256; v++) {
                uint8_t *p = guarded(in, len);
                enum sbmy_step step;

                p[k] = (uint8_t)v;
                sbmy_answer_begin(&a, 1, true);
                step = sbmy_answer_read(&a, p, len);
                if (step == SBMY_STEP_DONE)
                    read_contents(&a, p);
                else if (step == SBMY_STEP_MORE)
                    CHECK(a.want > len);
                done += step == SBMY_STEP_DONE;
                bad += step == SBMY_STEP_BAD;
            }
        }
    }
    CHECK(done > 1000);
    CHECK(bad > 1000);
}

// Definitions that end too early.
static void truncated_definitions(void)
{
    uint8_t in[GUARD_MOST];
    struct sbmy_column_def def;
    struct sbmy_answer a;
    size_t len;

    CHECK_INT(read_hex(mysql_rows, in, &a), SBMY_STEP_DONE);
    len = sbmy_get24(in + a.columns);
    for (size_t n = 0; n < len; n++)
        CHECK(!sbmy_column_read(guarded(in + a.columns + 4, n), n, &def));
    CHECK(sbmy_column_read(guarded(in + a.columns + 4, len), len, &def));
    CHECK_INT(def.type, SBMY_TYPE_LONG);
    CHECK_INT(def.length, 11);
    CHECK_INT(def.name_len, 1);
    CHECK(def.name && def.name[0] == 'i');
}

// MariaDB sends additional type information after the names.
static void longer_definition(void)
{
    uint8_t in[100];
    struct sbmy_column_def def;
    size_t n = bytes_of("03646566000000016a00"
                        "0600046a736f6e"
                        "0c2d0004000000fc1000000000",
        in);

    CHECK(sbmy_column_read(guarded(in, n), n, &def));
    CHECK_INT(def.type, 252);
    CHECK_INT(def.flags, 16);
    CHECK_INT(def.name_len, 1);
    CHECK(def.name && def.name[0] == 'j');
}

static void malformed_answers(void)
{
    static const char *const bad[] = {
        "00000001",                     // an empty packet
        "0500000205",                   // a wrong sequence number
        "01000001fe", "03000001050000", // no counts
        "0100000100",                   // OK without its end
        "0200000100fb", "01000001ff",
        "0100000101"
        "05000002fe00002200"
        "05000003fe00002200"
        "01000004aa",
        "02000001010005000002fe0000220001000003fe", // an EOF packet that is too
                                                    // short
    };
    uint8_t in[100];
    struct sbmy_answer a;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t n = bytes_of(bad[i], in);

        memset(in + n, 0, sizeof(in) - n);
        sbmy_answer_begin(&a, 1, true);
        CHECK_INT(sbmy_answer_read(&a, in, sizeof(in)), SBMY_STEP_BAD);
    }
}

static void special_answers(void)
{
    uint8_t in[100];
    struct sbmy_answer a;

    CHECK_INT(read_hex("01000001fb", in, &a), SBMY_STEP_DONE);
    CHECK(a.file);
    CHECK_INT(a.seq, 2);
    // A progress report before the answer.
    CHECK_INT(read_hex("07000001ffffff01010264"
                       "07000002000901"
                       "02000000",
                  in, &a),
        SBMY_STEP_DONE);
    CHECK_INT(a.affected, 9);
    CHECK_INT(a.insert_id, 1);
    // A result set without rows.
    CHECK_INT(read_hex("020000010100"
                       "05000002fe00000200"
                       "05000003fe00000a00",
                  in, &a),
        SBMY_STEP_DONE);
    CHECK_INT(a.nrows, 0);
    CHECK(a.status & SBMY_MORE_RESULTS);
    // Bytes after the end belong to the next answer.
    CHECK_INT(read_hex("0700000100000002000000"
                       "ff",
                  in, &a),
        SBMY_STEP_DONE);
    CHECK_INT(a.at, 11);
}

// Two full packets and an empty one are one row.
static void long_rows(void)
{
    size_t full = 4 + (size_t)SBMY_PACKET_FULL, len = 15 + 2 * full + 4 + 9;
    uint8_t *in = calloc(1, len), *p = in;
    struct sbmy_answer a;

    CHECK(in != NULL);
    if (!in)
        return;
    p += bytes_of("02000001010005000002fe00002200", p);
    bytes_of("ffffff03", p);
    bytes_of("ffffff04", p + full);
    p[full + 4] = 0xfe; // not an EOF packet: the packet continues the row
    bytes_of("0000000505000006fe00002200", p + 2 * full);
    sbmy_answer_begin(&a, 1, true);
    CHECK_INT(sbmy_answer_read(&a, in, len - 10), SBMY_STEP_MORE);
    CHECK_INT(sbmy_answer_read(&a, in, len), SBMY_STEP_DONE);
    CHECK_INT(a.nrows, 1);
    CHECK_INT(a.at, len);
    // No other packet may be that long.
    in[2 * full + 15 + 3] = 9;
    sbmy_answer_begin(&a, 1, true);
    CHECK_INT(sbmy_answer_read(&a, in, len), SBMY_STEP_BAD);
    bytes_of("ffffff01", in);
    sbmy_answer_begin(&a, 1, true);
    CHECK_INT(sbmy_answer_read(&a, in, len), SBMY_STEP_BAD);
    free(in);
}

static void numbers(void)
{
    static const struct {
        const char *hex;
        uint64_t value;
    } good[] = { { "00", 0 }, { "fa", 250 }, { "fcfb00", 251 },
        { "fdffffff", 0xffffff },
        { "fe0102030405060708", 0x0807060504030201 } };
    uint8_t in[16];
    uint64_t v;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t n = bytes_of(good[i].hex, in);

        for (size_t k = 0; k < n; k++) {
            const uint8_t *p = guarded(in, k);

            CHECK(!sbmy_get_number(p, p + k, &v));
        }
        CHECK(sbmy_get_number(in, in + n, &v) == in + n);
        CHECK(v == good[i].value);
    }
    in[0] = 0xfb;
    CHECK(!sbmy_get_number(in, in + 9, &v));
    in[0] = 0xff;
    CHECK(!sbmy_get_number(in, in + 9, &v));
}

CHECK_FILE
{
    RUN(whole_answers);
    RUN(rows_that_matched);
    RUN(errors);
    RUN(in_pieces);
    RUN(changed_bytes);
    RUN(truncated_definitions);
    RUN(longer_definition);
    RUN(malformed_answers);
    RUN(special_answers);
    RUN(long_rows);
    RUN(numbers);
    return check_done();
}
