-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The options, commands and hooks that the scripts in mongodb/ share.

local doc_options = require("sb.doc_options")

local M = {}

-- Opens a connection and returns its database.
function M.connect()
   local drv = sysbench.sql.driver()
   if drv:dialect() ~= "mongodb" then
      error(string.format("this workload needs a MongoDB server: give " ..
         "--mongo-url (current driver: %s)", drv:name()), 0)
   end
   return sysbench.mongodb.wrap(drv:connect())
end

-- Tries an operator that a server may not support, on documents that do not
-- exist. The error names the operator and the option that disables it.
local function probe(db, coll, operator)
   local ok, err = pcall(operator.try, coll)
   if not ok then
      local why = db.con.sql_errmsg ~= nil and ffi.string(db.con.sql_errmsg)
      error(string.format("%s cannot %s (%s)%s", db.con:server_info(),
         operator.name, why ~= "" and why or tostring(err),
         operator.without and "; disable it with " .. operator.without or ""),
         0)
   end
end

-- Checks that all collections exist and have documents of this workload:
-- otherwise events would find nothing and look fast. Returns the first
-- collection.
local function check_collections(db, opt, fields)
   local name, exists = require("sb.schema").name, {}
   if not opt.check_tables then
      return db:collection(name(opt, 1))
   end
   for _, coll in ipairs(db:list_collections()) do
      exists[coll.name] = true
   end
   for n = 1, opt.tables do
      if not exists[name(opt, n)] then
         error(string.format("collection '%s' does not exist: run the " ..
            "'prepare' command first", name(opt, n)), 0)
      end
   end
   local coll = db:collection(name(opt, 1))
   local first = coll:find_one{_id = 1}
   for _, field in ipairs(first and fields or {}) do
      if first[field] == nil then
         error(string.format("the documents in '%s' have no field '%s', so " ..
            "another workload prepared them; use another database, or run " ..
            "'cleanup' and 'prepare'", coll.name, field), 0)
      end
   end
   if #fields > 0 and opt.table_size > 0 and
      not coll:find_one({_id = opt.table_size}, {projection = {_id = 1}})
   then
      sysbench.warning(string.format("'%s' has no document %d, which is " ..
         "--table-size: reads of missing ids return nothing and look fast",
         coll.name, opt.table_size))
   end
   return coll
end

-- Returns a table t where t[n] is make(coll) for collection n, called at first
-- use.
function M.per_collection(db, opt, make)
   local name = require("sb.schema").name
   return setmetatable({}, {__index = function(list, n)
      list[n] = make(db:collection(name(opt, n)))
      return list[n]
   end})
end

-- Returns a random id of the documents that prepare created.
function M.id(opt)
   local size = opt.table_size
   return sysbench.rand.default(1, size < 1 and 1 or size)
end

-- Declares the options, commands and hooks of a workload w:
--   options(kind)     its own options, see sb/doc_options.lua
--   bounds            their bounds, see sb/bounds.lua
--   commands          name of the module of its commands (sb/doc_commands.lua)
--   fields            names of some fields that its documents have; default:
--                     those of the OLTP mix; {}: documents are not checked
--   check_options(opt)  more checks of the options; optional
--   init(db, opt)     called before users start; optional
--   needs(opt)        list of {name =, without =, try = function(coll)}:
--                     operators that the server may not support, and the
--                     option that disables each, if any; optional
--   open(db, opt)     returns `self` for event()
--   event(self, n)    executes one event on collection n
function M.declare(w)
   local db, opt, self

   local function normalize(options)
      doc_options.normalize(options, w.bounds)
      if w.check_options then
         w.check_options(options)
      end
      return options
   end

   sysbench.cmdline.options = doc_options.declarations(w.options)
   require("sb.own_commands").declare(w.commands, normalize)

   function init() -- luacheck: globals init
      local own, first = normalize(sysbench.opt), M.connect()
      local coll = check_collections(first, own, w.fields or {"k", "c", "pad"})
      for _, operator in ipairs(w.needs and w.needs(own) or {}) do
         probe(first, coll, operator)
      end
      if w.init then
         w.init(first, own)
      end
      first:disconnect()
   end

   function thread_init() -- luacheck: globals thread_init
      opt = normalize(sysbench.opt)
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
