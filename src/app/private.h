// SPDX-License-Identifier: GPL-2.0-or-later
//
// Shared by the app_*.c that carry out a command.
#ifndef SB_APP_PRIVATE_H
#define SB_APP_PRIVATE_H

#include "app/app.h"

// What the listener of a run needs.
struct sb__listening {
    struct sb_app *a;
    struct sb_workload *w;
    bool progress; // shows progress lines
    uint64_t done; // completed events of the measured part so far
    int status;    // 0, or SB_EXIT_FAILED if a report hook failed
    bool printed;  // the final report, rather than one of the script
    struct sb_text_times times;      // of the run
    const struct sb_run_result *res; // complete when the final report is made
};

// app/stdio.c. True if only scripts write to stdout: below --verbosity=3, or
// --report=none.
bool sb__app_quiet(const struct sb_app *a);
// Opens the standard streams that are closed, with /dev/null. A file that is
// opened next would get their numbers.
void sb__app_fill_streams(void);
// app/run.c. Runs the workload with all reports. Returns the exit status.
int sb__app_run_workload(struct sb_app *a, struct sb_workload *w);
// The exit status of a run or a command that has ended; logs its error.
int sb__app_exit_status(struct sb_app *a, const struct sb_run_result *res);
// app/workers.c. Sets what --workers=auto means for the run.
void sb__app_choose_workers(struct sb_app *a);
// The number of threads with event loops; 0: users have threads.
unsigned sb__app_workers(const struct sb_app *a);
// Prints the line "Number of workers", if there is something to say.
void sb__app_print_workers(const struct sb_app *a);
// app/script.c. Carries out a->command of a script that implements it. Returns
// the exit status.
int sb__app_command(struct sb_app *a, struct sb_script *s);
// app/mode.c. Prints the block "Running the test with following options".
void sb__app_print_mode(struct sb_app *a, struct sb_workload *w);
void sb__app_print_initializing(const struct sb_app *a);

// app/mix.c. The script of a workload of the mix; what runs them all.
struct sb_script *sb__app_mix_script(const struct sb_app *a, unsigned i);
struct sb_mixed *sb__app_mix_mixed(struct sb_app *a);

// app/report.c. Fills a->facts, but for the start of the run.
void sb__app_facts(struct sb_app *a);
// The exit status of a run with this result, without reports and limits.
int sb__app_status_of(const struct sb_run_result *res);
// Fills *t and *l for a run of w. Both must outlive the run.
void sb__app_listen(struct sb_app *a, struct sb_workload *w,
    struct sb__listening *t, struct sb_listener *l);
// Prints the context of the run after its report, for --report-context. Called
// when the facts about servers are complete.
void sb__app_context(const struct sb__listening *t);
// Prints how the run ended, if early, and writes what the reporters have left
// to write. Returns the exit status: `status`, or SB_EXIT_FAILED if it is 0 and
// a report lacks something.
int sb__app_finish_reports(
    struct sb__listening *t, const struct sb_run_result *res, int status);

// app/alone.c. Carries out the run of another rank than 0.
void sb__app_follow(
    struct sb_app *a, struct sb_workload *w, struct sb_run_result *res);

// app/progress.c. Whether to show how the run is going: --progress, on a
// terminal.
bool sb__app_has_progress(const struct sb_app *a);
// Shows a line of progress, with the number of the run in its sweep.
void sb__app_show_progress(const struct sb_app *a, const char *line);
// app/rate.c: --rate=80% and --rate=max. Adds the callbacks to *l.
void sb__app_rate_listen(struct sb_app *a, struct sb_listener *l);
// The line of "Running the test with following options" on the rate.
void sb__app_rate_mode(const struct sb_app *a);
// app/measured.c. Called when the measured part begins, by whatever came before
// it: takes its time, and lets the values of servers and of this process begin.
// warmup_ns: until then.
void sb__app_measured(struct sb_app *a, int64_t warmup_ns);

// app/beside.c: --beside. Opens the output of the command, and runs it alone if
// asked for. Returns the exit status: not 0 if there is nothing to run.
int sb__app_beside_begin(struct sb_app *a);
// The measured part begins in warmup_ns: the command starts --beside-start
// later.
void sb__app_beside_measured(struct sb_app *a, int64_t warmup_ns);
void sb__app_beside_interval(struct sb_app *a, const struct sb_report *r);
// Whether the run ends because of --beside-wait.
bool sb__app_beside_stop(const struct sb_app *a);
// The run is over: stops the command, and prints its figures if the report was
// printed. Returns the exit status: `status`, or SB_EXIT_FAILED if it is 0 and
// the command failed or was not started.
int sb__app_beside_end(struct sb_app *a, bool printed, int status);

// app/limits.c: --assert. Checks an interval, and logs which limit ends the
// run.
void sb__app_limits_interval(struct sb_app *a, const struct sb_report *r);
// Checks all limits, and afterwards prints them.
void sb__app_limits_judge(struct sb_app *a, const struct sb_report *final);
void sb__app_limits_text(struct sb_app *a);
// Whether a limit of --assert was not kept, or no rate keeps --rate-limit.
bool sb__app_limits_missed(const struct sb_app *a);
// Returns the exit status: SB_EXIT_LIMITS if the run was successful and a limit
// was not kept, which it logs, otherwise `status`.
int sb__app_limits_status(struct sb_app *a, int status);

#endif
