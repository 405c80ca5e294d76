// SPDX-License-Identifier: GPL-2.0-or-later
//
// The state that the connections of one instance share: servers, passwords,
// files, and the library's threads.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "drivers/mysql/internal.h"
#include "kit/passcmd.h"
#include "kit/sock.h"
#include "kit/userfile.h"

// Servers --------------------------------------------------------------------

// Returns 0 if the port is invalid.
static unsigned port_number(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end == text || *end || n < 1 || n > 65535 ? 0 : (unsigned)n;
}

int sbmy_places_check(const struct sbmy_places *p, struct sb_err *err)
{
    for (size_t i = 0; i < p->ports->count; i++) {
        if (port_number(p->ports->item[i]) == 0)
            return sb_err_set(err, SB_EUSAGE,
                "Invalid value for the 'mysql-port' option: '%s' (ports from "
                "1 to 65535)",
                p->ports->item[i]);
    }
    return 0;
}

static uint64_t at_least_one(size_t n)
{
    return n ? n : 1;
}

uint64_t sbmy_places_count(const struct sbmy_places *p)
{
    if (p->sockets->count)
        return p->sockets->count;
    return at_least_one(p->hosts->count) * at_least_one(p->ports->count);
}

struct sbmy_place sbmy_places_get(const struct sbmy_places *p, uint64_t number)
{
    uint64_t n = number % sbmy_places_count(p);
    uint64_t nports = at_least_one(p->ports->count);
    struct sbmy_place place = { 0 };

    if (p->sockets->count) {
        place.socket = p->sockets->item[n];
        return place;
    }
    if (p->hosts->count)
        place.host = p->hosts->item[n / nports];
    if (p->ports->count)
        place.port = port_number(p->ports->item[n % nports]);
    return place;
}

bool sbmy_place_is_address(struct sbmy_place p)
{
    return !p.socket && p.host && sb_sock_is_numeric(p.host);
}

bool sbmy_place_is_default(struct sbmy_place p)
{
    return !p.socket && p.host && strcmp(p.host, "localhost") == 0;
}

// Settings -------------------------------------------------------------------

#define MODES (SBMY_TLS_VERIFY_IDENTITY + 1)

enum sbmy_tls sbmy_tls(const struct sbmy_opts *o)
{
    const char *word = sbmy_ssl_words[o->ssl];

    if (o->ssl < (int)MODES)
        return (enum sbmy_tls)o->ssl;
    // off, false, 0, no
    return word[0] == 'f' || word[0] == '0' || word[0] == 'n' ||
                   strcmp(word, "off") == 0
               ? SBMY_TLS_DISABLED
               : SBMY_TLS_REQUIRED;
}

static int my_no_file(const char *option, const char *path, struct sb_err *err)
{
    return sb_err_set(err, SB_EUSAGE, "%s: cannot read file '%s': %s", option,
        path, strerror(errno));
}

bool sbmy_from_files(const struct sbmy_opts *o)
{
    return *o->defaults_file || *o->defaults_group;
}

static int my_find_password(struct sbmy_env *e, struct sb_err *err)
{
    const struct sbmy_opts *o = e->o;
    const char *text = getenv("MYSQL_PWD");

    if (*o->password_command && !*o->password)
        return o->dry_run ? 0
                          : sb_passcmd_new("--mysql-password-command",
                                o->password_command, &e->passcmd, err);
    if (*o->password_file && !*o->password)
        return sb_userfile_password(
            "--mysql-password-file", o->password_file, &e->password, err);
    if (*o->password)
        text = o->password;
    else if (!text && sbmy_from_files(o))
        return 0;
    e->password = strdup(text ? text : "");
    return e->password ? 0 : sb_err_no_memory(err);
}

// Oracle's library looks for a name without a '/' in the folders of the system,
// and a script may change the current folder.
static int find_files(struct sbmy_env *e, struct sb_err *err)
{
    char *path;
    int rc = 0;

    if (!*e->o->defaults_file)
        return 0;
    path = sb_userfile_path(e->o->defaults_file);
    if (!path)
        return sb_err_no_memory(err);
    e->defaults_file = realpath(path, NULL);
    if (!e->defaults_file || access(e->defaults_file, R_OK) != 0)
        rc = my_no_file("--mysql-defaults-file", path, err);
    free(path);
    return rc;
}

#if SBMY_MARIADB
static bool threads_ready(void)
{
    return true;
}

void sbmy_thread(void)
{
}
#else
// Oracle's library (but not MariaDB's) has a state for each thread. It crashes
// if a thread has none, and when it ends, it waits for threads that did not
// free theirs. When a thread ends, the destructors of its keys run in the order
// in which the keys were created, and this one must run before the library's.
// Therefore this key is created when the module is loaded, and never changes.
static pthread_key_t thread_key;
#define NO_KEY ((pthread_key_t)-1)

static void thread_ends(void *unused)
{
    mysql_thread_end();
}

__attribute__((constructor)) static void key_init(void)
{
    if (pthread_key_create(&thread_key, thread_ends))
        thread_key = NO_KEY;
}

static bool threads_ready(void)
{
    return thread_key != NO_KEY;
}

void sbmy_thread(void)
{
    if (pthread_getspecific(thread_key))
        return;
    mysql_thread_init();
    pthread_setspecific(thread_key, &thread_key);
}
#endif

// Called when the module is unloaded: until then, further instances may be
// created.
__attribute__((destructor)) static void library_end(void)
{
    mysql_library_end();
#if !SBMY_MARIADB
    pthread_key_delete(thread_key);
#endif
}

int sbmy_env_init(
    struct sb_driver_env *env, const void *opts, struct sb_err *err)
{
    struct sbmy_env *e = calloc(1, sizeof(*e));
    int rc;

    if (!e)
        return sb_err_no_memory(err);
    e->o = opts;
    e->places = (struct sbmy_places){ &e->o->hosts, &e->o->ports,
        &e->o->sockets };
    env->shared = e;
    rc = sbmy_ignore_init(&e->ignore, &e->o->ignore, err);
    if (rc == 0)
        rc = sbmy_places_check(&e->places, err);
    if (rc == 0)
        rc = my_find_password(e, err);
    if (rc == 0)
        rc = find_files(e, err);
    // The library requires a lock for its initialization; the core holds one.
    if (rc == 0 && (!threads_ready() || mysql_library_init(0, NULL, NULL)))
        rc = sb_err_set(
            err, SB_EDRIVER, "cannot initialize the MySQL client library");
    if (rc == 0)
        sbmy_thread();
    if (rc)
        sbmy_env_done(env);
    return rc;
}

void sbmy_env_done(struct sb_driver_env *env)
{
    struct sbmy_env *e = env->shared;

    if (!e)
        return;
    sbmy_ignore_done(&e->ignore);
    free(e->defaults_file);
    free(e->password);
    sb_passcmd_free(e->passcmd);
    free(e);
    env->shared = NULL;
}
