// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sections of a run of several ranks that have figures of their own.
#ifndef SB_JOINT_SECTIONS_H
#define SB_JOINT_SECTIONS_H

#include "run/joint.h"

int sb__joint_sections_init(struct sb__joint *j);
void sb__joint_sections_done(struct sb__joint *j);
// Rank 0: told() is called with the sum of a section when all ranks have ended
// it; it may take over *sum.
void sb__joint_sections_on(struct sb__joint *j,
    void (*told)(void *arg, enum sb__joint_section_kind kind, unsigned number,
        struct sb_snap *sum),
    void *arg);
// A section of this rank has ended: its figures, as a difference of
// SB_SNAP_FULL. Sections of a kind end in the order of their numbers; some may
// be left out.
void sb__joint_sections_add(struct sb_run *run,
    enum sb__joint_section_kind kind, unsigned number,
    const struct sb_snap *diff, const struct sb_stats *stats);
// Rank 0: reports sections of which all ranks have sent their figures, or have
// ended.
void sb__joint_sections_report(struct sb__joint *j);

#endif
