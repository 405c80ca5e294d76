// SPDX-License-Identifier: GPL-2.0-or-later
#include "kit/userfile.h"

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"

#define OPTION "--x-password-file"

static char *password;
static struct sb_err err;

static void put(const char *path, const char *bytes, size_t len)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    CHECK_INT(fwrite(bytes, 1, len, f), len);
    fclose(f);
}

static int get(const char *path)
{
    free(password);
    password = NULL;
    memset(&err, 0, sizeof(err));
    return sb_userfile_password(OPTION, path, &password, &err);
}

static void refused(const char *path, const char *why)
{
    CHECK_INT(get(path), SB_EUSAGE);
    CHECK_INT(err.code, SB_EUSAGE);
    CHECK_STR(err.msg, why);
    CHECK(password == NULL);
}

static void first_line(void)
{
    static const char *const cases[][2] = {
        { "secret", "secret" },
        { "secret\n", "secret" },
        { "secret\r\n", "secret" },
        { "secret\nmore\n", "secret" },
        { "  a b \t\n", "  a b \t" },
        { "a\rb\r\n", "a\rb" },
        { "secret\r", "secret\r" },
        { "\n", "" },
        { "\r\n", "" },
        { "\nmore\n", "" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        put("file", cases[i][0], strlen(cases[i][0]));
        CHECK_INT(get("file"), 0);
        CHECK_STR(password, cases[i][1]);
    }
}

static void long_line(void)
{
    static char line[100001];

    memset(line, 'x', sizeof(line) - 1);
    put("file", line, sizeof(line) - 1);
    CHECK_INT(get("file"), 0);
    CHECK_STR(password, line);
}

static void files_without_a_password(void)
{
    put("empty", "", 0);
    put("zero", "a\0SECRET\n", 9);
    CHECK_INT(mkdir("folder", 0700), 0);
    refused("empty", OPTION ": file 'empty' is empty");
    refused(
        "zero", OPTION ": the first line of file 'zero' contains a zero byte");
    refused("nosuch",
        OPTION ": cannot read file 'nosuch': No such file or directory");
    refused("folder", OPTION ": cannot read file 'folder': Is a directory");
    put("file", "a\nb\0c\n", 6);
    CHECK_INT(get("file"), 0);
    CHECK_STR(password, "a");
}

static void home(void)
{
    char here[512], *path;

    CHECK(getcwd(here, sizeof(here)) != NULL);
    put("file", "at home\n", 8);
    CHECK_INT(mkdir("away", 0700), 0);
    CHECK_INT(chdir("away"), 0);
    CHECK_INT(setenv("HOME", here, 1), 0);
    CHECK_INT(get("~/file"), 0);
    CHECK_STR(password, "at home");
    refused("~file", OPTION ": cannot read file '~file': "
                            "No such file or directory");
    CHECK_INT(unsetenv("HOME"), 0);
    path = sb_userfile_path("~/file");
    CHECK_STR(path, "~/file");
    free(path);
    CHECK_INT(chdir(here), 0);
}

CHECK_FILE
{
    check_folder();
    RUN(first_line);
    RUN(long_line);
    RUN(files_without_a_password);
    RUN(home);
    free(password);
    return check_done();
}
