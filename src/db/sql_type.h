// SPDX-License-Identifier: GPL-2.0-or-later
//
// Constants of the SQL facade. sql.lua repeats the numbers, because each
// declaration would cost memory in the Lua state of every user.
#ifndef SB_SQL_TYPE_H
#define SB_SQL_TYPE_H

// Lua names: sysbench.sql.type
enum sb_sql_type {
    SB_SQL_TYPE_NONE,
    SB_SQL_TYPE_TINYINT,
    SB_SQL_TYPE_SMALLINT,
    SB_SQL_TYPE_INT,
    SB_SQL_TYPE_BIGINT,
    SB_SQL_TYPE_FLOAT,
    SB_SQL_TYPE_DOUBLE,
    SB_SQL_TYPE_TIME,
    SB_SQL_TYPE_DATE,
    SB_SQL_TYPE_DATETIME,
    SB_SQL_TYPE_TIMESTAMP,
    SB_SQL_TYPE_CHAR,
    SB_SQL_TYPE_VARCHAR,
    SB_SQL_TYPE_BLOB
};

// Lua names: sysbench.sql.error. The outcome of the last call on a connection.
enum sb_sql_error {
    SB_SQL_NONE,
    SB_SQL_IGNORABLE, // the event should be restarted
    SB_SQL_FATAL
};

#endif
