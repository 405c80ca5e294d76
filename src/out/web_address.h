// SPDX-License-Identifier: GPL-2.0-or-later
//
// Addresses of the live view, and which Host headers it answers. Pure.
#ifndef SB_WEB_ADDRESS_H
#define SB_WEB_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/err.h"

struct sb_web_address {
    struct sockaddr_storage addr;
    socklen_t len;
    char text[80]; // as given, at most so much of it
    char host[64]; // as given, without brackets
    bool loopback;
};

// Parses "127.0.0.1:8080", "[::1]:8080", "localhost:8080", or "8080" and
// ":8080", which are on 127.0.0.1. Other names are not looked up. Port 0: the
// system chooses one. SB_EUSAGE.
int sb_web_address(
    struct sb_web_address *a, const char *text, struct sb_err *err);

// Whether a request with this Host header is answered: an IP address, localhost
// or the host of the address. A page of another site could otherwise read the
// figures through a name that it has pointed to this machine. NULL: no header.
bool sb_web_host_allowed(const struct sb_web_address *a, const char *header);

#endif
