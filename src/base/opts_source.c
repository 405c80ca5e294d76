// SPDX-License-Identifier: GPL-2.0-or-later
//
// Sources of settings other than the config file: arguments, environment.

#include <ctype.h>

#include "base/opts_private.h"

#define ENV_PREFIX "SYSBENCH_"

static int bad_argument(char *arg, const char *why, struct sb_err *err)
{
    int rc = sb_err_set(
        err, SB_EUSAGE, "invalid option: %s (%s)", SB_SHOWN(arg), why);

    sb__opts_overwrite(arg, false);
    return rc;
}

static int read_option(struct sb_opts *o, char *arg, struct sb_err *err)
{
    struct sb__opts_setting s = { .source = SB_SRC_CMDLINE };
    char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);

    if (len == 2)
        return bad_argument(arg, "a name must follow the dashes", err);
    s.name = sb__opts_strndup(o, arg + 2, len - 2);
    if (!s.name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    if (equals)
        s.value = s.argv = equals + 1;
    return sb__opts_add_setting(o, &s, err);
}

// before: the argument before this one, as the user gave it.
static int read_argument(
    struct sb_opts *o, const char *before, char *arg, struct sb_err *err)
{
    struct sb__opts_setting help = { .name = "help", .source = SB_SRC_CMDLINE };
    char *copy;

    if (strncmp(arg, "--", 2) == 0)
        return read_option(o, arg, err);
    if (strcmp(arg, "-h") == 0)
        return sb__opts_add_setting(o, &help, err);
    // A password as other clients take it.
    const char *sign = strchr(arg, '='); // not "-percentile=99", but "-pUFc="
    if (arg[0] == '-' && arg[1] == 'p' && (!sign || !sign[1] || sign[1] == '='))
        sb__opts_overwrite(arg + 2, true);
    if (arg[0] == '-' && arg[1])
        return bad_argument(arg, "options begin with two dashes", err);
    copy = sb__opts_strdup(o, arg);
    if (!copy || sb__opts_push(o, &o->positions, copy))
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    // Such an option may have no value, as in "--mysql-password run".
    if (strncmp(before, "--", 2) == 0 && !strchr(before, '=') &&
        sb_opts_secret_name(before + 2)) {
        o->unshown = copy;
        o->unshown_after = before;
    }
    // As other clients take it: an error, see above.
    if (strcmp(before, "-p") == 0)
        sb__opts_overwrite(arg, true);
    return 0;
}

int sb_opts_argv(struct sb_opts *o, int argc, char **argv, struct sb_err *err)
{
    int rc = 0;

    // Continues after an error, so that no secret stays in the process list
    // while the user reads the message.
    for (int i = 1; i < argc; i++) {
        struct sb_err later;
        int one = read_argument(
            o, i > 1 ? argv[i - 1] : "", argv[i], rc ? &later : err);

        if (!rc)
            rc = one;
    }
    return rc;
}

const char *sb_opts_positional(const struct sb_opts *o, size_t n)
{
    return n < o->positions.len ? o->positions.item[n] : NULL;
}

int sb_opts_unshown(
    const struct sb_opts *o, const char *argument, struct sb_err *err)
{
    const char *name;
    struct sb_opts_unknown u;

    if (!argument || argument != o->unshown)
        return 0;
    name = o->unshown_after + 2;
    snprintf(u.name, sizeof(u.name), "%s", name);
    if (!sb__opts_lookup(o, name))
        sb_opts_unknown(o, name, true, &u);
    bool cut = strcmp(u.name, name) != 0 && u.meant[0];
    return sb_err_set(err, SB_EUSAGE,
        "Unrecognized command line argument after --%s: write --%s%s", u.name,
        cut ? u.meant : u.name, cut ? "" : "=...");
}

// Variables that are read elsewhere and are not options.
static bool is_own_variable(const char *name, size_t len)
{
    static const char *const own[] = { "DRIVER_DIR", "LUA_DIR" };

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strlen(own[i]) == len && memcmp(own[i], name, len) == 0)
            return true;
    }
    return false;
}

static int read_variable(
    struct sb_opts *o, const char *var, size_t len, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;
    struct sb__opts_setting s = { .source = SB_SRC_ENV };
    char *name = sb__opts_strndup(o, var + skip, len - skip);

    if (!name)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    for (char *p = name; *p; p++)
        *p = *p == '_' ? '-' : (char)tolower((unsigned char)*p);
    s.name = name;
    s.value = var + len + 1;
    s.origin = sb__opts_strndup(o, var, len);
    if (!s.origin)
        return sb_err_set(err, SB_ENOMEM, "out of memory");
    return sb__opts_add_setting(o, &s, err);
}

int sb_opts_env(struct sb_opts *o, char *const *envp, struct sb_err *err)
{
    const size_t skip = sizeof(ENV_PREFIX) - 1;

    for (; *envp; envp++) {
        const char *equals = strchr(*envp, '=');
        size_t len = equals ? (size_t)(equals - *envp) : 0;
        int rc;

        if (len <= skip || strncmp(*envp, ENV_PREFIX, skip) != 0 ||
            is_own_variable(*envp + skip, len - skip))
            continue;
        rc = read_variable(o, *envp, len, err);
        if (rc)
            return rc;
    }
    return 0;
}
