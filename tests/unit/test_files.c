// SPDX-License-Identifier: GPL-2.0-or-later
//
// Not with tsan: one thread.
#include "base/files.h"

#include "check.h"

static unsigned calls;

static bool fetch(void *arg, const char *path, char copy[SB_FILE_PATH])
{
    calls++;
    snprintf(copy, SB_FILE_PATH, "/copy/of/%.20s", path);
    return strcmp(path, arg) == 0;
}

static void files_are_those_of_this_host(void)
{
    char copy[SB_FILE_PATH];
    const char *path = "a.lua";

    CHECK(!sb_files_are_remote());
    CHECK(sb_file_path(path, copy) == path);
}

static void files_come_from_the_source(void)
{
    char copy[SB_FILE_PATH], name[] = "a.lua";
    const char *other = "b.lua", *proc = "/proc/cpuinfo", *dev = "/dev/null";

    sb_files_from(fetch, name);
    CHECK(sb_files_are_remote());
    CHECK_STR(sb_file_path("a.lua", copy), "/copy/of/a.lua");
    // What the source does not have may be here.
    CHECK(sb_file_path(other, copy) == other);
    CHECK_INT(calls, 2);
    // Files of the system are those of this host.
    CHECK(sb_file_path(proc, copy) == proc);
    CHECK(sb_file_path(dev, copy) == dev);
    CHECK_INT(calls, 2);
    sb_files_from(NULL, NULL);
    CHECK(!sb_files_are_remote());
}

CHECK_FILE
{
    RUN(files_are_those_of_this_host);
    RUN(files_come_from_the_source);
    return check_done();
}
