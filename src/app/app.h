// SPDX-License-Identifier: GPL-2.0-or-later
//
// The program: what main.c and the files of this folder share.
#ifndef SB_APP_H
#define SB_APP_H

#include "base/opts.h"
#include "base/peers.h"
#include "base/paths.h"
#include "base/random.h"
#include "base/wire.h"
#include "builtin/builtin.h"
#include "results/cmd.h"
#include "results/ab.h"
#include "results/sweep_plan.h"
#include "ranks/job.h"
#include "db/db.h"
#include "db/sampler.h"
#include "db/settle.h"
#include "measure/until.h"
#include "out/assert.h"
#include "out/client.h"
#include "out/progress.h"
#include "out/reporter.h"
#include "out/text.h"
#include "out/waits.h"
#include "run/beside.h"
#include "ranks/place.h"
#include "run/mix_user.h"
#include "run/run.h"
#include "script/script.h"

// Exit status of the program; 128 + signal when interrupted.
enum {
    SB_EXIT_OK = 0,
    SB_EXIT_FAILED = 1,
    SB_EXIT_FORCED = 2,
    SB_EXIT_LIMITS = SB_STATUS_LIMITS, // a limit of --assert was not kept, or
                                       // no rate keeps that of --rate=max
};

// Options of the program itself.
struct sb_app_opts {
    const char *config_file;
    const char *test;
    const char *luajit_cmd;
    const char *mix;
    int mix_by;       // enum sb_mix_by
    const char *help; // "off", "on", "all" or a section
    const char *new_workload;
    bool version, list, print_config, config_strict;
};

// The role of a process that gets its settings from another one (setup.c).
enum sb_app_setup_role {
    SB_SETUP_OF_RANK,  // a rank of a job; also a process with its own settings
    SB_SETUP_OF_RUN,   // a run of a sweep, or a command before or after it
    SB_SETUP_OF_CHECK, // loads the test and checks the options of a sweep
    SB_SETUP_OF_RERUN, // repeats the run of a result file
};

struct sb_app_setup {
    enum sb_app_setup_role role;
    char **argv;     // ends with NULL
    uint64_t seed;   // of rank 0
    char *workloads; // the folder of rank 0
    // Of a sweep:
    char *command, *report; // the latter for --report; "": as given
    // The swept options, and their values as they may be shown.
    struct sb_fact value[SB_SWEEP_OPTIONS_MAX], shown[SB_SWEEP_OPTIONS_MAX];
    unsigned nvalues, nshown;
    const struct sb_buf *given; // the user's settings; NULL: a->settings
    const char *program;        // that the process executes; NULL: this one
    unsigned round;             // from 1; 0: not part of a sweep
    unsigned place, places;     // the run is number `place` of `places`
    unsigned following;         // number of runs to be measured after it
    // When the sweep is estimated to end, CLOCK_MONOTONIC in ns; 0: unknown. As
    // the time from now in the process that gives it.
    uint64_t ends;
    int notices;                     // for sb_log_share(); -1: none
    bool kept[SB_REPORTERS_MAX + 1]; // by report: the user chose its name
    char *started; // a file to create at the start; "" for none
    char *script;  // from the standard input of the sweep, or NULL
    size_t script_len;
    bool own_places; // this process keeps its variables of folders
    int answer;      // where a check writes its result
    // Of a run that is repeated: its result file, and the new one.
    char *rerun, *result;
};

