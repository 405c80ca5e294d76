// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/paths.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

// The build defines these for paths.c; otherwise paths.c uses these defaults.
#ifndef SB_BINDIR
#define SB_BINDIR "/usr/local/bin"
#endif
#ifndef SB_DRIVERDIR
#define SB_DRIVERDIR "/usr/local/lib/sysbench"
#endif
#ifndef SB_LUADIR
#define SB_LUADIR "/usr/local/share/sysbench"
#endif

static char root[PATH_MAX]; // a folder that the test creates

// Creates all folders of root/path. Returns the full path, valid until the
// fourth call after this one.
static const char *folder(const char *path)
{
    static char ring[4][2 * PATH_MAX];
    static int turn;
    char *full = ring[turn++ % 4];

    snprintf(full, sizeof(ring[0]), "%s/%s", root, path);
    for (char *p = full + strlen(root) + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(full, 0700);
        *p = '/';
    }
    mkdir(full, 0700);
    return full;
}

static const char *exe(const char *dir, char *buf)
{
    snprintf(buf, PATH_MAX, "%s/sysbench", dir);
    return buf;
}

static void build_tree(void)
{
    struct sb_paths p;
    struct sb_err err;
    char path[PATH_MAX];

    folder("tree/tests/lua");
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src"), path), &err), 0);
    CHECK(!p.build_tree);
    folder("tree/src/drivers/.libs");
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src"), path), &err), 0);
    CHECK(p.build_tree);
    CHECK_STR(p.drivers, folder("tree/src/drivers/.libs"));
    CHECK_STR(p.workloads, folder("tree/tests/lua"));
    folder("tree/src/out/page");
    folder("tree/third_party/charts");
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src"), path), &err), 0);
    CHECK_STR(p.page, folder("tree/src/out/page"));
    CHECK_STR(p.charts, folder("tree/third_party/charts"));
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src/.libs"), path), &err), 0);
    CHECK(p.build_tree);
    CHECK_STR(p.workloads, folder("tree/tests/lua"));
}

// A build outside of its source tree.
static void other_build_folder(void)
{
    struct sb_paths p;
    struct sb_err err;
    char path[PATH_MAX];

    folder("build/src/drivers/.libs");
    CHECK_INT(sb_paths_from(&p, exe(folder("build/src"), path), &err), 0);
    CHECK(!p.build_tree);
    snprintf(path, sizeof(path), "%s/source-tree", folder("build/src"));
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    fprintf(file, "%s\n", folder("source"));
    fclose(file);
    folder("source/tests/lua");
    CHECK_INT(sb_paths_from(&p, exe(folder("build/src"), path), &err), 0);
    CHECK(p.build_tree);
    CHECK_STR(p.drivers, folder("build/src/drivers/.libs"));
    CHECK_STR(p.workloads, folder("source/tests/lua"));
}

// A tree with the layout of `make install`, in another place.
static void moved_tree(void)
{
    struct sb_paths p;
    struct sb_err err;
    char path[PATH_MAX];

    folder(&SB_DRIVERDIR[1]);
    folder(&SB_LUADIR[1]);
    CHECK_INT(sb_paths_from(&p, exe(folder(&SB_BINDIR[1]), path), &err), 0);
    CHECK(!p.build_tree);
    CHECK_STR(p.drivers, folder(&SB_DRIVERDIR[1]));
    CHECK_STR(p.workloads, folder(&SB_LUADIR[1]));
    CHECK_STR(p.page, folder((SB_LUADIR "/page") + 1));
    CHECK_STR(p.charts, folder((SB_LUADIR "/charts") + 1));
}

// The common prefix of all paths, /usr/local, was moved to /a/deeper/place.
static void moved_prefix(void)
{
    size_t len = (size_t)(strrchr(SB_BINDIR, '/') - SB_BINDIR);
    char path[PATH_MAX], drivers[PATH_MAX];
    struct sb_paths p;
    struct sb_err err;

    if (strncmp(SB_BINDIR, SB_DRIVERDIR, len + 1) != 0)
        return;
    snprintf(drivers, sizeof(drivers), "a/deeper/place%s", SB_DRIVERDIR + len);
    folder(drivers);
    snprintf(path, sizeof(path), "a/deeper/place%s", SB_BINDIR + len);
    CHECK_INT(sb_paths_from(&p, exe(folder(path), path), &err), 0);
    CHECK_STR(p.drivers, folder(drivers));
}

static void unknown_place(void)
{
    struct sb_paths p;
    struct sb_err err;
    char path[PATH_MAX], real[PATH_MAX];

    CHECK_INT(sb_paths_from(&p, exe(folder("a/b/c/d/e"), path), &err), 0);
    CHECK(!p.build_tree);
    CHECK_STR(p.drivers, realpath(SB_DRIVERDIR, real) ? real : SB_DRIVERDIR);
    CHECK_STR(p.workloads, realpath(SB_LUADIR, real) ? real : SB_LUADIR);
}

static void environment(void)
{
    struct sb_paths p;
    struct sb_err err;
    char path[PATH_MAX];

    setenv("SYSBENCH_DRIVER_DIR", "/d", 1);
    setenv("SYSBENCH_LUA_DIR", "", 1);
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src"), path), &err), 0);
    CHECK_STR(p.drivers, "/d");
    CHECK_STR(p.workloads, folder("tree/tests/lua"));
    setenv("SYSBENCH_LUA_DIR", "l", 1);
    CHECK_INT(sb_paths_from(&p, exe(folder("tree/src"), path), &err), 0);
    CHECK_STR(p.workloads, "l");
    unsetenv("SYSBENCH_DRIVER_DIR");
    unsetenv("SYSBENCH_LUA_DIR");
}

static void bad_paths(void)
{
    static char huge[6000];
    struct sb_paths p;
    struct sb_err err;

    CHECK_INT(sb_paths_from(&p, "sysbench", &err), SB_ESYS);
    memset(huge, '/', sizeof(huge) - 1);
    CHECK_INT(sb_paths_from(&p, huge, &err), SB_ESYS);
    CHECK_INT(err.code, SB_ESYS);
    CHECK_INT(sb_paths_from(&p, huge, NULL), SB_ESYS);
}

static void running_program(void)
{
    struct sb_paths p;
    struct sb_err err;

    CHECK_INT(sb_paths_find(&p, &err), 0);
    CHECK(p.drivers[0] && p.workloads[0]);
}

CHECK_FILE
{
    char here[] = "./test_paths.XXXXXX", command[2 * PATH_MAX];
    int rc;

    unsetenv("SYSBENCH_DRIVER_DIR");
    unsetenv("SYSBENCH_LUA_DIR");
    if (!mkdtemp(here) || !realpath(here, root))
        return 1;
    RUN(build_tree);
    RUN(other_build_folder);
    RUN(moved_tree);
    RUN(moved_prefix);
    RUN(unknown_place);
    RUN(environment);
    RUN(bad_paths);
    RUN(running_program);
    rc = check_done();
    snprintf(command, sizeof(command), "rm -rf '%s'", root);
    return system(command) || rc;
}
