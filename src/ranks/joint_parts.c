// SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts of a search for the rate over all ranks: rank 0 chooses the kind
// and the start of each part; the other ranks send it their figures of the
// part.
#include "ranks/joint.h"

#include "measure/snap.h"
#include "measure/snap_wire.h"

#include <assert.h>

// On rank 0: the figures of a rank have arrived. On another rank: a part
// begins.
static void on_part(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;

    (void)from;
    if (j->of) {
        struct sb__part_figures *f = &j->part_sum;

        f->late |= sb_wire_get(w) != 0;
        f->rate += sb_wire_get_double(w);
        f->growth += sb_wire_get_double(w);
        f->arrivals += sb_wire_get_double(w);
        f->left += sb_wire_get(w);
        sb_snap_read_add(w, &f->sum, &j->names, 0, &j->broken);
        j->part_ranks++;
        sb__joint_fail_if_broken(j);
        return;
    }
    j->part.kind = (enum sb__part_kind)sb_wire_get(w);
    j->part.rate = sb_wire_get_double(w);
    j->part.at = sb_wire_get(w) + (uint64_t)j->offset_ns;
    j->has_part = !w->bad;
}

void sb__joint_parts_init(struct sb__joint *j)
{
    sb_job_on(j->job, SB_JOB_PART, on_part, j);
}

void sb__joint_parts_done(struct sb__joint *j)
{
    sb_snap_done(&j->part_sum.sum);
}

void sb__joint_parts_begin(struct sb_run *run, struct sb__part *part)
{
    struct sb__joint *j = sb__joint_of(run);
    struct sb_buf b;

    assert(j->of);
    sb_snap_done(&j->part_sum.sum);
    j->part_sum = (struct sb__part_figures){ .late = false };
    j->part_ranks = 1;
    part->at = sb_clock_monotonic() + sb__joint_start_lead_ns(j);
    sb_buf_init(&b, 0);
    sb_wire_put(&b, part->kind);
    sb_wire_put_double(&b, part->rate);
    sb_wire_put(&b, part->at);
    sb_job_tell_all(j->job, SB_JOB_PART, &b);
    sb_buf_done(&b);
}

static bool all_there(const struct sb__joint *j)
{
    return j->part_ranks == j->job->ranks;
}

// A script may end the users of a rank during the search.
static bool is_over(struct sb__joint *j)
{
    for (unsigned i = 1; i < j->job->ranks; i++)
        if (j->of[i].final)
            return true;
    return all_there(j);
}

bool sb__joint_parts_sum(struct sb_run *run, struct sb__part_figures *f)
{
    struct sb__joint *j = sb__joint_of(run);
    struct sb__part_figures *sum = &j->part_sum;
    struct sb_snap own = f->sum;
    struct sb_err err = { 0 };

    if (!sb__joint_poll_until(run, is_over, UINT64_MAX) || !all_there(j))
        return false;
    int rc = sb_snap_add(
        &sum->sum, &j->names, &own, &run->stats[SB_PHASE_WARMUP], 0, &err);
    sb_snap_done(&own);
    sum->late |= f->late;
    sum->rate += f->rate;
    sum->growth += f->growth;
    sum->arrivals += f->arrivals;
    sum->left += f->left;
    *f = *sum;
    sum->sum = (struct sb_snap){ 0 };
    if (rc)
        sb__run_fail(run, &err);
    return rc == 0;
}

static bool has_part(struct sb__joint *j)
{
    return j->has_part;
}

bool sb__joint_parts_next(struct sb_run *run, struct sb__part *part)
{
    struct sb__joint *j = sb__joint_of(run);

    assert(!j->of);
    if (!sb__joint_poll_until(run, has_part, UINT64_MAX))
        return false;
    j->has_part = false;
    *part = j->part;
    return true;
}

void sb__joint_parts_send(struct sb_run *run, const struct sb__part_figures *f)
{
    struct sb__joint *j = sb__joint_of(run);
    struct sb_buf b;

    sb_buf_init(&b, 0);
    sb_wire_put(&b, f->late);
    sb_wire_put_double(&b, f->rate);
    sb_wire_put_double(&b, f->growth);
    sb_wire_put_double(&b, f->arrivals);
    sb_wire_put(&b, f->left);
    sb_snap_write(&b, &f->sum, &run->stats[SB_PHASE_WARMUP]);
    sb_job_send(j->job, 0, SB_JOB_PART, &b);
    sb_buf_done(&b);
}
