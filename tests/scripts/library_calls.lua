-- Random calls of functions, asked of scripts and of Lua itself: ... is a seed and how many. Returns a line for each.
local seed, count = ...
local function draw(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n + 1 end
local function any(list) return list[draw(#list)] end
local function show(value)
  if type(value) == 'table' then local s = {} for i = -3, 12 do s[#s + 1] = tostring(value[i]) end
    return '{' .. table.concat(s, ' ') .. ' n=' .. tostring(value.n) .. '}' end
  if type(value) == 'string' then return (value:gsub('%c', '?')) .. '\'' .. #value end
  return math.type(value) and math.type(value) .. ' ' .. tostring(value) or tostring(value) end
local function answer(name, call, ...)
  local got = table.pack(pcall(call, ...)) local s = {name}
  for i = 1, got.n do s[#s + 1] = got[1] and show(got[i]) or 'refused' end return table.concat(s, ' | ') end
local function list() local t = {} for i = 1, draw(8) - 1 do t[i] = any {1, 2.5, 'x', '', 'three', -7, 30} end
  return t end
local function number() return any {-9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2.0, 2.5, '3', 'y',
  math.maxinteger, math.mininteger} end
local function near() return draw(11) - 3 end
local function text() return any {'', 'a', 'abc', 'hello world', 'a\0b', '%d', 'x=1, yy=22', '((a)b)', 12, 3.5,
  ('z'):rep(30), '^a', 'aaa'} end
local function lesser(a, b) return a.k < b.k end
local calls = {
  function() local t, n = list(), draw(4) local v, p = any {9, 'v', false}, number()
    if n == 1 then return answer('insert', table.insert, t) .. show(t) end
    if n == 2 then return answer('insert', table.insert, t, v) .. show(t) end
    if n == 3 then return answer('insert', table.insert, t, near(), v) .. show(t) end
    return answer('insert', table.insert, t, p, v) .. show(t) end,
  function() local t = list() if draw(3) == 1 then return answer('remove', table.remove, t) .. show(t) end
    return answer('remove', table.remove, t, near()) .. show(t) end,
  function() local t = list() return answer('concat', table.concat, t, any {'', ', ', 5}, any {1, 2, near()},
    any {#t, #t - 1, near()}) end,
  function() local t = list() return answer('concat', table.concat, t, any {nil, '-'}) end,
  function() return answer('unpack', table.unpack, list(), any {1, near()}, any {2, 5, near()}) end,
  function() return answer('unpack', table.unpack, list()) end,
  function() return answer('pack', table.pack, nil, draw(3), nil) end,
  function() local t, to = list(), any {false, {7, 8}}
    if not to then return answer('move', table.move, t, near(), near(), near()) .. show(t) end
    return answer('move', table.move, t, near(), near(), near(), to) .. show(t) .. show(to) end,
  function() local t = {} for i = 1, draw(40) do t[i] = draw(20) end
    if draw(2) == 1 then table.sort(t) else table.sort(t, function(a, b) return a > b end) end
    return 'sort ' .. table.concat(t, ' ') end,
  function() return answer('rep', string.rep, text(), draw(6) - 2, any {'', '-', 'ab', 4}) end,
  function() return answer('rep', string.rep, text(), number() == math.maxinteger and 3 or draw(4) - 2) end,
  function() return answer('byte', string.byte, text(), number(), number()) end,
  function() return answer('byte', string.byte, text(), any {nil, number()}) end,
  function() return answer('format', string.format, any {'%d', '%5.2f|%s', '%x%%', '%q', '%s %s', '%-5s|', '%c',
    '%i', '%+d', '%05d', '%g', '%a', '%y', '%', '%10.4s|'}, any {1, 2.0, 65, 'x', '12', 2.5}, any {'s', 7}) end,
  function() return answer('find', string.find, text(), any {'a', 'b.', '.', '%d', '', '(', 'lo', '='}, number(),
    any {true, false}) end,
  function() return answer('match', string.match, text(), any {'^a', '(%w)(%w)', '()%d', '.-$', '%a+'}, number())
    end,
  function() local s = {} for a, b in string.gmatch(text(), any {'%a', '(%w+)=(%d)', '', '^a', '.', 'a*'}) do
    s[#s + 1] = show(a) .. show(b) end return 'gmatch ' .. table.concat(s, ' ') end,
  function() return answer('gsub', string.gsub, text(), any {'a', '%w', '', '^a', '(.)(.)', '%d+'},
    any {'<%0>', '%1', '%%', 'b', '%2', 5, {a = 'A', h = false, ['1'] = 7}, function(c) return c ~= 'a' and c .. '.' end,
      '%9', 'x%'}, any {0, 1, 2, 100}) end,
  function() return answer('gsub', string.gsub, text(), any {'a', ' ', '$'}, any {'', '#', string.upper}) end,
  function() return answer('select', select, any {'#', 1, 2, -1, 3, 0, -9}, list(), 5, 'six') end,
  function() return answer('tostring', tostring, any {5, 2.0, -0.0, 'x', true, 1e15, 2^53,
    setmetatable({}, {__tostring = function() return any {'text', 'own'} end}),
    setmetatable({}, {__tostring = function() return {} end})}) end,
  function() return answer('xpcall', xpcall, any {error, function(...) return select('#', ...), ... end},
    function(m) return 'handled ' .. tostring(m) end, any {'x', 7}, 'more') end,
  function() return answer('rawlen', rawlen, any {list(), 'four', 5}) end,
  function() local t = setmetatable({1, n = 2}, {__index = function() return 'meta' end, __len = function() return 9 end})
    return answer('rawget', rawget, t, any {1, 2, 'n', 'm'}) .. #t .. t.m .. rawlen(t) end,
  function() local t = setmetatable({}, {__newindex = error}) return answer('rawset', rawset, t, any {1, 'n'}, 5) ..
    show(t) .. show(t.n) end,
  function() local s = {} for i, v in ipairs(any {list(), {1, nil, 3}, {nil, 2}}) do s[#s + 1] = i .. show(v) end
    return 'ipairs ' .. table.concat(s, ' ') end,
  function() return answer('utf8.len', utf8.len, any {'äöü', 'abc', '\xff', ''}, any {1, 2, -1, 3}) end,
  function() return answer('utf8.offset', utf8.offset, 'aäoö', any {-2, -1, 0, 1, 2, 3}, any {1, 4, 6}) end,
  function() return answer('math', math[any {'abs', 'ceil', 'floor', 'sqrt', 'tointeger', 'type'}], number()) end,
  function() local t = {} for i = 1, draw(60) do t[i] = {k = draw(5), i = i} end table.sort(t, lesser)
    for i = 2, #t do assert(t[i - 1].k <= t[i].k) end return 'sorted ' .. #t end,
  function() local t = setmetatable({}, {__index = {deep = 5}, __call = function(_, a) return a end,
    __eq = function() return true end, __lt = function() return true end, __le = function() return false end,
    __concat = function() return 'joined' end, __unm = function() return 'minus' end, __mod = function() return 'mod' end,
    __idiv = function() return 'idiv' end, __div = function() return 'div' end, __pow = function() return 'pow' end,
    __sub = function() return 'sub' end, __mul = function() return 'mul' end, __add = function() return 'add' end,
    __band = function() return 'band' end, __bor = function() return 'bor' end, __bxor = function() return 'bxor' end,
    __shl = function() return 'shl' end, __shr = function() return 'shr' end, __bnot = function() return 'bnot' end,
    __len = function() return 'len' end}) local u = setmetatable({}, getmetatable(t))
    return table.concat({t.deep, t(3), tostring(t == u), tostring(t < u), tostring(t <= u), t .. 'x', -t, t % 1,
      t // 1, t / 1, t ^ 1, t - 1, t * 1, t + 1, t & 1, t | 1, t ~ 1, t << 1, t >> 1, ~t, #t}, ' ') end,
}
local lines = {}
for i = 1, count do lines[i] = any(calls)() end
return table.concat(lines, '\n')
