// SPDX-License-Identifier: GPL-2.0-or-later
#include "results/sweep_state.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/outfile.h"
#include "out/spool.h"
#include "out/target.h"

static int cannot_write(const char *path, const char *why, struct sb_err *err)
{
    return sb_err_set(err, SB_ESYS, "cannot write %s: %s", path, why);
}

static int system_error(const char *path, struct sb_err *err)
{
    return cannot_write(path, strerror(errno), err);
}

static void path_of(
    const struct sb_sweep_state *s, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", s->dir, name);
}

static void path_of_run(const struct sb_sweep_state *s, unsigned run,
    const char *kind, char *out, size_t size)
{
    assert(run < SB_SWEEP_RUNS_MAX); // four digits: see is_run()
    snprintf(out, size, "%s/run-%04u%s.json", s->dir, run + 1, kind);
}

void sb_sweep_state_file(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size)
{
    path_of_run(s, run, "", out, size);
}

void sb_sweep_state_started(
    const struct sb_sweep_state *s, char *out, size_t size)
{
    path_of(s, "started", out, size);
    unlink(out);
}

#define RUN_NAME_LEN (sizeof("run-0001.json") - 1)

// The folder ------------------------------------------------------------------

// "run-0001.json", and what it is called before.
static bool is_run(const char *name)
{
    static const char *const ends[] = { ".json", ".json.part", ".new.json",
        ".new.json.part", ".failed.json", ".after.json" };

    if (strncmp(name, "run-", 4) != 0 || strspn(name + 4, "0123456789") != 4)
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(name + 8, ends[i]) == 0)
            return true;
    return false;
}

static bool is_ours(const char *name)
{
    return is_run(name) || strcmp(name, "lock") == 0 ||
           strcmp(name, "started") == 0 ||
           strncmp(name, SB_SPOOL_NAME, strlen(SB_SPOOL_NAME)) == 0 ||
           strcmp(name, "plan.json") == 0 ||
           strcmp(name, "plan.json.part") == 0;
}

static enum sb_sweep_outcome outcome_of(int status)
{
    if (status == 0)
        return SB_SWEEP_GOOD;
    return status == SB_STATUS_LIMITS ? SB_SWEEP_MISSED : SB_SWEEP_FAILED;
}

// Reads the file of a run, and returns the outcome that it contains.
static enum sb_sweep_outcome read_file(
    const char *path, struct sb_result_file *f)
{
    struct sb_err err = { 0 };

    memset(f, 0, sizeof(*f));
    // Reading a pipe would block.
    if (sb_outfile_unfit(path) || access(path, R_OK) ||
        sb_result_read(f, path, &err) || f->nruns != 1)
        return SB_SWEEP_OPEN;
    json_t *ending = json_object_get(f->run[0].json, "end");
    const char *reason = json_string_value(json_object_get(ending, "reason"));

    if (!reason || strcmp(reason, "signal") == 0)
        return SB_SWEEP_OPEN;
    if (strcmp(reason, "failed") == 0) // a script may choose any status
        return SB_SWEEP_FAILED;
    return outcome_of(
        (int)json_integer_value(json_object_get(ending, "status")));
}

struct content {
    bool finished; // files of finished runs
    bool runs;     // files of any runs
    bool others;   // files that no sweep writes
};

// Returns whether the file belongs to a run that did not fail. A damaged file
// counts as such.
static bool is_finished(const char *dir, const char *name)
{
    char path[4200];
    struct sb_result_file f;

    if (!is_run(name) || strlen(name) != RUN_NAME_LEN)
        return false;
    snprintf(path, sizeof(path), "%.4095s/%.100s", dir, name);
    bool failed = read_file(path, &f) == SB_SWEEP_FAILED;

    sb_result_done(&f);
    return !failed;
}

