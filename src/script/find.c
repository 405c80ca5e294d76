// SPDX-License-Identifier: GPL-2.0-or-later
//
// Finds script files and modules.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kit/buf.h"
#include "base/files.h"
#include "base/opts.h"
#include "script/script_private.h"

// The order is that of sysbench 1.0.
static const char *const home_templates[] = {
    "/.luarocks/share/lua/5.1/?.lua",
    "/.luarocks/share/lua/5.1/?/init.lua",
    "/.luarocks/share/lua/?.lua",
};
static const char *const templates[] = {
    "/usr/local/share/lua/5.1/?.lua",
    "/usr/local/share/lua/5.1/?/init.lua",
    "/usr/share/lua/5.1/?.lua",
    "/usr/share/lua/5.1/?/init.lua",
};

static void default_path(struct sb_buf *b)
{
    const char *home = getenv("HOME");

    sb_buf_adds(b, "./?.lua;./?/init.lua;./src/lua/?.lua");
    for (size_t i = 0; home && i < 3; i++)
        sb_buf_addf(b, ";%s%s", home, home_templates[i]);
    for (size_t i = 0; i < 4; i++)
        sb_buf_addf(b, ";%s", templates[i]);
}

int sb__find_path(char **out)
{
    const char *user = getenv("LUA_PATH");
    const char *gap = user ? strstr(user, ";;") : NULL;
    struct sb_buf b;

    sb_buf_init(&b, 0);
    if (!user) {
        default_path(&b);
    } else if (!gap) {
        sb_buf_adds(&b, user);
    } else {
        if (gap > user) {
            sb_buf_add(&b, user, (size_t)(gap - user));
            sb_buf_adds(&b, ";");
        }
        default_path(&b);
        if (gap[2])
            sb_buf_addf(&b, ";%s", gap + 2);
    }
    if (b.failed) {
        sb_buf_done(&b);
        return SB_ENOMEM;
    }
    *out = b.data;
    return 0;
}

static bool is_file(int dir, const char *path)
{
    char copy[SB_FILE_PATH];
    struct stat st;

    return fstatat(dir, sb_file_path(path, copy), &st, 0) == 0 &&
           !S_ISDIR(st.st_mode);
}

static bool try_file(char *path, size_t size, const char *dir, const char *name,
    const char *suffix)
{
    int n = snprintf(
        path, size, "%s%s%s%s", dir, dir[0] ? "/" : "", name, suffix);

    return n > 0 && (size_t)n < size && is_file(AT_FDCWD, path);
}

static bool ends_in_lua(const char *name)
{
    size_t len = strlen(name);

    return len > 4 && strcmp(name + len - 4, ".lua") == 0;
}

static bool try_both(char *path, size_t size, const char *dir, const char *name)
{
    return try_file(path, size, dir, name, "") ||
           (!ends_in_lua(name) && try_file(path, size, dir, name, ".lua"));
}

// Tries one template of package.path with the module name.
static bool try_template(
    char *path, size_t size, const char *tpl, size_t len, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        if (tpl[i] != '?') {
            if (n + 1 >= size)
                return false;
            path[n++] = tpl[i];
            continue;
        }
        for (const char *p = name; *p; p++) {
            if (n + 1 >= size)
                return false;
            path[n++] = *p == '.' ? '/' : *p;
        }
    }
    path[n] = '\0';
    return is_file(AT_FDCWD, path);
}

bool sb__find_module(
    char *path, size_t size, const char *module_path, const char *name)
{
    const char *p = module_path;

    while (*p) {
        size_t len = strcspn(p, ";");

        if (len && try_template(path, size, p, len, name))
            return true;
        p += len + (p[len] == ';');
    }
    return false;
}

// The files that sysbench 1.0 installed: scripts of users require them. Other
// workloads are no modules: their names ("common", "json") are those of modules
// of users.
static bool is_installed_module(const char *name)
{
    static const char *const names[] = { "bulk_insert", "oltp_common",
        "oltp_delete", "oltp_insert", "oltp_point_select", "oltp_read_only",
        "oltp_read_write", "oltp_update_index", "oltp_update_non_index",
        "oltp_write_only", "select_random_points", "select_random_ranges" };

    if (strncmp(name, "sb.", 3) == 0)
        return true;
    // 1.0 also found ".oltp_common".
    name += strspn(name, "./");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

// Tries the file of a module in a folder, whose path has `len` bytes. at: where
// relative paths begin.
static bool try_folder(char *path, size_t size, int at, const char *dir,
    size_t len, const char *name)
{
    int n = snprintf(path, size, "%.*s/%s.lua", (int)len, dir, name);

    if (n < 0 || (size_t)n >= size)
        return false;
    for (char *p = path + len + 1; p < path + n - 4; p++) {
        if (*p == '.')
            *p = '/';
    }
    return is_file(at, path);
}

bool sb__find_required(char *path, size_t size, const struct sb_script *s,
    const char *module_path, const char *name, int *dir)
{
    const char *slash = strrchr(s->path, '/');
    const char *workloads = s->env.paths->workloads;
    size_t len = strlen(workloads);

    // A user's oltp_common.lua in the current folder replaces the installed
    // one, as in 1.0. For installed workloads, no file replaces modules sb.*.
    *dir = s->dir;
    if (s->installed && strncmp(name, "sb.", 3) == 0 &&
        try_folder(path, size, AT_FDCWD, workloads, len, name))
        return true;
    if (!s->installed && try_folder(path, size, s->dir, slash ? s->path : ".",
                             slash ? (size_t)(slash - s->path) : 1, name))
        return true;
    *dir = AT_FDCWD;
    return sb__find_module(path, size, module_path, name) ||
           (is_installed_module(name) &&
               try_folder(path, size, AT_FDCWD, workloads, len, name));
}

// Tries "a/mongodb/oltp.lua" in the folder of the workloads, then
// "mongodb/oltp.lua", then "oltp.lua".
static bool try_tails(
    char *path, size_t size, const char *workloads, const char *name)
{
    while (name && *name) {
        if (try_both(path, size, workloads, name))
            return true;
        name = strchr(name, '/');
        name += name != NULL;
    }
    return false;
}

bool sb_script_is_old_oltp(const char *name)
{
    return strcmp(name, "oltp") == 0;
}

bool sb__find_hidden(
    const char *found, const char *workloads, char *path, size_t size)
{
    if (strchr(found, '/'))
        return false;
    if (sb_script_is_old_oltp(found))
        found = "oltp_0_4";
    return try_both(path, size, workloads, found);
}

int sb__find(const char *name, const char *workloads, const char *module_path,
    char *path, size_t size, bool *installed, struct sb_err *err)
{
    *installed = false;
    if (try_both(path, size, "", name))
        return 0;
    if (sb_script_is_old_oltp(name) &&
        try_file(path, size, workloads, "oltp_0_4", ".lua"))
        return 0;
    if (try_file(path, size, workloads, name, ".lua"))
        return 0;
    if (sb__find_module(path, size, module_path, name))
        return 0;
    if (try_tails(path, size, workloads, name)) {
        *installed = strchr(name, '/') != NULL;
        return 0;
    }
    return sb_err_set(err, SB_ENOTFOUND,
        "Cannot find benchmark '%s': no such built-in test, file or module",
        SB_SHOWN(name));
}
