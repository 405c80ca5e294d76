// SPDX-License-Identifier: GPL-2.0-or-later
//
// sysbench rerun FILE: repeats the run of a result file, and compares both. It
// executes the program again with the settings of the run, so that nothing of
// this process matters: docs/internals/result_commands.md.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app.h"
#include "base/escape.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/sha256.h"
#include "db/inspect.h"
#include "db/probe.h"
#include "out/json_parts.h"
#include "results/differences.h"
#include "results/sides.h"

struct rerun_opts {
    const char *set;
};

static const struct sb_opt rerun_options[] = {
    { .name = "set",
        .type = SB_OPT_STRING,
        .offset = offsetof(struct rerun_opts, set),
        .help = "an option of the new run that differs, NAME=VALUE; may be "
                "repeated. --NAME=VALUE has the same effect" },
    { .name = NULL },
};

static const struct sb_opt_table rerun_opt_table = {
    .title = "Options of rerun",
    .opts = rerun_options,
};

const struct sb_cmd sb_app_rerun_cmd = {
    .name = "rerun",
    .usage = "rerun FILE [--set NAME=VALUE]... [OPTIONS]",
    .title = "Repeats the run of a result file with its options, its seed and "
             "its script, and compares both runs. Exit status: that of the new "
             "run if it is not 0, otherwise that of compare.",
    .min_files = 1,
    .max_files = 1,
    .opts = &rerun_opt_table,
    .opts_size = sizeof(struct rerun_opts),
};

// The settings of the new run -------------------------------------------------

// An option as it is given to the new run.
struct given {
    char *name, *value; // value NULL: none
};

struct settings {
    struct sb_app *a;
    struct sb_result_file file;
    const struct sb_result_run *run;
    const char *path; // of the result file
    const char *test; // NULL: a mix
    char **word;      // the command line of this process, words of them
    size_t words;
    struct given *given; // the options of this process
    size_t ngiven;
    char **argv; // of the new run, argc of them
    size_t argc;
    char *report, *result;
    bool failed; // no memory
};

static void free_list(char **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++)
        free(list[i]);
    free(list);
}

static void settings_done(struct settings *s)
{
    sb_result_done(&s->file);
    for (size_t i = 0; i < s->ngiven; i++) {
        free(s->given[i].name);
        free(s->given[i].value);
    }
    free(s->given);
    free_list(s->word, s->words);
    free_list(s->argv, s->argc);
    free(s->report);
    free(s->result);
}

// Adds an option of the command line, without its dashes.
static int give(struct settings *s, const char *text, struct sb_err *err)
{
    size_t len = strcspn(text, "=");
    struct given *more = realloc(s->given, (s->ngiven + 1) * sizeof(*more));
    struct given *g;

    if (!more)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    s->given = more;
    g = &s->given[s->ngiven++];
    g->name = strndup(text, len);
    g->value = text[len] ? strdup(text + len + 1) : NULL;
    if (!g->name || (text[len] && !g->value))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return 0;
}

// --set NAME=VALUE, --set=NAME=VALUE.
static int give_set(struct settings *s, const char *text, struct sb_err *err)
{
    if (text)
        text += strncmp(text, "--", 2) == 0 ? 2 : 0;
    if (!text || strcspn(text, "=") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "--set: the option is missing: write --set NAME=VALUE");
    return give(s, text, err);
}

static int take_words(struct settings *s, struct sb_err *err)
{
    unsigned files = 0;
    int rc = sb_app_setup_given(s->a, &s->word, &s->words, err);

    for (size_t i = 1; rc == 0 && i < s->words; i++) {
        const char *word = s->word[i];

        if (strcmp(word, "--set") == 0) {
            i++;
            rc = give_set(s, i < s->words ? s->word[i] : NULL, err);
        } else if (strncmp(word, "--set=", 6) == 0) {
            rc = give_set(s, word + 6, err);
        } else if (strncmp(word, "--", 2) == 0) {
            rc = give(s, word + 2, err);
        } else if (files++ == 1) {
            s->path = word; // behind "rerun"
        } else if (files > 2) {
            rc = sb_err_set(err, SB_EUSAGE,
                "rerun: too many files; the maximum is 1 (options are written "
                "as --NAME=VALUE or --set NAME=VALUE)");
        }
    }
    if (rc == 0 && !s->path)
        rc = sb_err_set(
            err, SB_EUSAGE, "rerun: the name of a result file is missing");
    return rc;
}

