-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- tpcc: the check command. The users of a run never load this.

local databases = require("sb.databases")
local parallel = require("sb.prepare")
local print_line = require("sb.build").print_line
local tpcc = require("sb.tpcc")

-- Consistency (clause 3.3.2) -------------------------------------------------

-- Sums are compared with a tolerance: SQLite has no decimal numbers.
local DIFFERS = "ABS(%s - %s) >= 0.005"

local function differs(a, b)
   return DIFFERS:format(a, b)
end

-- The amounts of the delivered orders of each customer, for a LEFT JOIN.
local DELIVERED = "(SELECT o_w_id, o_d_id, o_c_id, SUM(ol_amount) AS a " ..
   "FROM $orders JOIN $order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id " ..
   "AND ol_o_id = o_id WHERE $in(o_w_id) AND ol_delivery_d IS NOT NULL " ..
   "GROUP BY o_w_id, o_d_id, o_c_id) AS t ON o_w_id = c_w_id AND " ..
   "o_d_id = c_d_id AND o_c_id = c_id"

-- {clause, text, query}: the query returns a row for each violation, ordered,
-- with the values for the text. $name is a table; $in(column): the warehouse is
-- one of those to be checked, or the condition is not about a warehouse;
-- $delivered: the number of orders per district that prepare delivered. The
-- specification has no clause for the numbers of rows, which the conditions do
-- not cover.
local SIZES = "the numbers of rows"
local conditions = {
   {SIZES, "warehouse has %s rows and not %s",
      "SELECT n, $warehouses FROM (SELECT COUNT(*) AS n FROM $warehouse) " ..
      "AS t WHERE n <> $warehouses"},
   {SIZES, "item has %s rows and not %s",
      "SELECT n, $items FROM (SELECT COUNT(*) AS n FROM $item) AS t WHERE " ..
      "n <> $items"},
   {SIZES, "warehouse %s has %s districts and not 10",
      "SELECT w_id, COUNT(d_id) FROM $warehouse LEFT JOIN $district ON " ..
      "d_w_id = w_id WHERE $in(w_id) GROUP BY w_id HAVING COUNT(d_id) <> " ..
      "10 ORDER BY 1"},
   {SIZES, "warehouse %s has %s rows of stock and not %s",
      "SELECT w_id, COUNT(s_i_id), $items FROM $warehouse LEFT JOIN $stock " ..
      "ON s_w_id = w_id WHERE $in(w_id) GROUP BY w_id HAVING COUNT(s_i_id) " ..
      "<> $items ORDER BY 1"},
   {SIZES, "warehouse %s, district %s has %s customers and not %s",
      "SELECT d_w_id, d_id, COUNT(c_id), $customers FROM $district LEFT " ..
      "JOIN $customer ON c_w_id = d_w_id AND c_d_id = d_id WHERE " ..
      "$in(d_w_id) GROUP BY d_w_id, d_id HAVING COUNT(c_id) <> $customers " ..
      "ORDER BY 1, 2"},
   {"3.3.2.1", "warehouse %s: w_ytd is %s, the sum of d_ytd is %s",
      "SELECT w_id, w_ytd, s FROM $warehouse LEFT JOIN (SELECT d_w_id, " ..
      "SUM(d_ytd) AS s FROM $district WHERE $in(d_w_id) GROUP BY d_w_id) " ..
      "AS t ON d_w_id = w_id WHERE $in(w_id) AND (s IS NULL OR " ..
      differs("w_ytd", "s") .. ") ORDER BY w_id"},
   {"3.3.2.2", "warehouse %s, district %s: d_next_o_id - 1 is %s, the " ..
      "greatest o_id is %s, the greatest no_o_id is %s",
      "SELECT d_w_id, d_id, d_next_o_id - 1, o, n FROM $district LEFT JOIN " ..
      "(SELECT o_w_id, o_d_id, MAX(o_id) AS o FROM $orders WHERE " ..
      "$in(o_w_id) GROUP BY o_w_id, o_d_id) AS t ON o_w_id = d_w_id AND " ..
      "o_d_id = d_id LEFT JOIN (SELECT no_w_id, no_d_id, MAX(no_o_id) AS n " ..
      "FROM $new_orders WHERE $in(no_w_id) GROUP BY no_w_id, no_d_id) AS u " ..
      "ON no_w_id = d_w_id AND no_d_id = d_id WHERE $in(d_w_id) AND (o IS " ..
      "NULL OR d_next_o_id - 1 <> o OR n <> o) ORDER BY d_w_id, d_id"},
   {"3.3.2.3", "warehouse %s, district %s: the range of no_o_id has %s " ..
      "numbers and %s rows",
      "SELECT no_w_id, no_d_id, MAX(no_o_id) - MIN(no_o_id) + 1, COUNT(*) " ..
      "FROM $new_orders WHERE $in(no_w_id) GROUP BY no_w_id, no_d_id " ..
      "HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*) ORDER BY 1, 2"},
   {"3.3.2.4", "warehouse %s, district %s: the sum of o_ol_cnt is %s, but " ..
      "there are %s order lines",
      "SELECT d_w_id, d_id, COALESCE(s, 0), COALESCE(n, 0) FROM $district " ..
      "LEFT JOIN (SELECT o_w_id, o_d_id, SUM(o_ol_cnt) AS s FROM $orders " ..
      "WHERE $in(o_w_id) GROUP BY o_w_id, o_d_id) AS t ON o_w_id = d_w_id " ..
      "AND o_d_id = d_id LEFT JOIN (SELECT ol_w_id, ol_d_id, COUNT(*) AS n " ..
      "FROM $order_line WHERE $in(ol_w_id) GROUP BY ol_w_id, ol_d_id) AS u " ..
      "ON ol_w_id = d_w_id AND ol_d_id = d_id WHERE $in(d_w_id) AND " ..
      "COALESCE(s, 0) <> COALESCE(n, 0) ORDER BY d_w_id, d_id"},
   {"3.3.2.5", "warehouse %s, district %s, order %s: o_carrier_id is %s, " ..
      "and the order is%s in new_orders",
      "SELECT o_w_id, o_d_id, o_id, COALESCE(o_carrier_id, 0), CASE WHEN " ..
      "no_o_id IS NULL THEN ' not' ELSE '' END FROM $orders LEFT JOIN " ..
      "$new_orders ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = " ..
      "o_id WHERE $in(o_w_id) AND (o_carrier_id IS NULL) = (no_o_id IS " ..
      "NULL) ORDER BY o_w_id, o_d_id, o_id"},
   {"3.3.2.5", "warehouse %s, district %s, order %s is in new_orders and " ..
      "not in orders",
      "SELECT no_w_id, no_d_id, no_o_id FROM $new_orders LEFT JOIN $orders " ..
      "ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id WHERE " ..
      "$in(no_w_id) AND o_id IS NULL ORDER BY no_w_id, no_d_id, no_o_id"},
   {"3.3.2.6", "warehouse %s, district %s, order %s: o_ol_cnt is %s, but " ..
      "there are %s order lines",
      "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, COALESCE(n, 0) FROM $orders " ..
      "LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, COUNT(*) AS n FROM " ..
      "$order_line WHERE $in(ol_w_id) GROUP BY ol_w_id, ol_d_id, ol_o_id) " ..
      "AS t ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id " ..
      "WHERE $in(o_w_id) AND o_ol_cnt <> COALESCE(n, 0) ORDER BY o_w_id, " ..
      "o_d_id, o_id"},
   {"3.3.2.7", "warehouse %s, district %s, order %s, line %s: " ..
      "ol_delivery_d is%s null, but o_carrier_id is%s null",
      "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, CASE WHEN " ..
      "ol_delivery_d IS NULL THEN '' ELSE ' not' END, CASE WHEN " ..
      "o_carrier_id IS NULL THEN '' ELSE ' not' END FROM $order_line JOIN " ..
      "$orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id " ..
      "WHERE $in(ol_w_id) AND (ol_delivery_d IS NULL) <> (o_carrier_id IS " ..
      "NULL) ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number"},
   {"3.3.2.8", "warehouse %s: w_ytd is %s, the sum of h_amount is %s",
      "SELECT w_id, w_ytd, s FROM $warehouse LEFT JOIN (SELECT h_w_id, " ..
      "SUM(h_amount) AS s FROM $history WHERE $in(h_w_id) GROUP BY h_w_id) " ..
      "AS t ON h_w_id = w_id WHERE $in(w_id) AND (s IS NULL OR " ..
      differs("w_ytd", "s") .. ") ORDER BY w_id"},
   {"3.3.2.9", "warehouse %s, district %s: d_ytd is %s, the sum of " ..
      "h_amount is %s",
      "SELECT d_w_id, d_id, d_ytd, s FROM $district LEFT JOIN (SELECT " ..
      "h_w_id, h_d_id, SUM(h_amount) AS s FROM $history WHERE $in(h_w_id) " ..
      "GROUP BY h_w_id, h_d_id) AS t ON h_w_id = d_w_id AND h_d_id = d_id " ..
      "WHERE $in(d_w_id) AND (s IS NULL OR " ..
      differs("d_ytd", "s") .. ") ORDER BY d_w_id, d_id"},
   {"3.3.2.10", "warehouse %s, district %s, customer %s: c_balance is %s, " ..
      "but delivered orders minus payments are %s",
      "SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(a, 0) - " ..
      "COALESCE(p, 0) FROM $customer LEFT JOIN " .. DELIVERED .. " LEFT " ..
      "JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, SUM(h_amount) AS p FROM " ..
      "$history WHERE $in(h_c_w_id) GROUP BY h_c_w_id, h_c_d_id, h_c_id) " ..
      "AS v ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id " ..
      "WHERE $in(c_w_id) AND " .. differs("c_balance", "(COALESCE(a, 0) - " ..
      "COALESCE(p, 0))") .. " ORDER BY c_w_id, c_d_id, c_id"},
   {"3.3.2.11", "warehouse %s, district %s: %s orders are not in " ..
      "new_orders, but %s were delivered",
      "SELECT d_w_id, d_id, COALESCE(o, 0) - COALESCE(n, 0), $delivered + " ..
      "COALESCE(c, 0) FROM $district LEFT JOIN (SELECT o_w_id, o_d_id, " ..
      "COUNT(*) AS o FROM $orders WHERE $in(o_w_id) GROUP BY o_w_id, " ..
      "o_d_id) AS t ON o_w_id = d_w_id AND o_d_id = d_id LEFT JOIN (SELECT " ..
      "no_w_id, no_d_id, COUNT(*) AS n FROM $new_orders WHERE $in(no_w_id) " ..
      "GROUP BY no_w_id, no_d_id) AS u ON no_w_id = d_w_id AND no_d_id = " ..
      "d_id LEFT JOIN (SELECT c_w_id, c_d_id, SUM(c_delivery_cnt) AS c " ..
      "FROM $customer WHERE $in(c_w_id) GROUP BY c_w_id, c_d_id) AS v ON " ..
      "c_w_id = d_w_id AND c_d_id = d_id WHERE $in(d_w_id) AND COALESCE(o, " ..
      "0) - COALESCE(n, 0) <> $delivered + COALESCE(c, 0) ORDER BY d_w_id, " ..
      "d_id"},
   {"3.3.2.12", "warehouse %s, district %s, customer %s: c_balance + " ..
      "c_ytd_payment is %s, but delivered orders are %s",
      "SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment, COALESCE(a, " ..
      "0) FROM $customer LEFT JOIN " .. DELIVERED .. " WHERE $in(c_w_id) " ..
      "AND " .. differs("(c_balance + c_ytd_payment)", "COALESCE(a, " ..
      "0)") .. " ORDER BY c_w_id, c_d_id, c_id"},
}

