-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/geo: creates and checks its documents.

local geo = require("sb.doc_geo")
local schema = require("sb.schema")
local tables = require("sb.doc_tables")

local own = {}

function own.indexes(_, n)
   return {{{place = "2dsphere"}, {name = "place_" .. n}},
      {{area = "2dsphere"}, {name = "area_" .. n}}}
end

function own.loader(con, opt, n)
   local function arg(i)
      return sysbench.mongodb.arg(i, "double")
   end
   -- Corners counterclockwise from the south-west, the first one repeated.
   local ring = {{arg(4), arg(5)}, {arg(6), arg(5)}, {arg(6), arg(7)},
      {arg(4), arg(7)}, {arg(4), arg(5)}}
   return tables.documents(con, opt, n, {_id = sysbench.mongodb.arg(1),
      place = {type = "Point", coordinates = {arg(2), arg(3)}},
      first = {arg(2), arg(3)},
      area = {type = "Polygon", coordinates = {ring}}, moves = 0})
end

function own.fill(loader, opt, n, first, last)
   for id = first, last do
      sysbench.rand.row(n, id)
      local x, y = geo.position(opt)
      loader:put(id, x, y, x - geo.HALF, y - geo.HALF, x + geo.HALF,
         y + geo.HALF)
   end
   sysbench.rand.resume()
end

-- Returns the distance between two places on a sphere, in m.
local function distance(x1, y1, x2, y2)
   local a = math.sin(math.rad(y2 - y1) / 2) ^ 2 + math.cos(math.rad(y1)) *
      math.cos(math.rad(y2)) * math.sin(math.rad(x2 - x1) / 2) ^ 2
   return 2 * geo.EARTH * math.asin(math.min(1, math.sqrt(a)))
end

local SAMPLES = 20

-- Positions for which check counts the documents, with the minimum and maximum
-- number that the server may find: servers compute distances and sides of areas
-- slightly differently.
local samples

-- Maximum deviation, in degrees, of the side of an area from a straight line:
-- the side is part of a great circle.
local BULGE = geo.HALF / 50

local function draw(opt)
   samples = {}
   for i = 1, SAMPLES do
      local x, y = geo.position(opt)
      samples[i] = {x = x, y = y, min = 0, max = 0, min_areas = 0,
         max_areas = 0}
   end
end

-- Returns whether a square, enlarged by `margin` on each side, contains the
-- place.
local function contains(ring, x, y, margin)
   return x >= ring[1][1] - margin and x <= ring[3][1] + margin and
      y >= ring[1][2] - margin and y <= ring[3][2] + margin
end

local function count(doc, opt)
   local place, ring = doc.place.coordinates, doc.area.coordinates[1]
   for _, s in ipairs(samples) do
      local m = distance(s.x, s.y, place[1], place[2])
      s.min = s.min + (m < opt.distance * 0.999 and 1 or 0)
      s.max = s.max + (m < opt.distance * 1.001 and 1 or 0)
      s.min_areas = s.min_areas +
         (contains(ring, s.x, s.y, -BULGE) and 1 or 0)
      s.max_areas = s.max_areas +
         (contains(ring, s.x, s.y, BULGE) and 1 or 0)
   end
end

function own.wrong(doc, opt)
   local place, area = doc.place, doc.area
   if place.type ~= "Point" or area.type ~= "Polygon" then
      return "its place is not a point or its area is not a polygon"
   end
   local x, y = doc.first[1], doc.first[2]
   local at = place.coordinates
   if doc.moves == 0 and (at[1] ~= x or at[2] ~= y) then
      return "its place has changed, but moves is 0"
   elseif not contains(area.coordinates[1], x, y, 0) then
      return "its area does not contain its first place"
   end
   if not samples then
      draw(opt)
   end
   count(doc, opt)
end

local function compare(coll, n, operator, filter, min, max)
   local found = coll:find(filter, {projection = {_id = 1}}):count()
   if found < min or found > max then
      error(string.format("%s: %s finds %d documents, expected %d to %d",
         schema.name(sysbench.opt, n), operator, found, min, max), 0)
   end
end

function own.check_more(coll, opt, n)
   for _, s in ipairs(samples or {}) do
      if opt.within > 0 then
         compare(coll, n, "$geoWithin",
            geo.within(s.x, s.y, opt.distance), s.min, s.max)
      end
      if opt.near > 0 then
         compare(coll, n, "$near", geo.near(s.x, s.y, opt.distance), s.min,
            s.max)
      end
      if opt.intersects > 0 then
         compare(coll, n, "$geoIntersects", geo.intersects(s.x, s.y),
            s.min_areas, s.max_areas)
      end
   end
   samples = nil
end

return require("sb.doc_commands").of(tables.derive(own))
