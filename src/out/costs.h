// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the events of a run cost the server: figures as docs/costs.md describes
// them, as text and as part of result files. Main thread.
#ifndef SB_COSTS_H
#define SB_COSTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

// In the order of reports. costs.c has the names.
enum sb_cost_id {
    SB_COST_CPU,
    SB_COST_SYSTEM, // the part of SB_COST_CPU in the kernel
    SB_COST_SWITCHES,
    SB_COST_STORAGE_READ,
    SB_COST_STORAGE_WRITTEN,
    SB_COST_READ,
    SB_COST_WRITTEN,
    SB_COST_LOG_BYTES,
    SB_COST_LOG_FLUSHES,
    SB_COST_FSYNCS,
    SB_COST_ROWS,
    SB_COST_ENERGY,
    SB_COSTS
};

// The name of the price of a million events, beside those of the figures.
#define SB_COSTS_USD "usd_per_million_events"

struct sb_cost {
    double total;           // in the unit of the figure; NaN: unknown
    double events, queries; // in the time that `total` covers
    char source[64];        // where it is from: "server", "process 123"
    char why[160];          // if unknown: why
};

struct sb_costs {
    double seconds, events, queries; // of the measured part
    double price;                    // of the server, USD per hour; 0: unknown
    struct sb_cost cost[SB_COSTS];
};

// "cpu_us", "us" or ""
const char *sb_cost_name(enum sb_cost_id id);
const char *sb_cost_unit(enum sb_cost_id id);
// The figure of this name, of which len bytes count; SB_COSTS: no figure.
enum sb_cost_id sb_cost_named(const char *name, size_t len);

// Everything is unknown, for the same reason.
void sb_costs_init(struct sb_costs *c, const char *why);
// Sets a figure that covers the whole measured part. total: in the unit of the
// figure.
void sb_costs_set(
    struct sb_costs *c, enum sb_cost_id id, double total, const char *source);
// Makes a figure unknown.
void sb_costs_miss(struct sb_costs *c, enum sb_cost_id id, const char *why);
// Whether anything is known: a figure, or the price of an event.
bool sb_costs_known(const struct sb_costs *c);

// NaN: unknown, or no event (query) was completed.
double sb_cost_per_event(const struct sb_costs *c, enum sb_cost_id id);
double sb_cost_per_query(const struct sb_costs *c, enum sb_cost_id id);
// Of a million events, at the price of the server.
double sb_costs_usd(const struct sb_costs *c);
// The power that the energy of the run stands for.
double sb_costs_watts(const struct sb_costs *c);

void sb_costs_text(const struct sb_costs *c, FILE *out);
// Returns a new reference, or NULL if out of memory.
json_t *sb_costs_json(const struct sb_costs *c);
// The cost of an event in that object: of a figure, or SB_COSTS_USD. NaN:
// unknown.
double sb_costs_member(const json_t *json, const char *name);
// Reads it again. Figures that this version does not know are left out.
void sb_costs_read(struct sb_costs *c, const json_t *json);

#endif
