// SPDX-License-Identifier: GPL-2.0-or-later
//
// The functions of the core that a driver calls, as in the program, but without
// a log.
#ifndef DRIVER_HOST_H
#define DRIVER_HOST_H

#include "db/driver.h"
#include "loop/helper.h"
#include "loop/io.h"

static inline void quiet(int level, const char *text)
{
}

#define DRIVER_HOST                                             \
    {                                                           \
        .abi = SB_DRIVER_ABI, .log = quiet, .wait = sb_io_wait, \
        .exchange = sb_io_exchange, .sleep = sb_io_sleep,       \
        .apart = sb_helper_run, .shared = sb_helper_shared      \
    }

#endif
