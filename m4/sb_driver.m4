# SPDX-License-Identifier: GPL-2.0-or-later
#
# SB_DRIVER(name, PREFIX, pkg-config modules, [otherwise])
#
# --with-<name>=yes|no|auto. Sets PREFIX_CFLAGS, PREFIX_LIBS and the automake
# conditional HAVE_PREFIX. yes: error if the library is not found. otherwise:
# commands to run if pkg-config does not find it; they set the variables and
# sb_have_<name>=yes.
AC_DEFUN([SB_DRIVER],
[AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=yes|no|auto],
        [build the $1 driver @<:@auto: when its library is there@:>@])],
    [], [with_$1=auto])
AS_CASE([$with_$1], [yes|no|auto], [],
    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1"])])
sb_have_$1=no
AS_IF([test "$with_$1" != no],
    [PKG_CHECK_MODULES([$2], [$3], [sb_have_$1=yes],
        [$4
        AS_IF([test "$with_$1$sb_have_$1" = yesno],
            [AC_MSG_ERROR([--with-$1: $3 not found: $][$2][_PKG_ERRORS])])])])
AS_IF([test "$sb_have_$1" = yes],
    [sb_drivers="$sb_drivers $1"], [sb_drivers_out="$sb_drivers_out $1"])
AM_CONDITIONAL([HAVE_$2], [test "$sb_have_$1" = yes])])

# SB_PG_CONFIG: finds libpq with pg_config, for SB_DRIVER.
AC_DEFUN([SB_PG_CONFIG],
[AC_PATH_PROG([PG_CONFIG], [pg_config])
AS_IF([test -n "$PG_CONFIG"],
    [PGSQL_CFLAGS=-I`$PG_CONFIG --includedir`
    PGSQL_LIBS="-L`$PG_CONFIG --libdir` -lpq"
    sb_save_CFLAGS=$CFLAGS sb_save_LIBS=$LIBS
    CFLAGS="$CFLAGS $PGSQL_CFLAGS" LIBS="$PGSQL_LIBS $LIBS"
    AC_MSG_CHECKING([for libpq with $PG_CONFIG])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([#include <libpq-fe.h>],
        [return PQlibVersion() == 0;])],
        [sb_have_pgsql=yes])
    AC_MSG_RESULT([$sb_have_pgsql])
    CFLAGS=$sb_save_CFLAGS LIBS=$sb_save_LIBS])])
