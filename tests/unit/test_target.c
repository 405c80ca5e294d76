// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "check_folder.h"
#include "out/target.h"

static void put(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    fputs(text, f);
    fclose(f);
}

static const char *get(const char *path)
{
    static char text[64];
    FILE *f = fopen(path, "r");

    if (!f)
        return "(none)";
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

static void old_file_stays_until_the_new_one_is_whole(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("whole", "old");
    CHECK_INT(sb_target_open(&t, "whole", SB_TARGET_WHOLE, &err), 0);
    fputs("new", t.file);
    CHECK_INT(sb_target_flush(&t, &err), 0);
    CHECK_STR(get("whole"), "old");
    CHECK_STR(get("whole.part"), "new");
    CHECK_INT(sb_target_commit(&t, &err), 0);
    CHECK_STR(get("whole"), "new");
    sb_target_done(&t);
    CHECK(access("whole.part", F_OK) != 0);
}

static void nothing_is_left_without_commit(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("kept", "old");
    CHECK_INT(sb_target_open(&t, "kept", SB_TARGET_WHOLE, &err), 0);
    fputs("new", t.file);
    sb_target_done(&t);
    CHECK_STR(get("kept"), "old");
    CHECK(access("kept.part", F_OK) != 0);
}

static void lines_replace_the_old_content(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("lines", "something longer");
    CHECK_INT(sb_target_open(&t, "lines", SB_TARGET_LINES, &err), 0);
    CHECK_STR(get("lines"), "something longer");
    CHECK_INT(sb_target_begin(&t, &err), 0);
    fputs("new", t.file);
    CHECK_INT(sb_target_flush(&t, &err), 0);
    CHECK_STR(get("lines"), "new");
    CHECK_INT(sb_target_commit(&t, &err), 0);
    sb_target_done(&t);
    CHECK_STR(get("lines"), "new");
}

static void rest_of_a_killed_run_is_removed(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("killed.part", "something longer");
    CHECK_INT(sb_target_open(&t, "killed", SB_TARGET_WHOLE, &err), 0);
    fputs("new", t.file);
    CHECK_INT(sb_target_commit(&t, &err), 0);
    sb_target_done(&t);
    CHECK_STR(get("killed"), "new");
}

// The write that looks for the reason of an earlier failure leaves nothing.
static void links_are_followed(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };
    char to[64] = "";

    CHECK_INT(mkdir("there", 0777), 0);
    CHECK_INT(symlink("../real", "there/second"), 0);
    CHECK_INT(symlink("there/second", "first"), 0);
    for (int i = 0; i < 2; i++) { // it does not exist at first
        CHECK_INT(sb_target_open(&t, "first", SB_TARGET_WHOLE, &err), 0);
        fprintf(t.file, "text %d", i);
        CHECK_INT(sb_target_commit(&t, &err), 0);
        sb_target_done(&t);
        CHECK_STR(get("real"), i ? "text 1" : "text 0");
    }
    CHECK_INT(readlink("first", to, sizeof(to) - 1), 12);
    CHECK_STR(to, "there/second");
    CHECK_INT(symlink("loop", "loop"), 0);
    CHECK_INT(sb_target_open(&t, "loop", SB_TARGET_WHOLE, &err), SB_ESYS);
    CHECK(strstr(err.msg, "cannot write loop: "));
    sb_target_done(&t);
    // Messages are one line.
    CHECK_INT(sb_target_open(&t, "no/a\nb", SB_TARGET_WHOLE, &err), SB_ESYS);
    CHECK(strstr(err.msg, "cannot write no/a b: "));
    sb_target_done(&t);
}

