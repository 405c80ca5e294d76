#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Order entry of a wholesale supplier: the tables and the five transactions of
-- TPC-C 5.11. An event is a transaction; its kind is drawn by weight. Results
-- are not TPC-C results: see docs/workloads/tpcc.md.

local tpcc = require("sb.tpcc")
local statements = require("sb.tpcc_statements")
local retry = require("sb.retry")

local ask, receive, complete = statements.ask, statements.receive,
   statements.complete
local rand = sysbench.rand
local floor = math.floor
local user = {} -- con, d and opt of this user
local constants -- of the non-uniform random numbers in this run
local terminal  -- number of this user
local x = {}    -- input of the transaction in progress, and what it has read

local function no_row(table_name)
   error(string.format("%s has no row for warehouse %d, district %d: do " ..
      "--warehouses, --items and --customers have the values of prepare?",
      tpcc.name(x.set, table_name), x.warehouse, x.district), 0)
end

-- Returns the first row of a result; nil if there is no result at all, as with
-- the null driver.
local function first_row(rs, table_name)
   local row = rs and rs:fetch_row()
   if rs and not row then
      no_row(table_name)
   end
   return row
end

-- Input ----------------------------------------------------------------------

local function draw_home()
   local n = terminal % (user.opt.tables * user.opt.warehouses)
   if user.opt.home == "random" then
      n = rand.uniform(0, user.opt.tables * user.opt.warehouses - 1)
   end
   x.set = floor(n / user.opt.warehouses) + 1
   x.warehouse = n % user.opt.warehouses + 1
   x.district = rand.uniform(1, tpcc.DISTRICTS)
end

-- Returns another warehouse than the home, or the home if it is the only one.
local function draw_remote()
   if user.opt.warehouses == 1 then
      return 1
   end
   local w = rand.uniform(1, user.opt.warehouses - 1)
   return w < x.warehouse and w or w + 1
end

-- Clauses 2.5.1.2 and 2.6.1.2: 60 % of the customers are found by last name.
local function draw_customer()
   x.by_name = rand.uniform(1, 100) <= 60
   if x.by_name then
      x.name = tpcc.draw_last_name(user.opt, constants.name)
   else
      x.customer = tpcc.draw_customer(user.opt, constants)
   end
end

-- New-order (clause 2.4) -----------------------------------------------------

-- Names of statements that read the stock, by district.
local stock_of = {}
for i = 1, tpcc.DISTRICTS do
   stock_of[i] = "stock_" .. i
end

local lines = {}
for i = 1, tpcc.LINES_MAX do
   lines[i] = {}
end

-- Sorts the lines by warehouse and item: all users lock rows of the table stock
-- in the same order.
local function sort_lines(n)
   for i = 2, n do
      local line, at = lines[i], i
      while at > 1 and (lines[at - 1].supply > line.supply or
         lines[at - 1].supply == line.supply and
         lines[at - 1].item > line.item)
      do
         lines[at] = lines[at - 1]
         at = at - 1
      end
      lines[at] = line
   end
end

local function draw_new_order()
   x.customer = tpcc.draw_customer(user.opt, constants)
   x.lines = rand.uniform(tpcc.LINES_MIN, tpcc.LINES_MAX)
   x.local_only = 1
   local invalid = rand.uniform(1, 100) == 1 -- clause 2.4.1.4
   for i = 1, x.lines do
      local line = lines[i]
      line.item = tpcc.draw_item(user.opt, constants)
      line.supply = x.warehouse
      if rand.uniform(1, 100) == 1 then -- clause 2.4.1.5
         line.supply = draw_remote()
      end
      line.remote = line.supply == x.warehouse and 0 or 1
      line.quantity = rand.uniform(1, 10)
      if line.remote == 1 then
         x.local_only = 0
      end
   end
   if invalid then
      lines[x.lines].item = user.opt.items + 1 -- no item has this number
   end
   sort_lines(x.lines)
end

local function read_district(rs)
   local row = first_row(rs, "district")
   x.order = row and tonumber(row[1]) or 1
end

local function read_tax(rs)
   first_row(rs, "warehouse")
end

local function read_discount(rs)
   first_row(rs, "customer")