// Returns the last value that this process was given, or NULL.
static const struct given *find_given(
    const struct settings *s, const char *name)
{
    for (size_t i = s->ngiven; i-- > 0;)
        if (sb_opts_same_name(s->given[i].name, name))
            return &s->given[i];
    return NULL;
}

// Whether an option of the run is replaced: also by its other name.
static bool is_replaced(const struct settings *s, const char *name)
{
    struct sb_opt_view view;

    for (size_t i = 0; i < s->ngiven; i++) {
        if (sb_opts_same_name(s->given[i].name, name))
            return true;
        if (sb_opts_find(s->a->opts, s->given[i].name, &view) &&
            view.opt->alias_of && sb_opts_same_name(view.opt->alias_of, name))
            return true;
    }
    return false;
}

// What is no part of a run that is repeated -----------------------------------

static int not_one(const struct settings *s, const char *what, const char *hint,
    struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE,
        "rerun needs the file of one run, and %s %s%s", s->path, what, hint);
}

static int check_file(struct settings *s, struct sb_err *err)
{
    const json_t *run = s->run->json;
    const char *test = sb_result_text(s->run, "test");

    if (json_object_get(run, "merged"))
        return not_one(s, "was merged from several", "", err);
    if (json_object_get(s->file.json, "sweep") ||
        json_object_get(run, "swept") || s->file.nruns > 1)
        return not_one(s, "has the runs of a sweep",
            ": repeat the sweep, or measure one of its runs alone", err);
    if (json_object_get(run, "rank") || json_object_get(run, "ranks"))
        return not_one(s, "is about a run of several processes",
            ": start them as they were started then", err);
    if (strcmp(sb_result_text(s->run, "command"), "run") != 0)
        return not_one(s, "is about another command than run", "", err);
    if (!*test || strcmp(test, "-") == 0 || strcmp(test, "/dev/stdin") == 0)
        return sb_err_set(err, SB_EUSAGE,
            "the run in %s cannot be repeated: its script was read from "
            "standard input",
            s->path);
    return 0;
}

static int read_file(struct settings *s, struct sb_err *err)
{
    struct stat st;

    if (strcmp(s->path, "-") == 0 ||
        (stat(s->path, &st) == 0 && !S_ISREG(st.st_mode)))
        return sb_err_set(err, SB_EUSAGE,
            "rerun reads its file several times: %s is no regular file",
            s->path);
    if (strchr(s->path, ','))
        return sb_err_set(err, SB_EUSAGE,
            "rerun: the name of the file must not contain commas: %s", s->path);
    int rc = sb_result_read(&s->file, s->path, err);

    if (rc == 0 && s->file.nruns == 0)
        rc = sb_err_set(err, SB_EUSAGE, "%s has no runs", s->path);
    if (rc)
        return rc;
    s->run = &s->file.run[0];
    return check_file(s, err);
}

// Options that would make it another kind of run.
static int check_given(const struct settings *s, struct sb_err *err)
{
    static const char *const names[] = { "sweep", "sweep-resume", "repeat",
        "launch", "ranks", "rank", "mix", "test" };

    if (s->a->job)
        return sb_err_set(err, SB_EUSAGE,
            "rerun repeats the run of one process: start it without a "
            "launcher");
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (find_given(s, names[i]))
            return sb_err_set(err, SB_EUSAGE,
                "rerun repeats one run as it was: --%s cannot be given",
                names[i]);
    return 0;
}

// Options of the run that the new run does not get.
static bool is_left_out(const char *name)
{
    static const char *const names[] = { "mpi", "ranks", "rank", "rand-seed" };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return sb_result_option_is_of_place(name);
}

// Values that the file hides --------------------------------------------------
//
// Passwords. They are searched for where users keep them: the command line, the
// environment, and the config file, which the new run does not read otherwise.

static int take_value(void *arg, const char *value)
{
    char **last = arg;

    free(*last);
    *last = strdup(value ? value : "");
    return 0;
}