struct sb_app {
    int argc;
    char **argv;
    struct sb_opts *opts;
    struct sb_paths paths;
    struct sb_asserts asserts;
    struct sb_asserts rate_limits; // --rate-limit
    struct sb_asserts headline_of; // --headline
    struct sb_answers answers;     // what scripts say of the run
    struct sb_headline headline;   // at its end
    struct sb_until until;
    struct sb_app_opts o;
    struct sb_run_opts run;
    struct sb_dist_opts dist;
    struct sb_text_opts text_opts;
    struct sb_report_opts report_opts;
    struct sb_db_opts db;
    struct sb_sampler_opts sampler_opts;
    struct sb_settle_opts settle_opts;
    struct sb_sweep_opts sweep_opts;
    struct sb_ab_opts ab_opts;
    struct sb_beside_opts beside_opts;
    struct sb_rank_opts rank_opts;
    struct sb_rank_place rank_place; // ranks 0: not divided
    struct sb_job *job;              // with other ranks over MPI, or NULL
    struct sb_job_files *files;      // of rank 0, for the others; or NULL
    struct sb_buf settings;          // what the user gave, for other processes
    struct sb_app_setup setup;       // from another process, otherwise {0}
    struct sb_app_sweep *sweep;      // NULL: not part of a sweep
    struct sb_app_rerun *rerun;      // NULL: no run is repeated
    const struct sb_cmd *cmd;        // on result files; NULL: another command
    struct sb_text text;
    struct sb_reporters reporters;
    struct sb_facts facts;
    struct sb_run_workers workers; // as planned, then as the run has them
    char why_workers[200];         // facts.workers_reason
    bool workers_differ;           // an installed workload would have workers
    struct sb_random_shared random;
    struct sb_drivers *drivers;
    bool ab;                    // sysbench ab TEST
    const char *test, *command; // as typed; NULL when absent
    const struct sb_builtin *builtin;
    void *builtin_opts;
    struct sb_script *script;
    struct sb__app_mix *mix;         // of --mix, or NULL
    struct sb__app_settled *settled; // of facts.settled, or NULL
    bool leave; // threads are still running: end by _exit()
};

extern const struct sb_opt_table sb_app_opt_table, sb_mix_opt_table;

// The options of the program in the order of its help; table NULL: the end.
struct sb_app_table {
    const struct sb_opt_table *table;
    size_t offset; // of its options in struct sb_app
    bool early;    // read before the config file
};

extern const struct sb_app_table sb_app_tables[];

// "sysbench 2.0.0", and the first line of every output, which begins with it.
const char *sb_app_version(void);
void sb_app_banner(FILE *out);

// app/settings.c. Sets what the body of a script needs: random numbers, log
// level, output. 0 or SB_E*.
int sb_app_prepare_options(struct sb_app *a, struct sb_err *err);
// Derives values from the core's options, and checks how they fit together.
// Called after all settings and the defaults set by a script are known. 0 or
// SB_E*.
int sb_app_finish_options(struct sb_app *a, struct sb_err *err);

// app/stdio.c. Called at the start: opens closed standard streams on
// /dev/null. Returns SB_ESYS if standard output was closed.
int sb_app_open_streams(struct sb_err *err);
// Called at the end: writes out buffered output. Returns SB_ESYS if anything
// printed since the start could not be written.
int sb_app_flush_output(struct sb_err *err);

// app/help.c. What --help asks for.
enum sb_app_help {
    SB_HELP_NONE,
    SB_HELP_PROGRAM,  // options of the program: sb_app_help()
    SB_HELP_WORKLOAD, // those of the loaded test: sb_app_workload_help()
    SB_HELP_COMMAND,  // those of a command on result files: sb_app_run_cmd()
};
enum sb_app_help sb_app_asks_for_help(const struct sb_app *a);
// Prints the options that --help selects. SB_EUSAGE: there is no such section.
int sb_app_help(struct sb_app *a, struct sb_err *err);
// Prints how to run the loaded test, and its options. Returns the exit status.
int sb_app_workload_help(struct sb_app *a);

// app/workloads.c: what --list prints. 0.
int sb_app_list(struct sb_app *a, struct sb_err *err);

// app/workloads.c. Calls visit() for each Lua file in base/sub, sorted by name,
// with its name ("oltp_insert", "mongodb/oltp") and its path. sub: "" or a name
// with a slash behind it.
void sb_app_each_workload(const char *base, const char *sub,
    void (*visit)(void *arg, const char *name, const char *path), void *arg);
