// SPDX-License-Identifier: GPL-2.0-or-later
//
// The pgsql driver and libpq against a hostile server.
#include <string.h>

#include "fuzz.h"
#include "hostile.h"

// Messages ------------------------------------------------------------------

static size_t length(const uint8_t *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

static size_t packet(const uint8_t *p, size_t len)
{
    size_t n = len < 5 ? len : 1 + length(p + 1);

    return n < 5 || n > len ? len : n;
}

static void set_length(uint8_t *p, size_t len)
{
    for (int i = 0; i < 4; i++)
        p[1 + i] = (uint8_t)((len - 1) >> 8 * (3 - i));
}

// A request ends with the message that the server answers. The first message of
// a connection has no type, and neither does a cancel request.
static size_t request(
    struct hostile_session *s, const uint8_t *p, size_t len, bool *answered)
{
    size_t at = 0;

    *answered = true;
    if (!s->begun) {
        if (len < 4 || len < length(p))
            return 0;
        s->begun = true;
        return length(p) < 4 ? len : length(p);
    }
    while (len - at >= 5 && len - at >= 1 + length(p + at + 1)) {
        uint8_t type = p[at];

        at += 1 + length(p + at + 1);
        if (type == 'X')
            *answered = false;
        if (strchr("QSHpcfX", type))
            return at;
    }
    return 0;
}

static const struct hostile_protocol protocol = {
    .name = "pgsql",
    .head = 5,
    .packet = packet,
    .set_length = set_length,
    .request = request,
};

// The conversation ----------------------------------------------------------

#define COMMON                       \
    {                                \
        "pgsql-host", HOSTILE_FOLDER \
    }

static const struct hostile_variant variants[] = {
    { .name = "bypass", .options = { COMMON } },
    { .name = "libpq", .options = { COMMON, { "pgsql-bypass-libpq", "off" } } },
    { .name = "text", .emulate = true, .options = { COMMON } },
};

static const struct hostile_step steps[] = {
    ACT(SERVER),
    QUERY("DROP TABLE IF EXISTS h, hn"),
    QUERY("CREATE TABLE h (id int PRIMARY KEY, c text, d double precision, "
          "n numeric DEFAULT -1.5, t timestamp DEFAULT '2026-01-31 23:59:59', "
          "b bytea, o boolean DEFAULT true)"),
    QUERY("CREATE TABLE hn (id numeric, c varchar(20), d numeric)"),
    LOAD("h", 1),
    LOAD_REFUSED("h", 5), // a row with this key exists
    LOAD("hn", 1),
    INSERT("INSERT INTO h (id, c) VALUES", 10),
    QUERY("UPDATE h SET b = repeat('b', 1500)::bytea WHERE id = 2"),
    QUERY("SELECT * FROM h WHERE id <> 2"),
    QUERY("SELECT 1 AS one; SELECT 3, NULL, 'x'"),
    QUERY("DO $$ BEGIN RAISE WARNING 'careful'; END $$"),
    PREPARE(0, "SELECT id, c, d, n, t, o, NULL FROM h WHERE id >= ?"),
    EXECUTE(0),
    EXECUTE(0),
    EXECUTE(0),
    PREPARE(1, "SELECT ?::int AS id, ?::text AS c, ?::bigint, ?::float8"),
    EXECUTE(1),
    EXECUTE(1),
    EXECUTE(1),
    PREPARE(2, "UPDATE h SET d = ?, c = ? WHERE id = ?"),
    EXECUTE(2),
    EXECUTE(2),
    PREPARE(4, "SELECT id, b FROM h WHERE id = 2"),
    EXECUTE(4),
    EXECUTE(4),
    QUERY_REFUSED("SELECT * FROM missing"),
    PREPARE(5, "INSERT INTO h (id) VALUES (1)"),
    EXECUTE_REFUSED(5),
    EXECUTE_REFUSED(5),
    PREPARE(6, "SELECT id FROM missing"),
    EXECUTE_REFUSED(6),
    EXECUTE(0),
    QUERY("LISTEN h; NOTIFY h, 'here'"),
    EXECUTE(0),
    ACT(PIPELINE),
    QUERY("SELECT id FROM h WHERE id = 1"),
    EXECUTE(0),
    QUERY("SELECT 1 WHERE false"),
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
    QUERY("DROP TABLE h, hn"),
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