// Reads the value of an option from a config file, also from the section of the
// test. NULL: the file has none, or cannot be read.
static char *from_file(
    const struct settings *s, const char *file, const char *name)
{
    struct sb_app *reader = calloc(1, sizeof(*reader));
    const char *mix = sb_result_option(s->run, "mix");
    struct sb_err err = { 0 };
    char *value = NULL;

    if (!reader)
        return NULL;
    reader->opts = sb_opts_new();
    reader->paths = s->a->paths;
    reader->o.config_file = file;
    reader->o.test = s->test ? s->test : "";
    reader->o.mix = !s->test && mix ? mix : "";
    if (reader->opts && sb_app_read_config(reader, &err) == 0)
        sb_opts_values(reader->opts, name, SB_SRC_FILE, take_value, &value);
    sb_opts_free(reader->opts);
    free(reader);
    return value;
}

static char *find_hidden(const struct settings *s, const char *name)
{
    const struct given *file = find_given(s, "config-file");
    const char *then = sb_result_option(s->run, "config-file");
    char *value = NULL;

    sb_opts_values(s->a->opts, name, SB_SRC_ENV, take_value, &value);
    if (!value && file && file->value)
        value = from_file(s, file->value, name);
    if (!value && !file && then && *then)
        value = from_file(s, then, name);
    return value;
}

static int not_found(
    const struct settings *s, const char *name, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE,
        "%s does not contain the value of --%s: give the option again, in the "
        "environment, in a --config-file, or on the command line",
        s->path, name);
}

// The command line of the new run ---------------------------------------------

// Takes the text.
static void add_word(struct settings *s, char *text)
{
    char **more = realloc(s->argv, (s->argc + 2) * sizeof(*more));

    if (more)
        s->argv = more;
    if (!more || !text) {
        s->failed = true;
        free(text);
        return;
    }
    s->argv[s->argc++] = text;
    s->argv[s->argc] = NULL;
}

static void add_option(struct settings *s, const char *name, const char *value)
{
    struct sb_buf b = { 0 };

    sb_buf_addf(&b, "--%s%s%s", name, value ? "=" : "", value ? value : "");
    if (b.failed)
        sb_buf_done(&b);
    add_word(s, b.data);
}

// An option of the run that was not a default.
static int repeat_option(
    struct settings *s, const json_t *o, struct sb_err *err)
{
    const char *name = sb_result_member(o, "name");
    const char *value = sb_result_member(o, "value");
    const char *origin = sb_result_member(o, "origin");
    char *found = NULL;

    if (strcmp(sb_result_member(o, "source"), "default") == 0 ||
        is_left_out(name) || is_replaced(s, name))
        return 0;
    if (strstr(value, "***")) {
        value = found = find_hidden(s, name);
        if (!found)
            return not_found(s, name, err);
    }
    // Without --time, this older name of --events has another meaning.
    add_option(s, strcmp(origin, "max-requests") == 0 ? origin : name, value);
    free(found);
    return 0;
}

static int make_arguments(struct settings *s, struct sb_err *err)
{
    const json_t *list = json_object_get(s->run->json, "options");
    int rc = 0;

    add_word(s, strdup(s->a->argv[0]));
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++)
        rc = repeat_option(s, json_array_get(list, i), err);
    if (rc)
        return rc;
    if (!find_given(s, "rand-seed"))
        add_option(s, "rand-seed", sb_result_text(s->run, "seed"));
    for (size_t i = 0; i < s->ngiven; i++) {
        const struct given *g = &s->given[i];

        if (!sb_opts_same_name(g->name, "report") &&
            !sb_opts_same_name(g->name, "config-file"))
            add_option(s, g->name, g->value);
    }
    add_option(s, "report", s->report);
    if (s->test)
        add_word(s, strdup(s->test));
    add_word(s, strdup("run"));
    return s->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

// The new result file ---------------------------------------------------------

