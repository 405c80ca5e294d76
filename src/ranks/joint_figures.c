// SPDX-License-Identifier: GPL-2.0-or-later
//
// Figures of several ranks while the run is in progress: intervals, sections,
// parts of a search.
#include <assert.h>
#include <stdlib.h>

#include "kit/array.h"
#include "measure/snap.h"
#include "measure/snap_wire.h"
#include "ranks/joint.h"
#include "run/meter.h"

// Intervals of several ranks. Each rank adds those of the ranks below it to its
// own and sends the sum to the rank above it, as soon as all parts have come: a
// slow rank delays a line, never the load.

static unsigned parent_rank(const struct sb__joint *j)
{
    return (j->job->rank - 1) / SB__JOINT_FANOUT;
}

static void on_interval(void *arg, unsigned from, struct sb_wire *w);

int sb__joint_intervals_init(struct sb__joint *j)
{
    unsigned first = j->job->rank * SB__JOINT_FANOUT + 1, n = 0;

    if (first < j->job->ranks)
        n = j->job->ranks - first;
    j->child = first;
    j->children = n < SB__JOINT_FANOUT ? n : SB__JOINT_FANOUT;
    j->reached = calloc(1 + j->children, sizeof(*j->reached));
    if (!j->reached || sb_stats_init(&j->names, 1, 1, j->run->open_loop))
        return SB_ENOMEM;
    j->has_names = true;
    sb_job_on(j->job, SB_JOB_INTERVAL, on_interval, j);
    return 0;
}

static void slot_free(struct sb__joint_slot *s)
{
    sb_snap_done(&s->sum);
    free(s);
}

void sb__joint_intervals_done(struct sb__joint *j)
{
    while (j->slots) {
        struct sb__joint_slot *s = j->slots;

        j->slots = s->next;
        slot_free(s);
    }
    if (j->has_names)
        sb_stats_done(&j->names);
    sb_snap_done(&j->sofar);
    free(j->reached);
    free(j->span);
}

// Returns the slot with this key; NULL if out of memory.
static struct sb__joint_slot *slot_at(struct sb__joint *j, uint64_t key)
{
    struct sb__joint_slot **at = &j->slots, *s;

    while (*at && (*at)->key < key)
        at = &(*at)->next;
    if (*at && (*at)->key == key)
        return *at;
    s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->key = key;
    s->next = *at;
    *at = s;
    return s;
}

static int add_span(struct sb__joint *j, uint64_t from, uint64_t to)
{
    struct sb__joint_span *p = sb_array_room(
        j->span, &j->cap_spans, j->nspans, 1, sizeof(*p));

    if (!p)
        return SB_ENOMEM;
    j->span = p;
    p[j->nspans++] = (struct sb__joint_span){ from, to };
    return 0;
}

// Whether a part covers the time before and after the key; forgets parts that
// are over.
static bool is_inside(struct sb__joint *j, uint64_t key)
{
    bool inside = false;
    unsigned left = 0;

    for (unsigned i = 0; i < j->nspans; i++) {
        const struct sb__joint_span s = j->span[i];

        inside |= s.from < key && key < s.to;
        if (s.to > key)
            j->span[left++] = s;
    }
    j->nspans = left;
    return inside;
}

static bool is_complete(const struct sb__joint *j, uint64_t key)
{
    for (unsigned i = 0; i <= j->children; i++)
        if (j->reached[i] < key)
            return false;
    return true;
}

bool sb__joint_intervals_complete(const struct sb__joint *j)
{
    return is_complete(j, SB_GROUP_LAST);
}

// Passing on ------------------------------------------------------------------

// The start of the part with this key, the next one to be passed on. A rank
// that was held up may have no part that ends with the warm-up.
static uint64_t start_of(const struct sb__joint *j, uint64_t key)
{
    uint64_t warm = j->run->warm_end - j->run->t0;

    return j->sent < warm && warm < key ? warm : j->sent;
}

static void put_header(
    struct sb_buf *b, struct sb__joint *j, uint64_t key, bool full)
{
    sb_wire_put(b, start_of(j, key));
    sb_wire_put(b, key);
    sb_wire_put(b, full);
    sb_wire_put(b, j->group.began);
}

