-- wildlife.lua - hares, javelinas, groundhogs and bobcats: update by update what the scenario `wildlife` does in C
-- (src/scenarios), to measure scripts against it.
--
--     muster run wildlife.lua --agents 100000
--
-- The same: species and their shares, periods, levels, radii and numbers of neighbours, moods and what leads from one
-- to another, rates, births and deaths, the ground, the paths of cameras. What differs, since scripts are scripts:
--
--   * Numbers are doubles, where C has floats; random numbers are others. So the animals are others, of the same kind.
--   * The first animals are spawned all at once, and the seed of the ground is always 1.
--   * C reads the whole face of a neighbour at once. Here `muster.read` reads one field of it at a time.
--   * A strike is done by agents one at a time in the whole desert, in C one at a time in each region. So here a bobcat
--     strikes across borders, too.
--   * C passes time in an atom of its own, after thinking. Here both are in `think`.
--   * There is room for twice the first animals, in C for one and a half times as many; and each animal carries the
--     desert's size, since scripts share nothing that is known only when the world begins.
--   * There are no settings `ground` and `eternal`, and no sums over animals in the report.
local sqrt, sin, cos, atan, abs, floor, exp = math.sqrt, math.sin, math.cos, math.atan, math.abs, math.floor, math.exp
local min, max, random, huge, pi = math.min, math.max, math.random, math.huge, math.pi
local nearby, read = muster.nearby, muster.read

local GRAZE, WANDER, REST, ALERT, FLEE, HIDE, PROWL, CHASE, FEED = 0, 1, 2, 3, 4, 5, 6, 7, 8
local HARE, JAVELINA, GROUNDHOG, BOBCAT = 0, 1, 2, 3
local AREA_EACH, HERD, CAMERA_SPEED = 88, 5, 6

-- Rates are per second, energies are shares of a full animal, densities are per 1000 m2.
local profiles = {
  [HARE] = { name = "hare", share = 0.45, period = "50ms", period_max = "1s", elasticity = 1, walk = 1.2, run = 10,
    turn = 4, hunger = 0.010, grazing = 0.060, life = 180, adult = 15, gestation = 30, litter = 2, birth_energy = 0.12,
    crowding_max = 8, flight = 9, meal = 0.5, caught = 0.5 },
  [JAVELINA] = { name = "javelina", share = 0.25, period = "66666667ns", period_max = "1500ms", elasticity = 1.5,
    walk = 1, run = 7, turn = 2.5, hunger = 0.009, grazing = 0.054, life = 240, adult = 25, gestation = 35, litter = 2,
    birth_energy = 0.15, crowding_max = 7.5, flight = 6, meal = 0.9, caught = 0.4 },
  [GROUNDHOG] = { name = "groundhog", share = 0.22, period = "100ms", period_max = "2s", elasticity = 2, walk = 0.7,
    run = 4.5, turn = 3, hunger = 0.008, grazing = 0.048, life = 210, adult = 20, gestation = 35, litter = 2,
    birth_energy = 0.12, crowding_max = 3.5, flight = 12, meal = 0.4, caught = 0.6 },
  [BOBCAT] = { name = "bobcat", share = 0.08, period = "33333333ns", period_max = "1s", elasticity = 0.5, walk = 1.6,
    run = 13, turn = 3.5, hunger = 0.007, grazing = 0, life = 300, adult = 30, gestation = 45, litter = 1,
    birth_energy = 0.2, crowding_max = 1.1, flight = 0, meal = 0, caught = 0 },
}
local sight = { [0] = 15, 13, 11 }
local notices = { [0] = 12, 8, 5 }
local sight_of_bobcats = { [0] = 26, 22, 18 }
local notices_of_bobcats = { [0] = 16, 10, 6 }

-- What a mood does to a body: factor on hunger, vigour per second, gait 0 = still, 1 = walk, 2 = run.
local mood_hunger = { [0] = 1, 1, 0.7, 0.9, 2.5, 0.6, 1.1, 3, 0.8 }
local mood_vigour = { [0] = -0.005, -0.02, 0.1, 0, -0.08, 0.1, -0.01, -0.2, 0.05 }
local mood_gait = { [0] = 0.25, 1, 0, 0, 2, 0.5, 1, 2, 0 }

