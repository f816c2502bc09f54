/* Safepoints change nothing: texts are run as they are, with safepoints, and interrupted all the time. They tell the
 * same, and meet as many as they have turns of loops, calls and gotos. MUSTER_PLAIN is how many random texts, and
 * MUSTER_PLAIN_SEED the seed of the first. */
#include "lua/safepoints.h"
#include "scripts/own_state.h"
#include "scripts/plain_grammar.h"
#include "scripts/script_host.h"

enum { TOLD_BYTES = 1 << 20, SAFEPOINTS_MOST = 1 << 30 };

/* What a text tells, and how many safepoints it says it has met. */
typedef struct meaning {
  size_t count;
  lua_Integer counted, met;
  char told[TOLD_BYTES];
} meaning;

static meaning *meaning_runs; /* of the text that runs */

static int meaning_count(lua_State *L) {
  (void)L;
  meaning_runs->counted++;
  return 0;
}

static int meaning_tell(lua_State *L) {
  for (int i = 1; i <= lua_gettop(L); i++) {
    const char *text = lua_isstring(L, i) ? lua_tostring(L, i) : lua_typename(L, lua_type(L, i));
    meaning_runs->count += (size_t)snprintf(meaning_runs->told + meaning_runs->count, TOLD_BYTES - meaning_runs->count,
                                            "%s%s", text, i < lua_gettop(L) ? " " : "\n");
    if (meaning_runs->count >= TOLD_BYTES - 1) return luaL_error(L, "it tells too much");
  }
  return 0;
}

static void set_counter(script_state *state, lua_Integer count) {
  lua_rawgeti(state->L, LUA_REGISTRYINDEX, state->counter);
  lua_pushinteger(state->L, count);
  lua_setupvalue(state->L, -2, 1);
  lua_pop(state->L, 1);
}

static lua_Integer counter_of(script_state *state) {
  lua_rawgeti(state->L, LUA_REGISTRYINDEX, state->counter);
  lua_getupvalue(state->L, -1, 1);
  lua_Integer count = lua_tointeger(state->L, -1);
  lua_pop(state->L, 2);
  return count;
}

static int load_with_safepoints(lua_State *L) {
  size_t bytes;
  const char *text = lua_tolstring(L, 1, &bytes);
  safepoints_load(L, text, bytes, "@text.lua");
  return 1;
}

static int load_plain(lua_State *L) {
  size_t bytes;
  const char *text = lua_tolstring(L, 1, &bytes);
  if (luaL_loadbufferx(L, text, bytes, "@text.lua", "t") != LUA_OK) return lua_error(L);
  library_push_globals(L);
  lua_setupvalue(L, -2, 1);
  return 1;
}

/* Loads the text. False: the error's message is on the stack. */
static bool meaning_load(lua_State *L, const char *text, size_t bytes, bool safepoints) {
  lua_pushcfunction(L, safepoints ? load_with_safepoints : load_plain);
  lua_pushlstring(L, text, bytes);
  return lua_pcall(L, 1, 1, 0) == LUA_OK;
}

static void interrupt(lua_State *L, lua_Debug *record) {
  (void)record;
  lua_yield(L, 0);
}

/* Runs the function on top of the stack; `every`: it is interrupted and resumed as often as it runs so many
 * instructions. Its result, or its error, is on the stack. */
static void meaning_call(lua_State *L, int every) {
  int results, status;
  if (every == 0) {
    lua_pcall(L, 0, 1, 0);
    return;
  }
  lua_State *thread = lua_newthread(L);
  lua_insert(L, -2);
  lua_xmove(L, thread, 1);
  lua_sethook(thread, interrupt, LUA_MASKCOUNT, every);
  do status = lua_resume(thread, L, 0, &results);
  while (status == LUA_YIELD);
  if (status == LUA_OK) lua_settop(thread, 1);
  lua_xmove(thread, L, 1);
  lua_remove(L, -2);
}

static void meaning_run(script_state *state, const char *text, size_t bytes, bool safepoints, int every,
                        meaning *result) {
  lua_State *L = state->L;
  *result = (meaning){0};
  meaning_runs = result;
  cr_assert(meaning_load(L, text, bytes, safepoints), "%s\n%s", lua_tostring(L, -1), text);
  set_counter(state, SAFEPOINTS_MOST);
  meaning_call(L, every);
  result->met = SAFEPOINTS_MOST - counter_of(state);
  meaning_tell(L);
  lua_settop(L, 0);
  lua_gc(L, LUA_GCCOLLECT);
}

/* A state in which the texts find `count` and `tell`. */
static script_state *meaning_begin(void) {
  script_state *state = own_state_begin();
  lua_pushcfunction(state->L, meaning_count);
  library_set_global(state->L, "count");
  lua_pushcfunction(state->L, meaning_tell);
  library_set_global(state->L, "tell");
  lua_settop(state->L, 0);
  return state;
}

