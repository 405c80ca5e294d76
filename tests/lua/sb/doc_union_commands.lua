-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/union: check also counts the documents of unions of whole
-- collections.

local schema = require("sb.schema")

local own = {}

function own.check_more(coll, opt, n)
   local other = schema.name(opt, n % opt.tables + 1)
   local united = coll:aggregate({{["$unionWith"] = {coll = other}},
      {["$group"] = {_id = sysbench.mongodb.null, n = {["$sum"] = 1}}}}):next()
   local count = united and united.n or 0
   if count ~= 2 * opt.table_size then
      error(string.format("the union of %s and %s has %d documents, " ..
         "expected %d", schema.name(opt, n), other, count,
         2 * opt.table_size), 0)
   end
end

return require("sb.doc_commands").of(require("sb.doc_tables").derive(own))