local types = {}
for species = HARE, BOBCAT do
  local profile = profiles[species]
  types[species] = muster.type {
    name = profile.name, period = profile.period, period_max = profile.period_max, elasticity = profile.elasticity,
    limit = "200us", levels = { count = 3, importance = { 0.5, 0.2 } }, spawns_max = profile.litter,
    publishes = { "species", "mood", "company", "heading" },
  }
end

-- --------------------------------------------------------------------------------------------------------- the ground

-- A number 0..1 that belongs to a corner of the lattice.
local function corner(x, y)
  local key = 1 ~ (x * 0x9e3779b97f4a7c15) ~ (y * 0xc2b2ae3d27d4eb4f)
  key = (key ~ (key >> 29)) * 0x9e3779b97f4a7c15
  key = (key ~ (key >> 32)) * 0xd6e8feb86659fd93
  return ((key ~ (key >> 29)) >> 40) / 16777216
end

-- The plant growth at a place: 0.35 .. 1, smooth over some 20 m.
local function richness(x, y)
  x, y = x / 20, y / 20
  local i, j = floor(x), floor(y)
  local across, along = x - i, y - j
  across, along = across * across * (3 - 2 * across), along * along * (3 - 2 * along)
  local south, north = corner(i, j), corner(i, j + 1)
  south = south + (corner(i + 1, j) - south) * across
  north = north + (corner(i + 1, j + 1) - north) * across
  return 0.35 + 0.65 * (south + (north - south) * along)
end

-- The nearest place inside the fence, and whether that is another one.
local function keep_in(half, x, y)
  half = half - 0.01
  local inside_x, inside_y = min(max(x, -half), half), min(max(y, -half), half)
  return inside_x, inside_y, inside_x ~= x or inside_y ~= y
end

-- The difference to an angle, -pi .. pi.
local function turn_of(angle)
  return angle - 2 * pi * floor(angle / (2 * pi) + 0.5)
end

local function length(x, y)
  return sqrt(x * x + y * y)
end

-- --------------------------------------------------------------------------------------------------------- perception

-- How likely a strike at an animal succeeds: javelinas defend each other.
local function odds_of(id, species)
  local odds = profiles[species].caught
  return species == JAVELINA and odds / (1 + 0.5 * read(id, "company")) or odds
end

-- Agents per 1000 m2 of `count` found when `wanted` were within the radius, the farthest of them at `farthest`.
local function density_of(self, count, wanted, farthest, radius)
  local half, x, y = self.half, self.x, self.y
  if count == wanted then radius, count = max(farthest, 1), count - 1 end
  local width = min(x + radius, half) - max(x - radius, -half)
  local depth = min(y + radius, half) - max(y - radius, -half)
  return 1000 * count / (pi * radius * radius * max(width * depth / (4 * radius * radius), 0.2))
end

-- Moves an impression towards what is there now: it lasts some seconds.
local function blend(impression, now, elapsed)
  return impression + (now - impression) * (1 - exp(-elapsed / 6))
end

-- Now and then a bobcat looks how many share its territory; between, it remembers.
local function survey_territory(self, elapsed)
  self.survey = self.survey - elapsed
  if self.survey > 0 then return end
  local since, count, farthest = max(2, 2 - self.survey), 0, 0
  self.survey = 2
  for _, distance in nearby(45, types[BOBCAT], 12) do count, farthest = count + 1, distance end
  self.crowding = blend(self.crowding, density_of(self, count, 12, farthest, 45), since)
end

