// SPDX-License-Identifier: GPL-2.0-or-later
//
// The settings of another process: the ranks of a job get those of rank 0, the
// processes of a sweep get those of the sweep, with the values of their run,
// and a run that is repeated gets those of its result file. They come in a
// message, or on standard input, so that no secret is on a command line.
#define _GNU_SOURCE // memfd_create()
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/app.h"
#include "base/log.h"
#include "base/wire.h"
#include "kit/clock.h"

extern char **environ;

static bool is_setting(const char *variable)
{
    return strncmp(variable, "SYSBENCH_", 9) == 0 ||
           strncmp(variable, "LUA_PATH=", 9) == 0 ||
           strncmp(variable, "LUA_CPATH=", 10) == 0;
}

// Variables that say where the program and scripts find their files. Another
// program keeps its own (own_places), and does not get those of this process.
static bool is_place(const char *variable)
{
    return is_setting(variable) &&
           (strncmp(variable, "SYSBENCH_", 9) != 0 ||
               strncmp(variable, "SYSBENCH_DRIVER_DIR=", 20) == 0 ||
               strncmp(variable, "SYSBENCH_LUA_DIR=", 17) == 0);
}

static int keep(struct sb_buf *b, char *const *argv, size_t argc,
    bool (*keeps)(const char *variable), struct sb_err *err)
{
    unsigned n = 0;

    sb_buf_init(b, 0);
    sb_wire_put_text(b, sb_app_version());
    sb_wire_put(b, (uint64_t)argc);
    for (size_t i = 0; i < argc; i++)
        sb_wire_put_text(b, argv[i]);
    for (char **e = environ; *e; e++)
        n += keeps(*e);
    sb_wire_put(b, n);
    for (char **e = environ; *e; e++)
        if (keeps(*e))
            sb_wire_put_text(b, *e);
    return b->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

int sb_app_setup_keep(struct sb_app *a, struct sb_err *err)
{
    return keep(&a->settings, a->argv, (size_t)a->argc, is_setting, err);
}

int sb_app_setup_given(
    const struct sb_app *a, char ***argv, size_t *argc, struct sb_err *err)
{
    struct sb_wire w = sb_wire_of(a->settings.data, a->settings.len);
    size_t len, n;

    sb_wire_get_bytes(&w, &len); // the version
    n = (size_t)sb_wire_get(&w);
    *argc = 0;
    *argv = calloc(n + 1, sizeof(**argv));
    while (*argv && *argc < n) {
        const char *text = sb_wire_get_bytes(&w, &len);

        (*argv)[*argc] = strndup(text, len);
        if (!(*argv)[*argc])
            break;
        ++*argc;
    }
    return *argv && *argc == n ? 0
                               : sb_err_set(err, SB_ENOMEM, "out of memory");
}

int sb_app_setup_replace(
    struct sb_app *a, char *const *argv, size_t argc, struct sb_err *err)
{
    sb_buf_done(&a->settings);
    return keep(&a->settings, argv, argc, is_place, err);
}

static void add_variables(struct sb_buf *b, struct sb_wire w, bool places)
{
    struct sb_buf kept = { 0 };
    uint64_t n = 0;
    size_t len;

    for (uint64_t left = sb_wire_get(&w); left > 0; left--) {
        const char *text = sb_wire_get_bytes(&w, &len);

        if (!places && is_place(text))
            continue;
        sb_wire_put_bytes(&kept, text, len);
        n++;
    }
    sb_wire_put(b, n);
    sb_buf_add(b, kept.data, kept.len);
    b->failed |= kept.failed;
    sb_buf_done(&kept);
}

// From a->settings, because secrets in a->argv are not readable any more.
int sb_app_setup_add(const struct sb_app *a, const struct sb_ab_side *side,
    const char *version, struct sb_buf *b, struct sb_err *err)
{
    struct sb_wire w = sb_wire_of(a->settings.data, a->settings.len);
    const char *test = side->test;
    size_t len;

    sb_buf_init(b, 0);
    sb_wire_get_bytes(&w, &len); // the version of this program
    sb_wire_put_text(b, version);
    uint64_t argc = sb_wire_get(&w);
    sb_wire_put(b, argc + side->n + (test != NULL));
    for (uint64_t i = 0; i < argc; i++) {
        const char *text = sb_wire_get_bytes(&w, &len);

        sb_wire_put_bytes(b, text, len);
        if (test && len == 2 && memcmp(text, "ab", 2) == 0) {
            sb_wire_put_text(b, test);
            test = NULL;
        }
    }
    for (size_t i = 0; i < side->n; i++)
        sb_wire_put_text(b, side->word[i]);
    add_variables(b, w, !side->program);
    return b->failed ? sb_err_set(err, SB_ENOMEM, "out of memory") : 0;
}

static void put_facts(struct sb_buf *b, const struct sb_fact *fact, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sb_wire_put_text(b, fact[i].name);
        sb_wire_put_text(b, fact[i].value);
    }
}

