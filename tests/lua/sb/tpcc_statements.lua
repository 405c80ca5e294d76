-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tpcc: the texts of the statements of its transactions, and their execution,
-- one by one or in pipelines.

local tpcc = require("sb.tpcc")

local M = {}

-- Texts ----------------------------------------------------------------------

-- Name in the report = {text, types of the parameters}. $name is a table; i: an
-- integer, n: a number, c: text. The dialect replaces FOR UPDATE and
-- CURRENT_ROWS.
--
-- Statements that lock rows precede the others of a transaction: the first
-- other statement creates the snapshot of a transaction in MySQL, and a row
-- changed by another transaction later has its old values (REPEATABLE
-- READ) or cannot be locked (innodb_snapshot_isolation).
local SQL = {}

-- New-order (clause 2.4).
SQL.warehouse_tax = {"SELECT w_tax FROM $warehouse WHERE w_id = ?", "i"}
SQL.district_next = {"SELECT d_next_o_id, d_tax FROM $district " ..
   "WHERE d_w_id = ? AND d_id = ? FOR UPDATE", "ii"}
SQL.district_increment = {"UPDATE $district SET d_next_o_id = " ..
   "d_next_o_id + 1 WHERE d_w_id = ? AND d_id = ?", "ii"}
SQL.customer_discount = {"SELECT c_discount, c_last, c_credit " ..
   "FROM $customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", "iii"}
SQL.item = {"SELECT i_price, i_name, i_data FROM $item WHERE i_id = ?", "i"}
SQL.order_insert = {"INSERT INTO $orders (o_id, o_d_id, o_w_id, o_c_id, " ..
   "o_entry_d, o_ol_cnt, o_all_local) VALUES (?, ?, ?, ?, " ..
   "CURRENT_TIMESTAMP, ?, ?)", "iiiiii"}
SQL.new_order_insert = {"INSERT INTO $new_orders (no_o_id, no_d_id, " ..
   "no_w_id) VALUES (?, ?, ?)", "iii"}
SQL.stock_update = {"UPDATE $stock SET s_quantity = ?, s_ytd = s_ytd + ?, " ..
   "s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? " ..
   "WHERE s_w_id = ? AND s_i_id = ?", "iiiii"}