static void means_the_same(script_state *state, const char *text, size_t bytes, uint64_t seed, meaning *sums) {
  static meaning plain, with, cut;
  meaning_run(state, text, bytes, false, 0, &plain);
  meaning_run(state, text, bytes, true, 0, &with);
  meaning_run(state, text, bytes, true, 1 + (int)(seed % 5), &cut);
  cr_assert_str_eq(plain.told, with.told, "seed %llu\n%s", (unsigned long long)seed, text);
  cr_assert_str_eq(plain.told, cut.told, "seed %llu, interrupted\n%s", (unsigned long long)seed, text);
  cr_assert_eq(plain.counted, with.counted);
  cr_assert_eq(plain.met, 0);
  cr_assert_eq(with.met, with.counted, "seed %llu: %lld of %lld safepoints\n%s", (unsigned long long)seed,
               (long long)with.met, (long long)with.counted, text);
  sums->counted += with.counted;
  sums->count += with.count;
}

Test(meaning, random_texts_mean_what_they_meant) {
  static meaning sums;
  SCOPED_STATE *state = meaning_begin();
  SCOPED(free_memory) plain_text *text = malloc(sizeof *text);
  uint32_t count = script_setting("MUSTER_PLAIN", 300), first = script_setting("MUSTER_PLAIN_SEED", 1);
  for (uint32_t i = 0; i < count; i++) {
    plain_generate(text, first + i);
    means_the_same(state, text->text, text->count, first + i, &sums);
  }
  printf("texts of seeds %u to %u: %lld safepoints, %zu bytes told\n", first, first + count - 1,
         (long long)sums.counted, sums.count);
  cr_assert_gt(sums.counted, 100 * count, "the texts have hardly any loops");
}

Test(meaning, words_that_look_like_heads_of_loops_are_none) {
  static const char *const texts[] = {
      /* no loop */
      "", "--", "-- do", "--[[ do\n]]", "return", "return;", "return --", ";;; return 1;",
      /* texts, numbers and operators */
      "tell 'do' tell\"repeat\" tell[[goto x]] tell[==[ function( ]==]",
      "tell('\\'do', \"\\\"do\\\\\") tell('\\\\') do count() end",
      "tell('a\\z  \r\n\t do') tell('a\\\r\ndo\\\n\rdo\\\rdo') do count() end",
      "tell('\\x64\\u{6f}\\100\\u{7FFFFFFF}') tell(#[[\r\n\r\r\n\n]])",
      "tell([[\r\nx\ndo\r]]) -- do\rdo count() end --[\ndo count() end --[=\ndo count() end --[==x[\ndo count() end",
      "local t = {[ [[do]] ] = 1, [ [=[repeat]]]=] ] = 2} tell(t['do'], t['repeat]]'], t.x)",
      "local t = {{1}} t[t[1][1]] = 2 tell(t[1]) local a = {[1]=t,[2]=[[x]]} tell(#a[2])",
      "tell(1//2, 7//-2, 1--[[//]]//1, 2^-1, - -1, 1 - -1, ~1, 5~3, 1<<2>>1, 'a'..'b', 1 ..2)",
      "tell(0xA, 0Xa.8P+1, 3e-2, .5e1, 5., 0x.1, 1e0-1, 0xe+1, 0xe-1, 1--1\n)",
      /* heads of loops and functions */
      "do count()end do count()local a=1 end while false do count()end repeat count()until true",
      "for i=1,2 do count()for k in next,{1}do count()end end",
      "local function f(...)count()return...end tell((f(1,2)))tell(f(1,2))tell(#{f(1,2)})",
      "local t={f=function(a,b)count()return a,b end}function t:g(...)count()return self==t,...end "
      "tell(t.f(1))tell(t:g(2))",
      "local t={a={b={}}} function t . a . b : c (--[[ ) ]] x --)\n, --[=[ ( ]=] y) count() return y end "
      "tell(t.a.b:c(1,2))",
      "local function --)\nf--(\n(--)\n) count() end f() tell(pcall(f))",
      "local f = function() count() return (function() count() return function() count() return 3 end end)()() end "
      "tell(f())",
      /* gotos, and what loops close over */
      "local i = 0 ::a:: i = i + 1 if i < 9 then count()goto a end ::b:: ::c:: ; ::d::",
      "do count() local i = 0 ::a:: i = i + 1 if i == 3 then count()goto z else count()goto a end end ::z:: tell(1)",
      "for i = 1, 3 do count() do count() if i == 2 then count()goto next end local x = i tell(x) end ::next:: end",
      "for i = 1, 3 do count() local f = function() count() return i end if i == 2 then break end tell(f()) end",
      "local n = 0 repeat count() local last = n > 2 n = n + 1 until last tell(n)",
      "local n = 0 repeat count() local k = n local f = function() count() return k end n = n + 1 until f() > 2 "
      "tell(n)",
      /* attributes and environments */
      "local x <const>, y <close> = 1, nil do count() local z <close> = false tell(x, y, z) end",
      "local _ENV = {tell = tell, count = count} do count() x = 1 tell(x, _ENV.x, _G) end",
      "local function f(_ENV) count() y = 1 do count() end return y end tell(f({count = count}))",
      "local tell, _ENV <const> = tell, {count = count} do count() end tell(tell == nil, _ENV.tell)",
      /* lines of errors */
      "do count() end (tell)(1)", "local a = {} a.b = function() count() end; (a).b() a\n.b()",
      "tell(pcall(function() count() local a do count() a.b = 1 end end))",
      "tell(pcall(function()\ncount()\nfor i = 1, 'x' do end\nend))",
      "tell(pcall(function()\ncount()\n\r\n\n\r\r for i = 1, 1 do count()\n nothing() end end))",
      "tell(pcall(function() count() local t = {} t.x.y.z() end)) tell(pcall(function() count() tell(('x')()) end))",
      /* ends of texts */
      "tell(select('#', ...), ...)", "while true do count() do count() break end end",
      "local done while not done do count() done = true end if done then while done do count() done = nil end end",
      "local a, end_, do1, _do, dodo = 1, 2, 3, 4, 5 tell(a, end_, do1, _do, dodo) count()goto goto1 ::goto1::",
      "tell(({...})[1], ({n = 1}).n, #'do', -#'x', not nil, ('x'):len())"};
  static meaning sums;
  SCOPED_STATE *state = meaning_begin();
  for (size_t i = 0; i < COUNT_OF(texts); i++) means_the_same(state, texts[i], strlen(texts[i]), i, &sums);
}

