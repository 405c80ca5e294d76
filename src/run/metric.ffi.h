// SPDX-License-Identifier: GPL-2.0-or-later
//
// Metrics of scripts (sysbench.metric), for Lua. Only in the user's thread.
#ifndef SB_METRIC_FFI_H
#define SB_METRIC_FFI_H

#include <stddef.h>

#include "base/export.h"

struct sb_user;

// Returns the number of a metric, and registers it on first use. kind: enum
// sb_metric_kind. largest: of a distribution; 0: the default. Negative: the
// name belongs to a metric of another kind; *why has the message.
SB_FFI int sb_user_metric(struct sb_user *u, const char *name, int kind,
    const char *unit, const char *help, double largest, char *why, size_t size);
// Gives a metric a value: adds it, sets it, or records it.
SB_FFI void sb_user_metric_put(struct sb_user *u, int metric, double value);
// Sets a gauge. value: NaN: unknown. seconds: after them the value is unknown
// unless it was set again; 0: it stays.
SB_FFI void sb_user_metric_set(
    struct sb_user *u, int metric, double value, double seconds);

#endif
