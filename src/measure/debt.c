// SPDX-License-Identifier: GPL-2.0-or-later
#include "measure/debt.h"

#include <math.h>

#define DOUBTFUL  10    // percent
#define MIN_BYTES 16e6  // less takes a device less than a second
#define MIN_PURGE 50000 // transactions; a busy server has thousands
#define MIN_DELAY 2     // s; servers count whole ones

static double percent(double part, double all)
{
    return isnan(part) || isnan(all) ? NAN : all > 0 ? 100 * part / all : 0;
}

// Whether `part` is known to be so little of `all` that it does not matter.
static bool is_little(double part, double all)
{
    return 100 * part < DOUBTFUL * all;
}

// A run that logged more than the limit has as many checkpoints as it causes.
struct sb_debt sb_debt_log(double growth, double limit, double logged)
{
    double share = percent(growth, limit);

    return (
        struct sb_debt){ share, fabs(share) >= DOUBTFUL && !(logged >= limit) };
}

// Pages wait for a checkpoint, unless they could fill the cache.
struct sb_debt sb_debt_pages(double growth, double written, double limit,
    double data, bool before_checkpoint)
{
    double share = percent(growth, limit);

    if (!isnan(share) && !(data >= limit))
        share = 0;
    return (struct sb_debt){ share,
        growth >= MIN_BYTES && !is_little(growth, written) &&
            (share >= DOUBTFUL || before_checkpoint) };
}

struct sb_debt sb_debt_purge(double growth, double writes)
{
    double share = percent(growth, writes);

    return (struct sb_debt){ share, growth >= MIN_PURGE && share >= DOUBTFUL };
}

struct sb_debt sb_debt_rows(
    double growth, double rows, double dead, double bytes)
{
    double share = percent(growth, rows);
    double space = bytes * growth / (rows + dead);

    return (struct sb_debt){ share, space >= MIN_BYTES && share >= DOUBTFUL };
}

struct sb_debt sb_debt_replicas(double growth, double logged)
{
    return (struct sb_debt){ percent(growth, logged),
        growth >= MIN_BYTES && !is_little(growth, logged) };
}

struct sb_debt sb_debt_delay(double growth, double seconds)
{
    double share = percent(growth, seconds);

    return (struct sb_debt){ share, growth >= MIN_DELAY && share >= DOUBTFUL };
}

double sb_debt_owed(double growth, double done, double seconds)
{
    return done > 0 && seconds > 0 ? growth / done * seconds : NAN;
}
