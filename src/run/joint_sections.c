// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sections of a run of several ranks that have figures of their own: stages,
// and the time between checkpoints. Each rank sends all figures of a section to
// rank 0, which reports the sum when those of all ranks have come.
#include <assert.h>
#include <stdlib.h>

#include "measure/snap.h"
#include "measure/snap_wire.h"
#include "run/joint_fail.h"
#include "run/joint_sections.h"

// A section of which figures are missing.
struct sb__joint_section {
    struct sb__joint_section *next; // by kind and number
    enum sb__joint_section_kind kind;
    unsigned number;
    struct sb_snap sum;
};

static void on_section(void *arg, unsigned from, struct sb_wire *w);

int sb__joint_sections_init(struct sb__joint *j)
{
    sb_job_on(j->job, SB_JOB_SECTION, on_section, j);
    if (!j->of)
        return 0;
    for (int kind = 0; kind < SB__JOINT_SECTION_KINDS; kind++) {
        j->sections_of[kind] = calloc(
            j->job->ranks, sizeof(*j->sections_of[kind]));
        if (!j->sections_of[kind])
            return SB_ENOMEM;
    }
    return 0;
}

static void section_free(struct sb__joint_section *s)
{
    sb_snap_done(&s->sum);
    free(s);
}

void sb__joint_sections_done(struct sb__joint *j)
{
    while (j->sections) {
        struct sb__joint_section *s = j->sections;

        j->sections = s->next;
        section_free(s);
    }
    for (int kind = 0; kind < SB__JOINT_SECTION_KINDS; kind++)
        free(j->sections_of[kind]);
}

static bool precedes(const struct sb__joint_section *s,
    enum sb__joint_section_kind kind, unsigned number)
{
    return s->kind < kind || (s->kind == kind && s->number < number);
}

// Returns the section, which is created on first use; NULL if out of memory.
static struct sb__joint_section *section_at(
    struct sb__joint *j, enum sb__joint_section_kind kind, unsigned number)
{
    struct sb__joint_section **at = &j->sections, *s;

    while (*at && precedes(*at, kind, number))
        at = &(*at)->next;
    if (*at && (*at)->kind == kind && (*at)->number == number)
        return *at;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->kind = kind;
    s->number = number;
    s->next = *at;
    *at = s;
    return s;
}

// A rank that was late has no figures for a section that passed meanwhile.
static bool is_complete(
    const struct sb__joint *j, const struct sb__joint_section *s)
{
    for (unsigned i = 0; i < j->job->ranks; i++)
        if (j->sections_of[s->kind][i] <= s->number && !j->of[i].final)
            return false;
    return true;
}

void sb__joint_sections_report(struct sb__joint *j)
{
    struct sb__joint_section **at = &j->sections;

    assert(j->of);
    while (*at) {
        struct sb__joint_section *s = *at;

        if (!is_complete(j, s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        if (j->on_section)
            j->on_section(j->on_section_arg, s->kind, s->number, &s->sum);
        section_free(s);
    }
}

void sb__joint_sections_on(struct sb__joint *j,
    void (*told)(void *arg, enum sb__joint_section_kind kind, unsigned number,
        struct sb_snap *sum),
    void *arg)
{
    j->on_section = told;
    j->on_section_arg = arg;
}

// Notes that a rank has ended this section. Returns where to add its figures.
static struct sb_snap *note_arrival(struct sb__joint *j, unsigned rank,
    enum sb__joint_section_kind kind, unsigned number)
{
    struct sb__joint_section *s = section_at(j, kind, number);

    if (!s) {
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for figures");
        return NULL;
    }
    j->sections_of[kind][rank] = number + 1;
    return &s->sum;
}

static void finish_arrival(struct sb__joint *j)
{
    sb__joint_sections_report(j);
    sb__joint_fail_if_broken(j);
}

static void on_section(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    uint64_t kind = sb_wire_get(w), number = sb_wire_get(w);
    uint64_t began = sb_wire_get(w);

    if (w->bad || !j->of || !j->on_section || kind >= SB__JOINT_SECTION_KINDS)
        return;
    struct sb_snap *sum = note_arrival(
        j, from, (enum sb__joint_section_kind)kind, (unsigned)number);
    if (sum)
        sb_snap_read_add(w, sum, &j->names, j->began - began, &j->broken);
    finish_arrival(j);
}

void sb__joint_sections_add(struct sb_run *run,
    enum sb__joint_section_kind kind, unsigned number,
    const struct sb_snap *diff, const struct sb_stats *stats)
{
    struct sb__joint *j = run->joint;
    struct sb_buf b;

    if (j->of) {
        struct sb_snap *sum = note_arrival(j, 0, kind, number);

        if (sum)
            sb_snap_add(sum, &j->names, diff, stats, 0, &j->broken);
        finish_arrival(j);
        return;
    }
    sb_buf_init(&b, 0);
    sb_wire_put(&b, kind);
    sb_wire_put(&b, number);
    sb_wire_put(&b, j->began);
    sb_snap_write(&b, diff, stats);
    sb_job_send(j->job, 0, SB_JOB_SECTION, &b);
    sb_buf_done(&b);
}
