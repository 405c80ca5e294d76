-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What the scripts in mongodb/ have in common: options, commands, hooks.

local doc_options = require("sb.doc_options")

local M = {}

-- A database on a connection of its own.
function M.connect()
   local drv = sysbench.sql.driver()
   if drv:dialect() ~= "mongodb" then
      error(string.format("this workload works on documents: give " ..
         "--mongo-url (the driver '%s' has tables)", drv:name()), 0)
   end
   return sysbench.mongodb.wrap(drv:connect())
end

-- Tries, on documents that are not there, what a server may lack; an error
-- names it, and the option that leaves it out.
local function probe(db, coll, what)
   local ok, err = pcall(what.try, coll)
   if not ok then
      local why = db.con.sql_errmsg ~= nil and ffi.string(db.con.sql_errmsg)
      error(string.format("%s cannot %s (%s)%s", db.con:server_info(),
         what.name, why ~= "" and why or tostring(err), what.without and
         "; leave it out by " .. what.without or ""), 0)
   end
end

-- All collections are there, and hold documents of this kind: with others
-- events would find nothing, quickly.
local function look(db, opt, fields)
   local name, there = require("sb.schema").name, {}
   if not opt.check_tables then
      return db:collection(name(opt, 1))
   end
   for _, coll in ipairs(db:list_collections()) do
      there[coll.name] = true
   end
   for n = 1, opt.tables do
      if not there[name(opt, n)] then
         error(string.format("there is no collection '%s': run the " ..
            "'prepare' command first", name(opt, n)), 0)
      end
   end
   local coll = db:collection(name(opt, 1))
   local first = coll:find_one{_id = 1}
   for _, field in ipairs(first and fields or {}) do
      if first[field] == nil then
         error(string.format("the documents in '%s' have no '%s': they " ..
            "are another workload's; use another database, or 'cleanup' " ..
            "and 'prepare'", coll.name, field), 0)
      end
   end
   if #fields > 0 and opt.table_size > 0 and
      not coll:find_one({_id = opt.table_size}, {projection = {_id = 1}})
   then
      io.stderr:write(string.format("WARNING: '%s' has no document %d, the " ..
         "last one by --table-size: ids that are not there find nothing\n",
         coll.name, opt.table_size))
   end
   return coll
end

-- make(coll) for collection n, when it is first asked for: t[n].
function M.per_collection(db, opt, make)
   local name = require("sb.schema").name
   return setmetatable({}, {__index = function(list, n)
      list[n] = make(db:collection(name(opt, n)))
      return list[n]
   end})
end

-- A random id of the documents that prepare made.
function M.id(opt)
   local size = opt.table_size
   return sysbench.rand.default(1, size < 1 and 1 or size)
end

-- w: the workload:
--   options(kind)     its own options, see sb/doc_options.lua
--   bounds            of them, see sb/bounds.lua
--   commands          name of the module of its commands (sb/doc_commands.lua)
--   fields            names of some fields that its documents have; not
--                     given: those of the mix; {}: any documents will do
--   settle(opt)       more checks of the options; optional
--   init(db, opt)     before there are users; optional
--   needs(opt)        list of {name =, without =, try = function(coll)}:
--                     operators the server may lack, and the option that
--                     leaves each out, if any; optional
--   open(db, opt)     returns what event() gets
--   event(self, n)    one event on collection n
function M.declare(w)
   local db, opt, self

   local function settle(options)
      doc_options.settle(options, w.bounds)
      if w.settle then
         w.settle(options)
      end
      return options
   end

   sysbench.cmdline.options = doc_options.declarations(w.options)
   require("sb.own_commands").declare(w.commands, settle)

   function init() -- luacheck: globals init
      local own, first = settle(sysbench.opt), M.connect()
      local coll = look(first, own, w.fields or {"k", "c", "pad"})
      for _, what in ipairs(w.needs and w.needs(own) or {}) do
         probe(first, coll, what)
      end
      if w.init then
         w.init(first, own)
      end
      first:disconnect()
   end

   function thread_init() -- luacheck: globals thread_init
      opt = settle(sysbench.opt)
      db = M.connect()
      self = w.open(db, opt)
   end

   function thread_done() -- luacheck: globals thread_done
      db:disconnect()
   end

   local run, rand = w.event, sysbench.rand
   function event() -- luacheck: globals event
      run(self, rand.uniform(1, opt.tables))
   end
end

return M
