// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_names.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outfile.h"
#include "out/target.h"

// A file has up to 255 bytes in its name, of which ".part" needs some.
#define NAME_BYTES 250u
#define VALUES_LEN 120u

// Room for the values of a run, and for its number.
#define VALUES_SIZE (VALUES_LEN + 24)

static bool is_kind(const struct sb_reporter *r, const char *name)
{
    return strcmp(r->kind->name, name) == 0;
}

// Which the sweep writes itself, with all runs.
static bool is_common(const struct sb_reporter *r)
{
    return is_kind(r, "json") || is_kind(r, "html");
}

// Names -----------------------------------------------------------------------

static bool is_plain(char c)
{
    return (unsigned char)c > ' ' && c != '\177' && !strchr("/,\"'*", c);
}

// The values of a run as part of a file name. Returns false if they were cut.
static bool values_of(const struct sb_sweep_names *n, unsigned run, char *out)
{
    struct sb_fact fact[SB_SWEEP_OPTIONS_MAX];
    char text[VALUES_LEN + 2];

    sb_sweep_values(n->plan, run, fact);
    sb_sweep_text(fact, n->plan->noptions, text, sizeof(text));
    size_t len = strlen(text), at = 0;
    bool whole = len <= VALUES_LEN;

    len = whole ? len : VALUES_LEN;
    // Not inside of a character.
    while (!whole && len > 0 && (text[len] & 0xC0) == 0x80)
        len--;

    if (n->numbered)
        at = (size_t)snprintf(
            out, VALUES_SIZE, "%u-", run % n->plan->npoints + 1);
    for (size_t i = 0; i < len; i++)
        out[at++] = is_plain(text[i]) ? text[i] : '_';
    out[at] = '\0';
    return whole;
}

// Returns 1 if names need numbers, otherwise 0 or SB_ENOMEM.
static int need_numbers(const struct sb_sweep_names *n)
{
    char(*name)[VALUES_SIZE] = calloc(n->plan->npoints, sizeof(*name));
    int rc = name ? 0 : SB_ENOMEM;

    for (unsigned i = 0; rc == 0 && i < n->plan->npoints; i++) {
        rc = !values_of(n, i, name[i]);
        for (unsigned k = 0; rc == 0 && k < i; k++)
            rc = strcmp(name[i], name[k]) == 0;
    }
    free(name);
    return rc;
}

static void name_of(const struct sb_sweep_names *n, const struct sb_reporter *r,
    unsigned run, char *out, size_t size)
{
    const char *slash = strrchr(r->target, '/');
    const char *name = slash ? slash + 1 : r->target;
    const char *dot = strrchr(name, '.');
    const char *end = dot && dot > name ? dot : name + strlen(name);
    char values[VALUES_SIZE];

    values_of(n, run, values);
    snprintf(out, size, "%.*s-%s%s%u%s", (int)(end - r->target), r->target,
        values, *values ? "-" : "", run / n->plan->npoints + 1, end);
}

// Checks ----------------------------------------------------------------------

static int cannot_write(const struct sb_reporter *r, const char *path,
    const char *why, struct sb_err *err)
{
    return sb_err_set(err, SB_ESYS, "--report=%s: cannot write %.300s: %s",
        r->kind->name, path, why);
}

static int check_name(const struct sb_sweep_names *n,
    const struct sb_reporter *r, unsigned run, struct sb_err *err)
{
    char path[8192], dir[4096];

    name_of(n, r, run, path, sizeof(path));
    const char *slash = strrchr(path, '/');

    if (strlen(slash ? slash + 1 : path) > NAME_BYTES)
        return sb_err_set(err, SB_ERANGE,
            "--report=%s: the name of the file of a run would be too long: "
            "%.200s...",
            r->kind->name, path);
    if (sb_target_is_folder(path))
        return cannot_write(r, path, strerror(EISDIR), err);
    const char *unfit = sb_outfile_unfit(path);

    if (unfit)
        return cannot_write(r, path, unfit, err);
    sb_target_folder(path, dir, sizeof(dir));
    if (access(dir, W_OK | X_OK) ||
        (access(path, F_OK) == 0 && access(path, W_OK)))
        return cannot_write(r, path, strerror(errno), err);
    return 0;
}

static int check_report(
    struct sb_sweep_names *n, const struct sb_reporter *r, struct sb_err *err)
{
    int rc = 0;

    if (is_common(r))
        return 0;
    if (strcmp(r->target, "-") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--report=%s: the runs of a sweep cannot share standard output",
            r->kind->name);
    if (sb_target_is_folder(r->target))
        return cannot_write(r, r->target, strerror(EISDIR), err);
    bool kept = is_kind(r, "web") || sb_target_is_special(r->target);

    n->kept[n->nkept++] = kept;
    for (unsigned i = 0; rc == 0 && !kept && i < n->plan->nruns; i++)
        rc = check_name(n, r, i, err);
    return rc;
}

int sb_sweep_names_init(struct sb_sweep_names *n, const struct sb_reporters *rs,
    const struct sb_sweep_plan *plan, struct sb_err *err)
{
    *n = (struct sb_sweep_names){ .rs = rs, .plan = plan };
    int rc = need_numbers(n);

    if (rc < 0)
        return sb_err_set(err, rc, "out of memory");
    n->numbered = rc == 1;
    n->nkept = 1;
    rc = 0;
    for (unsigned i = 0; rc == 0 && i < rs->n; i++)
        rc = check_report(n, &rs->item[i], err);
    return rc;
}

int sb_sweep_names_reports(const struct sb_sweep_names *n, unsigned run,
    bool text, const char *result, char *out, size_t size, struct sb_err *err)
{
    unsigned k = 1;

    snprintf(out, size, "%s,json=%s", text ? "text" : "none", result);
    for (unsigned i = 0; i < n->rs->n; i++) {
        const struct sb_reporter *r = &n->rs->item[i];
        size_t at = strlen(out);
        char name[8192];

        if (is_common(r))
            continue;
        snprintf(name, sizeof(name), "%s", r->target);
        if (!n->kept[k++])
            name_of(n, r, run, name, sizeof(name));
        snprintf(out + at, size - at, ",%s=%s", r->kind->name, name);
    }
    if (strlen(out) + 1 >= size)
        return sb_err_set(
            err, SB_ERANGE, "--report: the names of the reports are too long");
    return 0;
}

void sb_sweep_names_mark(
    const struct sb_sweep_names *n, struct sb_reporters *rs)
{
    assert(rs->n == n->nkept);
    for (unsigned i = 0; i < rs->n; i++)
        rs->item[i].chosen = n->kept[i] ? 0 : SB_TARGET_CHOSEN;
}
