// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/energy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"

#define FOLDER        "/sys/class/powercap/intel-rapl:"
#define PACKAGES_MAX  16
#define SUBZONES_MAX  8
#define HIGHEST_WATTS 1000.0 // of a zone

static int read_number(const char *root, const char *path, double *out)
{
    char text[64];
    int rc = sb__host_line(root, path, text, sizeof(text));

    *out = rc ? 0 : strtod(text, NULL);
    return rc;
}

static void fail(struct sb_energy *e, const char *path, int error)
{
    e->nzones = 0;
    snprintf(e->why, sizeof(e->why), "%s: %s", path, strerror(error));
}

// Adds a zone if its name begins with `kind`. folder: with a slash at its end.
// False if there is no such folder.
static bool add_zone(
    struct sb_energy *e, const char *root, const char *folder, const char *kind)
{
    struct sb_energy_zone *z = &e->zone[e->nzones];
    char path[96], name[64];
    int rc;

    snprintf(path, sizeof(path), "%sname", folder);
    if (sb__host_line(root, path, name, sizeof(name)))
        return false;
    if (strncmp(name, kind, strlen(kind)) != 0 || e->why[0] ||
        e->nzones == SB_ENERGY_ZONES_MAX)
        return true;
    snprintf(path, sizeof(path), "%smax_energy_range_uj", folder);
    rc = read_number(root, path, &z->range);
    snprintf(z->path, sizeof(z->path), "%senergy_uj", folder);
    if (rc == 0)
        rc = read_number(root, z->path, &z->last);
    if (rc)
        fail(e, z->path, rc);
    else
        e->nzones++;
    return true;
}

// Memory is not part of a package; its cores and graphics are.
void sb_energy_begin(struct sb_energy *e, const char *root, uint64_t ns)
{
    char folder[64];
    bool more = true;

    *e = (struct sb_energy){ .ns = ns };
    for (unsigned i = 0; i < PACKAGES_MAX; i++) {
        snprintf(folder, sizeof(folder), FOLDER "%u/", i);
        if (!add_zone(e, root, folder, "package"))
            continue;
        more = true;
        for (unsigned k = 0; more && k < SUBZONES_MAX; k++) {
            snprintf(folder, sizeof(folder), FOLDER "%u:%u/", i, k);
            more = add_zone(e, root, folder, "dram");
        }
    }
    if (e->nzones == 0 && !e->why[0])
        snprintf(e->why, sizeof(e->why),
            "this machine has no counters of energy (RAPL)");
}

void sb_energy_look(struct sb_energy *e, const char *root, uint64_t ns)
{
    double seconds = (double)(ns - e->ns) / 1e9;

    for (unsigned i = 0; i < e->nzones; i++) {
        struct sb_energy_zone *z = &e->zone[i];
        double now;
        int rc = read_number(root, z->path, &now);

        if (rc) {
            fail(e, z->path, rc);
            return;
        }
        if (seconds * HIGHEST_WATTS * 1e6 > z->range) {
            e->nzones = 0;
            snprintf(e->why, sizeof(e->why),
                "intervals of %.3g s are too long for the counters of energy",
                seconds);
            return;
        }
        e->joules += (now - z->last + (now < z->last ? z->range : 0)) / 1e6;
        z->last = now;
    }
    e->ns = ns;
}
