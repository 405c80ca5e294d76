// SPDX-License-Identifier: GPL-2.0-or-later
//
// MySQL's protocol for floor_loop.c. The target is a socket; user, password and
// database are sbtest.
#define _GNU_SOURCE // mempcpy
#include <mysql.h>
#include <string.h>

#include "floor_loop.h"

const char floor_target[] = "SOCKET";

#define SQL      "SELECT c FROM sbtest1 WHERE id=?"
#define HEAD     4    // length and number of a packet
#define ERROR    0xff // first byte of a packet
#define END      0xfe
#define END_MOST 9 // a longer packet with this first byte is a row
#define OLD_END  5 // length of an EOF packet; else it is an OK packet

void floor_make_request(struct connection *c, uint32_t id)
{
    // COM_STMT_EXECUTE; flags, count, NULLs; the types are sent: INT
    static const unsigned char head[] = { 18, 0, 0, 0, 0x17 };
    static const unsigned char options[] = { 0, 1, 0, 0, 0, 0, 1, 3, 0 };
    unsigned char *p = c->request;

    p = mempcpy(p, head, sizeof(head));
    p = mempcpy(p, &c->statement, sizeof(c->statement)); // little endian
    p = mempcpy(p, options, sizeof(options));
    p = mempcpy(p, &id, sizeof(id));
    c->request_len = (size_t)(p - c->request);
}

// Servers end the column definitions and the rows with an EOF packet each, or
// only the rows, with an OK packet.
bool floor_is_answered(struct connection *c)
{
    size_t at = 0;
    bool done = false;

    while (c->have - at >= HEAD + 1) {
        const unsigned char *p = c->answer + at;
        size_t len = (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16;

        if (c->have - at < HEAD + len)
            break;
        if (p[HEAD] == ERROR)
            floor_fail("query", "the server reports an error");
        if (p[HEAD] == END && len < END_MOST)
            done = len > OLD_END || ++c->ends == 2;
        at += HEAD + len;
    }
    floor_consume(c, at);
    if (done)
        c->ends = 0;
    return done;
}

int floor_dial(struct connection *c, const char *target)
{
    MYSQL *my = mysql_init(NULL);
    MYSQL_STMT *st;

    if (!my || !mysql_real_connect(
                   my, NULL, "sbtest", "sbtest", "sbtest", 0, target, 0))
        floor_fail("connect", my ? mysql_error(my) : "out of memory");
    st = mysql_stmt_init(my);
    if (!st || mysql_stmt_prepare(st, SQL, sizeof(SQL) - 1))
        floor_fail("prepare", mysql_error(my));
    c->statement = (uint32_t)st->stmt_id;
    return (int)mysql_get_socket(my);
}
