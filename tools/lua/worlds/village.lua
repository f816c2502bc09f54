-- village.lua - villages in a wide land: people work, order bread, raise children and sleep; a baker bakes; sheep graze
-- and have lambs; wolves hunt them; guards chase wolves away.
--
--     muster run village.lua --agents 20000
--
-- Read it from the top. Each type shows something of its own:
--
--     sheep      perception: it looks for wolves. Births: it has lambs
--     wolf       a bite concerns two agents, so it happens in `act`, where one agent acts at a time
--     guard      a message wakes it: it comes when somebody cries
--     baker      messages that are answered
--     villager   levels: far from all observers it neither looks around nor greets
--
-- What happens in an update is multiplied by `self.elapsed`, the seconds since the last one. So an agent that is updated
-- seldom walks as far, and becomes as hungry, as one that is updated often.

local DAY = 120     -- seconds of a day; the first half of it is light
local APART = 300   -- metres from one village to the next
local HOUSEHOLD = 50 -- agents of a village at the beginning

-- ---------------------------------------------------------------------------------------------------------- the types

local sheep = muster.type {
  name = "sheep", period = "100ms", period_max = "2s",
  levels = { count = 2, importance = { 0.25 } },
  spawns_max = 1,
}

local wolf = muster.type {
  name = "wolf", period = "50ms", period_max = "1s",
  messages = { waiting_max = 4 },
  publishes = { "hunts" },
  spawns_max = 1,
}

local guard = muster.type {
  name = "guard", period = "200ms", period_max = "2s",
  messages = { waiting_max = 4, sends_max = 1, wake = true },
  wake_gap = "500ms",
}

local baker = muster.type {
  name = "baker", period = "500ms", period_max = "3s",
  messages = { waiting_max = 16, sends_max = 16 },
}

local villager = muster.type {
  name = "villager", period = "100ms", period_max = "3s",
  levels = { count = 3, importance = { 0.5, 0.2 } },
  messages = { waiting_max = 4, sends_max = 4 },
  publishes = { "friends" },
  spawns_max = 1,
}

-- ------------------------------------------------------------------------------------------------- what all of them do

local function is_day()
  return muster.now() % DAY < DAY / 2
end

-- Goes towards a place, `speed` metres per second. True when it is there.
local function go_to(self, x, y, speed)
  local dx, dy = x - self.x, y - self.y
  local far, step = math.sqrt(dx * dx + dy * dy), speed * self.elapsed
  if far <= step then
    muster.move(x, y)
    return true
  end
  muster.move(self.x + dx / far * step, self.y + dy / far * step)
  return false
end

-- Strolls about, but not far from a place.
local function stroll(self, x, y, range, speed)
  local dx, dy = x - self.x, y - self.y
  if dx * dx + dy * dy > range * range then self.heading = math.atan(dy, dx) end
  self.heading = self.heading + (math.random() - 0.5) * math.min(4 * self.elapsed, 2)
  local step = speed * self.elapsed
  muster.move(self.x + math.cos(self.heading) * step, self.y + math.sin(self.heading) * step)
end

-- How many agents of a type are within a radius; it does not count beyond `most`.
local function count_near(radius, type, most)
  local count = 0
  for _ in muster.nearby(radius, type, most) do count = count + 1 end
  return count
end

-- A newborn of the same home, with what it is given. Where the world is full nobody is born: `spawn` is an error then.
local function bear(self, type, more)
  more.age, more.home_x, more.home_y = 0, self.home_x, self.home_y
  pcall(muster.spawn, type, { x = self.x + 1, y = self.y }, more)
end

-- What every newborn has. `age` is given to those that are born later; the first ones are of any age.
local function begin_life(self, life)
  self.life = life * (0.7 + 0.6 * math.random())
  self.age = self.age or self.life * math.random()
  self.heading = math.random() * 2 * math.pi
  self.home_x, self.home_y = self.home_x or self.x, self.home_y or self.y
end

-- -------------------------------------------------------------------------------------------------------------- sheep

function sheep:spawned()
  begin_life(self, 8 * DAY)
  self.lamb = 0 -- at 1 it is born
  self.alarm = 0
