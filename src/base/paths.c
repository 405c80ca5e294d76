// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Set by the build system.
#ifndef SB_BINDIR
#define SB_BINDIR "/usr/local/bin"
#endif
#ifndef SB_DRIVERDIR
#define SB_DRIVERDIR "/usr/local/lib/sysbench"
#endif
#ifndef SB_LUADIR
#define SB_LUADIR "/usr/local/share/sysbench"
#endif

#define PATH_SIZE sizeof(((struct sb_paths *)0)->drivers)

_Static_assert(PATH_SIZE >= PATH_MAX, "realpath() writes up to PATH_MAX");

static bool is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

// Joins two parts; returns false if the result does not fit.
static bool join(char *out, const char *a, const char *b)
{
    int n = snprintf(out, PATH_SIZE, "%s%s", a, b);

    return n >= 0 && (size_t)n < PATH_SIZE;
}

// Removes ".." if possible.
static void tidy(char *path)
{
    char real[PATH_MAX];

    if (realpath(path, real))
        snprintf(path, PATH_SIZE, "%s", real);
}

// The folder of the executable; a libtool program is one folder deeper.
static bool exe_folder(const char *exe, char *out)
{
    static const char libs[] = "/.libs";
    const char *slash = strrchr(exe, '/');
    size_t len = slash ? (size_t)(slash - exe) : 0;
    const size_t n = sizeof(libs) - 1;

    if (!slash || len >= PATH_SIZE)
        return false;
    if (len > n && memcmp(exe + len - n, libs, n) == 0)
        len -= n;
    memcpy(out, exe, len);
    out[len] = '\0';
    return true;
}

// configure writes the path of the source tree to this file, because a path in
// the program would make builds in different folders differ.
static bool configured_tree(const char *dir, char *top)
{
    char path[PATH_SIZE];

    if (!join(path, dir, "/source-tree"))
        return false;
    FILE *file = fopen(path, "re");
    bool read = file && fgets(top, PATH_SIZE, file);

    if (file)
        fclose(file);
    if (read)
        top[strcspn(top, "\n")] = '\0';
    return read;
}

// The folders in a source tree.
static bool source_tree(struct sb_paths *p, const char *top)
{
    return join(p->workloads, top, "/tests/lua") &&
           join(p->page, top, "/src/out/page") &&
           join(p->charts, top, "/third_party/charts");
}

static bool find_build_tree(struct sb_paths *p, const char *dir)
{
    char modules[PATH_SIZE], top[PATH_SIZE];

    if (!join(modules, dir, "/drivers") ||
        !join(p->drivers, modules, "/.libs") ||
        !join(p->mpi, dir, "/ranks/mpi/.libs") || !is_dir(modules))
        return false;
    if (join(top, dir, "/..") && source_tree(p, top) && is_dir(p->workloads))
        return true;
    return configured_tree(dir, top) && source_tree(p, top);
}

// `to` relative to the folder `dir` instead of `from`, so that a tree that was
// moved as a whole finds its files.
static bool moved(char *out, const char *dir, const char *from, const char *to)
{
    size_t common = 0, i = 0;

    for (; from[i] && from[i] == to[i]; i++) {
        if (from[i] == '/')
            common = i;
    }
    if ((from[i] == '\0' && to[i] == '/') || (to[i] == '\0' && from[i] == '/'))
        common = i;
    if (!join(out, dir, ""))
        return false;
    for (const char *p = from + common; *p; p++) {
        size_t len = strlen(out);

        if (*p == '/' && (size_t)snprintf(out + len, PATH_SIZE - len, "/..") >=
                             PATH_SIZE - len)
            return false;
    }
    i = strlen(out);
    return (size_t)snprintf(out + i, PATH_SIZE - i, "%s", to + common) <
           PATH_SIZE - i;
}

static bool find_installed(char *out, const char *dir, const char *to)
{
    if (moved(out, dir, SB_BINDIR, to) && is_dir(out))
        return true;
    return join(out, to, "");
}

static bool overridden(char *out, const char *variable)
{
    const char *value = getenv(variable);

    return value && *value && join(out, value, "");
}

int sb_paths_from(struct sb_paths *p, const char *exe, struct sb_err *err)
{
    char dir[PATH_SIZE];

    *p = (struct sb_paths){ 0 };
    if (!exe_folder(exe, dir))
        return sb_err_set(err, SB_ESYS, "%s: not a usable path", exe);
    p->build_tree = find_build_tree(p, dir);
    if (!p->build_tree && (!find_installed(p->drivers, dir, SB_DRIVERDIR) ||
                              !find_installed(p->workloads, dir, SB_LUADIR)))
        return sb_err_set(err, SB_ESYS, "%s: the path is too long", exe);
    tidy(p->drivers);
    tidy(p->workloads);
    if (!p->build_tree && (!join(p->page, p->workloads, "/page") ||
                              !join(p->charts, p->workloads, "/charts")))
        return sb_err_set(err, SB_ESYS, "%s: the path is too long", exe);
    tidy(p->page);
    tidy(p->charts);
    bool moved_drivers = overridden(p->drivers, "SYSBENCH_DRIVER_DIR");
    if ((!p->build_tree || moved_drivers) && !join(p->mpi, p->drivers, "/mpi"))
        return sb_err_set(err, SB_ESYS, "%s: the path is too long", exe);
    tidy(p->mpi);
    overridden(p->workloads, "SYSBENCH_LUA_DIR");
    return 0;
}

int sb_paths_find(struct sb_paths *p, struct sb_err *err)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    if (n < 0) {
        int native = errno;

        sb_err_set(err, SB_ESYS,
            "cannot find the drivers and workloads: /proc/self/exe: %s%s",
            strerror(native),
            native == ENOENT ? " (/proc is not mounted)" : "");
        if (err)
            err->native = native;
        return SB_ESYS;
    }
    exe[n] = '\0';
    return sb_paths_from(p, exe, err);
}