void sb_app_setup_put(
    const struct sb_app *a, const struct sb_app_setup *s, struct sb_buf *b)
{
    const struct sb_buf *given = s->given ? s->given : &a->settings;

    sb_buf_add(b, given->data, given->len);
    sb_wire_put(b, s->seed);
    sb_wire_put_text(b, s->workloads);
    sb_wire_put(b, s->role);
    if (s->role == SB_SETUP_OF_RANK)
        return;
    if (s->role == SB_SETUP_OF_RERUN) {
        sb_wire_put_text(b, s->rerun);
        sb_wire_put_text(b, s->result);
        return;
    }
    sb_wire_put_text(b, s->command);
    sb_wire_put_text(b, s->report);
    sb_wire_put(b, s->nvalues);
    sb_wire_put(b, s->nshown);
    put_facts(b, s->value, s->nvalues);
    put_facts(b, s->shown, s->nshown);
    sb_wire_put(b, s->round);
    sb_wire_put(b, s->place);
    sb_wire_put(b, s->places);
    sb_wire_put(b, s->following);
    sb_wire_put(b, s->ends);
    sb_wire_put(b, (uint64_t)(s->notices + 1));
    sb_wire_put_bytes(b, s->kept, sizeof(s->kept));
    sb_wire_put_text(b, s->started);
    sb_wire_put(b, s->script != NULL);
    sb_wire_put_bytes(b, s->script ? s->script : "", s->script_len);
    sb_wire_put(b, s->program != NULL);
}

