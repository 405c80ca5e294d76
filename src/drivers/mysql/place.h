// SPDX-License-Identifier: GPL-2.0-or-later
//
// Selects the server of a connection by the connection's number: hosts, ports
// and sockets are used round-robin. Pure; does not require the client library.
#ifndef MYSQL_PLACE_H
#define MYSQL_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/option.h"

struct sbmy_place {
    const char *host;   // NULL: the library's default
    unsigned port;      // 0: the library's default
    const char *socket; // NULL: host and port are used
};

struct sbmy_places {
    const struct sb_opt_list *hosts, *ports, *sockets;
};

// Returns SB_EUSAGE if a port is invalid.
int sbmy_places_check(const struct sbmy_places *p, struct sb_err *err);
// Returns the number of places; at least 1.
uint64_t sbmy_places_count(const struct sbmy_places *p);
// Returns the place with index number % count. The order is: the sockets, if
// there are any; otherwise all ports of the first host, then those of the next.
// The strings belong to the lists.
struct sbmy_place sbmy_places_get(const struct sbmy_places *p, uint64_t number);
// True if the place is an IP address: no name has to be looked up.
bool sbmy_place_is_address(struct sbmy_place p);
// Whether the client libraries use their default socket: for the host
// localhost, whatever the port is.
bool sbmy_place_is_default(struct sbmy_place p);

#endif
