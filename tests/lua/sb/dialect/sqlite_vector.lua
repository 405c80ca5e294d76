-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- The SQL of the workload vector on SQLite, with the extension sqlite-vec, and
-- what the entries of all databases mean.

local M = {
   -- Kinds of indexes that the database has; the first one is the default.
   indexes = {"none"},
   -- Expression of the vector as text, as in [0.5,-1].
   text = "vec_to_json(embedding)",
}

local opened = false

-- Called before connections are opened: makes new connections load the
-- extension. ffi.load() would unload it with the Lua state, while the driver
-- still opens connections; dlopen() without dlclose() does not.
function M.open(opt)
   if opened then
      return
   end
   ffi.cdef [[
      void *dlopen(const char *, int);
      void *dlsym(void *, const char *);
      char *dlerror(void);
      int sqlite3_auto_extension(void (*)(void));
   ]]
   local RTLD_NOW = 2
   -- The first use of a name in ffi.C resets the message of dlerror().
   local dlsym, dlerror = ffi.C.dlsym, ffi.C.dlerror
   local library = ffi.C.dlopen(opt.sqlite_vec, RTLD_NOW)
   local start = library ~= nil and dlsym(library, "sqlite3_vec_init") or nil
   if start == nil then
      local reason = dlerror()
      error("--sqlite-vec: cannot load the extension: " .. (reason ~= nil and
         ffi.string(reason) or opt.sqlite_vec), 0)
   end
   ffi.load("libsqlite3.so.0").sqlite3_auto_extension(
      ffi.cast("void (*)(void)", start))
   opened = true
end

-- Returns the statement that creates the table of vectors, or nil: it is
-- created as other tables are, with the columns of M.column().
function M.create(name, opt)
   return string.format("CREATE VIRTUAL TABLE %s USING vec0(id INTEGER " ..
      "PRIMARY KEY, embedding FLOAT[%d], +checksum INTEGER)", name,
      opt.dimensions)
end

-- Returns the statements that prepare a connection for searches: they set the
-- search effort.
function M.settings()
   return {}
end

-- Returns the statement that finds the nearest neighbours of a parameter.
function M.search(name, opt)
   return string.format("SELECT id FROM %s WHERE embedding MATCH ? AND k=%d",
      name, opt.k)
end

return M