-- Notes its own kind, and prey or threats.
local function sense(self)
  local own, hunter, level, elapsed = self.species, self.species == BOBCAT, self.level, self.elapsed
  local place_x, place_y, quarry = self.x, self.y, self.quarry
  local radius = (hunter and sight_of_bobcats or sight)[level]
  local wanted = (hunter and notices_of_bobcats or notices)[level]
  local kin, kin_x, kin_y, kin_cos, kin_sin, apart_x, apart_y = 0, 0, 0, 0, 0, 0, 0
  local count, farthest, best = 0, 0, 0
  self.threat, self.prey = huge, 0
  for id, distance, x, y in nearby(radius, "any", wanted) do
    local species, way_x, way_y = read(id, "species"), x - place_x, y - place_y
    count, farthest = count + 1, distance
    if species == own then
      local heading = read(id, "heading")
      kin, kin_x, kin_y = kin + 1, kin_x + way_x, kin_y + way_y
      kin_cos, kin_sin = kin_cos + cos(heading), kin_sin + sin(heading)
      if distance < 1.5 then
        local weight = (1.5 - distance) / max(distance, 0.1)
        apart_x, apart_y = apart_x - weight * way_x, apart_y - weight * way_y
      end
    end
    if hunter then
      if species ~= BOBCAT and read(id, "mood") ~= HIDE then
        local value = profiles[species].meal * odds_of(id, species) / (distance + 4)
        if id == quarry then value = value * 2 end -- a hunter keeps to its quarry
        if value > best then
          best, self.prey, self.prey_x, self.prey_y = value, id, way_x, way_y
        end
      end
    elseif species == BOBCAT and distance < self.threat then
      self.threat, self.threat_x, self.threat_y, self.threat_mood = distance, way_x, way_y, read(id, "mood")
    end
  end
  local each = kin > 0 and 1 / kin or 0
  self.kin, self.kin_x, self.kin_y = kin, kin_x * each, kin_y * each
  self.kin_cos, self.kin_sin = kin_cos * each, kin_sin * each
  self.apart_x, self.apart_y = apart_x, apart_y
  local density = density_of(self, count, wanted, farthest, radius)
  self.company = blend(self.company, density, elapsed)
  if hunter then
    survey_territory(self, elapsed)
  else
    self.crowding = blend(self.crowding, count > 0 and density * kin / count or 0, elapsed)
  end
end

-- -------------------------------------------------------------------------------------------------------------- moods

local function take_mood(self, mood, shortest, longest)
  self.mood, self.mood_left = mood, longest and shortest + (longest - shortest) * random() or shortest
end

-- Full decision-making weighs the ground and the crowd; the cheapest level knows hunger and vigour alone.
local function choose_grazer(self, x, y)
  local hunger, fatigue, ground, crowd = 1 - self.energy, 1 - self.vigour, 0.7, 0.5
  if self.level < 2 then
    ground, crowd = richness(x, y), min(self.company / 22, 1)
  end
  local shares = random()
  local graze = hunger * (0.6 + 0.8 * ground) + 0.15 * random()
  local wander = 0.1 + 0.4 * hunger * (1 - ground) + 0.2 * crowd + 0.15 * random()
  local rest = 0.1 + 0.6 * fatigue + 0.15 * random()
  local mood = wander >= rest and WANDER or REST
  if graze >= wander and graze >= rest then mood = GRAZE end
  take_mood(self, mood, 1.5 + 2.5 * shares)
end

local function choose_bobcat(self)
  local hungry, rested = self.energy < 0.7, self.vigour > 0.5
  if hungry and rested then
    take_mood(self, PROWL, 2, 5)
  elseif rested and random() < 0.4 then
    take_mood(self, WANDER, 2, 5)
  else
    take_mood(self, REST, 1.5, 4)
  end
end

local function choose_mood(self, x, y)
  if self.species == BOBCAT then
    choose_bobcat(self)
  elseif self.species == GROUNDHOG and self.mood == FLEE and length(self.home_x - x, self.home_y - y) <= 1 then
    take_mood(self, HIDE, 2, 5)
  else
    choose_grazer(self, x, y)
  end
end

local function react_grazer(self)
  local threat, threat_mood = self.threat, self.threat_mood
  if self.mood == HIDE or threat == huge then return end
  local hunting, flight = threat_mood == CHASE or threat_mood == PROWL, profiles[self.species].flight
  if threat_mood ~= CHASE then flight = flight * (hunting and 0.5 or 0.3) end
  if threat <= flight and self.species == JAVELINA and self.kin >= 3 then
    take_mood(self, ALERT, 1) -- in company it stands its ground
  elseif threat <= flight then
    take_mood(self, FLEE, 1.2)
  elseif hunting and self.mood ~= FLEE and threat <= 1.5 * flight then
    take_mood(self, ALERT, 0.8)
  end
