// SPDX-License-Identifier: GPL-2.0-or-later
//
// --rate=80% and --rate=max: finds the rate of the measured part.
#ifndef SB_RATE_SEARCH_H
#define SB_RATE_SEARCH_H

#include "run/meter.h"

// From the release of the users to the start of the measured part. Returns
// false if the run is over.
bool sb__rate_search(struct sb_run *run, struct sb_meter *m);

#endif
