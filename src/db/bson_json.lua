-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- JSON inside of documents, parsed by the driver's library.

local sb = ...
local ffi, C = sb.ffi, sb.C
local out, len = ffi.new("uint8_t *[1]"), ffi.new("size_t[1]")
local json = {}

sb.cdef("doc", "sb_doc_from_json sb_doc_to_json sb_doc_free")

-- A document: its bytes. con: nil for none.
function json.document(con, text)
   if con == nil then
      sb.module("mongodb_error").raise(
         "JSON needs a connection: mongodb.encode(document, db)")
   elseif C.sb_doc_from_json(con, text, #text, out, len) ~= 0 then
      sb.module("mongodb_error").raise_con(con, text)
   end
   local bytes = ffi.string(out[0], len[0])
   C.sb_doc_free(out[0])
   return bytes
end

-- Anything that JSON can be: its bytes and its type. Parsed as the one field
-- of a document.
function json.value(con, text)
   local bytes = json.document(con, '{"v":' .. text .. '}')
   local n = #bytes
   if n < 9 then
      sb.module("mongodb_error").raise("no value in JSON '" .. text .. "'")
   end
   return bytes:sub(8, n - 1), bytes:byte(5)
end

-- The text of a document.
function json.of(con, bytes)
   local chars = ffi.cast("char **", out)
   if C.sb_doc_to_json(con, bytes, #bytes, chars, len) ~= 0 then
      sb.module("mongodb_error").raise_con(con, "<JSON>")
   end
   local text = ffi.string(chars[0], len[0])
   C.sb_doc_free(chars[0])
   return text
end

return json
