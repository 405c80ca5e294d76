# SPDX-License-Identifier: GPL-2.0-or-later

# SB_ADD_FLAG(variable, flag...): appends each flag that the compiler accepts.
AC_DEFUN([SB_ADD_FLAG],
[m4_foreach_w([sb_flag], [$2],
    [AC_MSG_CHECKING([whether $CC accepts ]sb_flag)
    sb_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror sb_flag"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); $1="$$1 sb_flag"], [AC_MSG_RESULT([no])])
    CFLAGS=$sb_save_CFLAGS
])])

# Sets SB_CFLAGS, the flags of all builds.
AC_DEFUN([SB_COMPILER_OPTIONS],
[SB_CFLAGS="-std=gnu11 -fvisibility=hidden"
SB_ADD_FLAG([SB_CFLAGS], [-Wall -Wextra -Wshadow -Wmissing-prototypes -Wvla
    -Wno-unused-parameter])
# A seed must give the same numbers on all processors, so fused arithmetic is
# disabled.
SB_ADD_FLAG([SB_CFLAGS], [-ffp-contract=off])
AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])])
AS_IF([test "$enable_werror" = yes], [SB_CFLAGS="$SB_CFLAGS -Werror"])
AC_SUBST([SB_CFLAGS])])

# SB_KIND(option, help, compiler and linker flags): one --enable-... switch.
AC_DEFUN([SB_KIND],
[AC_ARG_ENABLE([$1], [AS_HELP_STRING([--enable-$1], [$2])])
AS_IF([test "$enable_$1" = yes],
    [sb_kinds="$sb_kinds $1"
    SB_KIND_FLAGS="$SB_KIND_FLAGS $3"
    sb_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SB_KIND_FLAGS"
    AC_MSG_CHECKING([whether a program links with $3])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
        AC_MSG_ERROR([--enable-$1 is not supported by $CC])])
    CFLAGS=$sb_save_CFLAGS])])

# Builds that detect errors. SB_KIND_FLAGS are passed to compiler and linker.
AC_DEFUN([SB_BUILD_KINDS],
[SB_KIND_FLAGS=
SB_KIND([asan], [find memory errors (AddressSanitizer)],
    [-fsanitize=address -fno-omit-frame-pointer])
SB_KIND([ubsan], [find undefined behaviour],
    [-fsanitize=undefined -fno-sanitize-recover=undefined])
SB_KIND([tsan], [find data races (ThreadSanitizer)], [-fsanitize=thread])
SB_KIND([coverage], [count executed lines for gcov],
    [--coverage -fprofile-update=atomic])
SB_KIND([fuzz], [fuzzers that learn from coverage (needs CC=clang)],
    [-fsanitize=fuzzer-no-link])
AS_IF([test "$enable_asan$enable_tsan" = yesyes],
    [AC_MSG_ERROR([--enable-asan and --enable-tsan are mutually exclusive])])
# The thread sanitizer does not understand CK's assembly.
AS_IF([test "$enable_tsan" = yes],
    [CK_CFLAGS="$CK_CFLAGS -DCK_USE_CC_BUILTINS=1"])
# Sanitizers leave symbols of the executable undefined in modules.
SB_NO_UNDEFINED=
AS_IF([test -z "$SB_KIND_FLAGS"],
    [sb_save_LDFLAGS=$LDFLAGS
    LDFLAGS="$LDFLAGS -Wl,-z,defs"
    AC_MSG_CHECKING([whether the linker can reject undefined symbols])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); SB_NO_UNDEFINED=-Wl,-z,defs],
        [AC_MSG_RESULT([no])])
    LDFLAGS=$sb_save_LDFLAGS])
AM_CONDITIONAL([LIBFUZZER], [test "$enable_fuzz" = yes])
AC_SUBST([SB_FUZZ_MAIN], [-fsanitize=fuzzer])
AC_SUBST([SB_KIND_FLAGS])
AC_SUBST([SB_NO_UNDEFINED])])