-- Warehouses that a user checks at a time: all users have work, and with one
-- user each table is read as a whole.
local function range_size(opt)
   return math.ceil(opt.warehouses / opt.threads)
end

-- Returns the condition on a column for warehouses of range `r`. The first and
-- the last range include the numbers that no warehouse has.
local function in_range(opt, r, column)
   local size = range_size(opt)
   local first, last = (r - 1) * size + 1, r * size
   local list = {"1 = 1"}
   if r > 1 then
      list[#list + 1] = string.format("%s >= %d", column, first)
   end
   if last < opt.warehouses then
      list[#list + 1] = string.format("%s <= %d", column, last)
   end
   return table.concat(list, " AND ")
end

-- Replaces $name by the name of a table of the set, and $customers and so on by
-- numbers.
local function query_of(opt, set, r, text)
   local numbers = {warehouses = opt.warehouses, items = opt.items,
      customers = opt.customers, delivered = tpcc.delivered(opt)}
   text = text:gsub("%$in(%b())", function(column)
      return in_range(opt, r, column:sub(2, -2))
   end)
   return tpcc.sql(set, (text:gsub("%$([%a_]+)", function(name)
      return numbers[name] and string.format("%.0f", numbers[name])
   end)))
end

-- Returns the violation of a condition in a range of a set's warehouses, or
-- nil.
local function violation(con, opt, set, r, condition)
   if r > 1 and not condition[3]:find("$in", 1, true) then
      return nil -- it is about the whole table
   end
   local query = query_of(opt, set, r, condition[3])
   -- Counted without a limit: for LIMIT 1, PostgreSQL chooses a plan that
   -- finds one row soon, but takes minutes if no row matches.
   local count = tonumber((con:query_row("SELECT COUNT(*) FROM (" .. query ..
      ") AS violations")))
   if count == 0 then
      return nil
   end
   local rs = con:query(query .. (count > 1000 and " LIMIT 1" or ""))
   local row = rs:fetch_row()
   local values = {}
   for i = 1, rs.nfields do
      values[i] = row[i] or "NULL"
   end
   rs:free()
   return string.format("%s: %s: %s%s", tpcc.set_name(set), condition[1],
      condition[2]:format(unpack(values)), count > 1 and
      string.format(" (and %d more)", count - 1) or "")
end

-- Counters of sysbench.parallel.ticket().
local CHECK_KEY, VIOLATION_KEY = 21, 22

-- Returns the set, the range and the condition of work item i.
local function item_of(opt, i)
   local ranges = math.ceil(opt.warehouses / range_size(opt))
   local n = i - 1
   local condition = conditions[n % #conditions + 1]
   n = math.floor(n / #conditions)
   return math.floor(n / ranges) + 1, n % ranges + 1, condition,
      opt.tables * ranges * #conditions
end

-- All users call this; each checks some conditions on some warehouses.
-- require_tables(con, opt): called for each database.
return function(opt, require_tables)
   local first -- the first violation that any user found, if it was this one
   databases.each(function(con, _, _, database)
      require_tables(con, opt)
      local _, _, _, items = item_of(opt, 1)
      parallel.share(CHECK_KEY, items, function(i)
         local set, r, condition = item_of(opt, i)
         local found = violation(con, opt, set, r, condition)
         if not found then
            return
         end
         if database then
            found = database .. ": " .. found
         end
         print_line("%s", found)
         if sysbench.parallel.ticket(VIOLATION_KEY) == 0 then
            first = found
         end
      end)
   end)
   sysbench.parallel.barrier()
   local n = first and sysbench.parallel.ticket(VIOLATION_KEY)
   sysbench.parallel.barrier()
   if first then
      error(n == 1 and first or string.format("%d conditions are violated, " ..
         "the first is %s", n, first), 0)
   elseif sysbench.tid % opt.threads == 0 and
      sysbench.parallel.ticket(VIOLATION_KEY) == 0
   then
      print_line("All consistency conditions (3.3.2.1 to 3.3.2.12) are met")
   end
end