// The same for all installed workloads.
void sb_app_each_installed(const struct sb_app *a,
    void (*visit)(void *arg, const char *name, const char *path), void *arg);
// The part of the path that is the name of the workload: without folders,
// except one that belongs to the names of installed workloads.
const char *sb_app_workload_name(const char *path);

// app/settings.c: reads --config-file and applies the sections of the selected
// workload. 0 or SB_E*.
int sb_app_read_config(struct sb_app *a, struct sb_err *err);

// app/workloads.c. Writes " (did you mean oltp_insert?)" for a workload that
// was not found, or "" if no name is similar.
void sb_app_workload_hint(
    const struct sb_app *a, const char *name, char *out, size_t size);
// --new-workload: writes a complete workload to a new file, NAME.lua.
// SB_EUSAGE: not a name; SB_ESYS: the file exists or cannot be written.
int sb_app_new_workload(const struct sb_app *a, struct sb_err *err);
// Prints on stderr that the command does not exist, and which commands do.
// known ends with NULL.
void sb_app_unknown_command(const struct sb_app *a, const char *const *known);
// Called after an invalid option. Two workloads are called oltp: if the other
// one has the option, *err says so.
void sb_app_option_hint(struct sb_app *a, struct sb_err *err);

// app/perform.c. All commands on result files; ends with NULL.
extern const struct sb_cmd *const sb_app_cmds[];
// Whether the command line is that of sysbench ab TEST ...
bool sb_app_ab_wanted(const struct sb_app *a);
// Returns the command on result files that the command line names, or NULL.
// sb_app_run_cmd() carries it out and returns the exit status.
const struct sb_cmd *sb_app_cmd(const struct sb_app *a);
int sb_app_run_cmd(struct sb_app *a, const struct sb_cmd *cmd);

// app/beside.c: checks the options of --beside; SB_EUSAGE.
int sb_app_beside_check(const struct sb_app *a, struct sb_err *err);

// app/ranks.c. Called before a test is loaded: finds the place of this process
// among the ranks.
void sb_app_ranks_begin(struct sb_app *a);
// Called before and after sb_run_opts_finish(), when every option has its final
// value: set the number of threads; divide the run. 0 or SB_E*.
int sb_app_ranks_threads(struct sb_app *a, struct sb_err *err);
int sb_app_ranks_finish(struct sb_app *a, struct sb_err *err);
// Whether a->command is carried out by another rank; prints a notice then.
bool sb_app_ranks_idle(const struct sb_app *a);

// app/ranks.c. The value of --mpi. It is read before the other settings, which
// this process gets from rank 0.
const char *sb_app_job_setting(const struct sb_app *a);
// Called first: joins the job of the launcher that started this
// process. The other ranks wait for the command line of rank 0 and use it. 0 or
// SB_E*; SB_ECANCELED: rank 0 has failed and has logged the error.
int sb_app_job_begin(struct sb_app *a, struct sb_err *err);
// Rank 0 has loaded the test: the others may do so.
void sb_app_job_loaded(struct sb_app *a);
// Whether this is another rank than 0, which prints nothing by itself.
bool sb_app_job_follows(const struct sb_app *a);
// Called by a rank other than 0 that has failed: sends the reason to rank 0.
// Returns false if it cannot be sent.
bool sb_app_job_told(struct sb_app *a, const char *why);
// Leaves the job, if there is one. status: the exit status.
// Returns the exit status: 0 for a rank that has reported its end to rank 0.
int sb_app_job_end(struct sb_app *a, int status);

// app/setup.c. Keeps what other processes need of arguments and environment,
// before secrets are hidden. 0 or SB_ENOMEM.
int sb_app_setup_keep(struct sb_app *a, struct sb_err *err);
// Returns a copy of the arguments that were kept, *argc of them, which the
// caller frees. SB_ENOMEM.
int sb_app_setup_given(
    const struct sb_app *a, char ***argv, size_t *argc, struct sb_err *err);
