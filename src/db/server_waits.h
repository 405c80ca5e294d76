// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the sessions of one server wait for (--server-waits): samples of them,
// taken on a connection of their own by one thread, and read by others.
#ifndef SB_SERVER_WAITS_H
#define SB_SERVER_WAITS_H

#include "db/driver.h"
#include "measure/waits.h"

struct sb_drivers;
struct sb__inst;
struct sb__waits_sampler;

// What the samples of a server in the measured part have shown.
struct sb_server_waits {
    char address[256];
    char note[400]; // what the samples lack, or which sessions they have
    char why[200];  // "": there are figures; otherwise why there are none
    struct sb_waits_figures figures;
    struct sb_waits *samples; // has the texts of the figures
};

void sb_server_waits_done(struct sb_server_waits *w);

// is_own(): whether a session is one of the program itself; called by
// sb__waits_sampler_sample(). number: as for sb__probe_new(). NULL on failure,
// with *err filled.
struct sb__waits_sampler *sb__waits_sampler_new(struct sb_drivers *drivers,
    struct sb__inst *inst, uint64_t number,
    bool (*is_own)(void *arg, uint64_t session), void *arg, struct sb_err *err);
void sb__waits_sampler_free(struct sb__waits_sampler *w); // NULL allowed

// Takes a sample; connects if necessary, and disconnects after an error. The
// first sample after `measured_at` (CLOCK_MONOTONIC in ns) restarts the count.
// 0 or SB_E*; SB_EUNSUPPORTED: the server cannot be sampled at all.
int sb__waits_sampler_sample(
    struct sb__waits_sampler *w, uint64_t measured_at, struct sb_err *err);
// Called by the thread that takes samples, at its end.
void sb__waits_sampler_disconnect(struct sb__waits_sampler *w);

// The other functions may be called by any thread.

// As sb__probe_session() and sb__probe_cancel().
uint64_t sb__waits_sampler_session(const struct sb__waits_sampler *w);
void sb__waits_sampler_cancel(struct sb__waits_sampler *w);
// Visits the mean number of sessions by class in the samples since the last
// call. suffix: of the names.
void sb__waits_sampler_interval(struct sb__waits_sampler *w, const char *suffix,
    void (*visit)(void *arg, const char *name, double sessions), void *arg);
// Fills *out, except the address, with the figures of the samples from
// measured_at until `end`. take: *out gets the samples, so no thread may take
// more; otherwise they stay, and must not be freed before the figures.
void sb__waits_sampler_finish(struct sb__waits_sampler *w, uint64_t measured_at,
    uint64_t end, bool take, struct sb_server_waits *out);

#endif
