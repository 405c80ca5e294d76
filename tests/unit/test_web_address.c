// SPDX-License-Identifier: GPL-2.0-or-later
#include <arpa/inet.h>
#include <netinet/in.h>

#include "check.h"
#include "out/live.h"

// Returns "address port loopback" or the error.
static const char *parse(const char *text)
{
    static char out[600];
    struct sb_web_address a;
    struct sb_err err = { 0 };
    char name[64] = "";
    unsigned port;

    if (sb_web_address(&a, text, &err)) {
        snprintf(out, sizeof(out), "%s", err.msg);
        return out;
    }
    if (a.addr.ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (struct sockaddr_in *)&a.addr;

        inet_ntop(AF_INET, &v4->sin_addr, name, sizeof(name));
        port = ntohs(v4->sin_port);
    } else {
        const struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a.addr;

        inet_ntop(AF_INET6, &v6->sin6_addr, name, sizeof(name));
        port = ntohs(v6->sin6_port);
    }
    snprintf(
        out, sizeof(out), "%s %u%s", name, port, a.loopback ? " loopback" : "");
    return out;
}

static void addresses(void)
{
    CHECK_STR(parse("127.0.0.1:8080"), "127.0.0.1 8080 loopback");
    CHECK_STR(parse("127.8.9.10:1"), "127.8.9.10 1 loopback");
    CHECK_STR(parse("localhost:8080"), "127.0.0.1 8080 loopback");
    CHECK_STR(parse("[::1]:8080"), "::1 8080 loopback");
    CHECK_STR(parse("127.0.0.1:0"), "127.0.0.1 0 loopback");
    CHECK_STR(parse("0.0.0.0:65535"), "0.0.0.0 65535");
    CHECK_STR(parse("[::]:80"), ":: 80");
    CHECK_STR(parse("192.0.2.1:80"), "192.0.2.1 80");
    CHECK_STR(parse("[2001:db8::1]:80"), "2001:db8::1 80");
}

static void loopback_unless_asked_otherwise(void)
{
    CHECK_STR(parse("8080"), "127.0.0.1 8080 loopback");
    CHECK_STR(parse(":8080"), "127.0.0.1 8080 loopback");
    CHECK_STR(parse("0"), "127.0.0.1 0 loopback");
}

static void bad_addresses(void)
{
    static const char *const bad[] = { "x", "127.0.0.1",
        "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
        "127.0.0.1:99999999999999999999", "127.0.0.1:-1", "127.0.0.1: 1",
        "127.0.0.1:80x", "::1:8080", "[::1]", "[::1]8080", "[::1",
        "[::1]:", "example.com:80", "256.0.0.1:80", ":", "", "::", "[]:80",
        "[127.0.0.1:80", "http://127.0.0.1:80", "127.0.0.1:80/" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char want[200];

        snprintf(want, sizeof(want),
            "'%s' is not an address and a port, such as 127.0.0.1:8080",
            bad[i]);
        CHECK_STR(parse(bad[i]), want);
    }
}

static void hosts_of_this_machine(void)
{
    static const char *const good[] = { "127.0.0.1:8080", "127.0.0.1",
        "localhost", "localhost:8080", "LocalHost:8080", "[::1]:8080", "[::1]",
        "192.0.2.7:8080", "[2001:db8::1]:80" };
    struct sb_web_address a;

    CHECK_INT(sb_web_address(&a, "127.0.0.1:8080", NULL), 0);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (!sb_web_host_allowed(&a, good[i]))
            CHECK_STR(good[i], "refused");
    CHECK(sb_web_host_allowed(&a, NULL));
}

static void hosts_of_other_sites(void)
{
    static const char *const bad[] = {
        "", "evil.example", "evil.example:8080", "127.0.0.1.evil.example",
        "127.0.0.1.evil.example:8080", "localhost.evil.example", "localhost.",
        "localhost:evil", "127.0.0.1:x", "127.0.0.1:80:80", "[::1]evil.example",
        "[evil.example]", "[::1", "::1", " localhost", "localhost ",
        "user@localhost", "127.1", "0x7f.1", "2130706433",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    };
    struct sb_web_address a;

    CHECK_INT(sb_web_address(&a, "127.0.0.1:8080", NULL), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (sb_web_host_allowed(&a, bad[i]))
            CHECK_STR(bad[i], "allowed");
}

CHECK_FILE
{
    RUN(addresses);
    RUN(loopback_unless_asked_otherwise);
    RUN(bad_addresses);
    RUN(hosts_of_this_machine);
    RUN(hosts_of_other_sites);
    return check_done();
}
