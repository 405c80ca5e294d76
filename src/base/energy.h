// SPDX-License-Identifier: GPL-2.0-or-later
//
// The energy that this machine uses, from the counters of its processors
// (RAPL), which the kernel shows in /sys/class/powercap: processors and, where
// they are counted separately, memory. Main thread; a look takes about 20 us.
#ifndef SB_ENERGY_H
#define SB_ENERGY_H

#include <stdbool.h>
#include <stdint.h>

#define SB_ENERGY_ZONES_MAX 32

struct sb_energy {
    struct sb_energy_zone {
        char path[96];      // of its counter, which starts again at 0
        double last, range; // uJ: its value, and its maximum
    } zone[SB_ENERGY_ZONES_MAX];
    unsigned nzones; // 0: unknown
    uint64_t ns;     // monotonic time of the last look
    double joules;   // since the beginning
    char why[160];   // why the energy is unknown, or ""
};

// The first look, at the counters below `root` ("", or a folder for tests).
void sb_energy_begin(struct sb_energy *e, const char *root, uint64_t ns);
// Adds what was used since the last look. Two looks must not be so far apart
// that a counter may start again twice: then the energy is unknown.
void sb_energy_look(struct sb_energy *e, const char *root, uint64_t ns);

#endif
