// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/overflow_message.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit/asan.h"
#include "kit/tsan.h"
#include "loop/loop.h"
#include "check.h"
#include "deep.h"

#define STACK (256 * 1024)

static void run_user(unsigned number)
{
    struct sb_run_opts o = { .thread_stack_size = STACK };
    struct sb_run run = { .o = &o };
    struct sb_user user = { .run = &run, .number = number };
    struct sb_loop *l = sb_loop_new(1, false);
    struct sb_err err = { 0 };

    sb__overflow_message_enable(&run);
    if (!l || !sb_loop_add(l, STACK, overflow, &user) ||
        sb_loop_open(l, SB_LOOP_EPOLL, &err))
        _exit(96);
    sb_loop_run(l);
    _exit(95);
}

static void check_message(unsigned number, const char *begin)
{
    char text[1000];
    int fd[2], status;
    ssize_t n;
    pid_t pid;

    CHECK_INT(pipe(fd), 0);
    pid = fork();
    if (pid == 0) {
        struct rlimit none = { 0 };

        setrlimit(RLIMIT_CORE, &none);
        dup2(fd[1], STDERR_FILENO);
        run_user(number);
    }
    close(fd[1]);
    n = read(fd[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    close(fd[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(strncmp(text, begin, strlen(begin)) == 0);
    CHECK(strstr(text, "use fewer levels or a larger --thread-stack-size\n"));
}

static void the_message_names_the_user(void)
{
    check_message(0, "\nFATAL: the stack of user 0 overflowed (256 KiB): ");
    check_message(15973, "\nFATAL: the stack of user 15973 overflowed ");
    check_message(
        4294967295u, "\nFATAL: the stack of user 4294967295 overflowed ");
}

CHECK_FILE
{
#if defined(SB_ASAN) || defined(SB_TSAN)
    puts("1..0 # SKIP sanitizers handle faults themselves");
    (void)the_message_names_the_user;
    return 0;
#else
    RUN(the_message_names_the_user);
    return check_done();
#endif
}