// Writes "run-rerun.json", or "run-rerun-2.json", whichever does not exist.
static char *new_name(const char *path, struct sb_err *err)
{
    size_t len = strlen(path);
    struct sb_buf b = { 0 };

    if (len > 5 && strcmp(path + len - 5, ".json") == 0)
        len -= 5;
    for (unsigned i = 1; i < 10000; i++) {
        char number[16] = "";

        if (i > 1)
            snprintf(number, sizeof(number), "-%u", i);
        sb_buf_done(&b);
        sb_buf_addf(&b, "%.*s-rerun%s.json", (int)len, path, number);
        if (b.failed) {
            sb_buf_done(&b);
            sb_err_set(err, SB_ENOMEM, "out of memory");
            return NULL;
        }
        if (access(b.data, F_OK))
            return b.data;
    }
    sb_err_set(err, SB_ERANGE,
        "rerun: too many result files such as %s exist; --report=json=FILE "
        "names the new one",
        b.data);
    sb_buf_done(&b);
    return NULL;
}

// Finds the result file among the reports; none of them may replace the old
// file.
static int check_reports(struct settings *s, struct sb_err *err)
{
    char *list = strdup(s->report), *rest = list, *item;
    int rc = list ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");

    while (rc == 0 && (item = strsep(&rest, ","))) {
        const char *sign = strchr(item, '=');
        struct stat old, new;

        if (!sign)
            continue;
        if (strncmp(item, "json=", 5) == 0 && !s->result)
            s->result = strdup(sign + 1);
        if (stat(s->path, &old) == 0 && stat(sign + 1, &new) == 0 &&
            old.st_dev == new.st_dev && old.st_ino == new.st_ino)
            rc = sb_err_set(err, SB_EUSAGE,
                "--report: rerun does not replace the file that it repeats: %s",
                s->path);
        else if (s->result && (strcmp(s->result, "-") == 0 ||
                                  strncmp(s->result, "/dev/", 5) == 0))
            rc = sb_err_set(err, SB_EUSAGE,
                "--report: rerun compares the new result file, and cannot read "
                "%s again",
                s->result);
    }
    free(list);
    return rc;
}

