-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Results: all documents at once, their bytes, the reply of the server.

local api = ...
local bson = api.module("bson")
local result = api.mongodb.result

jit.off(true, true) -- see mongodb.lua

function result:all(exact)
   local list = {}
   for doc in function() return self:next(exact) end do
      list[#list + 1] = doc
   end
   return list
end

function result:raw()
   return bson.raw(self)
end

function result:reply()
   return bson.reply(self.con)
end