// Keeps these arguments instead, and of the environment only the variables that
// are not options. SB_ENOMEM.
int sb_app_setup_replace(
    struct sb_app *a, char *const *argv, size_t argc, struct sb_err *err);
// Writes what sb_app_setup_keep() has kept to *b, for a side of sysbench ab:
// for the version of its program, with its words, and with its test behind the
// word `ab`. If it has a program, without the variables of folders, because
// that has its own. SB_ENOMEM.
int sb_app_setup_add(const struct sb_app *a, const struct sb_ab_side *side,
    const char *version, struct sb_buf *b, struct sb_err *err);
// Returns a file in memory, which no list of processes shows, for the standard
// input of another process; -1: SB_ESYS.
int sb_app_setup_file(const struct sb_buf *b, struct sb_err *err);
// Appends a setup with what was kept.
void sb_app_setup_put(
    const struct sb_app *a, const struct sb_app_setup *s, struct sb_buf *b);
// Reads a setup into a->setup, and replaces the arguments and the environment
// of this process. SB_EUSAGE: the setup is of another version. SB_EINTERNAL,
// SB_ENOMEM.
int sb_app_setup_take(struct sb_app *a, struct sb_wire *w, struct sb_err *err);
// The first argument of a process that gets its setup on standard input. The
// other arguments only identify the process in the list of processes. Other
// builds read the setup, too (sysbench ab): it may only get new members at its
// end, which may be missing; with another change, this name changes.
#define SB_SETUP_FROM_STDIN "--setup-from-stdin"
bool sb_app_setup_awaited(const struct sb_app *a);
// Reads the setup from standard input. Errors as above, and SB_ESYS.
int sb_app_setup_read(struct sb_app *a, struct sb_err *err);
void sb_app_setup_done(struct sb_app *a);

// app/ab.c. What sysbench ab does differently from a sweep.
struct sb_app_ab {
    struct sb_ab_side side[2];
    struct sb_buf given[2]; // the settings of the runs of each side
    struct sb_ab ab;
};
// Reads both sides. SB_EUSAGE, SB_ENOMEM. Call sb_app_ab_done() in either case.
int sb_app_ab_init(struct sb_app *a, struct sb_app_ab *ab, struct sb_err *err);
void sb_app_ab_done(struct sb_app_ab *ab);
// Returns the command that makes the server that of a side, or NULL: none was
// given. The caller frees it.
char *sb_app_ab_switch(
    const struct sb_app *a, const struct sb_app_ab *ab, unsigned side);

// app/sweep.c. What a process does:
enum sb_sweep_role {
    SB_SWEEP_NONE,  // no sweep was asked for
    SB_SWEEP_DONE,  // the sweep is over: exit with *status
    SB_SWEEP_CHECK, // of a sweep: load the test, then sb_app_sweep_check()
    SB_SWEEP_RUN,   // of a sweep: carry out a->command with other options
};

// Carries out a sweep, if one is asked for. Called before a test is loaded and
// before there are threads.
enum sb_sweep_role sb_app_sweep(struct sb_app *a, int *status);
// Checks swept options, their values and the commands between runs after the
// test was loaded. Returns the exit status.
int sb_app_sweep_check(struct sb_app *a);
// SB_EUSAGE if options of sweeps are given with a command other than run.
int sb_app_sweep_misused(const struct sb_app *a, struct sb_err *err);
void sb_app_sweep_done(struct sb_app *a);

// app/rerun.c. sysbench rerun FILE: reads the result file and executes the
// program again, with the settings of its run. Returns the exit status if that
// fails.
extern const struct sb_cmd sb_app_rerun_cmd;
int sb_app_rerun(struct sb_app *a);
// In the process that repeats the run, after its test was loaded: checks that
// the scripts are those of the run. SB_EUSAGE if one has changed, or the error
// of the result file.
int sb_app_rerun_check(struct sb_app *a, struct sb_err *err);
// The new run has ended with this status: compares both. Returns the exit
// status.
int sb_app_rerun_end(struct sb_app *a, int status);
void sb_app_rerun_done(struct sb_app *a);