static int choose_reports(struct settings *s, struct sb_err *err)
{
    const struct given *g = find_given(s, "report");
    struct sb_buf b = { 0 };

    s->report = strdup(g && g->value ? g->value : "text");
    if (!s->report)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    int rc = check_reports(s, err);

    if (rc || s->result)
        return rc;
    s->result = new_name(s->path, err);
    if (!s->result)
        return err->code;
    sb_buf_addf(&b, "%s,json=%s", s->report, s->result);
    free(s->report);
    s->report = b.failed ? NULL : b.data;
    if (b.failed) {
        sb_buf_done(&b);
        s->report = NULL;
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    return 0;
}

// Executing the program -------------------------------------------------------

static int execute(struct settings *s, struct sb_err *err)
{
    struct sb_app_setup setup = {
        .role = SB_SETUP_OF_RERUN, .rerun = (char *)s->path, .result = s->result
    };
    char *argv[] = { s->a->argv[0], (char *)SB_SETUP_FROM_STDIN, NULL,
        (char *)(s->test ? s->test : "--mix"), (char *)"run", NULL };
    char mpi[64];
    struct sb_buf b;
    int fd, rc = sb_app_setup_replace(s->a, s->argv, s->argc, err);

    if (rc)
        return rc;
    sb_buf_init(&b, 0);
    sb_app_setup_put(s->a, &setup, &b);
    fd = sb_app_setup_file(&b, err);
    sb_buf_done(&b);
    if (fd < 0)
        return err->code;
    // Read before the setup is there.
    snprintf(mpi, sizeof(mpi), "--mpi=%s", sb_app_job_setting(s->a));
    argv[2] = mpi;
    fflush(stdout);
    if (dup2(fd, STDIN_FILENO) >= 0)
        execv("/proc/self/exe", argv);
    return sb_err_set(
        err, SB_ESYS, "cannot execute the program: %s", strerror(errno));
}

int sb_app_rerun(struct sb_app *a)
{
    struct settings s = { .a = a };
    struct sb_err err = { 0 };
    int rc = take_words(&s, &err);

    if (rc == 0)
        rc = check_given(&s, &err);
    if (rc == 0)
        rc = read_file(&s, &err);
    if (rc == 0) {
        const char *mix = sb_result_option(s.run, "mix");

        s.test = sb_result_text(s.run, "test");
        if (mix && strcmp(mix, s.test) == 0)
            s.test = NULL;
        rc = choose_reports(&s, &err);
    }
    if (rc == 0)
        rc = make_arguments(&s, &err);
    if (rc == 0)
        execute(&s, &err);
    sb_log(SB_LOG_USAGE, "%s", err.msg);
    settings_done(&s);
    return SB_EXIT_FAILED;
}

// The new run -----------------------------------------------------------------

struct sb_app_rerun {
    struct sb_result_file file;
};

static const json_t *old_run(const struct sb_app *a)
{
    return a->rerun->file.run[0].json;
}

struct check {
    const char *path; // of the result file
    const json_t *scripts;
    struct sb_err *err;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

// A file counts by its content: installations have different folders.
static void check_script(void *arg, const char *path, const char *sha256)
{
    struct check *c = arg;
    const char *then = NULL;

    for (size_t i = 0; i < json_array_size(c->scripts); i++) {
        const json_t *o = json_array_get(c->scripts, i);
        const char *sum = sb_result_member(o, "sha256");

        if (strcmp(sum, sha256) == 0)
            return;
        if (strcmp(base_of(sb_result_member(o, "file")), base_of(path)) == 0)
            then = sum;
    }
    if (c->err->code)
        return;
    if (then)
        sb_err_set(c->err, SB_EUSAGE,
            "%s has changed since the run in %s: its SHA-256 was %.12s and is "
            "%.12s",
            path, c->path, then, sha256);
    else
        sb_err_set(c->err, SB_EUSAGE,
            "the run in %s did not load %s (SHA-256 %.12s)", c->path, path,
            sha256);
}

struct search {
    const char *path, *sha256;
    bool found;
};

static void find_script(void *arg, const char *path, const char *sha256)
{
    struct search *s = arg;

    s->found = s->found || (strcmp(s->sha256, sha256) == 0 &&
                               strcmp(base_of(s->path), base_of(path)) == 0);
}

// Modules that a script requires later are not loaded yet. What is loaded may
// be in other folders now.
static void check_others(const struct sb_app *a, struct check *c)
{
    char sum[SB_SHA256_TEXT];

    for (size_t i = 0; i < json_array_size(c->scripts); i++) {
        const json_t *o = json_array_get(c->scripts, i);
        const char *path = sb_result_member(o, "file");
        struct search s = { path, sb_result_member(o, "sha256"), false };

        sb_app_each_file(a, find_script, &s);
        if (!s.found && sb_sha256_file(path, sum))
            check_script(c, path, sum);
    }
}

int sb_app_rerun_check(struct sb_app *a, struct sb_err *err)
{
    int rc;

    a->rerun = calloc(1, sizeof(*a->rerun));
    if (!a->rerun)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = sb_result_read(&a->rerun->file, a->setup.rerun, err);
    if (rc == 0 && a->rerun->file.nruns != 1)
        rc = sb_err_set(err, SB_EUSAGE, "%s was replaced", a->setup.rerun);
    if (rc)
        return rc;
    struct check c = { a->setup.rerun, json_object_get(old_run(a), "scripts"),
        err };

    err->code = 0;
    if (c.scripts) {
        sb_app_each_file(a, check_script, &c);
        check_others(a, &c);
    } else if (!a->builtin) {
        sb_log(SB_LOG_WARNING,
            "%s does not say which version of the script its run used", c.path);
    }
    return err->code;
}

// Before users connect --------------------------------------------------------

// Returns the database of the old run that this one is to be compared with: the
// same address, or the only one. New reference; NULL: none.
static json_t *same_database(const json_t *run, const char *address)
{
    json_t *list = json_object_get(run, "databases"), *one;
    size_t i;

    json_array_foreach(list, i, one)
    {
        if (json_array_size(list) == 1 ||
            strcmp(sb_result_member(one, "address"), address) == 0)
            return json_pack("[O]", one);
    }
    return json_array();
}

// The facts of the old run, with this list of databases.
static void old_facts(
    const struct sb_app *a, struct sb_run_facts *f, json_t *databases)
{
    json_t *run = json_copy((json_t *)(uintptr_t)old_run(a));

    sb_run_facts_init(f);
    sb_run_facts_add_program(
        f, json_object_get(a->rerun->file.json, "program"));
    if (run && json_object_set_new(run, "databases", databases) == 0)
        sb_run_facts_add(f, run);
    json_decref(run);
}

static void new_facts(struct sb_app *a, struct sb_run_facts *f,
    const struct sb_server_facts *server)
{
    struct sb_setting_fact *settings = sb__app_settings(server);
    struct sb_database_facts database;
    json_t *program = sb_json_program(&a->facts), *run;

    database = sb__app_database_facts(server, settings);
    if (settings && server->driver) {
        a->facts.databases = &database;
        a->facts.ndatabases = 1;
    }
    run = sb_json_facts(&a->facts);
    a->facts.databases = NULL;
    a->facts.ndatabases = 0;
    sb_run_facts_init(f);
    sb_run_facts_add_program(f, program);
    sb_run_facts_add(f, run);
    json_decref(program);
    json_decref(run);
    free(settings);
}

static void print_differences(const struct sb_app *a, const json_t *list)
{
    char path[512], started[64];

    sb_escape_line(path, sizeof(path), a->setup.rerun);
    sb_escape_line(started, sizeof(started),
        sb_result_text(&a->rerun->file.run[0], "started"));
    printf("This run repeats that of %s, started %s.\n", path, started);
    if (json_array_size(list) > 0)
        printf("What differs (then / now):\n");
    else
        printf("Nothing differs, as far as it is known before the run.\n");
    sb_differences_print(list, stdout);
    printf("\n");
    fflush(stdout);
}

static void compare_before(struct sb__listening *t)
{
    struct sb_app *a = t->a;
    const struct sb_first_look *first = &t->server.first;
    struct sb_run_facts then, now;
    json_t *list;

    if (!a->rerun || sb__app_quiet(a))
        return;
    if (first->failed)
        sb_log(SB_LOG_NOTICE, "the server could not be compared: %s",
            first->trips.why);
    old_facts(a, &then, same_database(old_run(a), first->facts.server.address));
    new_facts(a, &now, &first->facts);
    list = sb_run_facts_compare(&then, &now);
    if (list)
        print_differences(a, list);
    json_decref(list);
    sb_run_facts_done(&then);
    sb_run_facts_done(&now);
}

const struct sb__app_listener sb__app_rerun_listener = {
    .connecting = compare_before,
};

// After the run ---------------------------------------------------------------

static int compare_after(struct sb_app *a)
{
    const struct sb_cmd *cmd = &sb_cmd_compare;
    const char *const file[] = { a->setup.rerun, a->setup.result };
    struct sb_cmd_args args = { .file = file,
        .nfiles = 2,
        .text = &a->text_opts,
        // Programs that read a report get nothing else.
        .out = a->reporters.alone ? stderr : stdout };
    void *o = calloc(1, cmd->opts_size);
    struct sb_err err = { 0 };
    int status = SB_EXIT_FAILED;

    // Not the registry of the run: a script may have options of these names.
    args.opts = sb_opts_new();
    args.o = o;
    // Two single runs of the same thing are rarely known to be equivalent.
    if (!o || !args.opts)
        sb_err_set(&err, SB_ENOMEM, "out of memory");
    else if (sb_opts_add(args.opts, cmd->opts, o, &err) == 0 &&
             sb_opts_give(
                 args.opts, "name", "the repeated run,the new run", &err) == 0)
        sb_opts_give(args.opts, "pass", "better,equivalent,inconclusive", &err);
    if (err.code) {
        sb_log(SB_LOG_FATAL, "%s", err.msg);
    } else {
        fprintf(args.out, "\nComparison with the repeated run:\n");
        status = cmd->run(&args);
    }
    sb_opts_free(args.opts);
    free(o);
    return status;
}

int sb_app_rerun_end(struct sb_app *a, int status)
{
    if (!a->rerun || a->leave ||
        (status != SB_EXIT_OK && status != SB_EXIT_LIMITS))
        return status;
    fflush(stdout);
    int compared = compare_after(a);

    return status ? status : compared;
}

void sb_app_rerun_done(struct sb_app *a)
{
    if (!a->rerun)
        return;
    sb_result_done(&a->rerun->file);
    free(a->rerun);
    a->rerun = NULL;
}