end

-- A wolf that hunts is feared. Sheep that nobody watches look less far.
function sheep:sense()
  local id, _, x, y = muster.nearest(self.level == 0 and 20 or 12, wolf)
  if id and muster.read(id, "hunts") then
    self.wolf_x, self.wolf_y = x, y
    self.alarm = 3 -- seconds
  end
end

-- To return false ends the update here: `act` is left out.
function sheep:think()
  self.age = self.age + self.elapsed
  self.alarm = self.alarm - self.elapsed
  if self.alarm > 0 then
    local dx, dy = self.x - self.wolf_x, self.y - self.wolf_y
    go_to(self, self.x + 10 * dx, self.y + 10 * dy, 4.5)
  else
    stroll(self, self.home_x, self.home_y, 30, is_day() and 0.5 or 0.05)
    self.lamb = self.lamb + self.elapsed / DAY
  end
  if self.lamb < 1 and self.age < self.life then return false end
end

function sheep:act()
  if self.age >= self.life then
    muster.remove()
    return
  end
  self.lamb = 0
  if count_near(25, sheep, 8) < 8 then bear(self, sheep, {}) end -- else there is no grass for one more
end

-- --------------------------------------------------------------------------------------------------------------- wolf

function wolf:spawned()
  begin_life(self, 10 * DAY)
  self.food = self.food or 0.5 + 0.5 * math.random() -- 0 = starved, 1 = full
  self.meals = 0
  self.flees = 0
  self.prey = 0 -- no agent has the id 0
end

-- It looks for prey when it is hungry and no guard has just chased it away.
function wolf:sense()
  for _ in muster.messages() do self.flees = 20 end -- what a guard says, a wolf does not discuss
  self.hunts = self.food < 0.6 and self.flees <= 0
  self.prey = self.hunts and muster.nearest(60, sheep) or 0
end

function wolf:think()
  self.age = self.age + self.elapsed
  self.food = self.food - self.elapsed / (3 * DAY)
  self.flees = self.flees - self.elapsed
  muster.publish("hunts", self.hunts)
  local x, y = muster.position(self.prey)
  if x then
    local near = go_to(self, x, y, 6)
    if near then return end -- and bites
  elseif self.flees > 0 then
    go_to(self, self.home_x, self.home_y, 6)
  else
    stroll(self, self.home_x, self.home_y, self.hunts and 150 or 40, self.hunts and 2 or 0.5)
  end
  if self.food > 0 and self.age < self.life and self.meals < 3 then return false end
end

-- Several wolves may have run after one sheep. Only the first of them gets it: `remove` tells.
function wolf:act()
  if self.food <= 0 or self.age >= self.life then
    muster.remove()
    return
  end
  if self.prey ~= 0 and muster.remove(self.prey) then
    self.food = 1
    self.meals = self.meals + 1
  end
  if self.meals >= 3 and count_near(200, wolf, 6) < 6 then
    self.meals = 0
    bear(self, wolf, { food = 0.7 })
  end
end

-- -------------------------------------------------------------------------------------------------------------- guard

function guard:spawned()
  self.post_x, self.post_y = self.x, self.y
  self.heading = math.random() * 2 * math.pi
  self.hurry = 0
end

-- The message says where the wolf was seen.
function guard:sense()
  for _, place in muster.messages() do
    self.goal_x, self.goal_y = place.x, place.y
    self.hurry = 15 -- seconds, then it gives up
  end
end

function guard:think()
  self.hurry = self.hurry - self.elapsed
  if self.hurry > 0 then
    go_to(self, self.goal_x, self.goal_y, 7)
  else
    stroll(self, self.post_x, self.post_y, 60, 1)
  end
  local id = muster.nearest(25, wolf)
  if id then muster.send(id, "away") end
end

-- -------------------------------------------------------------------------------------------------------------- baker

function baker:spawned()
  self.loaves = 10
end

