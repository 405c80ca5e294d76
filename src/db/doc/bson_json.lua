-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- JSON in documents, parsed by the driver's client library.

local sb = ...
local ffi, C = sb.ffi, sb.C
local out, len = ffi.new("uint8_t *[1]"), ffi.new("size_t[1]")
local json = {}

sb.cdef("doc")

-- Returns the bytes of a document. con: nil if there is no connection, which
-- is an error.
function json.document(con, text)
   if con == nil then
      sb.module("mongodb_error").raise(
         "JSON requires a connection: use mongodb.encode(document, db)")
   elseif C.sb_doc_from_json(con, text, #text, out, len) ~= 0 then
      sb.module("mongodb_error").raise_con(con, text)
   end
   local bytes = ffi.string(out[0], len[0])
   C.sb_doc_free(out[0])
   return bytes
end

-- Returns the bytes and the type of any JSON value. It is parsed as the only
-- field of a document.
function json.value(con, text)
   local bytes = json.document(con, '{"v":' .. text .. '}')
   local n = #bytes
   if n < 9 then
      sb.module("mongodb_error").raise("the JSON text is empty: '" .. text ..
         "'")
   end
   return bytes:sub(8, n - 1), bytes:byte(5)
end

-- Returns a document as JSON.
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
