// SPDX-License-Identifier: GPL-2.0-or-later
//
// Where the connection with a given number goes: hosts, ports and sockets in
// turn. Pure; needs no client library.
#ifndef MYSQL_PLACE_H
#define MYSQL_PLACE_H

#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

struct sbmy_place {
    const char *host;   // NULL: socket
    unsigned port;      // 0: the library's own
    const char *socket; // NULL: host and port
};

struct sbmy_places {
    const struct sb_opt_list *hosts, *ports, *sockets;
};

// SB_EUSAGE when some port is no port.
int sbmy_places_check(const struct sbmy_places *p, struct sb_err *err);
// How many there are; at least 1.
uint64_t sbmy_places_count(const struct sbmy_places *p);
// Place number % count: sockets in order, when there are any; else all ports of
// the first host, then those of the next. The strings are those of the lists.
struct sbmy_place sbmy_places_get(const struct sbmy_places *p, uint64_t number);

#endif
