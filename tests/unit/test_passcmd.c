// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/passcmd.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"
#include "kit/clock.h"

#define OPTION "--x-password-command"

static struct sb_err err;

static void wait_ms(int ms)
{
    poll(NULL, 0, ms);
}

// A server -------------------------------------------------------------------

struct server {
    const char *accepts; // NULL: any password
    char got[80];        // the last password
    unsigned logins;
    void (*refuses)(void); // called when it refuses one
};

static int log_in(void *arg, const char *password, struct sb_err *e)
{
    struct server *s = arg;

    s->logins++;
    snprintf(s->got, sizeof(s->got), "%s", password);
    if (!s->accepts || strcmp(s->accepts, password) == 0)
        return 0;
    if (s->refuses)
        s->refuses();
    return sb_err_native(e, SB_ECONNECT, 7, NULL, "wrong password");
}

static bool is_refused(const struct sb_err *e)
{
    return e->native == 7;
}

static void sleep_until(uint64_t until)
{
    while (sb_clock_monotonic() < until)
        wait_ms(1);
}

static void do_not_sleep(uint64_t until)
{
    (void)until;
}

static int apart(void (*run)(void *arg), bool (*canceled)(void *arg), void *arg,
    uint64_t deadline)
{
    (void)canceled, (void)deadline;
    run(arg);
    return 0;
}

static const struct sb_passcmd_calls calls = { log_in, is_refused, sleep_until,
    apart };

static struct sb_passcmd *begin(const char *text)
{
    struct sb_passcmd *p = NULL;

    sb_err_clear(&err);
    CHECK_INT(sb_passcmd_new(OPTION, text, &p, &err), 0);
    CHECK(p != NULL);
    return p;
}

static void cannot(const char *text, int code, const char *message)
{
    struct sb_passcmd *p = NULL;

    CHECK_INT(sb_passcmd_new(OPTION, text, &p, &err), code);
    CHECK_STR(err.msg, message);
    CHECK(p == NULL);
}

static unsigned lines(const char *path)
{
    FILE *f = fopen(path, "r");
    unsigned n = 0;
    int c;

    if (!f)
        return 0;
    while ((c = getc(f)) != EOF)
        n += c == '\n';
    fclose(f);
    return n;
}

// Tests ----------------------------------------------------------------------