end

-- Where a quarry is now: nothing when it is gone or underground.
local function quarry_of(self)
  local mood = read(self.quarry, "mood")
  if mood and mood ~= HIDE then return muster.position(self.quarry) end
end

local function give_up(self, rest)
  self.quarry = 0
  take_mood(self, REST, rest)
end

local function react_bobcat(self)
  if self.mood == CHASE then
    local x, y = quarry_of(self)
    if x then self.prey, self.prey_x, self.prey_y = self.quarry, x - self.x, y - self.y end
    if not x or length(self.prey_x, self.prey_y) > 30 then
      give_up(self, 1)
    elseif self.vigour <= 0.05 then
      give_up(self, 4)
    end
  elseif self.mood == PROWL and self.prey ~= 0 then
    self.quarry = self.prey
    if length(self.prey_x, self.prey_y) <= 7 then take_mood(self, CHASE, 8) end
  end
end

-- ----------------------------------------------------------------------------------------------------------- steering

-- How strongly the fence turns an animal back that stands there on an axis.
local function fence_push(half, place)
  local push = max(abs(place) - (half - 6), 0) / 3
  return place < 0 and -push or push
end

local function head_along(self, x, y, sum_x, sum_y)
  self.aim = atan(sum_y - fence_push(self.half, y), sum_x - fence_push(self.half, x))
end

-- Javelinas keep together until the herd is too large, the others keep apart; a groundhog stays around its burrow.
local function keep_company(self, x, y, sum_x, sum_y)
  sum_x, sum_y = sum_x + 0.5 * self.apart_x, sum_y + 0.5 * self.apart_y
  if self.species == JAVELINA and self.kin > 0 then
    local distance, bond = length(self.kin_x, self.kin_y), max(1 - self.crowding / 6.5, -0.6)
    if distance > 4 or bond < 0 then
      local weight = 1.2 * bond / max(distance, 1)
      sum_x, sum_y = sum_x + weight * self.kin_x, sum_y + weight * self.kin_y
    end
    local along = 0.5 * max(bond, 0)
    return sum_x + along * self.kin_cos, sum_y + along * self.kin_sin
  elseif self.species == GROUNDHOG then
    local way_x, way_y = self.home_x - x, self.home_y - y
    local distance = length(way_x, way_y)
    if distance > 22 then return sum_x + 1.5 / distance * way_x, sum_y + 1.5 / distance * way_y end
  end
  return sum_x, sum_y
end

local function steer_freely(self, x, y)
  local angle = self.heading + 2.4 * (random() - 0.5)
  local sum_x, sum_y = keep_company(self, x, y, cos(angle), sin(angle))
  if self.level == 0 and self.species ~= BOBCAT then -- it feels to both sides where more grows
    local left_x, left_y = cos(self.heading + 0.8), sin(self.heading + 0.8)
    local right_x, right_y = cos(self.heading - 0.8), sin(self.heading - 0.8)
    local left, right = richness(x + 8 * left_x, y + 8 * left_y), richness(x + 8 * right_x, y + 8 * right_y)
    local weight = 4 * abs(left - right)
    if left > right then
      sum_x, sum_y = sum_x + weight * left_x, sum_y + weight * left_y
    else
      sum_x, sum_y = sum_x + weight * right_x, sum_y + weight * right_y
    end
  end
  head_along(self, x, y, sum_x, sum_y)
end

-- Away from the bobcat, in a zigzag when it is a hare.
local function steer_away(self, x, y)
  local sum_x, sum_y = 0.3 * cos(self.heading), 0.3 * sin(self.heading)
  if self.threat < huge then
    local weight = 1 / max(self.threat, 0.1)
    sum_x, sum_y = sum_x - weight * self.threat_x, sum_y - weight * self.threat_y
  end
  if self.species == HARE then
    local side, across = 1.4 * (random() - 0.5), self.heading + pi / 2
    sum_x, sum_y = sum_x + side * cos(across), sum_y + side * sin(across)
  end
  head_along(self, x, y, sum_x, sum_y)
end

local function steer_to(self, way_x, way_y)
  self.aim, self.reach = atan(way_y, way_x), length(way_x, way_y)
end

