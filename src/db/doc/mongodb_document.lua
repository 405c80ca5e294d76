-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Documents without a command: their bytes, and compiled ones for bulks.

local sb = ...
local bson = sb.module("bson")
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
   return sb.mongodb.compile(db, bson.root(document))
end

return documents