static void look(const char *dir, struct content *c)
{
    DIR *d = opendir(dir);
    const struct dirent *e;

    *c = (struct content){ 0 };
    while (d && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        c->runs = c->runs || is_run(e->d_name);
        c->finished = c->finished || is_finished(dir, e->d_name);
        c->others = c->others || !is_ours(e->d_name);
    }
    if (d)
        closedir(d);
}

// Removes the files whose names match.
static void remove_files(
    const struct sb_sweep_state *s, bool (*match)(const char *name))
{
    DIR *d = opendir(s->dir);
    const struct dirent *e;
    char path[4200];

    while (d && (e = readdir(d))) {
        if (!match(e->d_name))
            continue;
        snprintf(path, sizeof(path), "%.4095s/%.100s", s->dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
}

static int make_temporary(struct sb_sweep_state *s, struct sb_err *err)
{
    char folder[4000];

    sb_target_folder("-", folder, sizeof(folder));
    snprintf(s->dir, sizeof(s->dir), "%s/sysbench-sweep-XXXXXX", folder);
    s->temporary = mkdtemp(s->dir) != NULL;
    return s->temporary ? 0 : system_error(s->dir, err);
}

// The folder has files, but no plan. Nothing in it is changed.
static int refuse_folder(
    const struct sb_sweep_state *s, const struct content *c, struct sb_err *err)
{
    if (c->others)
        return sb_err_set(err, SB_EUSAGE,
            "%s has files, but is not the folder of a sweep: move it, or "
            "choose another result file",
            s->dir);
    return sb_err_set(err, SB_EUSAGE,
        "%.300s/plan.json is missing or damaged, so the sweep cannot be "
        "continued: rename the folder, whose run-NNNN.json are complete "
        "results, and begin again without --sweep-resume",
        s->dir);
}

// *kept: the plan that is there, NULL if there is none.
static int make_folder(struct sb_sweep_state *s, const char *target,
    json_t **kept, struct sb_err *err)
{
    struct content c;
    char plan[4200];
    struct stat st;

    if (strlen(target) + sizeof(".sweep") > sizeof(s->dir))
        return sb_err_set(
            err, SB_ERANGE, "the name of the result file is too long");
    snprintf(s->dir, sizeof(s->dir), "%s.sweep", target);
    if ((mkdir(s->dir, 0777) && errno != EEXIST) || lstat(s->dir, &st))
        return system_error(s->dir, err);
    if (!S_ISDIR(st.st_mode))
        return cannot_write(s->dir,
            S_ISLNK(st.st_mode) ? sb_outfile_unfit(s->dir) : strerror(ENOTDIR),
            err);
    path_of(s, "plan.json", plan, sizeof(plan));
    *kept = sb_outfile_unfit(plan) ? NULL : json_load_file(plan, 0, NULL);
    look(s->dir, &c);
    if (sb_sweep_plan_is(*kept) || (access(plan, F_OK) && !c.runs && !c.others))
        return 0;
    return refuse_folder(s, &c, err);
}

static int take_lock(struct sb_sweep_state *s, struct sb_err *err)
{
    const char *why;
    char path[4200];

    path_of(s, "lock", path, sizeof(path));
    s->lock = sb_outfile_open(path, O_RDWR, &why);
    if (s->lock < 0)
        return cannot_write(path, why, err);
    if (flock(s->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    // What another process uses is not removed.
    close(s->lock);
    s->lock = -1;
    return sb_err_set(err, SB_ELIMIT,
        "another sysbench process uses %s: another sweep, or the last run of "
        "one that was killed",
        s->dir);
}

int sb_sweep_state_check(const struct sb_sweep_state *s, struct sb_err *err)
{
    char path[4200];

    assert(s->lock >= 0);
    path_of(s, "lock", path, sizeof(path));
    if (sb_outfile_is(s->lock, path))
        return 0;
    return sb_err_set(err, SB_ESYS,
        "%s was removed or replaced during the sweep: the results of its runs "
        "are only in the lines above",
        s->dir);
}

// The plan -------------------------------------------------------------------

static int write_file(const char *path, const char *text)
{
    size_t len = strlen(text);
    int fd;

    unlink(path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return SB_ESYS;
    errno = ENOSPC; // of a write that is too short
    int rc = write(fd, text, len) == (ssize_t)len ? 0 : SB_ESYS;

    return close(fd) ? SB_ESYS : rc;
}

// The plan is complete or not there, whenever the program is killed.
static int write_plan(
    struct sb_sweep_state *s, const json_t *plan, struct sb_err *err)
{
    char path[4200], part[4200];
    char *text = json_dumps(plan, JSON_INDENT(1));
    int rc = 0;

    path_of(s, "plan.json", path, sizeof(path));
    path_of(s, "plan.json.part", part, sizeof(part));
    if (!text)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else if (write_file(part, text) || rename(part, path))
        rc = system_error(path, err);
    free(text);
    return rc;
}

static int continue_plan(struct sb_sweep_state *s, struct sb_sweep_plan *plan,
    const json_t *kept, const json_t *now, struct sb_err *err)
{
    struct sb_err why = { 0 };
    int rc = sb_sweep_plan_continue(plan, kept, now, &why);

    return rc ? sb_err_set(err, rc,
                    "the sweep in %.200s cannot be continued: %.160s; give the "
                    "same "
                    "options, or remove the folder and begin again without "
                    "--sweep-resume",
                    s->dir, why.msg)
              : 0;
}

// Opening ---------------------------------------------------------------------

static int check_resume(
    const struct sb_sweep_state *s, bool resume, bool kept, struct sb_err *err)
{
    struct content c;

    look(s->dir, &c);
    if (resume && !kept)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep-resume: there is no interrupted sweep in %s: begin one "
            "without --sweep-resume",
            s->dir);
    // Without any finished run there is nothing to lose.
    if (!resume && c.finished)
        return sb_err_set(err, SB_EUSAGE,
            "%s has finished runs of an interrupted sweep: continue it with "
            "--sweep-resume, or remove the folder",
            s->dir);
    return 0;
}

static int open_plan(struct sb_sweep_state *s, bool resume,
    struct sb_sweep_plan *plan, struct sb_opts *opts, const json_t *kept,
    struct sb_err *err)
{
    json_t *now = sb_sweep_plan_json(plan, opts);
    int rc;

    if (!now)
        rc = sb_err_set(err, SB_ENOMEM, "out of memory");
    else if (resume)
        rc = continue_plan(s, plan, kept, now, err);
    else if ((rc = write_plan(s, now, err)) == 0)
        remove_files(s, is_run);
    json_decref(now);
    return rc;
}

int sb_sweep_state_open(struct sb_sweep_state *s, const char *target,
    bool resume, struct sb_sweep_plan *plan, struct sb_opts *opts,
    struct sb_err *err)
{
    json_t *kept = NULL;

    *s = (struct sb_sweep_state){ .lock = -1 };
    if (resume && !target)
        return sb_err_set(err, SB_EUSAGE,
            "--sweep-resume: only a sweep with --report=json=FILE or html=FILE "
            "can be continued");
    int rc = target ? make_folder(s, target, &kept, err)
                    : make_temporary(s, err);

    if (rc == 0)
        rc = take_lock(s, err);
    if (rc == 0)
        rc = check_resume(s, resume, kept != NULL, err);
    if (rc == 0)
        rc = open_plan(s, resume, plan, opts, kept, err);
    if (rc && !kept && s->lock >= 0)
        sb_sweep_state_done(s, true); // it was empty
    json_decref(kept);
    return rc;
}

// Runs ------------------------------------------------------------------------

int sb_sweep_state_begin(const struct sb_sweep_state *s, unsigned run,
    bool after, char *out, size_t size, struct sb_err *err)
{
    static const char *const kinds[] = { "", ".failed", ".new" };

    if (sb_sweep_state_check(s, err))
        return SB_ESYS;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        path_of_run(s, run, kinds[i], out, size);
        unlink(out);
    }
    // Now, so that the commands are not forgotten however the run ends.
    path_of_run(s, run, ".after", out, size);
    unlink(out);
    if (after && write_file(out, ""))
        return system_error(out, err);
    path_of_run(s, run, ".new", out, size);
    return 0;
}

// Returns whether a run had ended by itself before the signal, according to its
// file. The file is written before the live view gets the end of the run, so a
// signal may still have killed the process.
static bool had_ended(enum sb_sweep_outcome said, int status)
{
    return (said == SB_SWEEP_GOOD || said == SB_SWEEP_MISSED) &&
           (said == outcome_of(status) || status == 128 + SIGINT ||
               status == 128 + SIGTERM);
}

int sb_sweep_state_settle(const struct sb_sweep_state *s, unsigned run,
    int status, bool signaled, struct sb_err *err)
{
    char from[4200], to[4200];
    struct sb_result_file f;

    if (sb_sweep_state_check(s, err))
        return SB_ESYS;
    path_of_run(s, run, ".new", from, sizeof(from));
    enum sb_sweep_outcome said = read_file(from, &f);
    bool agrees = signaled ? had_ended(said, status)
                           : said == outcome_of(status);

    sb_result_done(&f);
    if (signaled && !agrees)
        return 0;
    path_of_run(s, run, agrees ? "" : ".failed", to, sizeof(to));
    if (rename(from, to) == 0)
        return 0;
    // A failed run without a file gets an empty one.
    return errno == ENOENT && !agrees && write_file(to, "") == 0
               ? 0
               : system_error(to, err);
}

enum sb_sweep_outcome sb_sweep_state_read(
    const struct sb_sweep_state *s, unsigned run, struct sb_result_file *f)
{
    char path[4200];

    path_of_run(s, run, "", path, sizeof(path));
    enum sb_sweep_outcome outcome = read_file(path, f);

    if (outcome != SB_SWEEP_OPEN)
        return outcome;
    sb_result_done(f);
    path_of_run(s, run, ".failed", path, sizeof(path));
    return access(path, F_OK) ? SB_SWEEP_OPEN : SB_SWEEP_FAILED;
}

bool sb_sweep_state_explain(
    const struct sb_sweep_state *s, unsigned run, char *out, size_t size)
{
    struct sb_err err = { 0 };
    struct sb_result_file f;
    struct stat st;
    char path[4200];

    path_of_run(s, run, ".failed", path, sizeof(path));
    if (stat(path, &st) || st.st_size == 0) {
        snprintf(out, size, "wrote no result");
        return true;
    }
    bool failed = read_file(path, &f) == SB_SWEEP_FAILED;

    sb_result_done(&f);
    if (failed)
        return false;
    if (sb_result_read(&f, path, &err))
        snprintf(out, size, "wrote a damaged result (%s)", err.msg);
    else
        snprintf(out, size, "does not count, although %s is complete", path);
    sb_result_done(&f);
    return true;
}

bool sb_sweep_state_after(const struct sb_sweep_state *s, unsigned run)
{
    char path[4200];

    path_of_run(s, run, ".after", path, sizeof(path));
    return access(path, F_OK) == 0;
}

void sb_sweep_state_after_done(const struct sb_sweep_state *s, unsigned run)
{
    char path[4200];

    assert(s->lock >= 0);
    path_of_run(s, run, ".after", path, sizeof(path));
    unlink(path);
}

// Closing ---------------------------------------------------------------------

void sb_sweep_state_done(struct sb_sweep_state *s, bool remove)
{
    // Removes only files that a sweep writes, and none if the folder was not
    // opened successfully.
    remove = remove || s->temporary;
    if (s->lock >= 0 && remove)
        remove_files(s, is_ours);
    if ((s->lock >= 0 || s->temporary) && remove)
        rmdir(s->dir);
    if (s->lock >= 0)
        close(s->lock);
    s->lock = -1;
}
