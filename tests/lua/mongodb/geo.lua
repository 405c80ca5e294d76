#!/usr/bin/env sysbench
-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- Places on the globe, around cities or anywhere: finds places near a point or
-- within a circle and areas that contain a point, and moves places. check
-- compares the server's results with distances that it computes itself. The
-- documents are
--
--    {_id, place: Point, first: [x, y], area: Polygon, moves}
--
-- where area is a square around the first place.

local collections = require("sb.mongodb.collections")

local rand = sysbench.rand

-- Options --------------------------------------------------------------------

local function int(help, default, min, max)
   return {help, default, sysbench.cmdline.ARG_INT, min = min, max = max}
end

sysbench.cmdline.options = collections.options{
   cities = int("Number of cities around which the places are; 0: places " ..
      "are anywhere", 100, 0, 1e6),
   distance = int("Maximum distance for $near, and radius of circles, in m",
      10000, 1, 1e7),
   near = int("Finds of the nearest places ($near) per event", 1, 0, 1e6),
   within = int("Finds of places within a circle ($geoWithin) per event", 1,
      0, 1e6),
   intersects = int("Finds of areas that contain a point ($geoIntersects) " ..
      "per event", 1, 0, 1e6),
   moves = int("Updates that move a place, per event", 1, 0, 1e6),
   limit = int("Maximum number of documents that a find returns", 10, 1, 1e6),
}

-- Places and filters ---------------------------------------------------------

local EARTH = 6378100 -- radius of the earth that servers use, in m

-- Returns longitude and latitude of city i of n. The cities are evenly spread
-- on a spiral from pole to pole.
local function city(i, n)
   local x = (i * 137.50776405) % 360 - 180
   return x, math.deg(math.asin(0.94 * ((2 * i - 1) / n - 1)))
end

-- Returns longitude and latitude of a random place, in degrees. Most places are
-- within 5 km of their cities. None are at the poles or the date line, where
-- the areas would not be squares.
local function position(opt)
   if opt.cities == 0 then
      local z = rand.uniform(-940000, 940000) / 1e6
      return rand.uniform(-179900000, 179900000) / 1e6,
         math.deg(math.asin(z))
   end
   local x, y = city(rand.uniform(1, opt.cities), opt.cities)
   x = math.max(math.min(x, 179.8), -179.8)
   return x + rand.gaussian(-100000, 100000) / 1e6,
      y + rand.gaussian(-100000, 100000) / 1e6
end

-- The filters for the operators; x and y may be placeholders.
local filters = {}

function filters.near(x, y, distance)
   return {place = {["$near"] = {
      ["$geometry"] = {type = "Point", coordinates = {x, y}},
      ["$maxDistance"] = distance,
   }}}
end

function filters.within(x, y, distance)
   return {place = {["$geoWithin"] = {
      ["$centerSphere"] = {{x, y}, distance / EARTH},
   }}}
end

function filters.intersects(x, y)
   return {area = {["$geoIntersects"] = {
      ["$geometry"] = {type = "Point", coordinates = {x, y}},
   }}}
end

-- Collections ----------------------------------------------------------------

local HALF = 0.05 -- half the side of an area, in degrees

local documents = {}

function documents.indexes(n)
   return {{{place = "2dsphere"}, {name = "place_" .. n}},
      {{area = "2dsphere"}, {name = "area_" .. n}}}
end

function documents.loader(con, opt, n)
   local function arg(i)
      return sysbench.mongodb.arg(i, "double")
   end
   -- Corners counterclockwise from the south-west, the first one repeated.
   local ring = {{arg(4), arg(5)}, {arg(6), arg(5)}, {arg(6), arg(7)},
      {arg(4), arg(7)}, {arg(4), arg(5)}}
   return collections.loader(con, opt, n, {_id = sysbench.mongodb.arg(1),
      place = {type = "Point", coordinates = {arg(2), arg(3)}},
      first = {arg(2), arg(3)},
      area = {type = "Polygon", coordinates = {ring}}, moves = 0})
end