SQL.order_line_insert = {"INSERT INTO $order_line (ol_o_id, ol_d_id, " ..
   "ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, " ..
   "ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "iiiiiiinc"}

-- The information of a stock about a district is in the district's column.
for i = 1, tpcc.DISTRICTS do
   SQL["stock_" .. i] = {string.format("SELECT s_quantity, s_dist_%02d, " ..
      "s_data FROM $stock WHERE s_w_id = ? AND s_i_id = ? FOR UPDATE", i),
      "ii", "stock"}
end

-- Customers (payment, order-status).
local CUSTOMER = "SELECT c_id, c_balance, c_credit, c_discount, c_first, " ..
   "c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, " ..
   "c_phone, c_since, c_credit_lim, c_data FROM $customer WHERE " ..
   "c_w_id = ? AND c_d_id = ? AND "
SQL.customer_pay = {CUSTOMER .. "c_id = ? FOR UPDATE", "iii",
   "customer_by_id"}
SQL.customer_pay_name = {CUSTOMER .. "c_last = ? ORDER BY c_first FOR UPDATE",
   "iic", "customer_by_name"}
SQL.customer_read = {"SELECT c_id, c_balance, c_first, c_middle, c_last " ..
   "FROM $customer WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", "iii",
   "customer_by_id"}
SQL.customer_read_name = {"SELECT c_id, c_balance, c_first, c_middle, " ..
   "c_last FROM $customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? " ..
   "ORDER BY c_first", "iic", "customer_by_name"}

-- Payment (clause 2.5).
SQL.warehouse_pay = {"UPDATE $warehouse SET w_ytd = w_ytd + ? " ..
   "WHERE w_id = ?", "ni"}
SQL.warehouse_address = {"SELECT w_name, w_street_1, w_street_2, w_city, " ..
   "w_state, w_zip FROM $warehouse WHERE w_id = ?", "i"}
SQL.district_pay = {"UPDATE $district SET d_ytd = d_ytd + ? " ..
   "WHERE d_w_id = ? AND d_id = ?", "nii"}
SQL.district_address = {"SELECT d_name, d_street_1, d_street_2, d_city, " ..
   "d_state, d_zip FROM $district WHERE d_w_id = ? AND d_id = ?", "ii"}
SQL.customer_update = {"UPDATE $customer SET c_balance = c_balance - ?, " ..
   "c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = c_payment_cnt + 1 " ..
   "WHERE c_w_id = ? AND c_d_id = ? AND c_id = ?", "nniii"}
SQL.customer_update_data = {"UPDATE $customer SET c_balance = " ..
   "c_balance - ?, c_ytd_payment = c_ytd_payment + ?, c_payment_cnt = " ..
   "c_payment_cnt + 1, c_data = ? WHERE c_w_id = ? AND c_d_id = ? AND " ..
   "c_id = ?", "nnciii"}
SQL.history_insert = {"INSERT INTO $history (h_c_id, h_c_d_id, h_c_w_id, " ..
   "h_d_id, h_w_id, h_date, h_amount, h_data) VALUES (?, ?, ?, ?, ?, " ..
   "CURRENT_TIMESTAMP, ?, ?)", "iiiiinc"}

-- Order-status (clause 2.6).
SQL.last_order = {"SELECT o_id, o_entry_d, o_carrier_id FROM $orders " ..
   "WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? ORDER BY o_id DESC " ..
   "LIMIT 1", "iii"}
SQL.order_lines = {"SELECT ol_i_id, ol_supply_w_id, ol_quantity, " ..
   "ol_amount, ol_delivery_d FROM $order_line WHERE ol_w_id = ? AND " ..
   "ol_d_id = ? AND ol_o_id = ?", "iii"}

-- Delivery (clause 2.7).
SQL.new_order_first = {"SELECT no_o_id FROM $new_orders WHERE no_w_id = ? " ..
   "AND no_d_id = ? ORDER BY no_o_id LIMIT 1 FOR UPDATE", "ii"}
SQL.new_order_delete = {"DELETE FROM $new_orders WHERE no_w_id = ? AND " ..
   "no_d_id = ? AND no_o_id = ?", "iii"}
SQL.order_customer = {"SELECT o_c_id FROM $orders WHERE o_w_id = ? AND " ..
   "o_d_id = ? AND o_id = ? CURRENT_ROWS", "iii"}
SQL.order_carrier = {"UPDATE $orders SET o_carrier_id = ? WHERE " ..
   "o_w_id = ? AND o_d_id = ? AND o_id = ?", "iiii"}
SQL.lines_delivered = {"UPDATE $order_line SET ol_delivery_d = " ..
   "CURRENT_TIMESTAMP WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?",
   "iii"}
SQL.lines_amount = {"SELECT SUM(ol_amount) FROM $order_line WHERE " ..
   "ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ? CURRENT_ROWS", "iii"}
SQL.customer_deliver = {"UPDATE $customer SET c_balance = c_balance + ?, " ..
   "c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = ? AND c_d_id = ? AND " ..
   "c_id = ?", "niii"}

-- Stock-level (clause 2.8).
SQL.district_last = {"SELECT d_next_o_id FROM $district WHERE d_w_id = ? " ..
   "AND d_id = ?", "ii"}
SQL.stock_count = {"SELECT COUNT(DISTINCT s_i_id) FROM $order_line, $stock " ..
   "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id < ? AND ol_o_id >= ? AND " ..
   "s_w_id = ? AND s_i_id = ol_i_id AND s_quantity < ?", "iiiiii"}

-- Execution ------------------------------------------------------------------

local con, d, pipelined
local set -- number of the set of tables of the transaction in progress

local types = {
   i = {sysbench.sql.type.INT},
   n = {sysbench.sql.type.DOUBLE},
   c = {sysbench.sql.type.VARCHAR, 500},
}

local function prepare_statement(name)
   local text, kinds = SQL[name][1], SQL[name][2]
   text = text:gsub("FOR UPDATE", d.for_update):gsub(" CURRENT_ROWS",
      d.current_rows)
   local stmt = con:prepare(tpcc.sql(set, text), SQL[name][3] or name)
   local s = {stmt = stmt, n = #kinds}
   for kind in kinds:gmatch(".") do
      s[#s + 1] = stmt:bind_create(unpack(types[kind]))
   end
   if s.n > 0 then
      stmt:bind_param(unpack(s, 1, s.n))
   end
   return s
end

local sets = {} -- the statements on each set of tables
local q         -- those on the tables of the transaction in progress

-- Returns a statement, which is prepared at first use.
local function statement(name)
   local s = q[name]
   if not s then
      s = prepare_statement(name)
      q[name] = s
   end
   return s
end

M.statement = statement

-- The statements that ask() has collected for a pipeline: their number and the
-- functions that read their results.
local collected, readers = 0, {}

-- Executes a statement and calls read(result), unless it is nil. In a pipeline,
-- the next receive() does both.
function M.ask(name, read, a, b, c, e, f, g, h, i)
   local s = statement(name)
   local n = s.n
   if n > 0 then s[1]:set(a) end
   if n > 1 then s[2]:set(b) end
   if n > 2 then s[3]:set(c) end
   if n > 3 then s[4]:set(e) end
   if n > 4 then s[5]:set(f) end
   if n > 5 then s[6]:set(g) end
   if n > 6 then s[7]:set(h) end
   if n > 7 then s[8]:set(i) end
   if not pipelined then
      local rs = s.stmt:execute()
      return read and read(rs)
   end
   if collected == 0 then
      con:pipeline_begin()
   end
   s.stmt:execute()
   collected = collected + 1
   readers[collected] = read or false
end

-- Sends what was collected and reads the results. Later statements depend on
-- them.
function M.receive()
   local n = collected
   if n == 0 then
      return
   end
   collected = 0
   con:pipeline_send()
   for i = 1, n do
      local rs, read = con:pipeline_next(), readers[i]
      if read then
         read(rs)
      end
   end
end

-- The same for statements whose results are not used.
function M.complete()
   if collected > 0 then
      collected = 0
      con:pipeline_run()
   end
end

-- To be called once by each user.
function M.open(connection, dialect, pipeline)
   con, d, pipelined = connection, dialect, pipeline
   SQL.begin_read = {d.begin, "", "begin"}
   SQL.begin_write = {d.begin_write, "", "begin"}
   SQL.commit = {d.commit, ""}
   SQL.rollback = {"ROLLBACK", ""}
end

-- Selects the tables of the next transaction.
function M.use(n)
   set = n
   q = sets[n] or {}
   sets[n] = q
end

-- To be called before each try of a transaction: forgets what a failed one has
-- collected.
function M.begin()
   collected = 0
end

return M
