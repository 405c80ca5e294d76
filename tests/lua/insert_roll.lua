#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Each transaction inserts a row with the highest id so far and adds its k to
-- three roll-ups of the table: sums over 10, 100 and 1,000 ids.

local roll = require("sb.roll")

sysbench.cmdline.options = roll.declarations()

local opt -- the settings

require("sb.own_commands").declare("sb.roll_commands", roll.normalize)

-- New ids continue after the highest existing id.
function init()
   require("sb.roll_commands").continue_ids(roll.normalize(sysbench.opt))
end

local rand = sysbench.rand
local con, d, begin, commit

-- Statements on table n, prepared at first use.
local tables = setmetatable({}, {__index = function(list, n)
   local t = roll.statements(con, d, opt, n)
   list[n] = t
   return t
end})

function thread_init()
   opt = roll.normalize(sysbench.opt)
   local drv = sysbench.sql.driver()
   con = drv:connect()
   d = require("sb.dialect_more").of(drv)
   if not opt.skip_trx then
      begin = con:prepare(d.begin_write, "begin")
      commit = con:prepare(d.commit, "commit")
   end
   if opt.pipeline then
      require("sb.pipelined").wrap(con)
   end
end

function thread_done()
   for _, t in pairs(tables) do
      roll.close(t)
   end
   if begin then
      begin:close()
      commit:close()
   end
   con:disconnect()
end

-- Sets the parameters that the row and its roll-ups share.
local function set_common(t)
   t.k:set(rand.default(0, roll.K_MAX))
   if t.hid then
      t.hid:set(rand.uniform(0, roll.HID_MAX))
      t.mid:set(rand.uniform(0, roll.HID_MAX))
   end
end

function event()
   local t = tables[rand.uniform(1, opt.tables)]
   if begin then
      begin:execute()
   end
   local id = t.ids:next()
   set_common(t)
   t.id:set(id)
   t.c:set_rand_str(roll.c_format)
   t.pad:set_rand_str(roll.pad_format)
   t.insert:execute()
   t.id10:set(math.floor(id / 10))
   t.r10:execute()
   t.id100:set(math.floor(id / 100))
   t.r100:execute()
   t.id1000:set(math.floor(id / 1000))
   t.r1000:execute()
   if commit then
      commit:execute()
   end
end
