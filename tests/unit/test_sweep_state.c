// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/wait.h>
#include <unistd.h>

#include "check_sweep.h"
#include "cmd/sweep_state.h"

static int open_state(struct sb_sweep_state *s, struct fixture *f, bool resume,
    const char *target)
{
    return sb_sweep_state_open(s, target, resume, &f->plan, f->opts, &f->err);
}

static void touch(const char *path)
{
    FILE *file = fopen(path, "w");

    CHECK(file != NULL);
    if (file)
        fclose(file);
}

static void finished_runs_are_kept_until_the_sweep_is_complete(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, true, "r.json"), SB_EUSAGE);
    CHECK_STR(f.err.msg,
        "--sweep-resume: there is no interrupted sweep in r.json.sweep");
    sb_sweep_state_done(&s, false);
    CHECK(access("r.json.sweep", F_OK) != 0);

    CHECK_INT(open_state(&s, &f, false, "r.json"), 0);
    sb_sweep_state_file(&s, 1, path, sizeof(path));
    CHECK_STR(path, "r.json.sweep/run-0002.json");
    sb_sweep_state_done(&s, false);
    // A plan without runs is replaced.
    CHECK_INT(open_state(&s, &f, false, "r.json"), 0);
    touch(path);
    sb_sweep_state_done(&s, false);
    CHECK_INT(open_state(&s, &f, false, "r.json"), SB_EUSAGE);
    CHECK_STR(f.err.msg,
        "r.json.sweep has finished runs of an interrupted sweep: continue it "
        "with --sweep-resume, or remove the folder");
    sb_sweep_state_done(&s, false);
    CHECK(access(path, F_OK) == 0);
    touch("r.json.sweep/mine");
    CHECK_INT(open_state(&s, &f, true, "r.json"), 0);
    sb_sweep_state_done(&s, true);
    // Other files stay.
    CHECK(access(path, F_OK) != 0);
    CHECK(access("r.json.sweep/mine", F_OK) == 0);
    unlink("r.json.sweep/mine");
    rmdir("r.json.sweep");
    empty(&f);
}

static void another_sweep_cannot_continue_it(void)
{
    struct fixture f, other;
    struct sb_sweep_state s;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(fill(&other, ARGS("--sweep=threads=1,4", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "o.json"), 0);
    touch("o.json.sweep/run-0001.json");
    sb_sweep_state_done(&s, false);
    CHECK_INT(open_state(&s, &other, true, "o.json"), SB_EUSAGE);
    CHECK_STR(other.err.msg,
        "the sweep in o.json.sweep cannot be continued: --sweep differs from "
        "that of the interrupted sweep");
    sb_sweep_state_done(&s, false);
    CHECK(access("o.json.sweep/run-0001.json", F_OK) == 0);
    CHECK_INT(open_state(&s, &f, true, "o.json"), 0);
    sb_sweep_state_done(&s, true);
    empty(&f);
    empty(&other);
}

// A process that was forked holds the lock, too.
static void a_folder_has_one_user(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    int status, ends[2];
    char byte;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "l.json"), 0);
    CHECK_INT(pipe(ends), 0);
    pid_t pid = fork();

    if (pid == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    close(ends[0]);
    sb_sweep_state_done(&s, false);
    CHECK_INT(open_state(&s, &f, false, "l.json"), SB_ELIMIT);
    sb_sweep_state_done(&s, false);
    close(ends[1]);
    waitpid(pid, &status, 0);
    CHECK_INT(open_state(&s, &f, false, "l.json"), 0);
    sb_sweep_state_done(&s, true);
    CHECK(access("l.json.sweep", F_OK) != 0);
    empty(&f);
}

static void without_a_result_file_the_folder_is_temporary(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, true, NULL), SB_EUSAGE);
    sb_sweep_state_done(&s, false);
    CHECK_INT(open_state(&s, &f, false, NULL), 0);
    sb_sweep_state_file(&s, 0, path, sizeof(path));
    touch(path);
    snprintf(path, sizeof(path), "%s", s.dir);
    sb_sweep_state_done(&s, false);
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(open_state(&s, &f, false, "no/such/folder"), SB_ESYS);
    sb_sweep_state_done(&s, false);
    empty(&f);
}

int main(void)
{
    RUN(finished_runs_are_kept_until_the_sweep_is_complete);
    RUN(another_sweep_cannot_continue_it);
    RUN(a_folder_has_one_user);
    RUN(without_a_result_file_the_folder_is_temporary);
    return check_done();
}