// app/load.c. Fills what all scripts can use.
void sb_app_script_env(struct sb_app *a, struct sb_script_env *env);
// Loads a script with its options; env: of sb_app_script_env(). 0 or SB_E*.
int sb_app_load_script(struct sb_app *a, struct sb_script **out,
    const struct sb_script_env *env, const char *name, struct sb_err *err);

// app/load.c. Visits the files with Lua code that the test has loaded so far.
void sb_app_each_file(const void *app,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg);

// app/load.c. Parses --mix into a->run.mix, unless the name of a test is given.
// Called before config files are applied. 0 or SB_E*.
int sb_app_mix_parse(struct sb_app *a, struct sb_err *err);
// Loads the workloads of a mix with their options. 0 or SB_E*.
int sb_app_mix_load(struct sb_app *a, struct sb_err *err);
// Called when every option has its final value. 0 or SB_E*.
int sb_app_mix_ready(struct sb_app *a, struct sb_err *err);
// Whether all workloads of the mix end by themselves: sb_script_ends().
bool sb_app_mix_ends(const struct sb_app *a);
// Whether a workload of the mix has a command.
bool sb_app_mix_has_command(const struct sb_app *a, const char *command);
// Calls print() with each script of a mix, if there is one.
void sb_app_mix_lines(const struct sb_app *a,
    void (*print)(void *arg, struct sb_script *s), void *arg);
void sb_app_mix_done(struct sb_app *a);

// app/perform.c: carries out a->command and returns the exit status.
int sb_app_perform(struct sb_app *a);
// Whether the loaded test implements a command.
bool sb_app_has_command(const struct sb_app *a, const char *command);

// How busy the client was (app/observe.c).
struct sb__app_client {
    struct sb_client_sample last;
    struct sb_client_sample machine; // start of its next value
    // Of the measured part: all intervals, and those in which no thread came or
    // went.
    struct sb_client_sum whole, steady;
    struct sb_peers_seen seen;
    bool judged;   // whether it was the bottleneck
    char why[200]; // it was; or ""
};

// The servers of a run (app/observe.c).
struct sb__app_server {
    struct sb_first_look first;        // before the users connected
    struct sb_sampler *sampler;        // until the run is over, or NULL
    struct sb__app_database *database; // of facts.databases
    struct sb_server_total *totals;    // facts.totals
    struct sb_plan_facts *plans;       // facts.plans
    struct sb_inspection *inspection;  // after the run
    struct sb_data_fact *data;         // facts.data
    unsigned ninspections;
    struct sb_server_waits *waits; // after the run
    struct sb_waits_facts *shown;  // facts.waits
    unsigned nwaits;
};

// A run as its listeners see it.
struct sb__listening {
    struct sb_app *a;
    struct sb_workload *w;
    struct sb__app_server server;
    struct sb__app_client client;
    struct sb__app_beside *beside;         // with --beside, or NULL
    struct sb__app_validity *validity;     // NULL: nothing shows the checks
    struct sb__app_costs *costs;           // NULL: nothing shows them
    struct sb__app_statements *statements; // NULL: they are not asked for
    char *block;                           // facts.block
    char no_rate[400]; // why no rate of --rate=max was found, or ""
    bool progress;     // shows progress lines
    uint64_t done;     // completed events of the measured part so far
    int status;        // 0, or SB_EXIT_FAILED if a report hook failed
    bool printed;      // the final report, rather than one of the script
    struct sb_text_times times;      // of the run
    const struct sb_run_result *res; // complete when the final report is made
};

