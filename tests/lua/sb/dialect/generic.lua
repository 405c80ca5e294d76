-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The defaults of all dialects, and what their entries mean. In templates, %s
-- is the name of the table if nothing else is said.

local generic = {
   -- Transactions; begin_write starts one that changes rows, begin_snapshot one
   -- whose reads all use one snapshot.
   begin = "BEGIN",
   remainder = "%s %% %d",
   begin_write = "BEGIN",
   begin_snapshot = "BEGIN",
   commit = "COMMIT",

   -- Types of the column id: if the client assigns ids, and if the server does.
   id = "INTEGER NOT NULL",
   id_auto = "INTEGER NOT NULL",
   -- The same for a 64-bit primary key.
   big_id = "BIGINT NOT NULL",
   big_id_auto = "BIGINT NOT NULL",
   datetime = "TIMESTAMP",
   -- Whether the server can assign ids: if id is the primary key, and if it
   -- has only a plain index (--secondary).
   numbers_rows = false,
   numbers_rows_secondary = false,
   -- The value of id in an INSERT that lets the server assign it; nil: the
   -- column is omitted.
   auto_value = nil,
   -- Query that returns 1 if the server takes '' for NULL; nil: it does not.
   empty_is_null = nil,
   -- Statement after which the server assigns ids above the highest existing
   -- one; arguments: table, column, column, table.
   set_sequence = nil,
   -- Whether to create the primary key after loading the rows: for servers that
   -- store rows and key separately.
   key_after_rows = false,
   -- Clause in CREATE TABLE for a plain index on id; nil: the index is created
   -- after loading.
   secondary_key = nil,

   -- Whether tables can be partitioned by a hash of id: "clause" of CREATE
   -- TABLE, or "tables" that are its partitions; nil: they cannot.
   partitions = nil,

   -- Query for the number of tables of that name; nil: existing tables are not
   -- checked.
   find_table = nil,
   -- Function that drops a new table and raises an error if the server did not
   -- create it as requested; nil: not needed.
   check_table = nil,
   -- Function that raises an error if the server lacks the storage engine that
   -- the options name; nil: not applicable.
   check_engine = nil,
   -- Whether there are schemas; queries for the number of schemas of the name
   -- %s, and for the names of its tables. Without schemas, names of tables
   -- begin with that name and '_'.
   schemas = true,
   -- Statement that drops a schema and its tables.
   drop_schema = "DROP SCHEMA IF EXISTS %s",
   find_schema = "SELECT COUNT(*) FROM information_schema.schemata WHERE " ..
      "schema_name = '%s'",
   list_tables = "SELECT table_name FROM information_schema.tables WHERE " ..
      "table_schema = '%s' ORDER BY table_name",
   truncate = "DELETE FROM %s",
   -- Query for the columns of all tables, in their order: name of the table,
   -- name of the column, type, whether it is in the primary key (1 or 0); nil:
   -- the database has no schema.
   list_columns = nil,
   name_quote = '"',
   -- Function (con, name in quotes) that lets the server verify a table and
   -- returns what is wrong, or nil; nil: not supported.
   verify_table = nil,
   -- Clause that locks the selected rows, for statements that change columns
   -- that are not in a key.
   for_update = "FOR UPDATE",
   -- Clause for a SELECT whose result must not be older than the rows that the
   -- transaction has locked, if its snapshot may be.
   current_rows = "",
   -- Whether foreign keys can only be created with their table.
   foreign_keys_inline = false,
   -- Statement for each connection that uses foreign keys; nil: not needed.
   use_foreign_keys = nil,
   -- Statements that drop a table to which foreign keys may refer.
   drop_referenced = {"DROP TABLE IF EXISTS %s"},
   -- Statements to run for each table after its rows are loaded and its primary
   -- key is created, for example to set sequences.
   after_load = {},
   -- Statements that read a whole table and its index into the caches.
   warmup = {
      "SELECT SUM(LENGTH(c) + LENGTH(pad)) FROM %s",
      "SELECT COUNT(*) FROM %s WHERE k >= 0",
   },

   -- False: the server has no indexes.
   indexes = true,
   -- Expression for the name of an index whose first column is the given one,
   -- or NULL; arguments: table, column. nil: indexes are not checked.
   index_of = nil,
   -- Query for the number of valid indexes; arguments: table, name of the
   -- index. nil: indexes are not checked.
   find_index = nil,
   -- The same for indexes in any state; nil: all indexes are valid.
   find_any_index = nil,
   -- Query for the number of columns; arguments: table, column. nil: columns
   -- are not checked.
   find_column = nil,
   -- Function (con, list of statements) that cancels those that other
   -- connections to this database execute, and returns how many these were;
   -- nil: they end with their connection.
   stop_statements = nil,
   -- Statement that computes the statistics of a table for the optimizer; nil:
   -- not needed, or not supported.
   analyze = nil,
   -- False: finding the minimum and maximum id needs a scan of the table.
   ordered_key = true,
   -- True: the primary key is in the catalog of indexes.
   key_is_index = true,
   -- Statements to run before those that must read through an index.
   before_index = {},

   -- True: the statements of a pipeline are sent together.
   pipelines = false,
   -- True: after an error in a transaction, all statements fail until it is
   -- rolled back.
   rollback_after_error = false,

   -- A statement that does nothing.
   empty_statement = "",
   -- Query for the time at which the server started this statement, and the
   -- time at which it evaluates it, both in microseconds since 1970; nil: not
   -- supported. times_step: the resolution of its clock in microseconds.
   -- use_times: statement that a connection executes before; nil: not needed.
   -- times_local: whether it is the clock of the client.
   times = nil,
   times_step = 1,
   use_times = nil,
   times_local = false,

   -- For the workloads of 0.4 and 0.5: statement that calls a procedure with
   -- two integers; whether there is the statement HANDLER; function (settings)
   -- that returns whether the storage engine has no transactions. nil: no.
   call = nil,
   handlers = nil,
   lacks_transactions = nil,
}