// Another user may have made them.
static void only_regular_files_are_parts(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("victim", "precious");
    CHECK_INT(symlink("victim", "trap.part"), 0);
    CHECK_INT(sb_target_open(&t, "trap", SB_TARGET_WHOLE, &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot write trap: its temporary file trap.part: it is "
                       "a symbolic link");
    sb_target_done(&t);
    CHECK_STR(get("victim"), "precious");
    CHECK_INT(mkfifo("pipe.part", 0666), 0);
    CHECK_INT(sb_target_open(&t, "pipe", SB_TARGET_WHOLE, &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot write pipe: its temporary file pipe.part: it is "
                       "no regular file");
    sb_target_done(&t);
}

// What the user names may be a link or a pipe; a name that the program has
// chosen may not.
static void chosen_names_are_those_of_regular_files(void)
{
    for (int i = 0; i < 4; i++) {
        enum sb_target_mode mode = (i & 1) | SB_TARGET_CHOSEN;
        struct sb_target t;
        struct sb_err err = { 0 };

        if (i & 2)
            CHECK_INT(mkfifo("chosen", 0666), 0);
        else
            CHECK_INT(symlink("victim", "chosen"), 0);
        CHECK_INT(sb_target_open(&t, "chosen", mode, &err), SB_ESYS);
        CHECK_STR(err.msg, i & 2
                               ? "cannot write chosen: it is no regular file"
                               : "cannot write chosen: it is a symbolic link");
        sb_target_done(&t);
        CHECK_STR(get("victim"), "precious");
        CHECK(access("chosen.part", F_OK) != 0);
        CHECK_INT(unlink("chosen"), 0);
        CHECK_INT(sb_target_open(&t, "chosen", mode, &err), 0);
        fputs("text", t.file);
        CHECK_INT(sb_target_commit(&t, &err), 0);
        sb_target_done(&t);
        CHECK_STR(get("chosen"), "text");
        unlink("chosen");
    }
}

static void loss_of_the_file_is_an_error(void)
{
    static const enum sb_target_mode modes[] = { SB_TARGET_WHOLE,
        SB_TARGET_LINES };

    for (int i = 0; i < 4; i++) {
        const char *name = i & 1 ? "lost" : "lost.part";
        struct sb_target t;
        struct sb_err err = { 0 };

        CHECK_INT(sb_target_open(&t, "lost", modes[i & 1], &err), 0);
        fputs("text", t.file);
        CHECK_INT(unlink(name), 0);
        if (i & 2)
            put(name, "of another program");
        CHECK_INT(sb_target_commit(&t, &err), SB_ESYS);
        CHECK_STR(err.msg, "lost was removed or replaced during the run: its "
                           "content is lost");
        sb_target_done(&t);
        unlink("lost");
    }
}

// Truncated, also if more is written then; overwritten; without any change.
static void change_of_the_file_is_an_error(void)
{
    for (int i = 0; i < 8; i++) {
        enum sb_target_mode mode = i & 1 ? SB_TARGET_LINES : SB_TARGET_WHOLE;
        const char *name = i & 1 ? "changed" : "changed.part";
        struct sb_target t;
        struct sb_err err = { 0 };

        CHECK_INT(sb_target_open(&t, "changed", mode, &err), 0);
        CHECK_INT(sb_target_begin(&t, &err), 0);
        fputs("first\n", t.file);
        CHECK_INT(sb_target_flush(&t, &err), 0);
        if (i / 2 < 2)
            CHECK_INT(truncate(name, 3), 0);
        else if (i / 2 == 2)
            put(name, "of another program");
        if (i / 2 > 0)
            fputs("second\n", t.file);
        if (i / 2 == 1)
            fflush(t.file);
        CHECK_INT(sb_target_commit(&t, &err), i / 2 < 3 ? SB_ESYS : 0);
        CHECK_STR(err.msg,
            i / 2 < 3 ? "changed was truncated or overwritten during the run: "
                        "its content is lost"
                      : "");
        sb_target_done(&t);
        if (i / 2 == 3)
            CHECK_STR(get("changed"), "first\nsecond\n");
        unlink("changed");
    }
}

// Between two writes without sb_target_flush().
static void a_hole_is_an_error(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    CHECK_INT(sb_target_open(&t, "hole", SB_TARGET_LINES, &err), 0);
    fputs("first\n", t.file);
    fflush(t.file);
    CHECK_INT(truncate("hole", 0), 0);
    fputs("second\n", t.file);
    fflush(t.file);
    CHECK_INT(sb_target_commit(&t, &err), SB_ESYS);
    sb_target_done(&t);
    unlink("hole");
}

// What was cut is no loss.
static void the_end_of_a_file_can_be_replaced(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    CHECK_INT(sb_target_open(&t, "cut", SB_TARGET_LINES, &err), 0);
    fputs("one, two", t.file);
    CHECK_INT(sb_target_flush(&t, &err), 0);
    CHECK_INT(sb_target_cut(&t, 5, &err), 0);
    fputs("2", t.file);
    CHECK_INT(sb_target_commit(&t, &err), 0);
    sb_target_done(&t);
    CHECK_STR(get("cut"), "one, 2");
}

static void failure_adds_nothing(void)
{
    struct rlimit old, limit;
    struct sb_target t;
    struct sb_err err = { 0 };

    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 4;
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(sb_target_open(&t, "limited", SB_TARGET_LINES, &err), 0);
    setvbuf(t.file, NULL, _IONBF, 0);
    fputs("abc\n", t.file);
    setrlimit(RLIMIT_FSIZE, &limit);
    fputs("d\n", t.file); // fails
    setrlimit(RLIMIT_FSIZE, &old);
    CHECK_INT(sb_target_flush(&t, &err), SB_ESYS);
    CHECK_STR(get("limited"), "abc\n");
    sb_target_done(&t);
    CHECK_STR(get("limited"), "abc\n");
}

// As network file systems do.
static void failure_of_close_is_an_error(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    put("closed", "old");
    CHECK_INT(sb_target_open(&t, "closed", SB_TARGET_WHOLE, &err), 0);
    fputs("new", t.file);
    CHECK_INT(sb_target_flush(&t, &err), 0);
    close(fileno(t.file));
    CHECK_INT(sb_target_commit(&t, &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot write closed: Bad file descriptor");
    sb_target_done(&t);
    CHECK_STR(get("closed"), "old");
    CHECK(access("closed.part", F_OK) != 0);
}

static void second_writer_is_rejected(enum sb_target_mode mode)
{
    struct sb_target a, b;
    struct sb_err err = { 0 };

    CHECK_INT(sb_target_open(&a, "twice", mode, &err), 0);
    CHECK_INT(sb_target_open(&b, "twice", mode, &err), SB_ELIMIT);
    CHECK_STR(err.msg, "cannot write twice: another process is writing it");
    sb_target_done(&b);
    fputs("first", a.file);
    CHECK_INT(sb_target_commit(&a, &err), 0);
    sb_target_done(&a);
    CHECK_STR(get("twice"), "first");
    CHECK_INT(sb_target_open(&b, "twice", mode, &err), 0);
    sb_target_done(&b);
}

static void two_writers(void)
{
    second_writer_is_rejected(SB_TARGET_WHOLE);
    second_writer_is_rejected(SB_TARGET_LINES);
}

static void unwritable_is_named(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    CHECK_INT(sb_target_open(&t, "no/file", SB_TARGET_WHOLE, &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot write no/file: No such file or directory");
    sb_target_done(&t);
}

static void full_device_is_an_error(void)
{
    struct sb_target t;
    struct sb_err err = { 0 };

    CHECK_INT(sb_target_open(&t, "/dev/full", SB_TARGET_WHOLE, &err), 0);
    CHECK(!t.part);
    fputs("text", t.file);
    CHECK_INT(sb_target_commit(&t, &err), SB_ESYS);
    CHECK_STR(err.msg, "cannot write /dev/full: No space left on device");
    sb_target_done(&t);
}

static void folder_of_a_path(void)
{
    char dir[64];

    unsetenv("TMPDIR");
    sb_target_folder("file", dir, sizeof(dir));
    CHECK_STR(dir, ".");
    sb_target_folder("a/b/file", dir, sizeof(dir));
    CHECK_STR(dir, "a/b");
    sb_target_folder("/file", dir, sizeof(dir));
    CHECK_STR(dir, "/");
    sb_target_folder("-", dir, sizeof(dir));
    CHECK_STR(dir, "/tmp");
    sb_target_folder("/dev/null", dir, sizeof(dir));
    CHECK_STR(dir, "/tmp");
}

CHECK_FILE
{
    check_folder();
    RUN(old_file_stays_until_the_new_one_is_whole);
    RUN(nothing_is_left_without_commit);
    RUN(lines_replace_the_old_content);
    RUN(rest_of_a_killed_run_is_removed);
    RUN(links_are_followed);
    RUN(only_regular_files_are_parts);
    RUN(chosen_names_are_those_of_regular_files);
    RUN(loss_of_the_file_is_an_error);
    RUN(change_of_the_file_is_an_error);
    RUN(a_hole_is_an_error);
    RUN(the_end_of_a_file_can_be_replaced);
    RUN(failure_adds_nothing);
    RUN(failure_of_close_is_an_error);
    RUN(two_writers);
    RUN(unwritable_is_named);
    RUN(full_device_is_an_error);
    RUN(folder_of_a_path);
    return check_done();
}
