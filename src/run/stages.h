// SPDX-License-Identifier: GPL-2.0-or-later
//
// --stages: how the number of users and the rate change over time. Pure: times
// are parameters, in nanoseconds since the start of the first stage.
#ifndef SB_STAGES_H
#define SB_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "run/mix.h"

#define SB_STAGES_MAX 100
#define SB_STAGE_NAME 64

// Users and rate change linearly within a stage.
struct sb_stage {
    char name[SB_STAGE_NAME]; // the user's, or the text of the settings
    uint64_t ns;              // length, > 0
    uint32_t users_from, users_to;
    double rate_from, rate_to;  // per second; 0 in a closed loop
    double mix[SB_MIX_MAX];     // weights; 0 without a mix
    char mix_text[SB_MIX_TEXT]; // the same for reports; "" without a mix
};

struct sb_stages {
    unsigned n;     // 0: no stages
    bool open_loop; // with rates
    // A stage sets them itself, so they are not those of the options: users,
    // and a rate above 0 that is no percentage of --rate.
    bool sets_users, sets_rate;
    uint32_t max_users; // at least 1
    uint64_t ns;        // sum of lengths
    struct sb_stage stage[SB_STAGES_MAX];
};

// Parses
//     stages   = stage { ";" stage } [ ";" ]
//     stage    = [ name ":" ] { setting [ "," ] } "for" duration
//     setting  = "threads=" range | "rate=" range | "mix=" weights
//     weights  = as sb_mix_weights()
//     range    = value | [ value ] ".." value
// A rate may be a percentage of `rate`. A setting that a stage omits, and an
// omitted start of a range, is the final value of the stage before; in the
// first stage it is `users`, `rate` (0: none) and the weights of `mix` (NULL:
// there is no mix). SB_EUSAGE / SB_ERANGE name the stage and the position of
// the error in the text; *s is then undefined.
int sb_stages_parse(struct sb_stages *s, const char *text, uint32_t users,
    double rate, const struct sb_mix *mix, struct sb_err *err);

// Returns the number of the stage at this time, 0 first. After the end, the
// last one.
unsigned sb_stages_at(const struct sb_stages *s, uint64_t ns);

// Returns whether user `id` (of several ranks: its turn, measure/share.h) runs
// at this time, and sets *until to the time at which that changes: UINT64_MAX
// if never. A stage with n users runs users 0 to n - 1. In a ramp users come,
// in the order of their numbers, and go, in the opposite order, at equal
// distances. After the end of the last stage nothing changes any more.
bool sb_stages_user(
    const struct sb_stages *s, uint32_t id, uint64_t ns, uint64_t *until);
// Returns the number of users that run at this time.
uint32_t sb_stages_users(const struct sb_stages *s, uint64_t ns);

#endif