-- Returns how many characters a key column may have, at most `length`.
function generic.key_length(_, length)
   return length
end

-- Returns the text after the closing parenthesis of CREATE TABLE.
function generic.table_options(opt)
   return opt.create_table_options or ""
end

-- Returns the text after VALUES (...) that, if the row exists, adds the new
-- value of `column` to the existing one.
function generic.or_add(name, key, column)
   return string.format("ON CONFLICT (%s) DO UPDATE SET %s = %s.%s + " ..
      "EXCLUDED.%s", key, column, name, column, column)
end

-- Returns the statement that deletes the `?` rows with the smallest `key`.
function generic.delete_first(name, key)
   return string.format("DELETE FROM %s WHERE %s IN (SELECT %s FROM %s " ..
      "ORDER BY %s LIMIT ?)", name, key, key, name, key)
end

-- Returns statements that change a table, by what they do. With `online`, other
-- statements can use the table at the same time, as far as this is possible.
function generic.changes(name, index, column, indexed)
   return {
      add_column = string.format("ALTER TABLE %s ADD COLUMN %s INTEGER " ..
         "DEFAULT 0 NOT NULL", name, column),
      drop_column = string.format("ALTER TABLE %s DROP COLUMN %s", name,
         column),
      add_index = string.format("CREATE INDEX %s ON %s (%s)", index, name,
         indexed),
      drop_index = "DROP INDEX " .. index,
   }
end

-- Returns the table for a FROM clause, with a hint to read through the index.
function generic.through(name)
   return name
end

-- Returns the query for the number of rows and the sum of a column, which reads
-- through an index. Arguments: table, index, its columns, column, condition for
-- all rows.
function generic.sum_through(self, name, index, _, sum, condition)
   return string.format("SELECT COUNT(*), SUM(%s) FROM %s WHERE %s", sum,
      self.through(name, index), condition)
end

return generic
