dnl SPDX-License-Identifier: GPL-2.0-or-later

dnl SB_COMPLETION(SHELL, FOLDER)
dnl Sets the folder in which the completion for a shell is installed, below
dnl $(datadir) by default: SHELLcompletiondir. --without-SHELL-completion: it is
dnl not installed.
AC_DEFUN([SB_COMPLETION],
[AC_ARG_WITH([$1-completion],
    [AS_HELP_STRING([--with-$1-completion=DIR],
        [install the completion for $1 in DIR @<:@DATADIR/$2@:>@])],
    [], [with_$1_completion=yes])
AS_IF([test "$with_$1_completion" = yes],
      [with_$1_completion='${datadir}/$2'])
AC_SUBST([$1completiondir], [$with_$1_completion])
AM_CONDITIONAL(m4_toupper([$1])[_COMPLETION],
    [test "$with_$1_completion" != no])])