end

-- The lines are read in their order: the stock of each, then the item of each.
local at

local function read_stock(rs)
   at = at + 1
   local line, row = lines[at], rs and rs:fetch_row()
   line.stock = row and tonumber(row[1]) or not rs and 100 or nil
   line.info = row and row[2] or ""
end

local function read_item(rs)
   at = at % x.lines + 1
   local line, row = lines[at], rs and rs:fetch_row()
   line.price = row and tonumber(row[1]) or not rs and 0 or nil
   if line.price and not line.stock then
      no_row("stock")
   end
end

-- Clause 2.4.2.2: the stock after a line.
local function reduced(stock, quantity)
   return stock >= quantity + 10 and stock - quantity or stock - quantity + 91
end

-- Two lines may have the same item. They are neighbours, and the second one
-- reduces the stock that the first one leaves.
local function insert_lines()
   local w, district, order = x.warehouse, x.district, x.order
   for i = 1, x.lines do
      local line = lines[i]
      if line.price then
         local before = lines[i - 1]
         if before and before.price and before.item == line.item and
            before.supply == line.supply
         then
            line.stock = before.left
         end
         line.left = reduced(line.stock, line.quantity)
         local amount = floor(line.quantity * line.price * 100 + 0.5) / 100
         ask("stock_update", nil, line.left, line.quantity, line.remote,
            line.supply, line.item)
         statements.statement("order_line_insert")[9]:set(line.info)
         ask("order_line_insert", nil, order, district, w, i, line.item,
            line.supply, line.quantity, amount)
      end
   end
end

-- Returns whether all items exist.
local function items_exist()
   for i = 1, x.lines do
      if not lines[i].price then
         return false
      end
   end
   return true
end

local new_orders, rolled_back -- metrics

local function new_order()
   local w, district = x.warehouse, x.district
   at = 0
   ask("begin_write")
   ask("district_next", read_district, w, district)
   ask("district_increment", nil, w, district)
   for i = 1, x.lines do
      ask(stock_of[district], read_stock, lines[i].supply, lines[i].item)
   end
   ask("warehouse_tax", read_tax, w)
   ask("customer_discount", read_discount, w, district, x.customer)
   for i = 1, x.lines do
      ask("item", read_item, lines[i].item)
   end
   receive()
   ask("order_insert", nil, x.order, district, w, x.customer, x.lines,
      x.local_only)
   ask("new_order_insert", nil, x.order, district, w)
   insert_lines()
   local valid = items_exist()
   ask(valid and "commit" or "rollback")
   complete()
   new_orders:add()
   if not valid then
      rolled_back:add()
   end
end

-- Customers (payment, order-status) ------------------------------------------

-- Reads the customer; of several with this name the one in the middle (clauses
-- 2.5.2.2 and 2.6.2.2).
local function read_customer(rs)
   local row = first_row(rs, "customer")
   if row and x.by_name then
      for _ = 2, math.ceil(rs.nrows / 2) do
         row = rs:fetch_row()
      end
   end
   x.customer = row and tonumber(row[1]) or 1
   x.bad_credit = row and row[3] == "BC"
   x.data = x.bad_credit and row[16]
end

-- Payment (clause 2.5) -------------------------------------------------------

local function draw_payment()
   draw_customer()
   x.amount = rand.uniform(100, 500000) / 100
   x.customer_warehouse, x.customer_district = x.warehouse, x.district
   if rand.uniform(1, 100) > 85 then -- clause 2.5.1.2
      x.customer_warehouse = draw_remote()
      x.customer_district = rand.uniform(1, tpcc.DISTRICTS)
   end
end

local function read_warehouse_name(rs)
   local row = first_row(rs, "warehouse")
   x.warehouse_name = row and row[1] or ""
end

local function read_district_name(rs)
   local row = first_row(rs, "district")
   x.district_name = row and row[1] or ""
end

local DATA_LENGTH = 500 -- of c_data

-- Clause 2.5.2.2: the data of a customer with bad credit begins with this
-- payment.
local function payment_data()
   return string.format("%d %d %d %d %d %.2f|%s", x.customer,
      x.customer_district, x.customer_warehouse, x.district, x.warehouse,
      x.amount, x.data):sub(1, DATA_LENGTH)
