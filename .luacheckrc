-- SPDX-License-Identifier: GPL-2.0-or-later
std = "luajit"
max_line_length = 80
include_files = {"tests/**/*.lua", "src/**/*.lua", "bench/**/*.lua"}

-- The API, and hooks that a script defines.
globals = {
   "sysbench", "init", "done", "event", "thread_init", "thread_done",
   "thread_run", "prepare", "cleanup", "help",
}
read_globals = {
   "ffi",
   -- 0.5: set by the core, and its functions
   "test", "thread_id", "num_threads", "db_driver",
   "db_connect", "db_disconnect", "db_query", "db_bulk_insert_init",
   "db_bulk_insert_next", "db_bulk_insert_done", "db_prepare",
   "db_bind_param", "db_bind_result", "db_execute", "db_store_results",
   "db_free_results", "db_close", "sb_rand", "sb_rand_uniq", "sb_rnd",
   "sb_rand_str", "sb_rand_uniform", "sb_rand_gaussian", "sb_rand_special",
}

-- What scripts of others build upon, see docs/workloads.md.
local oltp = {
   "drv", "con", "stmt", "param", "get_c_value", "get_pad_value",
   "create_table", "cmd_prepare", "cmd_warmup", "cmd_prewarm",
   "prepare_begin", "prepare_commit", "prepare_for_each_table",
   "prepare_point_selects", "prepare_simple_ranges", "prepare_sum_ranges",
   "prepare_order_ranges", "prepare_distinct_ranges",
   "prepare_index_updates", "prepare_non_index_updates",
   "prepare_delete_inserts", "prepare_statements", "close_statements",
   "begin", "commit", "execute_point_selects", "execute_simple_ranges",
   "execute_sum_ranges", "execute_order_ranges", "execute_distinct_ranges",
   "execute_index_updates", "execute_non_index_updates",
   "execute_delete_inserts", "check_reconnect",
}
for _, file in ipairs{"oltp_*", "select_random_*"} do
   files["tests/lua/" .. file .. ".lua"] = {globals = oltp}
end

-- The connection, dialect and settings of a user are locals of the file; what
-- commands execute gets its own as arguments.
files["tests/lua/*.lua"] = {ignore = {"431"}}
files["tests/lua/mongodb/*.lua"] = {ignore = {"431"}}

files["tests/lua/common.lua"] = {globals = {
   "set_vars", "create_insert", "oltp_read_only", "oltp_write_only",
   "oltp_create_secondary", "oltp_delete_inserts", "oltp_tables_count",
   "mysql_table_engine", "mysql_table_options", "myisam_max_rows",
   "pgsql_variant",
}}

files["tests/lua/mongodb/common.lua"] = {globals = {
   "set_vars", "create_insert", "oltp_tables_count", "oltp_table_size",
   "oltp_bulk_size",
}}