/* What a text with safepoints says that does not compile; "" = it compiles. `compiles`: the text does without them. */
static const char *refused(script_state *state, const char *text, size_t bytes, bool compiles) {
  static char message[1024];
  lua_State *L = state->L;
  cr_assert_eq(meaning_load(L, text, bytes, false), compiles, "%s", lua_tostring(L, -1));
  if (!compiles) snprintf(message, sizeof message, "%s", lua_tostring(L, -1));
  bool good = meaning_load(L, text, bytes, true);
  if (!compiles) cr_assert_not_null(strstr(lua_tostring(L, -1), message));
  snprintf(message, sizeof message, "%s", good ? "" : lua_tostring(L, -1));
  lua_settop(L, 0);
  return message;
}

static size_t repeat_words(char *text, size_t count, uint32_t times, const char *words) {
  for (uint32_t i = 0; i < times; i++) count += (size_t)sprintf(text + count, words, i, i);
  return count;
}

/* A function inside two others that have 200 and `more` variables, and which uses them all. */
static size_t with_upvalues(char *text, uint32_t more) {
  size_t count = repeat_words(text, 0, 200, "local a%u = %u\n");
  count += (size_t)sprintf(text + count, "return function()\n");
  count = repeat_words(text, count, more, "local b%u = %u\n");
  count += (size_t)sprintf(text + count, "return function()\nlocal x\n");
  count = repeat_words(text, count, 200, "x = a%u\n");
  count = repeat_words(text, count, more, "x = b%u\n");
  return count + (size_t)sprintf(text + count, "end end");
}

/* Blocks in each other. */
static size_t with_blocks(char *text, uint32_t blocks) {
  size_t count = repeat_words(text, 0, blocks, "do\n");
  return repeat_words(text, count, blocks, "end ");
}

static size_t with_a_long_loop(char *text, uint32_t inside) {
  size_t count = (size_t)sprintf(text, "for i = 1, 2 do\n");
  count = repeat_words(text, count, inside, "do end ");
  return count + (size_t)sprintf(text + count, "end");
}

static void says_both(const char *message, const char *line) {
  cr_assert_not_null(strstr(message, line), "%s", message);
  cr_assert_not_null(strstr(message, "without it this text would compile"), "%s", message);
}

Test(meaning, a_text_that_has_no_room_for_safepoints_is_told_so_with_its_line) {
  SCOPED_STATE *state = meaning_begin();
  SCOPED(free_memory) char *text = malloc(1 << 20);
  cr_assert_str_eq(refused(state, text, with_upvalues(text, 53), true), "");
  says_both(refused(state, text, with_upvalues(text, 54), true), "text.lua:512: too many upvalues (limit is 255)");
  cr_assert_not_null(strstr(refused(state, text, with_upvalues(text, 56), false), "too many upvalues"));
  uint32_t deepest = 150;
  while (meaning_load(state->L, text, with_blocks(text, deepest + 1), false)) deepest++;
  cr_assert_str_eq(refused(state, text, with_blocks(text, deepest - 8), true), "");
  says_both(refused(state, text, with_blocks(text, deepest), true), "text.lua: C stack overflow");
  cr_assert_str_eq(refused(state, text, with_blocks(text, deepest + 1), false), "text.lua: C stack overflow");
  cr_assert_str_eq(refused(state, text, with_a_long_loop(text, 1000), true), "");
  says_both(refused(state, text, with_a_long_loop(text, 30000), true), "text.lua:2: control structure too long");
  cr_assert_not_null(strstr(refused(state, "#!/bin/lua\n", 11, false), "text.lua:1: unexpected symbol near '#'"));
  cr_assert_not_null(strstr(refused(state, "\x1bLua", 4, false), "attempt to load a binary chunk"));
}