end

local function payment()
   local w, district, amount = x.warehouse, x.district, x.amount
   local cw, cd = x.customer_warehouse, x.customer_district
   ask("begin_write")
   ask("warehouse_pay", nil, amount, w)
   ask("district_pay", nil, amount, w, district)
   if x.by_name then
      ask("customer_pay_name", read_customer, cw, cd, x.name)
   else
      ask("customer_pay", read_customer, cw, cd, x.customer)
   end
   ask("warehouse_address", read_warehouse_name, w)
   ask("district_address", read_district_name, w, district)
   receive()
   if x.bad_credit then
      ask("customer_update_data", nil, amount, amount, payment_data(), cw, cd,
         x.customer)
   else
      ask("customer_update", nil, amount, amount, cw, cd, x.customer)
   end
   ask("history_insert", nil, x.customer, cd, cw, district, w, amount,
      x.warehouse_name .. "    " .. x.district_name)
   ask("commit")
   complete()
end

-- Order-status (clause 2.6) --------------------------------------------------

local function read_last_order(rs)
   local row = first_row(rs, "orders")
   x.order = row and tonumber(row[1]) or 1
end

local function read_lines(rs)
   for _ = 1, rs and rs.nrows or 0 do
      rs:fetch_row()
   end
end

local function order_status()
   local w, district = x.warehouse, x.district
   ask("begin_read")
   if x.by_name then
      ask("customer_read_name", read_customer, w, district, x.name)
      receive()
   else
      ask("customer_read", read_customer, w, district, x.customer)
   end
   ask("last_order", read_last_order, w, district, x.customer)
   receive()
   ask("order_lines", read_lines, w, district, x.order)
   ask("commit")
   receive()
end

-- Delivery (clause 2.7) ------------------------------------------------------

local deliveries = {} -- by district: order, customer and amount
for i = 1, tpcc.DISTRICTS do
   deliveries[i] = {}
end

local function draw_delivery()
   x.carrier = rand.uniform(1, 10)
end

-- The districts are read in their order; those without a new order are left
-- out.
local reading

local function read_new_order(rs)
   reading = reading + 1
   local row = rs and rs:fetch_row()
   deliveries[reading].order = row and tonumber(row[1])
end

local function read_order_customer(rs)
   repeat
      reading = reading + 1
   until deliveries[reading].order
   local row = first_row(rs, "orders")
   deliveries[reading].customer = row and tonumber(row[1]) or 1
end

local function read_amount(rs)
   local row = first_row(rs, "order_line")
   deliveries[reading].amount = row and tonumber(row[1]) or 0
end

local skipped -- metric

local function deliver_order(district, order)
   local w = x.warehouse
   ask("new_order_delete", nil, w, district, order)
   ask("order_customer", read_order_customer, w, district, order)
   ask("order_carrier", nil, x.carrier, w, district, order)
   ask("lines_delivered", nil, w, district, order)
   ask("lines_amount", read_amount, w, district, order)
end

local function delivery()
   local w, missing = x.warehouse, 0
   ask("begin_write")
   reading = 0
   for i = 1, tpcc.DISTRICTS do
      ask("new_order_first", read_new_order, w, i)
   end
   receive()
   reading = 0
   for i = 1, tpcc.DISTRICTS do
      if deliveries[i].order then
         deliver_order(i, deliveries[i].order)
      else
         missing = missing + 1
      end
   end
   receive()
   for i = 1, tpcc.DISTRICTS do
      local del = deliveries[i]
      if del.order then
         ask("customer_deliver", nil, del.amount, w, i, del.customer)
      end
   end
   ask("commit")
   complete()
   if missing > 0 then
      skipped:add(missing)
   end
end

-- Stock-level (clause 2.8) ---------------------------------------------------

local function draw_stock_level()
   x.threshold = rand.uniform(10, 20)
   if user.opt.home == "fixed" then -- clause 2.8.1.1
      local n = floor(terminal / (user.opt.tables * user.opt.warehouses))
      x.district = n % tpcc.DISTRICTS + 1
   end
end

