// SPDX-License-Identifier: GPL-2.0-or-later
//
// Parts of the JSON documents of commands and sweeps. Main thread.
#ifndef SB_CMD_JSON_H
#define SB_CMD_JSON_H

#include <jansson.h>

#include "measure/compare.h"

// {"value": ..., "low": ..., "high": ...}; runs: also their number. Returns a
// new reference, or NULL if out of memory.
json_t *sb_estimate_json(const struct sb_estimate *e, bool runs);

#endif
