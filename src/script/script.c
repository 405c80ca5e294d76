// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loading and freeing of scripts.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kit/buf.h"
#include "base/log.h"
#include "script/script_private.h"

static bool names_stdin(const char *name)
{
    return !name || strcmp(name, "-") == 0;
}

static int read_stdin(struct sb_script *s, struct sb_err *err)
{
    char part[4096];
    struct sb_buf b;
    size_t n;

    if (s->env.text) {
        s->text = malloc(s->env.text_len + 1);
        s->text_len = s->env.text_len;
        if (s->text)
            memcpy(s->text, s->env.text, s->text_len);
        return s->text ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
    }
    if (isatty(STDIN_FILENO)) {
        printf("Reading the script from the standard input:\n\n");
        fflush(stdout);
    }
    sb_buf_init(&b, 0);
    while ((n = fread(part, 1, sizeof(part), stdin)) > 0)
        sb_buf_add(&b, part, n);
    if (ferror(stdin) || b.failed) {
        int no = b.failed ? ENOMEM : errno;

        sb_buf_done(&b);
        return sb_err_set(err, SB_ESYS,
            "cannot read the script from standard input: %s", strerror(no));
    }
    s->text_len = b.len;
    s->text = malloc(s->text_len + 1);
    if (s->text && s->text_len)
        memcpy(s->text, b.data, s->text_len);
    sb_buf_done(&b);
    return s->text ? 0 : sb_err_set(err, SB_ENOMEM, "out of memory");
}

// "path/oltp.lua" -> "oltp.lua options": the heading of the options in 1.0; of
// a component, "report: oltp.lua options"
static char *make_title(const char *given, const char *component)
{
    const char *slash = strrchr(given, '/');
    struct sb_buf b;

    sb_buf_init(&b, 0);
    if (component)
        sb_buf_addf(&b, "%s: ", component);
    sb_buf_addf(&b, "%s options", slash ? slash + 1 : given);
    if (b.failed)
        sb_buf_done(&b);
    return b.data;
}

// "path/oltp.lua" -> "oltp"
static char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t len = strlen(base);

    if (len > 4 && strcmp(base + len - 4, ".lua") == 0)
        len -= 4;
    return strndup(base, len);
}

static int locate(struct sb_script *s, const char *name, struct sb_err *err)
{
    char hidden[4096];
    bool installed;
    int rc;

    if (names_stdin(name)) {
        // A process of a sweep gets the script as text, and has a command.
        s->from_stdin = !s->env.text;
        snprintf(s->path, sizeof(s->path), "stdin");
        return read_stdin(s, err);
    }
    rc = sb__find(name, s->env.paths->workloads, s->module_path, s->path,
        sizeof(s->path), &installed, err);
    if (rc == 0 && sb__find_hidden(s->path, s->env.paths->workloads, hidden,
                       sizeof(hidden)))
        s->hidden = strdup(hidden);
    if (rc == 0 && installed && !s->env.found)
        sb_log(SB_LOG_NOTICE,
            "NOTICE: no such file: %s; using the installed %s", name, s->path);
    return rc;
}

static bool is_installed(const char *file, const void *workloads)
{
    char *dir = realpath(workloads, NULL);
    char *path = realpath(file, NULL);
    size_t len = dir ? strlen(dir) : 0;
    bool installed = dir && path && strncmp(path, dir, len) == 0 &&
                     path[len] == '/';

    free(dir);
    free(path);
    return installed;
}

// Whether all files that the script has loaded are installed: a user's file may
// replace a module of an installed workload.
static bool is_unchanged(struct sb_script *s)
{
    return s->installed && sb__codes_all_files(&s->codes, is_installed,
                               s->env.paths->workloads);
}

static int prepare(struct sb_script *s, const char *name, const char *command,
    struct sb_err *err)
{
    int rc;

    if (sb__find_path(&s->module_path))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = locate(s, name, err);
    if (rc)
        return rc;
    s->installed = is_installed(s->path, s->env.paths->workloads);
    // No notice if the user has given the name of the file, "crud.lua".
    if (s->hidden && !s->installed && !s->env.found &&
        strcmp(s->path, name) != 0)
        sb_log(SB_LOG_NOTICE,
            "NOTICE: using %s in the current folder, not the installed %s",
            s->path, s->hidden);
    s->name = base_name(s->path);
    s->title = make_title(name ? name : s->path, s->env.component);
    s->given = name ? strdup(name) : NULL;
    s->command = command ? strdup(command) : NULL;
    if (!s->name || !s->title || (name && !s->given) ||
        (command && !s->command))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    rc = sb__state_new(&s->main, s, NULL, 0, false, err);
    if (rc == 0)
        rc = sb__state_body(s->main, err);
    s->unchanged = is_unchanged(s);
    s->sharing = s->unchanged ? SB__SHARES : SB__SHARING_UNKNOWN;
    return rc;
}

