// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/sweep_state.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "out/target.h"

static int system_error(const char *path, struct sb_err *err)
{
    return sb_err_set(
        err, SB_ESYS, "cannot write %s: %s", path, strerror(errno));
}

static void path_of(
    const struct sb_sweep_state *s, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", s->dir, name);
}

void sb_sweep_state_file(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size)
{
    snprintf(out, size, "%s/run-%04u.json", s->dir, run + 1);
}

static int make_temporary(struct sb_sweep_state *s, struct sb_err *err)
{
    char folder[4000];

    sb_target_folder("-", folder, sizeof(folder));
    snprintf(s->dir, sizeof(s->dir), "%s/sysbench-sweep-XXXXXX", folder);
    s->temporary = mkdtemp(s->dir) != NULL;
    return s->temporary ? 0 : system_error(s->dir, err);
}

// *exists: there is a plan already.
static int make_folder(struct sb_sweep_state *s, const char *target,
    bool *exists, struct sb_err *err)
{
    char plan[4200];

    if (strlen(target) + sizeof(".sweep") > sizeof(s->dir))
        return sb_err_set(
            err, SB_ERANGE, "the name of the result file is too long");
    snprintf(s->dir, sizeof(s->dir), "%s.sweep", target);
    if (mkdir(s->dir, 0777) && errno != EEXIST)
        return system_error(s->dir, err);
    path_of(s, "plan.json", plan, sizeof(plan));
    *exists = access(plan, F_OK) == 0;
    return 0;
}

static int lock_plan(struct sb_sweep_state *s, struct sb_err *err)
{
    char path[4200];

    path_of(s, "plan.json", path, sizeof(path));
    s->lock = open(path, O_RDWR | O_CREAT, 0666);
    if (s->lock < 0)
        return system_error(path, err);
    if (flock(s->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return sb_err_set(err, SB_ELIMIT,
            "another sysbench process uses %s: another sweep, or the last run "
            "of one that was killed",
            s->dir);
    return 0;
}

// The plan is complete or not there, whenever the program is killed.
static int write_plan(
    struct sb_sweep_state *s, const json_t *plan, struct sb_err *err)
{
    char *text = json_dumps(plan, JSON_INDENT(1));
    size_t len = text ? strlen(text) : 0;
    int rc = text ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");

    if (rc == 0 && (ftruncate(s->lock, 0) ||
                       pwrite(s->lock, text, len, 0) != (ssize_t)len))
        rc = system_error(s->dir, err);
    free(text);
    return rc;
}

static int read_plan(struct sb_sweep_state *s, struct sb_sweep_plan *plan,
    const json_t *now, struct sb_err *err)
{
    struct sb_err why = { 0 };
    char path[4200];

    path_of(s, "plan.json", path, sizeof(path));
    json_t *kept = json_load_file(path, 0, NULL);
    int rc = sb_sweep_plan_continue(plan, kept, now, &why);

    json_decref(kept);
    return rc ? sb_err_set(err, rc,
                    "the sweep in %.300s cannot be continued: %.160s", s->dir,
                    why.msg)
              : 0;
}

static bool is_empty(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *e;
    bool runs = false;

    while (d && (e = readdir(d)))
        runs = runs || strncmp(e->d_name, "run-", 4) == 0;
    if (d)
        closedir(d);
    return !runs;
}

int sb_sweep_state_open(struct sb_sweep_state *s, const char *target,
    bool resume, struct sb_sweep_plan *plan, struct sb_opts *opts,
    struct sb_err *err)
{
    bool exists = false;

    *s = (struct sb_sweep_state){ .lock = -1 };
    if (resume && !target)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep-resume: only a sweep with --report=json=FILE or html=FILE "
            "can be continued");
    int rc = target ? make_folder(s, target, &exists, err)
                    : make_temporary(s, err);

    if (rc)
        return rc;
    if (resume && !exists) {
        rmdir(s->dir);
        return sb_err_set(err, SB_EUSAGE,
            "--sweep-resume: there is no interrupted sweep in %s", s->dir);
    }
    rc = lock_plan(s, err);
    // Without any run there is nothing to lose.
    if (rc == 0 && exists && !resume && !is_empty(s->dir))
        rc = sb_err_set(err, SB_EUSAGE,
            "%s has finished runs of an interrupted sweep: continue it with "
            "--sweep-resume, or remove the folder",
            s->dir);
    if (rc)
        return rc;
    json_t *now = sb_sweep_plan_json(plan, opts);

    if (!now)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else if (resume)
        rc = read_plan(s, plan, now, err);
    else
        rc = write_plan(s, now, err);
    json_decref(now);
    return rc;
}

// Only files that a sweep writes are removed.
static void remove_folder(const struct sb_sweep_state *s)
{
    DIR *d = opendir(s->dir);
    const struct dirent *e;
    char path[4200];

    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, "run-", 4) != 0 &&
            strcmp(e->d_name, "plan.json") != 0)
            continue;
        snprintf(path, sizeof(path), "%.4095s/%.100s", s->dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(s->dir);
}

void sb_sweep_state_done(struct sb_sweep_state *s, bool remove)
{
    // Of a folder that was not opened successfully nothing is removed.
    if (s->lock >= 0 && (remove || s->temporary))
        remove_folder(s);
    else if (s->temporary)
        rmdir(s->dir);
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
}
