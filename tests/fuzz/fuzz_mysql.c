// SPDX-License-Identifier: GPL-2.0-or-later
//
// The mysql driver and its client library against a hostile server.
#include "fuzz.h"
#include "hostile.h"

#define QUIT      0x01
#define LONG_DATA 0x18
#define CLOSE     0x19

// Packets -------------------------------------------------------------------

static size_t body_length(const uint8_t *p)
{
    return p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;
}

static size_t packet(const uint8_t *p, size_t len)
{
    size_t n = len < 4 ? len : 4 + body_length(p);

    return n < len ? n : len;
}

static void set_length(uint8_t *p, size_t len)
{
    for (int i = 0; i < 3; i++)
        p[i] = (uint8_t)((len - 4) >> 8 * i);
}

static void number(uint8_t *answer, size_t len, uint8_t first)
{
    for (size_t at = 0; len - at >= 4; at += packet(answer + at, len - at))
        answer[at + 3] = first++;
}

// During login, the server answers each packet. Later, a packet with a number
// above 0 belongs to a file that the server requested; an empty packet ends it.
static size_t request(
    struct hostile_session *s, const uint8_t *p, size_t len, bool *answered)
{
    size_t body = len < 4 ? 0 : body_length(p), n = 4 + body;

    if (len < n)
        return 0;
    if (body > 0 && p[3] == 0) {
        s->begun = true;
        *answered = p[4] != QUIT && p[4] != LONG_DATA && p[4] != CLOSE;
    } else {
        *answered = !s->begun || body == 0;
    }
    return n;
}

static const struct hostile_protocol protocol = {
    .name = "mysql",
    .speaks_first = true,
    .head = 4,
    .packet = packet,
    .set_length = set_length,
    .number = number,
    .request = request,
};

// The conversation ----------------------------------------------------------

#define COMMON                                        \
    { "mysql-socket", HOSTILE_FOLDER "/mysql.sock" }, \
        { "mysql-password", "sbtest" },               \
    {                                                 \
        "mysql-ignore-errors", "1213,2013"            \
    }

static const struct hostile_variant variants[] = {
    { .name = "bypass", .options = { COMMON } },
    { .name = "library",
        .options = { COMMON, { "mysql-bypass-library", "off" } } },
    { .name = "text", .emulate = true, .options = { COMMON } },
};

static const struct hostile_step steps[] = {
    ACT(SERVER),
    QUERY("DROP TABLE IF EXISTS h"),
    QUERY("CREATE TABLE h (id INT UNSIGNED PRIMARY KEY, c VARCHAR(300), "
          "d DOUBLE, n DECIMAL(20,3) DEFAULT -1.5, t DATETIME(3) DEFAULT "
          "'2026-01-31 23:59:59.123', m TIME(6) DEFAULT '-100:00:01.5', "
          "y YEAR DEFAULT 2026, z INT(6) ZEROFILL DEFAULT 42, "
          "f FLOAT DEFAULT 0.1, b MEDIUMBLOB, s SMALLINT DEFAULT -2)"),
    LOAD("h", 1),
    LOAD_REFUSED("h", 5), // a row with this key exists
    INSERT("INSERT INTO h (id, c) VALUES", 10),
    QUERY("UPDATE h SET b = REPEAT('b', 3000) WHERE id = 2"),
    QUERY("SELECT * FROM h WHERE id <> 2"),
    QUERY("SELECT 1 AS one; DO 2; SELECT 3, NULL, 'x'"),
    PREPARE(
        0, "SELECT id, c, d, n, t, m, y, z, f, s, NULL FROM h WHERE id >= ?"),
    EXECUTE(0),
    EXECUTE(0),
    PREPARE(1, "SELECT ? AS id, ? AS c, ? AS k, ?"),
    EXECUTE(1),
    EXECUTE(1),
    EXECUTE(1),
    EXECUTE(0),
    PREPARE(2, "UPDATE h SET d = ?, c = ? WHERE id = ?"),
    EXECUTE(2),
    EXECUTE(2),
    QUERY("DROP PROCEDURE IF EXISTS hp"),
    QUERY("CREATE PROCEDURE hp() BEGIN SELECT 1 AS a; "
          "SELECT id, c, d FROM h; DO 1; END"),
    PREPARE(3, "CALL hp()"),
    EXECUTE(3),
    EXECUTE(3),
    PREPARE(4, "SELECT id, b FROM h WHERE id = 2"),
    EXECUTE(4),
    QUERY_REFUSED("SELECT * FROM missing"),
    PREPARE(5, "INSERT INTO h (id) VALUES (1)"),
    EXECUTE_REFUSED(5),
    PREPARE(6, "SELECT id FROM missing"),
    EXECUTE_REFUSED(6),
    EXECUTE(0),
    ACT(PIPELINE),
    QUERY("SELECT id FROM h WHERE id = 1"),
    EXECUTE(0),
    QUERY("DO 1"),
    EXECUTE(2),
    ACT(SEND),
    ACT(PIPELINE),
    QUERY("SELECT id FROM h"),
    EXECUTE(1),
    ACT(RUN),
    ACT(PIPELINE),
    QUERY("SELECT 1"),
    QUERY("SELECT id FROM missing"),
    QUERY("SELECT 2"),
    SEND_REFUSED,
    QUERY("BEGIN"),
    EXECUTE(2),
    ACT(RESET),
    FREE(1),
    ACT(RECONNECT),
    EXECUTE(0),
    EXECUTE(2),
    ACT(COUNTERS),
    QUERY("DROP TABLE h; DROP PROCEDURE hp"),
    ACT(END),
};

static const struct hostile_program program = {
    .proto = &protocol,
    .driver = &sb_driver,
    .variant = variants,
    .variants = sizeof(variants) / sizeof(variants[0]),
    .steps = steps,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return hostile_run(&program, data, size);
}