int sb_script_load(struct sb_script **out, const struct sb_script_env *env,
    const char *name, const char *command, struct sb_err *err)
{
    struct sb_script *s = calloc(1, sizeof(*s));
    int rc;

    *out = NULL;
    if (!s)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    s->env = *env;
    s->dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir < 0)
        s->dir = AT_FDCWD;
    s->workload = (struct sb_workload){
        .ops = &sb__script_ops, .data = s, .slot = env->slot
    };
    pthread_mutex_init(&s->lock, NULL);
    sb__memory_init(s);
    sb__codes_init(&s->codes, sb__call_names);
    sb_sequences_init(
        &s->sequences, env->run->share.rank, env->run->share.ranks);
    sb_clock_init(&s->clock);
    rc = prepare(s, name, command, err);
    if (rc) {
        sb_script_free(s);
        return rc;
    }
    if (sb__state_has(s->main, "hooks", "check_tables"))
        s->workload.check_name = "checking the tables";
    s->report_interval = sb__state_has(s->main, "hooks", "report_intermediate");
    s->report_final = sb__state_has(s->main, "hooks", "report_cumulative");
    s->report_line = sb__state_has(s->main, "hooks", "report_line");
    *out = s;
    return 0;
}

void sb_script_free(struct sb_script *s)
{
    if (!s)
        return;
    sb__state_free(s->report);
    sb__state_free(s->main);
    sb__compat_enter(NULL);
    sb__options_done(s);
    sb__randoms_done(s);
    sb__results_done(s);
    sb__memory_done(s);
    sb__codes_done(&s->codes);
    sb_sequences_done(&s->sequences);
    pthread_mutex_destroy(&s->lock);
    if (s->dir != AT_FDCWD)
        close(s->dir);
    free(s->module_path);
    free(s->given);
    free(s->hidden);
    free(s->name);
    free(s->title);
    free(s->command);
    sb__commands_done(s);
    free(s->text);
    free(s);
}

int sb_script_ready(struct sb_script *s, struct sb_err *err)
{
    int rc = sb__options_read(s, err);

    if (rc)
        return rc;
    s->ready = true;
    // A script may have options of its own with the names of those of ranks.
    s->sequences.rank = s->env.run->share.rank;
    s->sequences.ranks = s->env.run->share.ranks;
    // The seed is known only now.
    sb_random_init(&s->main->own, s->env.random, UINT64_MAX);
    s->main->ctx.seed = s->env.random->seed;
    return sb__state_options(s->main, err);
}

const char *sb_script_name(const struct sb_script *s)
{
    return s->name;
}

const char *sb_script_title(const struct sb_script *s)
{
    return s->title;
}

bool sb_script_is_legacy(const struct sb_script *s)
{
    return s->legacy;
}

bool sb_script_own_loop(const struct sb_script *s)
{
    return sb__state_has(s->main, NULL, "thread_run");
}

bool sb_script_is_installed(const struct sb_script *s)
{
    return s->unchanged;
}

const char *sb_script_hidden(const struct sb_script *s)
{
    return s->hidden;
}

bool sb_script_blocks(struct sb_script *s, char *what, size_t size)
{
    struct sb_err err = { 0 };
    lua_State *L = s->main->L;

    what[0] = '\0';
    if (s->unchanged)
        return false;
    int rc = sb__state_module(s->main, "blocking", "find", &err);

    if (rc == 0) {
        int n = sb__codes_push_files(&s->codes, L);

        rc = sb__state_call(s->main, "blocking", n, 1, &err);
    }
    if (rc)
        snprintf(what, size, "%s", err.msg);
    else if (lua_isstring(L, -1))
        snprintf(what, size, "%s", lua_tostring(L, -1));
    lua_settop(L, 0);
    return what[0] != '\0';
}

void sb_script_each_file(struct sb_script *s,
    void (*visit)(void *arg, const char *path, const char *sha256), void *arg)
{
    sb__codes_each_file(&s->codes, visit, arg);
}

bool sb_script_from_stdin(const struct sb_script *s)
{
    return s->from_stdin;
}

struct sb_workload *sb_script_workload(struct sb_script *s)
{
    return &s->workload;
}
