// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/beside.h"

#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "check.h"
#include "check_folder.h"

#define SECOND UINT64_C(1000000000)

static struct sb_beside_opts opts(const char *command)
{
    return (struct sb_beside_opts){
        .command = command, .name = "", .output = "out"
    };
}

// Runs the command to its end.
static struct sb_beside_state run(const char *command)
{
    struct sb_beside_opts o = opts(command);
    struct sb_beside_state s = { 0 };
    struct sb_beside *b;
    struct sb_err err;

    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    CHECK_INT(sb_beside_start(b, 0, &err), 0);
    CHECK(sb_beside_wait(b, sb_clock_monotonic() + 60 * SECOND));
    sb_beside_state(b, &s);
    sb_beside_destroy(b);
    return s;
}

static const char *content(const char *path)
{
    static char text[200];
    FILE *in = fopen(path, "r");
    size_t n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;

    text[n] = '\0';
    if (in)
        fclose(in);
    return text;
}

static void ends_by_itself(void)
{
    struct sb_beside_state s = run("echo to stdout; echo to stderr >&2; cat");

    CHECK(s.started && s.ended && !s.stopped);
    CHECK(s.end_ns >= s.start_ns && s.start_ns > 0);
    CHECK_INT(s.status, 0);
    CHECK_INT(s.signal, 0);
    CHECK(s.rss > 0);
    CHECK_STR(content("out"), "to stdout\nto stderr\n");
}

static void fails(void)
{
    struct sb_beside_state s = run("exit 3");

    CHECK(s.ended && !s.stopped);
    CHECK_INT(s.status, 3);
    s = run("kill -9 $$");
    CHECK_INT(s.status, -1);
    CHECK_INT(s.signal, SIGKILL);
    s = run("./does-not-exist");
    CHECK_INT(s.status, 127);
}

// As a parent may leave it.
static void reports_its_status_with_sigchld_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    CHECK_INT(run("exit 3").status, 3);
    signal(SIGCHLD, SIG_DFL);
}

// A command that asks for a password must not wait for a terminal.
static void has_no_terminal(void)
{
    CHECK_INT(run("test $(cut -d ' ' -f 6 /proc/$$/stat) = $$").status, 0);
}

static void starts_at_its_time(void)
{
    struct sb_beside_opts o = opts("true");
    uint64_t at = sb_clock_monotonic() + SECOND / 10;
    struct sb_beside_state s;
    struct sb_beside *b;
    struct sb_err err;

    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    CHECK_INT(sb_beside_start(b, at, &err), 0);
    CHECK(sb_beside_wait(b, at + 60 * SECOND));
    sb_beside_state(b, &s);
    CHECK(s.start_ns >= at);
    sb_beside_destroy(b);
}

static void is_not_started_after_the_end(void)
{
    struct sb_beside_opts o = opts("echo started");
    struct sb_beside_state s;
    struct sb_beside *b;
    struct sb_err err;

    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    CHECK_INT(
        sb_beside_start(b, sb_clock_monotonic() + 3600 * SECOND, &err), 0);
    CHECK(!sb_beside_wait(b, 0));
    sb_beside_stop(b, SECOND);
    sb_beside_state(b, &s);
    CHECK(!s.started && !s.ended && !s.stopped);
    CHECK(sb_beside_wait(b, 0));
    sb_beside_destroy(b);
    CHECK_STR(content("out"), "");
}

static void is_not_started_after_an_early_stop(void)
{
    struct sb_beside_opts o = opts("echo started");
    struct sb_beside_state s;
    struct sb_beside *b;
    struct sb_err err;

    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    sb_beside_stop(b, 3600 * SECOND);
    CHECK_INT(sb_beside_start(b, 0, &err), 0);
    CHECK(sb_beside_wait(b, sb_clock_monotonic() + 60 * SECOND));
    sb_beside_state(b, &s);
    CHECK(!s.started && !s.ended);
    sb_beside_destroy(b);
    CHECK_STR(content("out"), "");
}

// Waits until the command has written this text.
static void wait_for(const char *text)
{
    for (int i = 0; i < 6000 && strcmp(content("out"), text) != 0; i++)
        sb_clock_sleep_until(sb_clock_monotonic() + SECOND / 100);
    CHECK_STR(content("out"), text);
}

static struct sb_beside_state stop(const char *command, uint64_t grace)
{
    struct sb_beside_opts o = opts(command);
    struct sb_beside_state s = { 0 };
    struct sb_beside *b;
    struct sb_err err;

    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    CHECK_INT(sb_beside_start(b, 0, &err), 0);
    wait_for("ready\n");
    sb_beside_stop(b, grace);
    sb_beside_state(b, &s);
    sb_beside_destroy(b);
    return s;
}