local function read_next_order(rs)
   local row = first_row(rs, "district")
   x.order = row and tonumber(row[1]) or 1
end

local function stock_level()
   local w, district = x.warehouse, x.district
   ask("begin_read")
   ask("district_last", read_next_order, w, district)
   receive()
   ask("stock_count", nil, w, district, x.order, x.order - 20, w, x.threshold)
   ask("commit")
   complete()
end

-- Events ---------------------------------------------------------------------

local kinds = {
   new_order = {draw = draw_new_order, run = new_order},
   payment = {draw = draw_payment, run = payment},
   order_status = {draw = draw_customer, run = order_status},
   delivery = {draw = draw_delivery, run = delivery},
   stock_level = {draw = draw_stock_level, run = stock_level},
}

-- Draws the kind of the next transaction.
local draw_kind

local function open_mix()
   local deck, weights, list = {}, {}, {}
   for i, t in ipairs(tpcc.transactions) do
      local kind, weight = kinds[t.name], user.opt[t.name]
      kind.keying, kind.thinking = t.keying, t.thinking
      kind.op = weight > 0 and sysbench.op(t.name)
      list[i], weights[i] = kind, weight
      for _ = 1, tpcc.has_deck(user.opt) and weight or 0 do
         deck[#deck + 1] = kind
      end
   end
   if #deck > 0 then -- clause 5.2.4.2
      draw_kind = require("sb.weights").deck(deck)
      return
   end
   local choose = require("sb.weights").chooser(weights)
   draw_kind = function() return list[choose()] end
end

local kind  -- of the transaction in progress, or of the next one
local token -- of its measurement, which covers all tries

-- Clause 5.2.5.4: think times are exponential, at most ten times the mean.
local function think_time(mean)
   return math.min(-math.log(1 - rand.uniform_double()), 10) * mean
end

-- Pauses for the think time after this transaction and the keying time before
-- the next one.
local function pause(last, next_kind)
   local seconds = 0
   if user.opt.terminal_thinking > 0 then
      seconds = think_time(last.thinking) * user.opt.terminal_thinking
   end
   seconds = seconds + next_kind.keying * user.opt.terminal_keying
   if seconds > 0 then
      sysbench.user.think(seconds)
   end
end

-- These functions are interpreted. Each of their paths, if compiled, would
-- contain a copy of the code of its statements, and compiling these copies
-- takes longer than they save. ask() and the functions that read results are
-- compiled once.
for _, f in ipairs{new_order, insert_lines, payment, order_status, delivery,
   deliver_order, stock_level, receive}
do
   jit.off(f)
end

local RUN_STREAM = 0 -- a random stream that no table uses

function thread_init(id)
   user.opt = tpcc.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   user.con = drv:connect()
   user.d = require("sb.dialect").of(drv)
   statements.open(user.con, user.d, user.opt.pipeline)
   terminal = id
   if user.opt.foreign_keys and user.d.use_foreign_keys then
      user.con:query(user.d.use_foreign_keys)
   end
   constants = tpcc.run_constants(RUN_STREAM)
   new_orders = sysbench.metric("new_orders")
   rolled_back = sysbench.metric("rolled_back")
   skipped = sysbench.metric("deliveries_skipped")
   open_mix()
   kind = draw_kind()
end

function thread_done()
   user.con:disconnect()
end

function event()
   if not retry.again() then
      draw_home()
      kind.draw()
      statements.use(x.set)
      token = kind.op:start()
   end
   statements.begin()
   kind.run()
   kind.op:finish(token)
   local last = kind
   kind = draw_kind()
   pause(last, kind)
end

jit.off(event)

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

if sysbench.cmdline.main_state then
   sysbench.cmdline.options = tpcc.declarations()

   function sysbench.hooks.check_tables()
      require("sb.tpcc_commands").check_tables(tpcc.normalize(sysbench.opt))
   end

   function done()
      if sysbench.opt.check then
         require("sb.tpcc_commands").check(tpcc.normalize(sysbench.opt))
      end
   end
end

require("sb.own_commands").declare("sb.tpcc_commands", tpcc.normalize)

function sysbench.hooks.report_line(stat, final)
   return require("sb.tpcc_report").line(stat, final)
end
