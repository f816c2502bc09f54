/* Every function that a script can call, called with everything: it returns or fails, and changes nothing that it must
 * not. A function that reachable.txt lists and that this test does not meet is an error. */
#include "scripts/script_host.h"

enum { FUNCTIONS_FRAMES = 900, FUNCTIONS_MIN = 70 };

/* The driver takes one function an update, with each three of the odd values as its arguments. */
static const char functions_text[] =
    "held = {n = 1} list = {10, 20}\n"
    "local victim = muster.type { name = 'victim', period = '1s', period_max = '1s',\n"
    "  messages = {waiting_max = 2, bytes_max = 99} }\n"
    "function victim:think() assert(self.stolen == nil) end\n"
    "local driver = muster.type { name = 'driver', period = '30ms', period_max = '30ms', memory = '16MB',\n"
    "  asks = 100000, cuts_max = 1000, spawns_max = 2, publishes = {'n'},\n"
    "  messages = {waiting_max = 4, bytes_max = 200, sends_max = 4} }\n"
    "local last = {['muster.remove'] = true} -- it ends the driver\n"
    "local function functions_of(names, of, prefix, late)\n"
    "  for name, value in pairs(of) do\n"
    "    if type(value) == 'function' and (last[prefix .. name] or false) == late then\n"
    "      names[#names + 1] = {prefix .. name, value} end end\n"
    "end\n"
    "local function all_functions()\n"
    "  local names = {}\n"
    "  for _, late in ipairs {false, true} do\n"
    "    functions_of(names, _G, '', late)\n"
    "    for _, library in ipairs {'math', 'muster', 'string', 'table', 'utf8'} do\n"
    "      functions_of(names, _G[library], library .. '.', late) end\n"
    "  end\n"
    "  return names\n"
    "end\n"
    "function driver:think()\n"
    "  self.number = (self.number or 0) + 1\n"
    "  local entry = all_functions()[self.number]\n"
    "  if not entry then if self.number < 1000 then print('driven', self.number) self.number = 1000 end return end\n"
    "  local cyclic = {} cyclic[1] = cyclic\n"
    "  local odd = {false, true, 0, -1, 1.5, 1e308, 0 / 0, math.maxinteger, math.mininteger, '', '%s', '[', 'victim',\n"
    "    cyclic, held, self, type, function(...) return ... end, setmetatable({}, {__index = error})}\n"
    "  print('calls ' .. entry[1] .. '.')\n"
    "  local call = entry[2]\n"
    "  if call ~= print then pcall(call) end\n"
    "  for i = 1, #odd do\n"
    "    if call == print then break end\n"
    "    pcall(call, odd[i]) pcall(call, nil, odd[i])\n"
    "    for k = 1, #odd do pcall(call, odd[i], odd[k]) pcall(call, odd[i], odd[k], odd[(i * k) % #odd + 1]) end\n"
    "  end\n"
    "  assert(held.n == 1 and list[2] == 20 and #list == 2 and getmetatable('') == false and _G.n == nil)\n"
    "  assert(string.len('x') == 1 and ('x'):rep(2) == 'xx' and self.x == self.position.x)\n"
    "  muster.set_period(0) -- it was called as well\n"
    "  print('sound')\n"
    "end\n"
    "muster.world { agents = 2, agents_max = 4000, start = function()\n"
    "  muster.spawn(driver, {x = 0, y = 0}) muster.spawn(victim, {x = 0, y = 0}) end }\n";

/* Each line "_G.NAME: C function" or "_G.NAME: function" must have been called. */
static uint32_t functions_called(script_host *host) {
  char line[300];
  uint32_t count = 0;
  FILE *file = fopen(MUSTER_SOURCE_DIR "/tests/scripts/reachable.txt", "r");
  cr_assert_not_null(file);
  while (fgets(line, sizeof line, file)) {
    char *end = strstr(line, ": C function\n");
    if (!end) end = strstr(line, ": function\n");
    bool own = strncmp(line, "_G.a.", 5) == 0 || strncmp(line, "_G.module.", 10) == 0;
    if (!end || own || strncmp(line, "_G.", 3) != 0 || strpbrk(line, "^(")) continue;
    *end = 0;
    cr_assert_geq(script_says(host, formed("calls %s.", line + 3)), 1, "%s is called by no test", line);
    count++;
  }
  fclose(file);
  return count;
}

Test(functions, all_of_them_take_everything) {
  SCOPED_HOST *host = script_start(functions_text);
  script_run(host, FUNCTIONS_FRAMES);
  uint32_t count = functions_called(host);
  cr_assert_geq(count, FUNCTIONS_MIN, "only %u functions were called", count);
  SCRIPT_EXPECT_SAID(host, {"sound", (count - 2) | OR_MORE}, {"goes into quarantine", 0});
}
