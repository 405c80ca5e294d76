# SPDX-License-Identifier: GPL-2.0-or-later
#
# SB_MYSQL_PREFIX(dir): finds MariaDB's or Oracle's client library in a folder,
# with any layout. Sets MYSQL_CFLAGS and MYSQL_LIBS, with the folder as run path,
# so that the module finds the library that it was built with.
AC_DEFUN([SB_MYSQL_PREFIX],
[sb_mysql_include=
for sb_dir in "$1/include/mariadb" "$1/include/mysql" "$1/include"; do
    AS_IF([test -z "$sb_mysql_include" && test -e "$sb_dir/mysql.h"],
        [sb_mysql_include=$sb_dir])
done
for sb_dir in "$1"/lib/*-linux-gnu "$1/lib64/mariadb" "$1/lib/mariadb" \
    "$1/lib64/mysql" "$1/lib/mysql" "$1/lib64" "$1/lib"; do
    for sb_name in mariadb mysqlclient; do
        AS_IF([test -n "$sb_mysql_include" && test -e "$sb_dir/lib$sb_name.so"],
            [MYSQL_CFLAGS="-I$sb_mysql_include"
            MYSQL_LIBS="-L$sb_dir -Wl,-rpath,$sb_dir -l$sb_name"
            sb_have_mysql=yes])
    done
done])

# SB_MYSQL_SCRIPT: finds the library with mariadb_config or mysql_config.
AC_DEFUN([SB_MYSQL_SCRIPT],
[AC_CHECK_PROGS([MYSQL_CONFIG], [mariadb_config mysql_config])
AS_IF([test -n "$MYSQL_CONFIG"],
    [MYSQL_CFLAGS=`$MYSQL_CONFIG --include`
    MYSQL_LIBS=`$MYSQL_CONFIG --libs`
    sb_have_mysql=yes])])

# SB_MYSQL_CHECKS: checks the features of the library. Version numbers do not
# help, because those of MariaDB and MySQL differ.
AC_DEFUN([SB_MYSQL_CHECKS],
[sb_save_CPPFLAGS=$CPPFLAGS
sb_save_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $MYSQL_CFLAGS"
LIBS="$MYSQL_LIBS $LIBS"
AC_MSG_CHECKING([whether programs link with $MYSQL_LIBS])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mysql.h>]],
        [[return mysql_library_init(0, 0, 0);]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no]); sb_have_mysql=no])
AS_IF([test "$sb_have_mysql" = yes],
    [AC_CHECK_TYPES([my_bool], [], [], [[#include <mysql.h>]])
    AC_CHECK_FUNCS([mysql_get_socket mysql_real_escape_string_quote
        mysql_store_result_nonblocking])
    AC_CHECK_DECLS([MYSQL_OPT_SSL_MODE, MYSQL_OPT_SSL_ENFORCE,
        MYSQL_OPT_GET_SERVER_PUBLIC_KEY, MYSQL_OPT_COMPRESSION_ALGORITHMS,
        MYSQL_ENABLE_CLEARTEXT_PLUGIN, MYSQL_SECURE_AUTH,
        MARIADB_OPT_RESTRICTED_AUTH, MARIADB_OPT_IO_WAIT,
        MARIADB_OPT_TLS_VERIFICATION_CALLBACK], [], [],
        [[#include <mysql.h>]])
    AC_CHECK_HEADERS([mysql/client_plugin.h], [], [], [[#include <mysql.h>]])
    AC_CHECK_TYPES([struct auth_plugin_t], [], [], [[#include <mysql.h>
        #include <mysql/client_plugin.h>]])])
CPPFLAGS=$sb_save_CPPFLAGS
LIBS=$sb_save_LIBS])

# SB_MYSQL: the driver for MySQL and MariaDB, like SB_DRIVER, but --with-mysql
# also accepts the folder of a client library.
AC_DEFUN([SB_MYSQL],
[AC_ARG_WITH([mysql],
    [AS_HELP_STRING([--with-mysql=yes|no|auto|PREFIX],
        [build the mysql driver @<:@auto: when libmariadb or libmysqlclient is
        there@:>@; PREFIX: with the library of that folder])],
    [], [with_mysql=auto])
sb_have_mysql=no
AS_CASE([$with_mysql],
    [no], [],
    [yes|auto],
        [PKG_CHECK_MODULES([MYSQL], [libmariadb], [sb_have_mysql=yes],
            [PKG_CHECK_MODULES([MYSQL], [mysqlclient], [sb_have_mysql=yes],
                [SB_MYSQL_SCRIPT])])],
    [/*], [SB_MYSQL_PREFIX([$with_mysql])],
    [AC_MSG_ERROR([--with-mysql takes yes, no, auto or a folder, dnl
not "$with_mysql"])])
AS_IF([test "$sb_have_mysql" = yes], [SB_MYSQL_CHECKS])
AS_CASE([$sb_have_mysql:$with_mysql],
    [no:yes], [AC_MSG_ERROR([--with-mysql: no libmariadb and no dnl
libmysqlclient found])],
    [no:/*], [AC_MSG_ERROR([--with-mysql: no client library below dnl
$with_mysql])])
AC_SUBST([MYSQL_CFLAGS])
AC_SUBST([MYSQL_LIBS])
AS_IF([test "$sb_have_mysql" = yes],
    [sb_drivers="$sb_drivers mysql"], [sb_drivers_out="$sb_drivers_out mysql"])
AM_CONDITIONAL([HAVE_MYSQL], [test "$sb_have_mysql" = yes])])