static void is_stopped(void)
{
    struct sb_beside_state s = stop("echo ready; sleep 3600", 60 * SECOND);

    CHECK(s.ended && s.stopped);
    CHECK_INT(s.signal, SIGTERM);
    s = stop("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done",
        60 * SECOND);
    CHECK(s.ended && s.stopped);
    CHECK_INT(s.status, 5);
    // The shell is in state T, stopped, when "ready" is written.
    s = stop("p=$$; (until grep -q '^State:.T' /proc/$p/status; do "
             "sleep 0.01; done; echo ready) & kill -STOP $p",
        60 * SECOND);
    CHECK_INT(s.signal, SIGTERM);
}

static void is_killed_after_the_grace_period(void)
{
    struct sb_beside_state s = stop(
        "trap '' TERM; echo ready; while :; do sleep 0.01; done", SECOND / 20);

    CHECK(s.ended && s.stopped);
    CHECK_INT(s.signal, SIGKILL);
}

// A process that the shell started ignores SIGTERM and outlives the shell.
static void leaves_no_process(void)
{
    struct sb_beside_state s = stop(
        "(trap '' TERM; echo $$ >group; echo ready; exec sleep 3600) & "
        "wait",
        SECOND / 20);
    pid_t group = (pid_t)strtol(content("group"), NULL, 10);

    CHECK(s.stopped && group > 1);
    // A killed process may exist for a moment.
    for (int i = 0; i < 6000 && kill(-group, 0) == 0; i++)
        sb_clock_sleep_until(sb_clock_monotonic() + SECOND / 100);
    CHECK(kill(-group, 0) != 0);
}

static void is_killed_if_the_program_exits(void)
{
    struct sb_beside_opts o = opts("trap '' TERM; echo ready; sleep 3600");
    struct sb_beside_state s;
    struct sb_beside *b;
    struct sb_err err;

    sb_beside_kill(); // there is no command
    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    CHECK_INT(sb_beside_start(b, 0, &err), 0);
    wait_for("ready\n");
    // The command may be faster than the thread that starts it.
    sb_beside_state(b, &s);
    CHECK(s.started);
    sb_beside_kill();
    CHECK(sb_beside_wait(b, sb_clock_monotonic() + 60 * SECOND));
    sb_beside_state(b, &s);
    CHECK_INT(s.signal, SIGKILL);
    sb_beside_destroy(b);
}

static void has_a_file_for_its_output(void)
{
    struct sb_beside_opts o = opts("true");
    struct sb_beside *b;
    struct sb_err err = { 0 };

    o.output = "missing/out";
    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), SB_ESYS);
    CHECK_STR(err.msg, "--beside-output: cannot write to 'missing/out': "
                       "No such file or directory");
    CHECK(b == NULL);
    o.output = "";
    CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
    sb_beside_destroy(b);
    CHECK_INT(access("true.beside.log", F_OK), 0);
    CHECK_INT(sb_beside_create(&b, &o, 7, false, &err), 0);
    sb_beside_destroy(b);
    CHECK_INT(access("true-7.beside.log", F_OK), 0);
    CHECK_INT(sb_beside_create(&b, &o, 7, true, &err), 0);
    sb_beside_destroy(b);
    CHECK_INT(access("true-alone-7.beside.log", F_OK), 0);
    o.output = "given";
    CHECK_INT(sb_beside_create(&b, &o, 7, true, &err), 0);
    sb_beside_destroy(b);
    CHECK_INT(access("given.alone", F_OK), 0);
    CHECK(access("given", F_OK) != 0);
}

// 0 whole, 1 truncated, 2 removed.
static void loss_of_its_output_is_noticed(void)
{
    for (int i = 0; i < 3; i++) {
        struct sb_beside_opts o = opts("true");
        struct sb_beside *b;
        struct sb_err err = { 0 };

        o.output = "loss";
        CHECK_INT(sb_beside_create(&b, &o, 0, false, &err), 0);
        CHECK_INT(sb_beside_look(b, &err), 0);
        CHECK_INT(truncate("loss", 10), 0); // as if it was written
        CHECK_INT(sb_beside_look(b, &err), 0);
        if (i > 0)
            CHECK_INT(i == 1 ? truncate("loss", 5) : unlink("loss"), 0);
        CHECK_INT(sb_beside_look(b, &err), i > 0 ? SB_ESYS : 0);
        sb_beside_destroy(b);
    }
}

