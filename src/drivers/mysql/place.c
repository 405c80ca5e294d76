// SPDX-License-Identifier: GPL-2.0-or-later
#include "drivers/mysql/place.h"

#include <stdlib.h>

#include "kit/sock.h"

// Returns 0 if the port is invalid.
static unsigned port_number(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end == text || *end || n < 1 || n > 65535 ? 0 : (unsigned)n;
}

int sbmy_places_check(const struct sbmy_places *p, struct sb_err *err)
{
    for (size_t i = 0; i < p->ports->count; i++) {
        if (port_number(p->ports->item[i]) == 0)
            return sb_err_set(err, SB_EUSAGE,
                "Invalid value for the 'mysql-port' option: '%s' (ports from "
                "1 to 65535)",
                p->ports->item[i]);
    }
    return 0;
}

static uint64_t at_least_one(size_t n)
{
    return n ? n : 1;
}

uint64_t sbmy_places_count(const struct sbmy_places *p)
{
    if (p->sockets->count)
        return p->sockets->count;
    return at_least_one(p->hosts->count) * at_least_one(p->ports->count);
}

struct sbmy_place sbmy_places_get(const struct sbmy_places *p, uint64_t number)
{
    uint64_t n = number % sbmy_places_count(p);
    uint64_t nports = at_least_one(p->ports->count);
    struct sbmy_place place = { 0 };

    if (p->sockets->count) {
        place.socket = p->sockets->item[n];
        return place;
    }
    if (p->hosts->count)
        place.host = p->hosts->item[n / nports];
    if (p->ports->count)
        place.port = port_number(p->ports->item[n % nports]);
    return place;
}

bool sbmy_place_is_address(struct sbmy_place p)
{
    return !p.socket && p.host && sb_sock_is_numeric(p.host);
}

bool sbmy_place_is_default(struct sbmy_place p)
{
    return !p.socket && p.host && strcmp(p.host, "localhost") == 0;
}
