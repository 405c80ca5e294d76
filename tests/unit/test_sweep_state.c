// SPDX-License-Identifier: GPL-2.0-or-later
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_folder.h"
#include "check_sweep.h"
#include "results/sweep_state.h"

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
        "--sweep-resume: there is no interrupted sweep in r.json.sweep: begin "
        "one without --sweep-resume");
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
    touch("r.json.sweep/.sysbench-a1b2c3");
    CHECK_INT(open_state(&s, &f, true, "r.json"), 0);
    sb_sweep_state_done(&s, true);
    // Other files stay; a run that was killed leaves its temporary file.
    CHECK(access("r.json.sweep/.sysbench-a1b2c3", F_OK) != 0);
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
        "that of the interrupted sweep; give the same options, or remove the "
        "folder and begin again without --sweep-resume");
    sb_sweep_state_done(&s, false);
    CHECK(access("o.json.sweep/run-0001.json", F_OK) == 0);
    CHECK_INT(open_state(&s, &f, true, "o.json"), 0);
    sb_sweep_state_done(&s, true);
    empty(&f);
    empty(&other);
}

static bool there(const char *path)
{
    return access(path, F_OK) == 0;
}

// Folders of users are neither used nor cleared.
static void a_folder_with_other_files_is_refused(void)
{
    static const char *const others[] = { "run-notes.txt", "run-0001.json",
        "run-12.json", "plan.json", "mine" };
    struct fixture f;
    struct sb_sweep_state s;
    char path[100];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CHECK_INT(mkdir("u.json.sweep", 0777), 0);
        snprintf(path, sizeof(path), "u.json.sweep/%s", others[i]);
        touch(path);
        CHECK_INT(open_state(&s, &f, false, "u.json"), SB_EUSAGE);
        bool ours = i == 1 || i == 3;

        CHECK_STR(f.err.msg,
            ours
                ? "u.json.sweep/plan.json is missing or damaged, so the sweep "
                  "cannot be continued: rename the folder, whose run-NNNN.json "
                  "are complete results, and begin again without "
                  "--sweep-resume"
                : "u.json.sweep has files, but is not the folder of a sweep: "
                  "move it, or choose another result file");
        sb_sweep_state_done(&s, true);
        CHECK_INT(open_state(&s, &f, true, "u.json"), SB_EUSAGE);
        sb_sweep_state_done(&s, true);
        CHECK(there(path));
        CHECK(!there("u.json.sweep/lock"));
        unlink(path);
        CHECK_INT(rmdir("u.json.sweep"), 0);
    }
    empty(&f);
}

static void links_are_not_followed(void)
{
    struct fixture f;
    struct sb_sweep_state s;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    touch("target");
    CHECK_INT(mkdir("y.json.sweep", 0777), 0);
    CHECK_INT(symlink("../target", "y.json.sweep/plan.json.part"), 0);
    CHECK_INT(open_state(&s, &f, false, "y.json"), 0);
    sb_sweep_state_done(&s, true);
    CHECK_INT(mkdir("y.json.sweep", 0777), 0);
    CHECK_INT(symlink("../target", "y.json.sweep/lock"), 0);
    CHECK_INT(open_state(&s, &f, false, "y.json"), SB_ESYS);
    sb_sweep_state_done(&s, true);
    FILE *file = fopen("target", "r");

    CHECK_INT(fgetc(file), EOF);
    fclose(file);
    unlink("y.json.sweep/lock");
    rmdir("y.json.sweep");
    CHECK_INT(mkdir("folder", 0777), 0);
    CHECK_INT(symlink("folder", "y.json.sweep"), 0);
    CHECK_INT(open_state(&s, &f, false, "y.json"), SB_ESYS);
    CHECK_STR(f.err.msg, "cannot write y.json.sweep: it is a symbolic link");
    sb_sweep_state_done(&s, true);
    CHECK_INT(rmdir("folder"), 0);
    CHECK_INT(unlink("y.json.sweep"), 0);
    empty(&f);
}

