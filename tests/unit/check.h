// SPDX-License-Identifier: GPL-2.0-or-later
//
// The unit test harness. A test program runs its tests in the order listed,
// prints TAP, and continues after a failed check. Tests of pure modules do not
// sleep and use neither network nor clock.
//
//     static void grows(void) { CHECK(x == 1); CHECK_INT(a, 3); }
//     CHECK_FILE { RUN(grows); return check_done(); }
//
// All files of a folder are one program, which runs one of them per process
// (unit.c). A file that replaces functions of a library has main() instead of
// CHECK_FILE and is a program of its own.
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_tests, check_failed;
__attribute__((unused)) static int check_bad; // not in unit.c

#define CHECK(cond)               \
    ((cond) ? (void)0             \
            : (void)(check_bad++, \
                  printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond)))
#define CHECK_INT(got, want)                                                  \
    do {                                                                      \
        int64_t got_ = (int64_t)(got), want_ = (int64_t)(want);               \
        if (got_ != want_) {                                                  \
            check_bad++;                                                      \
            printf("# %s:%d: %s is %" PRId64 ", not %" PRId64 "\n", __FILE__, \
                __LINE__, #got, got_, want_);                                 \
        }                                                                     \
    } while (0)
#define CHECK_NEAR(got, want, tolerance)                                \
    do {                                                                \
        double got_ = (got), want_ = (want);                            \
        if (!(fabs(got_ - want_) <= (tolerance))) {                     \
            check_bad++;                                                \
            printf("# %s:%d: %s is %.9g, not %.9g +- %.3g\n", __FILE__, \
                __LINE__, #got, got_, want_, (double)(tolerance));      \
        }                                                               \
    } while (0)
#define CHECK_STR(got, want)                                                  \
    do {                                                                      \
        const char *got_ = (got), *want_ = (want);                            \
        if (!got_ || strcmp(got_, want_) != 0) {                              \
            check_bad++;                                                      \
            printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, \
                #got, got_ ? got_ : "(null)", want_);                         \
        }                                                                     \
    } while (0)
#define RUN(test)                                                              \
    do {                                                                       \
        check_bad = 0;                                                         \
        test();                                                                \
        check_tests++;                                                         \
        check_failed += check_bad != 0;                                        \
        printf("%sok %d - %s\n", check_bad ? "not " : "", check_tests, #test); \
        fflush(stdout);                                                        \
    } while (0)

// What CHECK_FILE registers before main(): a function with the arguments of
// main(), argv[0] being the name of the file.
struct check_file {
    const char *path;
    int (*run)(int argc, char **argv);
    struct check_file *next;
};

void check_add(struct check_file *file);

#define CHECK_FILE                                            \
    static int check_run(int argc, char **argv);              \
    __attribute__((constructor)) static void check_this(void) \
    {                                                         \
        static struct check_file file = { .path = __FILE__,   \
            .run = check_run };                               \
        check_add(&file);                                     \
    }                                                         \
    static int check_run(int argc, char **argv)

static inline int check_done(void)
{
    printf("1..%d\n", check_tests);
    return check_failed != 0;
}

#endif
