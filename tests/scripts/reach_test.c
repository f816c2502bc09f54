/* Every value that a script can reach, compared with the list in reachable.txt: nothing comes to it unseen.
 *
 * The walk begins at the globals, and at an agent's table, in which its update has left every kind of value that calls
 * return. First it goes where a script can go itself: through fields. Then it goes on to what is behind: the content of
 * frozen tables, metatables, upvalues. What was met on the first way is not behind. */
#include "scripts/script_host.h"

#include "lua/freeze.h"
#include "lua/library.h"
#include "lua/order.h"
#include "lua/scripts.h"

static const char reach_text[] =
    "module = {f = function() return 1 end}\n"
    "local hidden = {inner = {}}\n"
    "a = muster.type { name = 'a', period = '10ms', spawns_max = 1, messages = {waiting_max = 2, bytes_max = 99,\n"
    "  sends_max = 2} }\n"
    "function a:think()\n"
    "  if self.made then return end\n"
    "  local function failed(...) local _, why = pcall(...) return why end\n"
    "  self.made = {\n"
    "    pairs_list = {pairs({1})}, pairs_keys = {pairs({a = 1})}, pairs_frozen = {pairs(hidden)}, ipairs = "
    "{ipairs({1})},\n"
    "    gmatch = {string.gmatch('x', 'x')}, codes = {utf8.codes('x')}, nearby = {muster.nearby(5)},\n"
    "    messages = {muster.messages()}, gsub = {string.gsub('x', 'x', 'y')}, unpack = {table.unpack {1, 2}},\n"
    "    pack = table.pack(1), position = self.position, select = {select(1, 2)}, type = type(1), next = {next({1})},\n"
    "    errors = {failed(error, {}), failed(error), failed(error, 'x'), failed(string.rep, 'x', 1e9), failed(nil),\n"
    "      failed(rawset, module, 1, 1), failed(muster.move, 0 / 0, 0), failed(setmetatable, {}, {__gc = 1}),\n"
    "      },\n"
    "    object = setmetatable({}, {__index = function() end}), metatables = {getmetatable(self), getmetatable(''),\n"
    "      getmetatable(module), getmetatable(_G), getmetatable(print)}, env = _ENV, require = require 'main'}\n"
    "  self.many = {} for i = 1, 300 do self.many['k' .. i] = i end\n"
    "  self.made.pairs_many = {pairs(self.many)}  self.many = nil  print('made')\n"
    "  self.made.memory = failed(function() local t = {} while true do t[#t + 1] = {} end end)\n"
    "end\n" SCRIPT_ONE;

enum { REACH_PATH_BYTES = 200, REACHED_MAX = 1000 };

/* What is found, each by the shortest way to it: "PATH KIND". */
typedef struct reach_walk {
  lua_State *L;
  int seen, queue; /* tables on the stack: values that were met, and those to look into */
  lua_Integer queued;
  bool behind;
  char (*paths)[REACH_PATH_BYTES];
  char (*lines)[REACH_PATH_BYTES + 20];
  uint32_t count;
} reach_walk;

/* Pops a value, and notes it when it was not met before. */
static void reach_meet(reach_walk *walk, const char *path) {
  lua_State *L = walk->L;
  int type = lua_type(L, -1);
  bool plain = type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
  lua_pushvalue(L, -1);
  if (plain || lua_rawget(L, walk->seen) != LUA_TNIL) {
    lua_pop(L, 2);
    return;
  }
  lua_pop(L, 1);
  cr_assert_lt(walk->count, REACHED_MAX);
  snprintf(walk->paths[walk->count], REACH_PATH_BYTES, "%s", path);
  snprintf(walk->lines[walk->count++], REACH_PATH_BYTES + 20, "%s: %s%s", path,
           lua_iscfunction(L, -1) ? "C function" : lua_typename(L, type), walk->behind ? ", behind" : "");
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, walk->seen);
  lua_rawseti(L, walk->queue, ++walk->queued);
}

/* Meets each field of the table on top of the stack. */
static void reach_fields(reach_walk *walk, const char *path) {
  lua_State *L = walk->L;
  const order_key *keys;
  int table = lua_gettop(L), count = order_gather(L, table, &keys);
  cr_assert_geq(count, 0, "%s has keys without order", path);
  cr_assert(lua_checkstack(L, count + 8));
  for (int i = 0; i < count; i++) order_push(L, &keys[i]);
  for (int i = 1; i <= count; i++) {
    lua_pushvalue(L, table + i);
    const char *inner = formed("%s.%s", path, lua_tostring(L, -1));
    lua_pop(L, 1);
    lua_pushvalue(L, table + i);
    lua_rawget(L, table);
    reach_meet(walk, inner);
  }
  lua_settop(L, table);
}

