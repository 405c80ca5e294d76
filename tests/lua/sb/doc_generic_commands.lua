-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The commands of the generic workloads. Their collections may contain any
-- documents, so check only counts them.

local own = {}

function own.wrong()
   return nil
end

local commands = require("sb.doc_commands").of(
   require("sb.doc_tables").derive(own))
local check = commands.check

function commands.check(opt)
   opt.new_rows = true
   check(opt)
end

return commands