-- Bakes a loaf in two seconds, by day; and sends a loaf to whoever orders one, as long as there are any.
function baker:think()
  if is_day() then self.loaves = math.min(self.loaves + self.elapsed / 2, 30) end
  for customer, order in muster.messages() do
    if order == "bread" and self.loaves >= 1 and muster.send(customer, "loaf") then
      self.loaves = self.loaves - 1
    end
  end
end

-- ----------------------------------------------------------------------------------------------------------- villager

function villager:spawned()
  begin_life(self, 20 * DAY)
  self.field_x, self.field_y = self.home_x + math.random(-60, 60), self.home_y + math.random(-60, 60)
  self.hunger = math.random() -- at 1 it orders bread
  self.patience = 0
  self.friends = 0
  self.child = 0
end

-- A wolf in sight is cried to the nearest guards. At level 2 nobody looks around.
function villager:sense()
  for _, what in muster.messages() do
    if what == "loaf" then self.hunger = 0 end
  end
  if self.level == 2 then return end
  local id, _, x, y = muster.nearest(30, wolf)
  if not id then return end
  for helper in muster.nearby(150, guard, 2) do muster.send(helper, { x = x, y = y }) end
end

-- Whoever meets somebody has one friend more: only where an observer is near enough to see it.
local function greet(self)
  if self.level == 0 and muster.nearest(2, villager) then
    self.friends = self.friends + 1
    muster.publish("friends", self.friends)
  end
end

local function order_bread(self)
  self.patience = self.patience - self.elapsed
  if self.hunger < 1 or self.patience > 0 then return end
  local shop = muster.nearest(150, baker)
  if shop then muster.send(shop, "bread") end
  self.patience = 10 -- seconds, then it orders again
end

function villager:think()
  self.age = self.age + self.elapsed
  self.hunger = self.hunger + self.elapsed / DAY
  order_bread(self)
  if is_day() then
    if go_to(self, self.field_x, self.field_y, 1.5) then greet(self) end
  elseif go_to(self, self.home_x, self.home_y, 1.5) and self.hunger < 1 then
    self.child = self.child + self.elapsed / (4 * DAY) -- at home, and fed
  end
  if self.child < 1 and self.age < self.life then return false end
end

function villager:act()
  if self.age >= self.life then
    muster.remove()
    return
  end
  self.child = 0
  if count_near(60, villager, 30) < 30 then bear(self, villager, {}) end
end

-- ---------------------------------------------------------------------------------------------------------- the world

-- Of fifty agents that live together: twenty villagers, a baker, three guards, twenty-four sheep and two wolves, which
-- live outside.
local function settle(place, x, y)
  if place < 20 then
    muster.spawn(villager, { x = x + math.random(-40, 40), y = y + math.random(-40, 40) })
  elseif place < 21 then
    muster.spawn(baker, { x = x, y = y })
  elseif place < 24 then
    muster.spawn(guard, { x = x + math.random(-30, 30), y = y + math.random(-30, 30) })
  elseif place < 48 then
    muster.spawn(sheep, { x = x + 80 + math.random(-20, 20), y = y + math.random(-20, 20) })
  else
    muster.spawn(wolf, { x = x + 150, y = y + math.random(-20, 20) })
  end
end

-- Two observers walk across the land, for which the near villages are lively.
local function observer_place(world, which)
  local way = muster.now() * 3 + which * world.side / 2
  return way % world.side, (way // world.side * APART / 2 + which * APART) % world.side
end

muster.world {
  agents = 1000, observers = 2, cell = 20,

  start = function(world)
    local across = math.ceil(math.sqrt(world.agents / HOUSEHOLD))
    world.side = across * APART
    for i = 0, world.agents - 1 do
      local village = i // HOUSEHOLD
      settle(i % HOUSEHOLD, village % across * APART, village // across * APART)
    end
    world.observers = {}
    for which = 1, 2 do
      local x, y = observer_place(world, which)
      world.observers[which] = muster.observe { x = x, y = y, near = 40, far = 250 }
    end
  end,

  frame = function(world)
    for which, id in ipairs(world.observers) do
      local x, y = observer_place(world, which)
      muster.observe { id = id, x = x, y = y }
    end
  end,
}
