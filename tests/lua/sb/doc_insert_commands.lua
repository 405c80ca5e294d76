-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of mongodb/insert. Its documents may have any id.

local tables = require("sb.doc_tables")

local own = {}

function own.wrong(doc, opt)
   return tables.wrong(doc, setmetatable({new_rows = true}, {__index = opt}))
end

local commands = require("sb.doc_commands").of(tables.derive(own))
local check = commands.check

function commands.check(opt)
   opt.new_rows = true
   check(opt)
end

return commands
