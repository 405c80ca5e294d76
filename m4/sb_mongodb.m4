# SPDX-License-Identifier: GPL-2.0-or-later
#
# SB_MONGODB: the driver for MongoDB with libmongoc 2.x or 1.x, like SB_DRIVER.
AC_DEFUN([SB_MONGODB],
[SB_DRIVER([mongodb], [MONGODB], [mongoc2],
    [PKG_CHECK_MODULES([MONGODB], [libmongoc-1.0 >= 1.21.0],
        [sb_have_mongodb=yes], [:])])])