static void loss_of_the_folder_is_an_error(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "m.json"), 0);
    CHECK_INT(sb_sweep_state_check(&s, &f.err), 0);
    CHECK_INT(rename("m.json.sweep", "elsewhere"), 0);
    CHECK_INT(sb_sweep_state_check(&s, &f.err), SB_ESYS);
    CHECK_INT(mkdir("m.json.sweep", 0777), 0);
    touch("m.json.sweep/lock");
    CHECK_INT(sb_sweep_state_begin(&s, 0, false, path, sizeof(path), &f.err),
        SB_ESYS);
    CHECK_INT(sb_sweep_state_settle(&s, 0, 1, false, &f.err), SB_ESYS);
    CHECK_STR(f.err.msg, "m.json.sweep was removed or replaced during the "
                         "sweep: the results of its runs are only in the lines "
                         "above");
    CHECK_INT(unlink("m.json.sweep/lock"), 0);
    CHECK_INT(rmdir("m.json.sweep"), 0); // nothing was written to it
    CHECK_INT(rename("elsewhere", "m.json.sweep"), 0);
    CHECK_INT(sb_sweep_state_check(&s, &f.err), 0);
    sb_sweep_state_done(&s, true);
    empty(&f);
}

// Reading them would wait for a writer.
static void pipes_are_not_read(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    struct sb_result_file run;

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "p.json"), 0);
    CHECK_INT(mkfifo("p.json.sweep/run-0001.json", 0666), 0);
    CHECK_INT(sb_sweep_state_read(&s, 0, &run), SB_SWEEP_OPEN);
    sb_result_done(&run);
    sb_sweep_state_done(&s, true);
    CHECK_INT(mkdir("p.json.sweep", 0777), 0);
    CHECK_INT(mkfifo("p.json.sweep/plan.json", 0666), 0);
    CHECK_INT(open_state(&s, &f, true, "p.json"), SB_EUSAGE);
    CHECK(strstr(f.err.msg, "plan.json is missing or damaged"));
    sb_sweep_state_done(&s, true);
    CHECK_INT(unlink("p.json.sweep/plan.json"), 0);
    CHECK_INT(rmdir("p.json.sweep"), 0);
    empty(&f);
}

// Writes what a run writes.
static void put_run(
    const struct sb_sweep_state *s, const char *reason, int status, bool after)
{
    struct sb_err err = { 0 };
    char path[4200];

    CHECK_INT(sb_sweep_state_begin(s, 0, after, path, sizeof(path), &err), 0);
    FILE *file = fopen(path, "w");

    fprintf(file,
        "{\"format\":\"sysbench-result\",\"version\":1,\"runs\":[{"
        "\"intervals\":{\"rows\":[\n],\"columns\":[]},"
        "\"histograms\":{\"rows\":[\n]},"
        "\"end\":{\"reason\":\"%s\",\"status\":%d}}]}",
        reason, status);
    fclose(file);
}

// *files: whether the file belongs to the result.
static enum sb_sweep_outcome outcome(
    const struct sb_sweep_state *s, unsigned *files)
{
    struct sb_result_file f;
    enum sb_sweep_outcome o = sb_sweep_state_read(s, 0, &f);

    *files = f.nruns;
    sb_result_done(&f);
    return o;
}

static void the_file_and_the_processes_must_agree(void)
{
    static const struct {
        const char *reason; // NULL: no file
        int in_file, of_processes;
        enum sb_sweep_outcome outcome;
        unsigned files;
    } ends[] = {
        { "limit", 0, 0, SB_SWEEP_GOOD, 1 },
        { "limit", 3, 3, SB_SWEEP_MISSED, 1 },
        { "failed", 1, 1, SB_SWEEP_FAILED, 1 },
        { "limit", 0, 1, SB_SWEEP_FAILED, 0 },
        { "limit", 3, 1, SB_SWEEP_FAILED, 0 },
        { "limit", 0, 137, SB_SWEEP_FAILED, 0 },
        { "signal", 130, 130, SB_SWEEP_FAILED, 0 },
        { NULL, 0, 1, SB_SWEEP_FAILED, 0 },
        { NULL, 0, 0, SB_SWEEP_FAILED, 0 },
    };
    struct fixture f;
    struct sb_sweep_state s;
    unsigned files;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "e.json"), 0);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        CHECK_INT(
            sb_sweep_state_begin(&s, 0, false, path, sizeof(path), &f.err), 0);
        if (ends[i].reason)
            put_run(&s, ends[i].reason, ends[i].in_file, false);
        CHECK_INT(outcome(&s, &files), SB_SWEEP_OPEN);
        CHECK_INT(
            sb_sweep_state_settle(&s, 0, ends[i].of_processes, false, &f.err),
            0);
        CHECK(!sb_sweep_state_after(&s, 0));
        CHECK_INT(outcome(&s, &files), ends[i].outcome);
        CHECK_INT(files, ends[i].files);
    }
    sb_sweep_state_done(&s, true);
    CHECK(!there("e.json.sweep"));
    empty(&f);
}