/* What a script sees in the value on top of the stack. */
static void reach_see(reach_walk *walk, const char *path) {
  if (!lua_istable(walk->L, -1)) return;
  freeze_open(walk->L, -1); /* its content has the same names */
  reach_fields(walk, path);
}

/* What is behind the value on top of the stack. */
static void reach_look_behind(reach_walk *walk, const char *path) {
  lua_State *L = walk->L;
  int value = lua_gettop(L);
  if (lua_istable(L, value)) reach_fields(walk, path);
  if (freeze_push_content(L, value)) reach_meet(walk, formed("%s(content)", path));
  for (int i = 1; lua_isfunction(L, value) && lua_getupvalue(L, value, i); i++)
    reach_meet(walk, formed("%s^%d", path, i));
  if (lua_getmetatable(L, value)) reach_meet(walk, formed("%s(metatable)", path));
}

/* Looks into all that was met, and that is met by this. */
static void reach_go(reach_walk *walk, void (*look)(reach_walk *walk, const char *path)) {
  for (lua_Integer i = 1; i <= walk->queued; i++) {
    lua_settop(walk->L, 2);
    lua_rawgeti(walk->L, walk->queue, i);
    look(walk, walk->paths[i - 1]);
  }
  lua_settop(walk->L, 2);
}

static int reach_by_text(const void *one, const void *other) {
  return strcmp(one, other);
}

/* Strings share a metatable, and no other plain values do. */
static void reach_shared_metatables(reach_walk *walk) {
  lua_State *L = walk->L;
  lua_pushnil(L);
  lua_pushboolean(L, 1);
  lua_pushinteger(L, 1);
  lua_pushlightuserdata(L, NULL);
  lua_pushcfunction(L, freeze_refuse);
  lua_pushthread(L);
  for (int i = 1; i <= 6; i++) cr_assert_not(lua_getmetatable(L, -i), "a type of values has a metatable");
  lua_pushliteral(L, "");
  cr_assert(lua_getmetatable(L, -1), "strings have lost their metatable");
  reach_meet(walk, "('')(metatable)");
  lua_settop(L, 2);
}

static void reach_all(reach_walk *walk, const script_state *state) {
  lua_State *L = walk->L;
  lua_settop(L, 0);
  lua_newtable(L);
  lua_newtable(L);
  walk->seen = 1;
  walk->queue = 2;
  library_push_globals(L);
  reach_meet(walk, "_G");
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->selves);
  for (lua_pushnil(L); lua_next(L, -2);) reach_meet(walk, "self");
  reach_go(walk, reach_see);
  walk->behind = true;
  reach_shared_metatables(walk);
  reach_go(walk, reach_look_behind);
  lua_settop(L, 0);
}

/* Asserts that each line of the one is a line of the other. */
static uint32_t reach_compare(const reach_walk *walk, char *list) {
  uint32_t wrong = 0, at = 0;
  for (char *line = strtok(list, "\n"); line || at < walk->count;) {
    int order = !line ? -1 : at == walk->count ? 1 : strcmp(walk->lines[at], line);
    if (order) wrong++;
    if (order < 0) printf("new, and in no list:  %s\n", walk->lines[at]);
    if (order > 0) printf("no longer reached:    %s\n", line);
    if (order <= 0) at++;
    if (order >= 0) line = strtok(NULL, "\n");
  }
  fflush(stdout); /* the assertion ends the process without it */
  return wrong;
}

Test(reach, a_script_reaches_what_is_listed_and_nothing_else) {
  SCOPED_HOST *host = script_start(reach_text);
  const script_world *scripts = host->instance;
  script_run(host, 20);
  cr_assert_geq(script_says(host, "made"), 1, "%s", script_said(host));
  const script_state *state = NULL;
  for (uint32_t i = 0; i < scripts->strands && !state; i++) state = scripts->states[i];
  reach_walk walk = {.L = state->L,
                     .paths = malloc(REACHED_MAX * sizeof *walk.paths),
                     .lines = malloc(REACHED_MAX * sizeof *walk.lines)};
  reach_all(&walk, state);
  qsort(walk.lines, walk.count, sizeof *walk.lines, reach_by_text);
  static char list[1 << 16];
  FILE *file = fopen(MUSTER_SOURCE_DIR "/tests/scripts/reachable.txt", "r");
  cr_assert_not_null(file);
  list[fread(list, 1, sizeof list - 1, file)] = 0;
  fclose(file);
  cr_assert_eq(reach_compare(&walk, list), 0, "the walk and tests/scripts/reachable.txt differ");
  free(walk.paths);
  free(walk.lines);
}
