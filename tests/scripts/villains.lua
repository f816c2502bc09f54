-- A world of `size` good agents, and one of each villain for so many of them as `villains` says: what runs this text
-- writes these names before it, with `cost`, which a good update takes under the virtual clock.
local good = muster.type { name = "good", period = "100ms", period_max = "2s", cost = cost }

function good:spawned() self.heading = math.random() * 6.28 end

function good:think()
  self.heading = self.heading + math.random() - 0.5
  local step, near = 2 * self.elapsed, 0
  for _, distance in muster.nearby(10, good, 4) do near = near + distance end
  self.near = near
  muster.move(self.x + math.cos(self.heading) * step, self.y + math.sin(self.heading) * step)
end

-- What an update costs under the virtual clock: a slice, or what it was measured to take until it fails.
local function villain(name, cost)
  return muster.type { name = name, period = "100ms", period_max = "2s", cost = cost }
end

local loop = villain("endless loop", "250us")
function loop:think()
  while true do end
end

local caught = villain("loop in pcall", "250us")
function caught:think()
  while true do pcall(function() while true do end end) end
end

local bomb = villain("gigabyte", "60us")
function bomb:think()
  local text = "x"
  while #text < 1e9 do text = text .. text end
end

local pattern = villain("pattern", "150us")
function pattern:think()
  self.found = ("a"):rep(60):find(("a*"):rep(30) .. "b")
end

muster.world {
  agents = size,
  observers = 16,
  start = function(world)
    local side = math.sqrt(world.agents) * 10
    local function place() return { x = math.random() * side, y = math.random() * side } end
    for i = 1, world.agents do
      muster.spawn(good, place())
      if villains and i % villains == villains // 2 then
        for _, type in ipairs { loop, caught, bomb, pattern } do muster.spawn(type, place()) end
      end
    end
    for i = 1, 16 do muster.observe { x = math.random() * side, y = math.random() * side, near = 30, far = 300 } end
  end
}
