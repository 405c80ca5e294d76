-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- JSON in documents, parsed by the driver's client library.

local api = ...
local lib = api.lib
local ffi = require("ffi")
local out, len = ffi.new("uint8_t *[1]"), ffi.new("size_t[1]")
local json = {}

-- Returns the bytes of a document. con: nil if there is no connection, which
-- is an error.
function json.document(con, text)
   if con == nil then
      api.module("error").raise(
         "JSON requires a connection: use mongodb.encode(document, db)")
   elseif lib.sbmo_doc_from_json(con, text, #text, out, len) ~= 0 then
      api.module("error").raise_con(con, text)
   end
   local bytes = ffi.string(out[0], len[0])
   lib.sbmo_doc_free(out[0])
   return bytes
end

-- Returns the bytes and the type of any JSON value. It is parsed as the only
-- field of a document.
function json.value(con, text)
   local bytes = json.document(con, '{"v":' .. text .. '}')
   local n = #bytes
   if n < 9 then
      api.module("error").raise("the JSON text is empty: '" .. text ..
         "'")
   end
   return bytes:sub(8, n - 1), bytes:byte(5)
end

-- Returns a document as JSON.
function json.of(con, bytes)
   local chars = ffi.cast("char **", out)
   if lib.sbmo_doc_to_json(con, bytes, #bytes, chars, len) ~= 0 then
      api.module("error").raise_con(con, "<JSON>")
   end
   local text = ffi.string(chars[0], len[0])
   lib.sbmo_doc_free(chars[0])
   return text
end

return json
