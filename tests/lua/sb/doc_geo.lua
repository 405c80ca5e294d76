-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/geo: its options, positions and commands. The documents are
--
--    {_id, place: Point, first: [x, y], area: Polygon, moves}
--
-- where area is a square around the first place.

local M = {
   EARTH = 6378100, -- radius of the earth that servers use, in m
   HALF = 0.05,     -- half the side of an area, in degrees
}

function M.options(kind)
   return {
      cities = kind.int("Number of cities around which the places are; 0: " ..
         "places are anywhere", 100),
      distance = kind.int("Maximum distance for $near, and radius of " ..
         "circles, in m", 10000),
      near = kind.int("Finds of the nearest places ($near) per event", 1),
      within = kind.int("Finds of places within a circle ($geoWithin) per " ..
         "event", 1),
      intersects = kind.int("Finds of areas that contain a point " ..
         "($geoIntersects) per event", 1),
      moves = kind.int("Updates that move a place, per event", 1),
      limit = kind.int("Maximum number of documents that a find returns", 10),
   }
end

local some = {0, 1e6}

M.bounds = {cities = {0, 1e6}, distance = {1, 1e7}, near = some,
   within = some, intersects = some, moves = some, limit = {1, 1e6}}

-- Returns longitude and latitude of city i of n. The cities are evenly spread
-- on a spiral from pole to pole.
local function city(i, n)
   local x = (i * 137.50776405) % 360 - 180
   return x, math.deg(math.asin(0.94 * ((2 * i - 1) / n - 1)))
end

-- Returns longitude and latitude of a random place, in degrees. Most places are
-- within 5 km of their cities. None are at the poles or the date line, where
-- the areas would not be squares.
function M.position(opt)
   local rand = sysbench.rand
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

-- Return the filters for the operators; x and y may be placeholders.
function M.near(x, y, distance)
   return {place = {["$near"] = {
      ["$geometry"] = {type = "Point", coordinates = {x, y}},
      ["$maxDistance"] = distance,
   }}}
end

function M.within(x, y, distance)
   return {place = {["$geoWithin"] = {
      ["$centerSphere"] = {{x, y}, distance / M.EARTH},
   }}}
end

function M.intersects(x, y)
   return {area = {["$geoIntersects"] = {
      ["$geometry"] = {type = "Point", coordinates = {x, y}},
   }}}
end

-- Operators that some servers do not support.
function M.needs(opt)
   local list = {}
   local function need(option, name, filter)
      if opt[option] > 0 then
         list[#list + 1] = {name = name, without = "--" .. option .. "=0",
            try = function(coll)
               coll:find(filter, {limit = 1})
            end}
      end
   end
   need("near", "find by $near", M.near(0, 0, 1))
   need("within", "find by $geoWithin", M.within(0, 0, 1))
   need("intersects", "find by $geoIntersects", M.intersects(0, 0))
   return list
end

-- Compiles the commands for a collection.
function M.compile(coll)
   local arg, opt = sysbench.mongodb.arg, sysbench.opt
   local x, y = arg(1, "double"), arg(2, "double")
   local function find(op, filter)
      return coll:compile("find", filter, {projection = {place = 1},
         limit = opt.limit, op = op})
   end
   return {
      near = find("near", M.near(x, y, opt.distance)),
      within = find("within", M.within(x, y, opt.distance)),
      intersects = find("intersects", M.intersects(x, y)),
      moves = coll:compile("update_one", {_id = arg(1)},
         {["$set"] = {["place.coordinates"] = {arg(2, "double"),
            arg(3, "double")}}, ["$inc"] = {moves = 1}}, {op = "moves"}),
   }
end

return M