local function steer(self, x, y)
  local mood, species = self.mood, self.species
  local hunts = mood == PROWL or mood == CHASE
  self.reach = huge
  if mood == HIDE or (mood == FLEE and species == GROUNDHOG) then
    steer_to(self, self.home_x - x, self.home_y - y)
  elseif mood == FLEE then
    steer_away(self, x, y)
  elseif hunts and self.prey ~= 0 then
    steer_to(self, self.prey_x - (x - self.x), self.prey_y - (y - self.y))
  elseif hunts or mood == GRAZE or mood == WANDER then
    steer_freely(self, x, y)
  end -- else it stands or lies still
end

-- -------------------------------------------------------------------------------------------------------- time passes

-- Turns towards the aim and goes straight: never farther than speed times time, whatever the time.
local function go(self, profile, x, y, step)
  local gait = mood_gait[self.mood]
  local speed = gait > 1 and profile.run * (0.6 + 0.4 * self.vigour) or profile.walk * gait
  if speed <= 0 then return x, y end
  local most = profile.turn * max(gait, 1) * step
  local heading = turn_of(self.heading + min(max(turn_of(self.aim - self.heading), -most), most))
  local far = min(speed * step, self.reach)
  self.reach, self.distance = self.reach - far, self.distance + far
  local outside
  x, y, outside = keep_in(self.half, x + far * cos(heading), y + far * sin(heading))
  self.heading = outside and atan(-y, -x) or heading
  return x, y
end

local function pass_time(self, profile, x, y, step)
  local mood = self.mood
  x, y = go(self, profile, x, y, step)
  if mood == GRAZE then -- plants are shared by all animals that are here
    local gained = min(profile.grazing * richness(x, y) / (1 + self.company / 20) * step, 1 - self.energy)
    self.energy, self.grazed = self.energy + gained, self.grazed + gained
  end
  if self.age >= profile.adult then
    local room = max(1 - max(self.crowding / profile.crowding_max, self.company / 21), 0)
    local fed = min(max((self.energy - 0.25) * 4, 0), 1)
    self.gestation = self.gestation + room * fed * step / profile.gestation
  end
  self.age = self.age + step
  self.energy = self.energy - profile.hunger * mood_hunger[mood] * step
  self.vigour = min(max(self.vigour + mood_vigour[mood] * step, 0), 1)
  return x, y
end

-- The elapsed time passes mood by mood, so a long interval holds as much grazing and resting as many short ones.
local function live_through(self, profile, x, y, left)
  local moods = 0
  while left > 0 do
    local step = (left <= self.mood_left or moods == 16) and left or max(self.mood_left, 0)
    x, y = pass_time(self, profile, x, y, step)
    self.mood_left, left, moods = self.mood_left - step, left - step, moods + 1
    if self.mood_left <= 0 then
      choose_mood(self, x, y)
      steer(self, x, y)
    end
  end
  return x, y
end

local function strikes(self, x, y)
  if self.mood ~= CHASE then return false end
  local there_x, there_y = muster.position(self.quarry)
  return there_x and length(there_x - x, there_y - y) <= 2
end

local function think(self)
  local profile, x, y = profiles[self.species], self.x, self.y
  if self.species == BOBCAT then react_bobcat(self) else react_grazer(self) end
  steer(self, x, y)
  x, y = live_through(self, profile, x, y, self.elapsed)
  muster.move(x, y)
  muster.publish("mood", self.mood)
  muster.publish("company", self.kin)
  muster.publish("heading", self.heading)
  self.strikes = strikes(self, x, y)
  if not self.strikes and self.gestation < 1 and self.energy > 0 and self.age < self.life then return false end
end

-- ------------------------------------------------------------------------------------------------------------- action

-- The first of several bobcats to strike gets the prey: only its removal succeeds.
local function strike(self)
  local x, y = quarry_of(self)
  if not x or length(x - self.x, y - self.y) > 3 then return end
  local id, species = self.quarry, read(self.quarry, "species")
  if random() < odds_of(id, species) and muster.remove(id) then
    local meal = min(profiles[species].meal, 1 - self.energy)
    self.energy, self.eaten = self.energy + meal, self.eaten + meal
    take_mood(self, FEED, 5)
  else
    take_mood(self, REST, 2)
  end
  self.quarry = 0
  muster.publish("mood", self.mood)
