// SPDX-License-Identifier: GPL-2.0-or-later
#include "check.h"
#include "drivers/mysql/internal.h"

static const char *const two_hosts[] = { "a", "b" };
static const char *const two_ports[] = { "3306", "3307" };
static const char *const two_sockets[] = { "/x", "/y" };
static const struct sb_opt_list none, hosts = { two_hosts, 2 },
                                      ports = { two_ports, 2 },
                                      sockets = { two_sockets, 2 };

static void check_place(const struct sbmy_places *p, uint64_t number,
    const char *host, unsigned port)
{
    struct sbmy_place at = sbmy_places_get(p, number);

    CHECK_STR(at.host, host);
    CHECK_INT(at.port, port);
    CHECK(!at.socket);
}

// All ports of a host, then the next host.
static void round_robin(void)
{
    struct sbmy_places p = { &hosts, &ports, &none };

    CHECK_INT(sbmy_places_count(&p), 4);
    for (uint64_t turn = 0; turn < 3; turn++) {
        check_place(&p, 4 * turn, "a", 3306);
        check_place(&p, 4 * turn + 1, "a", 3307);
        check_place(&p, 4 * turn + 2, "b", 3306);
        check_place(&p, 4 * turn + 3, "b", 3307);
    }
}

static void sockets_override_hosts(void)
{
    struct sbmy_places p = { &hosts, &ports, &sockets };

    CHECK_INT(sbmy_places_count(&p), 2);
    CHECK_STR(sbmy_places_get(&p, 0).socket, "/x");
    CHECK_STR(sbmy_places_get(&p, 1).socket, "/y");
    CHECK_STR(sbmy_places_get(&p, 2).socket, "/x");
    CHECK(!sbmy_places_get(&p, 0).host);
}

static void empty_lists(void)
{
    struct sbmy_places p = { &hosts, &none, &none };
    struct sbmy_places q = { &none, &none, &none };

    CHECK_INT(sbmy_places_count(&p), 2);
    check_place(&p, 1, "b", 0);
    CHECK_INT(sbmy_places_count(&q), 1);
    CHECK(!sbmy_places_get(&q, 7).host);
}

static void wrong_ports(void)
{
    static const char *const texts[] = { "0", "65536", "x", "3306x", "", "-1" };

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct sb_opt_list bad = { &texts[i], 1 };
        struct sbmy_places p = { &hosts, &bad, &none };
        struct sb_err err = { 0 };

        CHECK_INT(sbmy_places_check(&p, &err), SB_EUSAGE);
        CHECK(strstr(err.msg, "mysql-port") != NULL);
    }
    CHECK_INT(
        sbmy_places_check(&(struct sbmy_places){ &hosts, &ports, &none }, NULL),
        0);
}

CHECK_FILE
{
    RUN(round_robin);
    RUN(sockets_override_hosts);
    RUN(empty_lists);
    RUN(wrong_ports);
    return check_done();
}
