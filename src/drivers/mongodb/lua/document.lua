-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents without a command: their bytes, and compiled ones for bulks.

local api = ...
local bson = api.module("bson")
local documents = {}

jit.off(true, true) -- see mongodb.lua

function documents.encode(document, db)
   bson.begin(db and db.con)
   bson.root(document)
   return bson.bytes()
end

function documents.decode(bytes, exact)
   return bson.decode(bytes, exact)
end

function documents.compile_document(db, document)
   bson.begin(db.con, true)
   return api.mongodb.compile(db, bson.root(document))
end

return documents
