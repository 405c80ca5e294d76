# SPDX-License-Identifier: GPL-2.0-or-later
#
# SB_MPI(name, PREFIX, pkg-config module): a module for a family of MPI
# libraries. --with-<name>=yes|no|auto. Sets PREFIX_CFLAGS, PREFIX_LIBS and the
# automake conditional HAVE_PREFIX; adds the name to sb_mpi.
AC_DEFUN([SB_MPI],
[AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=yes|no|auto],
        [build the module for runs on several hosts with $1 @<:@auto: when its
        library is there@:>@])],
    [], [with_$1=auto])
AS_CASE([$with_$1], [yes|no|auto], [],
    [AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1"])])
sb_have_$1=no
AS_IF([test "$with_$1" != no],
    [PKG_CHECK_MODULES([$2], [$3], [sb_have_$1=yes],
        [AS_IF([test "$with_$1" = yes],
            [AC_MSG_ERROR([--with-$1: $3 not found: $][$2][_PKG_ERRORS])])])])
AS_IF([test "$sb_have_$1" = yes], [sb_mpi="$sb_mpi $1"])
AM_CONDITIONAL([HAVE_$2], [test "$sb_have_$1" = yes])])
