-- The order in which tables are walked, random numbers, and bounds, against what the manual says; ... is a seed.
local seed = ...
local function draw(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n + 1 end
local function any(list) return list[draw(#list)] end
local function rank(k) if math.type(k) == 'integer' and k > 0 then return 1 end if type(k) == 'number' then return 2 end
  if type(k) == 'string' then return 3 end return k and 5 or 4 end
local function bytes(a, b) for i = 1, #a do if i > #b then return false end
  if a:byte(i) ~= b:byte(i) then return a:byte(i) < b:byte(i) end end return #a < #b end
local function before(a, b) if rank(a) ~= rank(b) then return rank(a) < rank(b) end
  if type(a) == 'string' then return bytes(a, b) end return type(a) == 'number' and a < b end
local function key() local n = draw(7) if n == 1 then return draw(12) elseif n == 2 then return 1 - draw(9)
  elseif n == 3 then return (draw(40) - 20) / 4 elseif n == 4 then return draw(2) == 1 elseif n == 5 then
  return any {'', 'a', 'ab', 'abc', 'b', 'B', 'a\0', 'a\0b', '\xff', '\x7f', 'aa'} end
  return 'k' .. draw(300) end
-- walks in the order of its keys, of which some are cleared and some come
for round = 1, 60 do
  local t, keys, most = {}, {}, any {3, 10, 24, 26, 60, 300}
  for i = 1, most do local k = key() k = math.type(k) == 'float' and math.tointeger(k) or k if t[k] == nil then keys[#keys + 1] = k end t[k] = i end
  for i = 2, #keys do local k, p = keys[i], i while p > 1 and before(k, keys[p - 1]) do keys[p] = keys[p - 1] p = p - 1 end
    keys[p] = k end
  local i = 0
  for k, v in pairs(t) do i = i + 1 assert(rawequal(k, keys[i]) and math.type(k) == math.type(keys[i]) and v == t[k]) end
  assert(i == #keys, i)
  local k = nil for p = 1, #keys do local v k, v = next(t, k) assert(k == keys[p] and v == t[k]) end
  assert(next(t, k) == nil)
  local gone, met = {}, {}
  for k in pairs(t) do met[#met + 1] = k local other = any(keys) t[other] = nil gone[other] = gone[other] or #met
    t['new' .. #met] = 1 end
  local p = 0 for i = 1, #keys do local at = gone[keys[i]]
    if met[p + 1] == keys[i] then p = p + 1 assert(not at or at >= p, 'a cleared key is met') 
    else assert(at and at <= p, 'a key is left out') end end
  assert(p == #met)
end
-- a sort keeps the order of those that are as good
for round = 1, 30 do local t = {} for i = 1, draw(70) do t[i] = {k = draw(4), i = i} end
  table.sort(t, function(a, b) return a.k < b.k end)
  for i = 2, #t do assert(t[i - 1].k < t[i].k or (t[i - 1].k == t[i].k and t[i - 1].i < t[i].i)) end end
-- random numbers reach both ends, and nothing beyond
for _, ends in ipairs {{1, 6}, {-3, 3}, {0, 1}, {7, 7}, {1, 2}} do local seen, n = {}, 0
  for i = 1, 400 do local v = math.random(ends[1], ends[2]) assert(v >= ends[1] and v <= ends[2])
    if not seen[v] then seen[v] = true n = n + 1 end end assert(n == ends[2] - ends[1] + 1, n) end
local seen, n = {}, 0 for i = 1, 300 do local v = math.random(5) assert(v >= 1 and v <= 5)
  if not seen[v] then seen[v] = true n = n + 1 end end assert(n == 5)
local low, high = 1, 0 for i = 1, 300 do local v = math.random() assert(v >= 0 and v < 1)
  low, high = math.min(low, v), math.max(high, v) end assert(low < 0.1 and high > 0.9)
local whole = 0 for i = 1, 64 do whole = whole | math.random(math.mininteger, math.maxinteger) end
assert(whole == -1)
assert(not pcall(math.random, 0) and not pcall(math.random, 2, 1) and pcall(math.random, 1))
-- as many values, fields and bytes as the manual says, and one more
local values = {} for i = 1, 251 do values[i] = i end
assert(select('#', table.unpack(values, 1, 250)) == 250 and select('#', table.unpack(values, 2, 251)) == 250)
assert(not pcall(table.unpack, values, 1, 251) and not pcall(table.unpack, values))
assert(select('#', ('x'):rep(300):byte(51, -1)) == 250 and not pcall(string.byte, ('x'):rep(300), 50, -1))
local many = {} for i = 1, 20000 do many[i] = 'a' end
assert(#table.concat(many) == 20000 and table.concat(many, ',', 1, 20000):sub(-3) == 'a,a')
table.insert(many, 1, 'b') assert(many[1] == 'b' and #many == 20001 and many[20001] == 'a')
assert(not pcall(table.concat, many) and not pcall(table.insert, many, 1, 'c') and not pcall(table.remove, many, 1))
assert(table.remove(many, 2) == 'a' and #many == 20000 and table.remove(many, 1) == 'b' and #many == 19999)
return 'done'