// A part of the program that is told how a run proceeds, in the main thread;
// any function may be NULL. report.c has the list of all listeners. Questions
// of the run (whether to stop, whether limits are kept) are no notifications.
struct sb__app_listener {
    void (*connecting)(struct sb__listening *t); // before users are created
    void (*started)(struct sb__listening *t);    // all users are ready
    // The measured part begins in warmup_ns.
    void (*measured)(struct sb__listening *t, int64_t warmup_ns);
    // An interval has ended. row() adds values to its row, which is NULL
    // without files; then interval() gets the report.
    void (*row)(struct sb__listening *t, const struct sb_report *r,
        struct sb_series *row);
    void (*interval)(struct sb__listening *t, const struct sb_report *r);
    // The run has ended. complete() adds the facts that are known now and
    // judges limits, final() reports, and after() prints lines and warnings
    // below the final report.
    void (*complete)(struct sb__listening *t, const struct sb_report *r);
    void (*final)(struct sb__listening *t, const struct sb_report *r);
    void (*after)(struct sb__listening *t, const struct sb_report *r);
};

extern const struct sb__app_listener sb__app_server_listener,
    sb__app_client_listener, sb__app_ranks_listener, sb__app_beside_listener,
    sb__app_validity_listener, sb__app_rerun_listener, sb__app_work_listener,
    sb__app_costs_listener, sb__app_statements_listener;

// app/stdio.c. True if only scripts write to stdout: below --verbosity=3, or
// --report=none.
bool sb__app_quiet(const struct sb_app *a);
// Opens the standard streams that are closed, with /dev/null. A file that is
// opened next would get their numbers.
void sb__app_fill_streams(void);
// app/workers.c. Sets what --workers=auto means for the run.
void sb__app_choose_workers(struct sb_app *a);
// The number of threads with event loops; 0: users have threads.
unsigned sb__app_workers(const struct sb_app *a);
// Prints the line "Number of workers", if there is something to say.
void sb__app_print_workers(const struct sb_app *a);

// app/load.c. The script of a workload of the mix; what runs them all.
struct sb_script *sb__app_mix_script(const struct sb_app *a, unsigned i);
struct sb_mixed *sb__app_mix_mixed(struct sb_app *a);

// app/report.c. Fills a->facts, but for the start of the run.
void sb__app_facts(struct sb_app *a);
// The exit status of a run with this result, without reports and limits.
int sb__app_status_of(const struct sb_run_result *res);
// Fills *l for a run with the members a, w, res and beside of *t. Both must
// outlive the run.
void sb__app_listen(struct sb__listening *t, struct sb_listener *l);
// Frees what the listeners keep, when the reports are finished.
void sb__app_listening_done(struct sb__listening *t);
// Prints the context of the run after its report, for --report-context. Called
// when the facts about servers are complete.
void sb__app_context(const struct sb__listening *t);
// Prints how the run ended, if early, and writes what the reporters have left
// to write. Returns the exit status: `status`, or SB_EXIT_FAILED if it is 0 and
// a report lacks something.
int sb__app_finish_reports(struct sb__listening *t, int status);

// app/report.c. Carries out the run of a rank other than 0.
void sb__app_follow(
    struct sb_app *a, struct sb_workload *w, struct sb_run_result *res);

// app/report.c. Whether to show how the run is going: --progress, on a
// terminal.
bool sb__app_has_progress(const struct sb_app *a);
// Prints "Initializing worker threads...".
void sb__app_print_initializing(const struct sb_app *a);

// app/observe.c. Returns the settings of a server for result files, which point
// to *s. The caller frees them. NULL: no memory.
struct sb_setting_fact *sb__app_settings(const struct sb_server_facts *s);
// Returns what result files say about a server, which points to both.
struct sb_database_facts sb__app_database_facts(
    const struct sb_server_facts *s, const struct sb_setting_fact *settings);