function documents.fill(loader, opt, n, first, last)
   for id = first, last do
      rand.row(n, id)
      local x, y = position(opt)
      loader:put(id, x, y, x - HALF, y - HALF, x + HALF, y + HALF)
   end
   rand.resume()
end

-- Users ----------------------------------------------------------------------

-- Some servers do not support all operators.
function init()
   local db, opt = collections.open()
   local coll = collections.require_all(db, opt, {"place", "area"})
   local function require_filter(option, operator, filter)
      if opt[option] > 0 then
         collections.require_operator(db, "find by " .. operator,
            "--" .. option .. "=0", function()
               coll:find(filter, {limit = 1})
            end)
      end
   end
   require_filter("near", "$near", filters.near(0, 0, 1))
   require_filter("within", "$geoWithin", filters.within(0, 0, 1))
   require_filter("intersects", "$geoIntersects", filters.intersects(0, 0))
   db:disconnect()
end

local db, opt
local commands -- compiled, by collection

local function compile(coll)
   local arg = sysbench.mongodb.arg
   local x, y = arg(1, "double"), arg(2, "double")
   return {
      near = coll:compile("find", filters.near(x, y, opt.distance),
         {projection = {place = 1}, limit = opt.limit, op = "near"}),
      within = coll:compile("find", filters.within(x, y, opt.distance),
         {projection = {place = 1}, limit = opt.limit, op = "within"}),
      intersects = coll:compile("find", filters.intersects(x, y),
         {projection = {place = 1}, limit = opt.limit, op = "intersects"}),
      moves = coll:compile("update_one", {_id = arg(1)},
         {["$set"] = {["place.coordinates"] = {arg(2, "double"),
            arg(3, "double")}}, ["$inc"] = {moves = 1}}, {op = "moves"}),
   }
end

function thread_init()
   db, opt = collections.open()
   commands = collections.per_collection(db, opt, compile)
end

function event()
   local command = commands[rand.uniform(1, opt.tables)]
   for _ = 1, opt.near do
      command.near:execute(position(opt))
   end
   for _ = 1, opt.within do
      command.within:execute(position(opt))
   end
   for _ = 1, opt.intersects do
      command.intersects:execute(position(opt))
   end
   for _ = 1, opt.moves do
      command.moves:execute(collections.draw_id(opt), position(opt))
   end
end

function thread_done()
   db:disconnect()
end

-- Check ----------------------------------------------------------------------

-- Returns the distance between two places on a sphere, in m.
local function distance(x1, y1, x2, y2)
   local a = math.sin(math.rad(y2 - y1) / 2) ^ 2 + math.cos(math.rad(y1)) *
      math.cos(math.rad(y2)) * math.sin(math.rad(x2 - x1) / 2) ^ 2
   return 2 * EARTH * math.asin(math.min(1, math.sqrt(a)))
end

local SAMPLES = 20

-- Positions for which check counts the documents, with the minimum and maximum
-- number that the server may find: servers compute distances and sides of areas
-- slightly differently.
local samples

-- Maximum deviation, in degrees, of the side of an area from a straight line:
-- the side is part of a great circle.
local BULGE = HALF / 50

local function draw(opt)
   samples = {}
   for i = 1, SAMPLES do
      local x, y = position(opt)
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

function documents.wrong(doc, opt)
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

local function compare(coll, operator, filter, min, max)
   local found = coll:find(filter, {projection = {_id = 1}}):count()
   if found < min or found > max then
      error(string.format("%s: %s finds %d documents, expected %d to %d",
         coll.name, operator, found, min, max), 0)
   end
end

function documents.check_more(coll, opt)
   for _, s in ipairs(samples or {}) do
      if opt.within > 0 then
         compare(coll, "$geoWithin", filters.within(s.x, s.y, opt.distance),
            s.min, s.max)
      end
      if opt.near > 0 then
         compare(coll, "$near", filters.near(s.x, s.y, opt.distance),
            s.min, s.max)
      end
      if opt.intersects > 0 then
         compare(coll, "$geoIntersects", filters.intersects(s.x, s.y),
            s.min_areas, s.max_areas)
      end
   end
   samples = nil
end

collections.declare_commands(collections.describe(documents))
