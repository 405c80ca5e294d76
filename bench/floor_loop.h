// SPDX-License-Identifier: GPL-2.0-or-later
//
// A bare loop of point selects: floor_loop.c waits for answers in one of three
// ways, floor_loop_pgsql.c or floor_loop_mysql.c has the protocol.
#ifndef FLOOR_LOOP_H
#define FLOOR_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct connection {
    int fd;
    unsigned seed;
    long events; // that are left; for a thread
    size_t request_len, have;
    uint32_t statement; // of MySQL: its number
    unsigned ends;      // of MySQL: packets that end a part of the answer
    unsigned char request[64], answer[1024];
};

// What a protocol defines:
extern const char floor_target[]; // what the usage calls the server's address
// Connects and prepares the statement. Returns the socket.
int floor_dial(struct connection *c, const char *target);
// Writes the execution of the statement with this id.
void floor_make_request(struct connection *c, uint32_t id);
// Consumes the complete messages. Returns true after the last one of an answer.
bool floor_is_answered(struct connection *c);

// What floor_loop.c defines: writes a message, about errno or an error of the
// client library, and exits.
_Noreturn void floor_fail(const char *what, const char *why);
// Removes the first `at` bytes of what was received.
void floor_consume(struct connection *c, size_t at);

#endif