static void pass_up(struct sb__joint *j, const struct sb__joint_slot *s)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    put_header(&b, j, s->key, s->full);
    sb_snap_write(&b, &s->sum, &j->names);
    sb_job_send(j->job, parent_rank(j), SB_JOB_INTERVAL, &b);
    sb_buf_done(&b);
}

static void report_interval(struct sb__joint *j, const struct sb__joint_slot *s)
{
    struct sb_run *run = j->run;
    const struct sb_listener *l = run->l;
    uint64_t warm = run->warm_end - run->t0;
    struct sb_report r;

    if (!s->full && (!l->partial || s->sum.ns == 0))
        return;
    bool warmup = s->key <= warm;
    // The rest of an interval ends before its planned end.
    uint64_t end = start_of(j, s->key) + s->sum.ns;

    if (s->full || end > s->key)
        end = s->key;
    sb__run_report_fill(run, &r, &s->sum, run->t0 + end, warmup);
    r.partial = !s->full;
    if (l->interval)
        l->interval(l->data, &r);
    if (l->stop && l->stop(l->data))
        sb__run_stop(run);
}

static void keep_for_losses(struct sb__joint *j, const struct sb__joint_slot *s)
{
    if (s->key <= j->run->warm_end - j->run->t0)
        return;
    if (sb_snap_add_interval(&j->sofar, &s->sum))
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for intervals");
}

// Adds the slot to the next one, which then covers the time of both.
static void join_next(struct sb__joint *j, struct sb__joint_slot *s)
{
    struct sb__joint_slot *next = s->next;

    if (sb_snap_add_interval(&s->sum, &next->sum))
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for intervals");
    struct sb_snap sum = next->sum;

    next->sum = s->sum;
    next->sum.ns = next->key - start_of(j, next->key);
    s->sum = sum;
}

static void pass_on(struct sb__joint *j)
{
    struct sb__joint_slot *s;

    while ((s = j->slots) != NULL && is_complete(j, s->key)) {
        bool inside = is_inside(j, s->key);

        // Parts of late ranks are longer than the others.
        if (s->full && !inside)
            s->sum.ns = s->key - start_of(j, s->key);

        if (inside && !s->next)
            return;
        if (inside) {
            join_next(j, s);
        } else if (j->of) {
            keep_for_losses(j, s);
            report_interval(j, s);
        } else {
            pass_up(j, s);
        }
        if (!inside)
            j->sent = s->key;
        j->slots = s->next;
        slot_free(s);
    }
}

// When this rank and all ranks below it have ended, passes that on as a part
// without figures.
static void pass_end(struct sb__joint *j)
{
    const struct sb__joint_slot end = { .key = SB_GROUP_LAST };

    if (j->of || j->sent == SB_GROUP_LAST || j->slots ||
        !is_complete(j, SB_GROUP_LAST))
        return;
    pass_up(j, &end);
    j->sent = SB_GROUP_LAST;
}

// Parts -----------------------------------------------------------------------

// Notes that a part has arrived. who: 0 for this rank, then its children in
// order. Returns the slot to which its figures must be added, or NULL.
static struct sb__joint_slot *note_arrival(
    struct sb__joint *j, unsigned who, uint64_t from, uint64_t key, bool full)
{
    struct sb__joint_slot *s;

    assert(who <= j->children);
    j->reached[who] = key;
    if (key == SB_GROUP_LAST)
        return NULL;
    s = slot_at(j, key);
    if (!s || add_span(j, from, key)) {
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for intervals");
        return NULL;
    }
    s->full |= full;
    return s;
}

static void finish_arrival(struct sb__joint *j)
{
    pass_on(j);
    pass_end(j);
    sb__joint_fail_if_broken(j);
}

void sb__joint_intervals_add(struct sb_run *run, const struct sb_snap *diff,
    const struct sb_stats *stats, uint64_t from, uint64_t key, bool full)
{
    struct sb__joint *j = sb__joint_of(run);

    assert(from < key);
    struct sb__joint_slot *s = note_arrival(j, 0, from, key, full);

    if (s)
        sb_snap_add(&s->sum, &j->names, diff, stats, 0, &j->broken);
    finish_arrival(j);
}

