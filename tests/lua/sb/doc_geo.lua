-- SPDX-License-Identifier: GPL-2.0-or-later
--
-- mongodb/geo: its options, positions and commands. Documents are
--
--    {_id, place: Point, first: [x, y], area: Polygon, moves}
--
-- where area is a square around the first place.

local M = {
   EARTH = 6378100, -- its radius, as the servers take it, in m
   HALF = 0.05,     -- half a side of an area, in degrees
}

function M.options(kind)
   return {
      cities = kind.int("Cities around which the places are; 0: they are " ..
         "everywhere", 100),
      distance = kind.int("Greatest distance of what is near, and radius of " ..
         "circles, in m", 10000),
      near = kind.int("Finds of the nearest places ($near) an event", 1),
      within = kind.int("Finds of places within a circle ($geoWithin) an " ..
         "event", 1),
      intersects = kind.int("Finds of areas around a point " ..
         "($geoIntersects) an event", 1),
      moves = kind.int("Places that move an event", 1),
      limit = kind.int("Documents that a find returns at most", 10),
   }
end

local some = {0, 1e6}

M.bounds = {cities = {0, 1e6}, distance = {1, 1e7}, near = some,
   within = some, intersects = some, moves = some, limit = {1, 1e6}}

-- The middle of city i of n: they spiral from pole to pole, evenly.
local function city(i, n)
   local x = (i * 137.50776405) % 360 - 180
   return x, math.deg(math.asin(0.94 * ((2 * i - 1) / n - 1)))
end

-- Longitude and latitude of a random place, in degrees. Places are some 5 km
-- around their cities; not at the poles nor the line of dates, where squares
-- are none.
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

-- Filters, by the names of their operators; x and y may be placeholders.
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

-- What servers are known to lack.
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

-- The commands on a collection.
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