static void check_name(const char *command, const char *want)
{
    struct sb_beside_opts o = opts(command);
    char name[SB_BESIDE_NAME];

    sb_beside_name(&o, name);
    CHECK_STR(name, want);
}

static void is_named_by_its_first_word(void)
{
    check_name("pg_dump -Fc test", "pg_dump");
    check_name("/usr/bin/pg_dump test", "pg_dump");
    check_name("PGPASSWORD=a=b PGPORT=1 pg_dump test", "pg_dump");
    check_name("  (cd /tmp; ls)", "cd");
    check_name("./a=b", "a=b");
    check_name("", "command");
    check_name("PGPASSWORD='s3cret' pg_dump test", "pg_dump");
    check_name("PGPASSWORD=\"s3 cret\" pg_dump test", "pg_dump");
    check_name("PGPASSWORD=s3\\ cret'b c' \\\n 'pg_dump' test", "pg_dump");
    check_name("PGPASSWORD=\"a\\\" s3cret\" pg_dump", "pg_dump");
    check_name("A=1; B='2 3'; \"/usr/bin/pg_dump\" test", "pg_dump");
    check_name("PGPASSWORD=\"$A${B}\" PGUSER=$A${B} pg_dump test", "pg_dump");
    // Not as clear: what looks like a word may be part of a password.
    check_name("PGPASSWORD=$(cat a s3cret) pg_dump", "command");
    check_name("PGPASSWORD=`cat a s3cret` pg_dump", "command");
    check_name("PGPASSWORD=${A:-b s3cret} pg_dump", "command");
    check_name("PGPASSWORD=$'a\\' s3cret' pg_dump", "command");
    check_name("PGPASSWORD=\"$(echo \"a s3cret\")\" pg_dump", "command");
    check_name("PGPASSWORD='s3cret", "command");
    check_name("PG-PASSWORD=s3cret pg_dump", "command");
    check_name(">s3cret pg_dump", "command");
    check_name("'s3 cret' pg_dump", "command");
    check_name("a-name-that-is-far-too-long-for-a-report",
        "a-name-that-is-far-too-long-for");
}

static void has_a_default_start(void)
{
    struct sb_beside_opts o = opts("true");
    int64_t s = (int64_t)SECOND;

    CHECK_INT(sb_beside_start_time(&o, 0), 0);
    CHECK_INT(sb_beside_start_time(&o, 60 * s), 15 * s);
    CHECK_INT(sb_beside_start_time(&o, 3600 * s), 30 * s);
    o.start_given = true;
    CHECK_INT(sb_beside_start_time(&o, 60 * s), 0);
    o.start = 2 * s;
    CHECK_INT(sb_beside_start_time(&o, 60 * s), 2 * s);
}

static void options_are_checked(void)
{
    struct sb_beside_opts o = opts("true");
    struct sb_err err = { 0 };

    o.start = 5 * (int64_t)SECOND;
    o.start_given = true;
    CHECK_INT(sb_beside_check(&o, true, 0, &err), 0);
    CHECK_INT(sb_beside_check(&o, true, 6 * (int64_t)SECOND, &err), 0);
    CHECK_INT(sb_beside_check(&o, true, 5 * (int64_t)SECOND, &err), SB_EUSAGE);
    CHECK_STR(
        err.msg, "--beside-start: 5 s is too late; the run ends after 5 s");
    o.name = "a/b";
    CHECK_INT(sb_beside_check(&o, true, 0, &err), SB_EUSAGE);
    o = opts("");
    CHECK_INT(sb_beside_check(&o, false, 0, &err), 0);
    CHECK_INT(sb_beside_check(&o, true, 0, &err), SB_EUSAGE);
}

CHECK_FILE
{
    sb_log_set_level(SB_LOG_USAGE);
    check_folder();
    RUN(ends_by_itself);
    RUN(fails);
    RUN(reports_its_status_with_sigchld_ignored);
    RUN(has_no_terminal);
    RUN(starts_at_its_time);
    RUN(is_not_started_after_the_end);
    RUN(is_not_started_after_an_early_stop);
    RUN(is_stopped);
    RUN(is_killed_after_the_grace_period);
    RUN(leaves_no_process);
    RUN(is_killed_if_the_program_exits);
    RUN(has_a_file_for_its_output);
    RUN(loss_of_its_output_is_noticed);
    RUN(is_named_by_its_first_word);
    RUN(has_a_default_start);
    RUN(options_are_checked);
    return check_done();
}
