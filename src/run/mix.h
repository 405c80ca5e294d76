// SPDX-License-Identifier: GPL-2.0-or-later
//
// --mix: the workloads of a run with their weights. Pure.
#ifndef SB_MIX_H
#define SB_MIX_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SB_MIX_MAX      16  // components
#define SB_MIX_NAME     32  // size of a name
#define SB_MIX_WORKLOAD 256 // size of the name of a workload
#define SB_MIX_WEIGHT   1e9 // maximum
// Size of the weights of a stage as text: "name:weight/" for each, where the
// longest weight is 1.234567891e-308.
#define SB_MIX_NUMBER 16
#define SB_MIX_TEXT   (SB_MIX_MAX * (SB_MIX_NAME - 1 + SB_MIX_NUMBER + 2))

enum sb_mix_by { SB_MIX_EVENTS, SB_MIX_USERS };

struct sb_mix_part {
    char name[SB_MIX_NAME];         // "report"
    char prefix[SB_MIX_NAME + 1];   // "report/": of its operations
    char workload[SB_MIX_WORKLOAD]; // as given: "report.lua"
};

struct sb_mix {
    unsigned n; // 0: no mix
    int by;     // enum sb_mix_by
    struct sb_mix_part part[SB_MIX_MAX];
    double weight[SB_MIX_MAX];
};

// Parses
//     mix  = part { "," part }
//     part = [ name "=" ] workload [ ":" weight ]
// The weight is 1 if it is missing, otherwise above 0. The name is that of the
// workload without its folder and ".lua". Names consist of letters, digits, "-"
// and "_"; they are unique, and none has a meaning of its own in limits or
// figures ("read", "connect"). m->by is not changed. SB_EUSAGE / SB_ERANGE name
// the part; *m is then undefined.
int sb_mix_parse(struct sb_mix *m, const char *text, struct sb_err *err);

// Parses the weights of a stage, len characters: "report:1/oltp_insert:3". A
// component that is not named has the weight 0. Named components may have the
// weight 0, too, but not all of them. 0 or SB_EUSAGE / SB_ERANGE, with the
// reason in why.
int sb_mix_weights(const struct sb_mix *m, const char *text, size_t len,
    double *weight, char *why, size_t size);

// Writes the weights as sb_mix_weights() reads them, without parts of weight 0.
// SB_MIX_TEXT is enough for all.
void sb_mix_text(
    const struct sb_mix *m, const double *weight, char *out, size_t size);

// Returns the component for a random number x in [0, 1).
unsigned sb_mix_draw(const double *weight, unsigned n, double x);

// Sets of[i] to the component of user i. The shares of the first k users are
// those of the weights, to within one user (two with many components), for
// every k.
void sb_mix_assign(
    const double *weight, unsigned n, uint8_t *of, uint32_t users);
// Sets least[i] to how many users are needed for component i to have one; 0 if
// its weight is 0 or more than `most` are needed.
void sb_mix_users(
    const double *weight, unsigned n, uint32_t *least, uint32_t most);

#endif