// app/validity_servers.c. Fills facts.data: the tables that the run has used.
void sb__app_server_data(struct sb__listening *t);
// app/observe.c. Stops the sampler, also of a run without a final report, and
// takes its facts.
void sb__app_server_stop(struct sb__listening *t, const struct sb_report *r);
void sb__app_server_done(struct sb__listening *t);
// app/answers.c. Whether the names of results in limits and --headline are
// those of workloads of this test, as far as they are known. SB_EUSAGE.
int sb_app_answers_check(const struct sb_app *a, struct sb_err *err);
// Judges the limits on results and finds the headline, from what the scripts
// have reported so far.
void sb__app_answers_judge(struct sb_app *a);
// The last functions of scripts have returned: judges them again, and prints
// the results and the limits on them.
void sb__app_answers_end(struct sb__listening *t);
// Logs the verdicts that are not true. Returns their number.
unsigned sb__app_answers_log(const struct sb_app *a);
// app/statements.c. Whether servers are asked what they count of statements.
bool sb__app_statements_wanted(const struct sb_app *a);
// Takes what the sampler has, which was stopped.
void sb__app_statements_take(
    struct sb__listening *t, struct sb_sampler *sampler);
void sb__app_statements_done(struct sb__listening *t);
// app/validity.c. Whether the figures of the run are checked.
bool sb__app_validity_wanted(const struct sb_app *a);
// Whether its intervals are followed, for these checks or for --until.
bool sb__app_validity_follows(const struct sb_app *a);
// Called before users exist: they take part in a sample of their draws.
void sb__app_validity_begin(struct sb__listening *t);
// Whether the run ends because its figures are known as exactly as --until
// asks.
bool sb__app_until_reached(const struct sb__listening *t);
void sb__app_validity_done(struct sb__listening *t);

struct sb_validity;
// app/validity_servers.c. Whether servers were used and all have answered
// before and after the run; otherwise the check is made, as unknown or n/a.
bool sb__app_servers_answered(
    const struct sb__listening *t, struct sb_check *c);
// Makes the checks that rest on what servers said about
// themselves. whole: of the measured part. first: before users connected.
void sb__app_check_servers(const struct sb__listening *t,
    const struct sb_report *whole, const struct sb_first_look *first,
    struct sb_validity *v);
// app/validity_plans.c. Makes the check of plans, and adds the plans to the
// facts.
void sb__app_check_plans(struct sb__listening *t, struct sb_validity *v);

// app/validity_skew.c. Makes the check of the draws of keys beside what servers
// said about locks.
void sb__app_check_skew(const struct sb__listening *t,
    const struct sb_report *whole, struct sb_validity *v);

// app/costs.c. Whether it is found out what the events cost.
bool sb__app_costs_wanted(const struct sb_app *a);
void sb__app_costs_done(struct sb__listening *t);
// Returns the process of --server-pid, or the server's, if that is certain; 0:
// unknown. After the first look at the servers.
int64_t sb__app_server_process(const struct sb__listening *t);

// app/settle.c: --settle and --prewarm, if they are given. Prints what was done
// and fills a->facts.settled.
void sb__app_settle(struct sb_app *a);
// Whether --settle settles again between what precedes the measured part and
// this part, and does it; *stop ends it.
bool sb__app_settles_again(const struct sb_app *a);
void sb__app_settle_again(struct sb_app *a, const _Atomic bool *stop);
void sb_app_settled_done(struct sb_app *a);

// app/beside.c: --beside. Opens the output of the command, and runs it alone if
// asked for. Returns the exit status: not 0 if there is nothing to run.
int sb__app_beside_begin(struct sb__listening *t);
// Whether the run ends because of --beside-wait.
bool sb__app_beside_stop(const struct sb__listening *t);
// What is known of the workload beside the command now, or NULL without one.
const struct sb_beside_figures *sb__app_beside_figures(
    const struct sb__listening *t);
// The run is over: stops the command, and prints its figures if the report was
// printed. Returns the exit status: `status`, or SB_EXIT_FAILED if it is 0 and
// the command failed or was not started.
int sb__app_beside_end(struct sb__listening *t, int status);
void sb__app_beside_done(struct sb__listening *t);

#endif