// A signal that comes when a run has ended by itself, but not its process, does
// not make it an interrupted one.
static void a_signal_discards_only_what_it_ended(void)
{
    static const struct {
        const char *reason; // NULL: no file
        int in_file, of_process;
        enum sb_sweep_outcome outcome;
    } ends[] = {
        { "limit", 0, 0, SB_SWEEP_GOOD },
        { "limit", 0, 130, SB_SWEEP_GOOD },
        { "limit", 0, 143, SB_SWEEP_GOOD },
        { "limit", 3, 3, SB_SWEEP_MISSED },
        { "limit", 3, 130, SB_SWEEP_MISSED },
        { "signal", 130, 130, SB_SWEEP_OPEN },
        { "limit", 0, 1, SB_SWEEP_OPEN },
        { "limit", 0, 137, SB_SWEEP_OPEN },
        { "failed", 1, 1, SB_SWEEP_OPEN },
        { "failed", 1, 130, SB_SWEEP_OPEN },
        { NULL, 0, 130, SB_SWEEP_OPEN },
        { NULL, 0, 0, SB_SWEEP_OPEN },
    };
    struct fixture f;
    struct sb_sweep_state s;
    unsigned files;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "i.json"), 0);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        CHECK_INT(
            sb_sweep_state_begin(&s, 0, false, path, sizeof(path), &f.err), 0);
        if (ends[i].reason)
            put_run(&s, ends[i].reason, ends[i].in_file, false);
        CHECK_INT(
            sb_sweep_state_settle(&s, 0, ends[i].of_process, true, &f.err), 0);
        CHECK_INT(outcome(&s, &files), ends[i].outcome);
    }
    sb_sweep_state_done(&s, true);
    CHECK(!there("i.json.sweep"));
    empty(&f);
}

// They are known as soon as the run begins, and a run is finished although they
// are not.
static void commands_after_a_run_are_remembered(void)
{
    struct fixture f;
    struct sb_sweep_state s;
    unsigned files;
    char path[4200];

    CHECK_INT(fill(&f, ARGS("--sweep=threads=1,2", "cpu", "run")), 0);
    CHECK_INT(open_state(&s, &f, false, "a.json"), 0);
    put_run(&s, "limit", 0, true);
    CHECK(sb_sweep_state_after(&s, 0));
    CHECK_INT(outcome(&s, &files), SB_SWEEP_OPEN);
    CHECK_INT(sb_sweep_state_settle(&s, 0, 0, false, &f.err), 0);
    CHECK_INT(outcome(&s, &files), SB_SWEEP_GOOD);
    sb_sweep_state_done(&s, false);
    CHECK_INT(open_state(&s, &f, true, "a.json"), 0);
    CHECK(sb_sweep_state_after(&s, 0) && !sb_sweep_state_after(&s, 1));
    CHECK_INT(outcome(&s, &files), SB_SWEEP_GOOD);
    sb_sweep_state_after_done(&s, 0);
    CHECK(!sb_sweep_state_after(&s, 0));
    CHECK_INT(sb_sweep_state_begin(&s, 0, true, path, sizeof(path), &f.err), 0);
    CHECK(sb_sweep_state_after(&s, 0));
    // Another attempt, without commands, begins with nothing.
    CHECK_INT(
        sb_sweep_state_begin(&s, 0, false, path, sizeof(path), &f.err), 0);
    CHECK(!sb_sweep_state_after(&s, 0));
    sb_sweep_state_done(&s, true);
    CHECK(!there("a.json.sweep"));
    empty(&f);
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

CHECK_FILE
{
    check_folder();
    RUN(finished_runs_are_kept_until_the_sweep_is_complete);
    RUN(another_sweep_cannot_continue_it);
    RUN(a_folder_with_other_files_is_refused);
    RUN(links_are_not_followed);
    RUN(pipes_are_not_read);
    RUN(loss_of_the_folder_is_an_error);
    RUN(the_file_and_the_processes_must_agree);
    RUN(a_signal_discards_only_what_it_ended);
    RUN(commands_after_a_run_are_remembered);
    RUN(a_folder_has_one_user);
    RUN(without_a_result_file_the_folder_is_temporary);
    return check_done();
}
