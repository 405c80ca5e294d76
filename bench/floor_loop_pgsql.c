// SPDX-License-Identifier: GPL-2.0-or-later
//
// PostgreSQL's protocol for floor_loop.c. The target is a connection string.
#define _GNU_SOURCE // mempcpy
#include <arpa/inet.h>
#include <libpq-fe.h>
#include <string.h>

#include "floor_loop.h"

const char floor_target[] = "CONNINFO";

#define INT4 23 // OID of the type

static unsigned char *put32(unsigned char *to, uint32_t value)
{
    value = htonl(value);
    memcpy(to, &value, sizeof(value));
    return to + sizeof(value);
}

// Bind of a binary int4 to statement "s" with a binary result, Execute, Sync.
void floor_make_request(struct connection *c, uint32_t id)
{
    static const unsigned char names[] = { 0, 's', 0 };
    static const unsigned char formats[] = { 0, 1, 0, 1, 0, 1 };
    static const unsigned char result_formats[] = { 0, 1, 0, 0 };
    unsigned char *p = c->request;

    *p++ = 'B';
    p = put32(p,
        4 + sizeof(names) + sizeof(formats) + 4 + 4 + sizeof(result_formats));
    p = mempcpy(p, names, sizeof(names));
    p = mempcpy(p, formats, sizeof(formats));
    p = put32(p, 4);
    p = put32(p, id);
    p = mempcpy(p, result_formats, sizeof(result_formats));
    *p++ = 'E';
    p = put32(p, 9);
    *p++ = 0;
    p = put32(p, 0);
    *p++ = 'S';
    p = put32(p, 4);
    c->request_len = (size_t)(p - c->request);
}

// The last message is ReadyForQuery.
bool floor_is_answered(struct connection *c)
{
    size_t at = 0;
    bool ready = false;

    while (c->have - at >= 5) {
        uint32_t len;

        memcpy(&len, c->answer + at + 1, sizeof(len));
        len = 1 + ntohl(len);
        if (c->have - at < len)
            break;
        if (c->answer[at] == 'E')
            floor_fail("query", "the server reports an error");
        ready = c->answer[at] == 'Z';
        at += len;
    }
    floor_consume(c, at);
    return ready;
}

int floor_dial(struct connection *c, const char *target)
{
    PGconn *db = PQconnectdb(target);
    PGresult *r = PQprepare(
        db, "s", "SELECT c FROM sbtest1 WHERE id=$1", 1, (Oid[]){ INT4 });

    (void)c;
    if (PQresultStatus(r) != PGRES_COMMAND_OK)
        floor_fail("prepare", PQerrorMessage(db));
    PQclear(r);
    return PQsocket(db);
}