static void first_line(void)
{
    static const char *const cases[][2] = {
        { "echo secret", "secret" },
        { "printf 'secret\\r\\nmore\\n'", "secret" },
        { "printf 'a b '", "a b " },
        { "echo one; echo two >&2; exit 0", "one" },
        { "echo 'a;ttl=b'; echo c;ttl=1h", "a;ttl=b" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sb_passcmd *p = begin(cases[i][0]);
        struct server s = { 0 };

        CHECK_INT(sb_passcmd_login(p, &calls, &s, &err), 0);
        CHECK_STR(s.got, cases[i][1]);
        sb_passcmd_free(p);
    }
}

// Messages show neither what the command prints nor its arguments.
static void failures(void)
{
    cannot("echo SECRET; exit 3", SB_ECONNECT,
        OPTION ": 'echo ...' failed with exit status 3");
    cannot("echo SECRET; kill -9 $$", SB_ECONNECT,
        OPTION ": 'echo ...' was ended by signal 9");
    cannot("SECRET=a false", SB_ECONNECT,
        OPTION ": 'SECRET ...' failed with exit status 1");
    cannot("true", SB_ECONNECT, OPTION ": 'true' printed nothing");
    cannot("printf '\\nmore\\n'", SB_ECONNECT,
        OPTION ": 'printf ...' printed an empty line first");
    cannot("printf 'a\\0b\\n'", SB_ECONNECT,
        OPTION ": 'printf ...' printed a zero byte");
    cannot("head -c 70000 /dev/zero | tr '\\0' x", SB_ECONNECT,
        OPTION ": 'head ...' printed a line of more than 64 KiB");
    cannot("nosuchcommand SECRET", SB_ECONNECT,
        OPTION ": 'nosuchcommand ...' failed with exit status 127");
    cannot("echo a;ttl=soon", SB_EUSAGE,
        OPTION
        ": invalid ttl: a time such as ';ttl=10m' is expected at the end");
    cannot("echo a;ttl=0", SB_EUSAGE,
        OPTION
        ": invalid ttl: a time such as ';ttl=10m' is expected at the end");
}

static void *user(void *arg)
{
    struct server s = { .accepts = "1" };

    CHECK_INT(sb_passcmd_login(arg, &calls, &s, NULL), 0);
    CHECK_INT(s.logins, 1);
    return NULL;
}

static void once_for_many(void)
{
    struct sb_passcmd *p = begin("echo run >> runs; wc -l < runs | tr -d ' '");
    pthread_t thread[16];

    for (size_t i = 0; i < 16; i++)
        pthread_create(&thread[i], NULL, user, p);
    for (size_t i = 0; i < 16; i++)
        pthread_join(thread[i], NULL);
    CHECK_INT(lines("runs"), 1);
    sb_passcmd_free(p);
}

static void again_after_a_refusal(void)
{
    struct sb_passcmd *p = begin("echo run >> runs; wc -l < runs | tr -d ' '");
    struct server s = { 0 }, wrong = { .accepts = "none" };
    struct sb_passcmd_calls at_once = calls;
    unsigned before = lines("runs");
    char text[8];

    snprintf(text, sizeof(text), "%u", before + 2);
    s.accepts = text;
    CHECK_INT(sb_passcmd_login(p, &calls, &s, &err), 0);
    CHECK_INT(s.logins, 3);
    CHECK_INT(lines("runs"), before + 2);
    // The tries are bounded, and the server's error is the result.
    at_once.sleep = do_not_sleep;
    CHECK_INT(sb_passcmd_login(p, &at_once, &wrong, &err), SB_ECONNECT);
    CHECK_STR(err.msg, "wrong password");
    CHECK_INT(wrong.logins, 9);
    sb_passcmd_free(p);
}

static void never_accepted(void)
{
    struct sb_passcmd *p = begin("echo x");
    struct server wrong = { .accepts = "none" };

    CHECK_INT(sb_passcmd_login(p, &calls, &wrong, &err), SB_ECONNECT);
    CHECK_STR(err.msg, "wrong password");
    CHECK_INT(wrong.logins, 6);
    sb_passcmd_free(p);
}

static void remove_it(void)
{
    unlink("good");
}

static void fails_later(void)
{
    struct server s = { .accepts = "other", .refuses = remove_it };
    FILE *f = fopen("good", "w");

    CHECK(f != NULL);
    fputs("old\n", f);
    fclose(f);
    struct sb_passcmd *p = begin("cat good");

    CHECK_INT(sb_passcmd_login(p, &calls, &s, &err), SB_ECONNECT);
    CHECK_STR(err.msg, OPTION ": 'cat ...' failed with exit status 1");
    CHECK_INT(s.logins, 1);
    sb_passcmd_free(p);
}

// No user logs in meanwhile.
static void renewed_in_the_background(void)
{
    struct sb_passcmd *p = begin("echo run >> renewed; echo x;ttl=100ms");
    uint64_t end = sb_clock_monotonic() + 30 * SB_SECOND;

    while (lines("renewed") < 4 && sb_clock_monotonic() < end)
        wait_ms(5);
    CHECK(lines("renewed") >= 4);
    sb_passcmd_free(p);
}

// A password that is valid for less time than the command takes is used.
static void shorter_than_the_command(void)
{
    struct sb_passcmd *p = begin("sleep 0.1; echo x;ttl=1ms");
    struct server s = { 0 };

    CHECK_INT(sb_passcmd_login(p, &calls, &s, &err), 0);
    CHECK_STR(s.got, "x");
    sb_passcmd_free(p);
}

// command: is running when the program ends.
static void ends_in(const char *command)
{
    char text[200];

    unlink("first");
    unlink("pid");
    snprintf(text, sizeof(text),
        "test -e first && { echo $$ > pid; %s; }; echo x; : > first;ttl=50ms",
        command);
    struct sb_passcmd *p = begin(text);
    uint64_t end = sb_clock_monotonic() + 30 * SB_SECOND;

    while (lines("pid") < 1 && sb_clock_monotonic() < end)
        wait_ms(5);
    CHECK_INT(lines("pid"), 1);
    sb_passcmd_free(p);
    CHECK(sb_clock_monotonic() < end + 30 * SB_SECOND);
}

static void ends_with_the_program(void)
{
    ends_in("sleep 600");
    ends_in("exec >/dev/null; sleep 600");
    sb_passcmd_free(NULL);
}

CHECK_FILE
{
    check_folder();
    RUN(first_line);
    RUN(failures);
    RUN(once_for_many);
    RUN(again_after_a_refusal);
    RUN(never_accepted);
    RUN(fails_later);
    RUN(renewed_in_the_background);
    RUN(shorter_than_the_command);
    RUN(ends_with_the_program);
    return check_done();
}