end

-- Beside the mother; a groundhog's new burrow is some way off.
local function bear(self)
  local profile = profiles[self.species]
  self.gestation = 0
  for _ = 1, profile.litter do
    local angle, far = 2 * pi * random(), 1 + (self.species == GROUNDHOG and 45 or 3) * random()
    local x, y = keep_in(self.half, self.x + far * cos(angle), self.y + far * sin(angle))
    if not pcall(muster.spawn, types[self.species], { x = x, y = y },
                 { half = self.half, crowding = self.crowding, company = self.company }) then return end -- it is full
    self.energy = self.energy - profile.birth_energy
  end
end

local function act(self)
  if self.strikes then strike(self) end
  if self.energy <= 0 or self.age >= self.life then
    muster.remove()
  elseif self.gestation >= 1 then
    bear(self)
  end
end

-- ------------------------------------------------------------------------------------------------------------- births

-- Grown-ups are somewhere in their lives, the others are newborn.
local function make(self, species)
  local profile, grown = profiles[species], self.grown
  self.grown = nil
  self.species, self.mood = species, WANDER
  self.life = profile.life * (0.7 + 0.6 * random())
  self.energy = grown and 0.45 + 0.4 * random() or 0.5
  self.vigour = 0.5 + 0.5 * random()
  self.age = grown and self.life * random() or 0
  self.gestation = grown and random() or 0
  self.crowding = self.crowding or 0.8 * profile.crowding_max
  self.company = self.company or 11
  self.survey, self.mood_left = 2 * random(), 3 * random()
  self.heading = 2 * pi * random()
  self.aim, self.reach, self.threat = self.heading, huge, huge
  self.home_x, self.home_y = self.x, self.y
  self.quarry, self.prey, self.kin = 0, 0, 0
  self.grazed, self.eaten, self.distance = 0, 0, 0
  muster.publish("species", species)
  muster.publish("mood", WANDER)
  muster.publish("company", 0)
  muster.publish("heading", self.heading)
end

for species = HARE, BOBCAT do
  local animal = types[species]
  animal.sense, animal.think, animal.act = sense, think, act
  animal.spawned = function(self) make(self, species) end
end

-- ---------------------------------------------------------------------------------------------------------- the world

-- Species follow one another so that each has its share of every stretch of agents.
local function next_species(credit)
  local best = HARE
  for species = HARE, BOBCAT do
    credit[species] = credit[species] + profiles[species].share
    if credit[species] > credit[best] then best = species end
  end
  credit[best] = credit[best] - 1
  return best
end

local function anywhere(half)
  return half * (2 * random() - 1), half * (2 * random() - 1)
end

-- A camera follows its own endless path all over the ground, at a walker's pace.
local function camera_place(world)
  local rate = muster.now() * CAMERA_SPEED / (world.half * 1.5)
  return 0.95 * world.half * sin(rate + world.phase_x), 0.95 * world.half * sin(rate * 0.73 + world.phase_y)
end

muster.world {
  agents = 10000, observers = 1, cell = 15,

  start = function(world)
    local credit, javelinas, herd_x, herd_y = { [HARE] = 0, 0, 0, 0 }, 0, 0, 0
    local half = 0.5 * sqrt(AREA_EACH * world.agents)
    for _ = 1, world.agents do
      local species = next_species(credit)
      local x, y = anywhere(half)
      if species == JAVELINA then -- they stand in herds
        if javelinas % HERD == 0 then herd_x, herd_y = x, y end
        javelinas = javelinas + 1
        x, y = keep_in(half, herd_x + 8 * random(), herd_y + 8 * random())
      end
      muster.spawn(types[species], { x = x, y = y }, { half = half, grown = true })
    end
    world.half, world.phase_x, world.phase_y = half, 2 * pi * random(), 2 * pi * random()
    local x, y = camera_place(world)
    world.camera = muster.observe { x = x, y = y, near = 20, far = 160 }
  end,

  frame = function(world)
    local x, y = camera_place(world)
    muster.observe { id = world.camera, x = x, y = y }
  end,
}
