// SPDX-License-Identifier: GPL-2.0-or-later
#include "out/web_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/opts.h"

// Splits "host:port" or "[host]:port". The port may be missing. False if the
// brackets do not match, if a colon is part of a host without brackets, or if
// the host is too long.
static bool split(const char *text, char *host, size_t size, const char **port)
{
    const char *end = text[0] == '[' ? strchr(text, ']') : strrchr(text, ':');
    const char *from = text + (text[0] == '[');

    if (text[0] == '[' && !end)
        return false;
    if (!end)
        end = text + strlen(text);
    if ((size_t)(end - from) >= size)
        return false;
    memcpy(host, from, (size_t)(end - from));
    host[end - from] = '\0';
    if (text[0] != '[' && strchr(host, ':'))
        return false;
    end += *end == ']';
    if (*end && *end != ':')
        return false;
    *port = *end ? end + 1 : "";
    return true;
}

static bool parse_port(const char *text, in_port_t *port)
{
    char *end;
    long n = strtol(text, &end, 10);

    *port = htons((uint16_t)n);
    return *text >= '0' && *text <= '9' && *end == '\0' && n <= 65535;
}

static bool parse_host(
    struct sb_web_address *a, const char *host, in_port_t port)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&a->addr;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a->addr;

    if (strcasecmp(host, "localhost") == 0)
        host = "127.0.0.1";
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = port;
        a->len = sizeof(*v4);
        a->loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
        return true;
    }
    if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = port;
        a->len = sizeof(*v6);
        a->loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return true;
    }
    return false;
}

int sb_web_address(
    struct sb_web_address *a, const char *text, struct sb_err *err)
{
    const char *port;
    in_port_t n;

    memset(a, 0, sizeof(*a));
    snprintf(a->text, sizeof(a->text), "%s", text);
    // Without a host, the address is 127.0.0.1.
    if (parse_port(text + (*text == ':'), &n)) {
        snprintf(a->host, sizeof(a->host), "127.0.0.1");
        parse_host(a, a->host, n);
        return 0;
    }
    if (split(text, a->host, sizeof(a->host), &port) && parse_port(port, &n) &&
        parse_host(a, a->host, n))
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "'%s' is not an address and a port, such as 127.0.0.1:8080",
        SB_SHOWN(text));
}

bool sb_web_host_allowed(const struct sb_web_address *a, const char *header)
{
    struct in6_addr any;
    char host[64];
    const char *port;
    in_port_t n;

    // HTTP/1.0 has no such header; no browser sends that.
    if (!header)
        return true;
    if (!split(header, host, sizeof(host), &port) ||
        (*port && !parse_port(port, &n)))
        return false;
    return strcasecmp(host, "localhost") == 0 ||
           strcasecmp(host, a->host) == 0 ||
           inet_pton(AF_INET, host, &any) == 1 ||
           inet_pton(AF_INET6, host, &any) == 1;
}