static void on_interval(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    uint64_t since = sb_wire_get(w), key = sb_wire_get(w);
    bool full = sb_wire_get(w) != 0;
    uint64_t began = sb_wire_get(w);

    if (from < j->child || from >= j->child + j->children || w->bad)
        return;
    struct sb__joint_slot *s = note_arrival(
        j, 1 + from - j->child, since, key, full);

    if (s)
        sb_snap_read_add(
            w, &s->sum, &j->names, j->group.began - began, &j->broken);
    finish_arrival(j);
}

// Sections of a run of several ranks that have figures of their own: stages,
// and the time between checkpoints. Each rank sends all figures of a section to
// rank 0, which reports the sum when those of all ranks have come.

// A section of which figures are missing.
struct sb__joint_section {
    struct sb__joint_section *next; // by kind and number
    enum sb_section kind;
    unsigned number;
    struct sb_snap sum;
};

static void on_section(void *arg, unsigned from, struct sb_wire *w);

int sb__joint_sections_init(struct sb__joint *j)
{
    sb_job_on(j->job, SB_JOB_SECTION, on_section, j);
    if (!j->of)
        return 0;
    for (int kind = 0; kind < SB_SECTIONS; kind++) {
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
    for (int kind = 0; kind < SB_SECTIONS; kind++)
        free(j->sections_of[kind]);
}

static bool precedes(
    const struct sb__joint_section *s, enum sb_section kind, unsigned number)
{
    return s->kind < kind || (s->kind == kind && s->number < number);
}

// Returns the section, which is created on first use; NULL if out of memory.
static struct sb__joint_section *section_at(
    struct sb__joint *j, enum sb_section kind, unsigned number)
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
static bool is_section_complete(
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

        if (!is_section_complete(j, s)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        if (j->group.on_section)
            j->group.on_section(
                j->group.on_section_arg, s->kind, s->number, &s->sum);
        section_free(s);
    }
}

// Notes that a rank has ended this section. Returns where to add its figures.
static struct sb_snap *note_section(
    struct sb__joint *j, unsigned rank, enum sb_section kind, unsigned number)
{
    struct sb__joint_section *s = section_at(j, kind, number);

    if (!s) {
        sb_err_set(&j->broken, SB_ENOMEM, "out of memory for figures");
        return NULL;
    }
    j->sections_of[kind][rank] = number + 1;
    return &s->sum;
}

static void finish_section(struct sb__joint *j)
{
    sb__joint_sections_report(j);
    sb__joint_fail_if_broken(j);
}

static void on_section(void *arg, unsigned from, struct sb_wire *w)
{
    struct sb__joint *j = arg;
    uint64_t kind = sb_wire_get(w), number = sb_wire_get(w);
    uint64_t began = sb_wire_get(w);

    if (w->bad || !j->of || !j->group.on_section || kind >= SB_SECTIONS)
        return;
    struct sb_snap *sum = note_section(
        j, from, (enum sb_section)kind, (unsigned)number);
    if (sum)
        sb_snap_read_add(w, sum, &j->names, j->group.began - began, &j->broken);
    finish_section(j);
}

void sb__joint_sections_add(struct sb_run *run, enum sb_section kind,
    unsigned number, const struct sb_snap *diff, const struct sb_stats *stats)
{
    struct sb__joint *j = sb__joint_of(run);
    struct sb_buf b;

    if (j->of) {
        struct sb_snap *sum = note_section(j, 0, kind, number);

        if (sum)
            sb_snap_add(sum, &j->names, diff, stats, 0, &j->broken);
        finish_section(j);
        return;
    }
    sb_buf_init(&b, 0);
    sb_wire_put(&b, kind);
    sb_wire_put(&b, number);
    sb_wire_put(&b, j->group.began);
    sb_snap_write(&b, diff, stats);
    sb_job_send(j->job, 0, SB_JOB_SECTION, &b);
    sb_buf_done(&b);
}

// The parts of a search for the rate over all ranks: rank 0 chooses the kind
// and the start of each part; the other ranks send it their figures of the
// part.

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