int sb_app_setup_file(const struct sb_buf *b, struct sb_err *err)
{
    int fd = memfd_create("sysbench-settings", MFD_CLOEXEC);

    if (fd >= 0)
        errno = ENOSPC; // of a write that is too short
    if (fd >= 0 && !b->failed &&
        write(fd, b->data, b->len) == (ssize_t)b->len &&
        lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    sb_err_set(err, SB_ESYS, "cannot pass the settings to a run: %s",
        b->failed ? "out of memory" : strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

// Taking --------------------------------------------------------------------

// Without memory, w->bad is set and errno is ENOMEM.
static char *take_string(struct sb_wire *w)
{
    size_t len;
    const char *data = sb_wire_get_bytes(w, &len);
    char *text = strndup(data, len);

    w->bad |= !text;
    return text;
}

static void take_facts(struct sb_wire *w, struct sb_fact *fact, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        fact[i].name = take_string(w);
        fact[i].value = take_string(w);
    }
}

static void take_sweep(struct sb_app_setup *s, struct sb_wire *w)
{
    size_t len;

    s->command = take_string(w);
    s->report = take_string(w);
    uint64_t n = sb_wire_get(w), shown = sb_wire_get(w);
    if (n > SB_SWEEP_OPTIONS_MAX || shown > SB_SWEEP_OPTIONS_MAX) {
        w->bad = true;
        return;
    }
    s->nvalues = (unsigned)n;
    s->nshown = (unsigned)shown;
    take_facts(w, s->value, s->nvalues);
    take_facts(w, s->shown, s->nshown);
    s->round = (unsigned)sb_wire_get(w);
    s->place = (unsigned)sb_wire_get(w);
    s->places = (unsigned)sb_wire_get(w);
    s->following = (unsigned)sb_wire_get(w);
    s->ends = sb_wire_get(w);
    s->ends += s->ends ? sb_clock_monotonic() : 0;
    s->notices = (int)sb_wire_get(w) - 1;
    const char *kept = sb_wire_get_bytes(w, &len);
    w->bad |= len != sizeof(s->kept);
    if (!w->bad)
        memcpy(s->kept, kept, len);
    s->started = take_string(w);
    bool has_script = sb_wire_get(w) != 0;
    const char *script = sb_wire_get_bytes(w, &s->script_len);
    s->script = has_script ? calloc(1, s->script_len + 1) : NULL;
    if (s->script)
        memcpy(s->script, script, s->script_len);
    w->bad |= has_script && !s->script;
    s->own_places = w->at < w->end && sb_wire_get(w) != 0;
}

static int check_version(struct sb_wire *w, struct sb_err *err)
{
    char version[64];

    sb_wire_get_text(w, version, sizeof(version));
    if (strcmp(version, sb_app_version()) == 0)
        return 0;
    return sb_err_set(err, SB_EUSAGE,
        "this process is %s, but its settings are from %s", sb_app_version(),
        version[0] ? version : "another program");
}

static void remove_settings(bool places)
{
    for (char **e = environ; *e;) {
        char name[128];
        size_t len = strcspn(*e, "=");

        if (!is_setting(*e) || (!places && is_place(*e)) ||
            len >= sizeof(name)) {
            e++;
            continue;
        }
        memcpy(name, *e, len);
        name[len] = '\0';
        unsetenv(name); // moves the following ones here
    }
}

static void take_variables(struct sb_wire *w)
{
    for (uint64_t n = sb_wire_get(w); n > 0 && !w->bad; n--) {
        char *variable = take_string(w);

        // It lives as long as the program.
        if (variable && putenv(variable))
            w->bad = true;
    }
}

static int invalid(struct sb_err *err)
{
    if (errno == ENOMEM)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb_err_set(err, SB_EINTERNAL, "invalid settings of another process");
}

int sb_app_setup_take(struct sb_app *a, struct sb_wire *w, struct sb_err *err)
{
    struct sb_app_setup *s = &a->setup;
    int rc = check_version(w, err);
    uint64_t argc = rc == 0 ? sb_wire_get(w) : 0;

    if (rc)
        return rc;
    errno = 0; // see take_string()
    if (argc > (uint64_t)(w->end - w->at))
        return invalid(err);
    s->argv = calloc(argc + 1, sizeof(*s->argv));
    if (!s->argv)
        return invalid(err);
    for (uint64_t i = 0; i < argc && !w->bad; i++)
        s->argv[i] = take_string(w);
    struct sb_wire variables = *w;
    size_t len;
    for (uint64_t n = sb_wire_get(w); n > 0 && !w->bad; n--)
        sb_wire_get_bytes(w, &len);
    s->seed = sb_wire_get(w);
    s->workloads = take_string(w);
    s->role = (enum sb_app_setup_role)sb_wire_get(w);
    if (s->role == SB_SETUP_OF_RERUN) {
        s->rerun = take_string(w);
        s->result = take_string(w);
    } else if (s->role != SB_SETUP_OF_RANK) {
        take_sweep(s, w);
    }
    remove_settings(!s->own_places);
    take_variables(&variables);
    if (w->bad || variables.bad || s->role > SB_SETUP_OF_RERUN)
        return invalid(err);
    if (s->role == SB_SETUP_OF_RUN && s->notices >= 0) {
        fcntl(s->notices, F_SETFD, FD_CLOEXEC);
        sb_log_share(s->notices);
    }
    a->argc = (int)argc;
    a->argv = s->argv;
    return 0;
}

// Standard input --------------------------------------------------------------

bool sb_app_setup_awaited(const struct sb_app *a)
{
    return a->argc > 1 && strcmp(a->argv[1], SB_SETUP_FROM_STDIN) == 0;
}

static int read_input(struct sb_buf *b, struct sb_err *err)
{
    char part[65536];
    ssize_t n;

    while ((n = read(STDIN_FILENO, part, sizeof(part))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return sb_err_set(err, SB_ESYS,
                "cannot read settings from standard input: %s",
                strerror(errno));
        sb_buf_add(b, part, (size_t)n);
    }
    if (b->failed)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (b->len == 0)
        return sb_err_set(err, SB_EUSAGE,
            "this process gets no settings on standard input: a launcher "
            "(--launch) must connect it with rank 0, and belong to an MPI that "
            "sysbench was built with");
    return 0;
}

// The sweep waits for this file of a process that a launcher starts.
static void tell_start(const struct sb_app_setup *s)
{
    int fd = s->started && *s->started
                 ? open(s->started, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)
                 : -1;

    if (fd >= 0)
        close(fd);
}

int sb_app_setup_read(struct sb_app *a, struct sb_err *err)
{
    struct sb_buf b;

    sb_buf_init(&b, 0);
    int rc = read_input(&b, err);
    struct sb_wire w = sb_wire_of(b.data, b.len);

    if (rc == 0)
        rc = sb_app_setup_take(a, &w, err);
    sb_buf_done(&b);
    a->setup.answer = -1;
    if (rc == 0 && a->setup.role == SB_SETUP_OF_CHECK)
        a->setup.answer = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        close(null);
    }
    if (rc == 0)
        tell_start(&a->setup);
    return rc;
}

void sb_app_setup_done(struct sb_app *a)
{
    struct sb_app_setup *s = &a->setup;

    sb_buf_done(&a->settings);
    for (int i = 0; s->argv && s->argv[i]; i++)
        free(s->argv[i]);
    free(s->argv);
    free(s->workloads);
    free(s->command);
    free(s->report);
    free(s->started);
    free(s->script);
    free(s->rerun);
    free(s->result);
    for (unsigned i = 0; i < s->nvalues; i++) {
        free((char *)s->value[i].name);
        free((char *)s->value[i].value);
    }
    for (unsigned i = 0; i < s->nshown; i++) {
        free((char *)s->shown[i].name);
        free((char *)s->shown[i].value);
    }
    *s = (struct sb_app_setup){ 0 };
}
