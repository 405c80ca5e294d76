#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Nearest-neighbour search: each event finds the --k vectors that are nearest
-- to a query vector, and counts how many of them are among the k nearest that
-- prepare found by an exact search: recall@k.

local vector = require("sb.vector")

local rand = sysbench.rand
local recall = sysbench.metric("recall", {kind = "distribution",
   help = "share of the k nearest neighbours that a search found"})
local opt -- the settings
local con, search, query
local texts = {} -- query vectors
-- By query vector: a set of the ids of its neighbours. It is larger than --k if
-- several have the same distance as the last one.
local nearest = {}

local function read_queries()
   local rs = con:query("SELECT id, embedding, neighbours FROM " ..
      vector.name(opt, 2) .. " ORDER BY id")
   for i = 1, rs.nrows do
      local row = rs:fetch_row()
      local ids, count, added = {}, 0, false
      for same, id in row[3]:gmatch("(=?)(%d+)") do
         added = count < opt.k or added and same == "="
         if added then
            ids[id], count = true, count + 1
         end
      end
      if count < opt.k then
         error(string.format("%s: query %s has only %d neighbours; --k must " ..
            "not be more", vector.name(opt, 2), row[1], count), 0)
      end
      local _, commas = row[2]:gsub(",", "")
      if commas + 1 ~= opt.dimensions then
         error(string.format("--dimensions is %d, but the vectors in %s " ..
            "have %d", opt.dimensions, vector.name(opt, 2), commas + 1), 0)
      end
      texts[i], nearest[i] = row[2], ids
   end
   rs:free()
end

function thread_init()
   opt = vector.normalize(sysbench.opt)
   con = sysbench.sql.driver():connect()
   local sql = vector.dialect()
   for _, statement in ipairs(sql.settings(opt)) do
      con:init_sql(statement)
   end
   read_queries()
   search = con:prepare(sql.search(vector.name(opt, 1), opt), "search")
   query = search:bind_create(sysbench.sql.type.VARCHAR,
      32 * opt.dimensions + 2)
   search:bind_param(query)
end

function event()
   local i = rand.uniform(1, #texts)
   query:set(texts[i])
   local rs = search:execute()
   local ids, hits = nearest[i], 0
   for _ = 1, rs.nrows do
      if ids[rs:fetch_row()[1]] then
         hits = hits + 1
      end
   end
   recall:record(hits / opt.k)
end

function thread_done()
   search:close()
   con:disconnect()
end

if sysbench.cmdline.run_state then
   return -- the rest is for the main state and the commands
end

sysbench.cmdline.options = vector.declarations()

require("sb.own_commands").declare("sb.vector_commands", vector.normalize)

function init()
   require("sb.vector_commands").before_run(vector.normalize(sysbench.opt))
end

function sysbench.hooks.report_line(stat, final)
   local r = stat.metrics.recall
   if r and r.count > 0 then
      return string.format(final and "Recall@%d: %.4f" or "recall@%d: %.4f",
         sysbench.opt.k, r.avg)
   end
end
