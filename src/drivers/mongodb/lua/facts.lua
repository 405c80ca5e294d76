-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- What a write did, computed from the reply when a script reads the field.

local api = ...
local lib = api.lib
local facts = {}

function facts.inserted(con)
   return lib.sbmo_doc_affected(con)
end

facts.deleted = facts.inserted

function facts.upserted(con)
   return lib.sbmo_doc_reply_number(con, "upserted")
end

function facts.upserted_id(con)
   local list = api.module("bson").field(con, "upserted")
   return list and list[1] and list[1]._id
end

jit.off(facts.upserted_id) -- see mongodb.lua

function facts.matched(con)
   return lib.sbmo_doc_reply_number(con, "n") - facts.upserted(con)
end

function facts.modified(con)
   return lib.sbmo_doc_reply_number(con, "nModified")
end

return facts
