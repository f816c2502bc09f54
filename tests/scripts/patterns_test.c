/* Patterns of texts mean what they mean in Lua itself: random ones are asked of both. */
#include "scripts/own_state.h"
#include "scripts/plain_grammar.h"

enum { PATTERNS = 6000, PATTERN_PARTS = 5, SUBJECT_LETTERS = 14, ANSWER_BYTES = 2048, SHARE_LEAST = PATTERNS / 6 };

/* What a call answers: its values, or that it is refused. Each is called with a subject, a pattern and a start. */
static const char calls[] =
    "local function text(...) local t = table.pack(pcall(...)) if not t[1] then return 'refused' end\n"
    "  for i = 1, t.n do t[i] = tostring(t[i]) end return table.concat(t, '|') end\n"
    "local function all(s, p, n) local t = {} for a, b in s:gmatch(p) do t[#t + 1] = tostring(a) .. '<' .. "
    "tostring(b)\n"
    "  if #t > 40 then break end end return table.concat(t, ' ') end\n"
    "local function first(s, p) return s:gsub(p, '[%0]', 3) end\n"
    "local function each(s, p) return s:gsub(p, function(a, b) return b and a .. b .. '!' end) end\n"
    "local function other(s, p) return s:gsub(p, {a = 'A', b = 1, ['('] = false}) end\n"
    "return function(s, p, n) return table.concat({text(string.find, s, p, n), text(string.match, s, p, n),\n"
    "  text(all, s, p), text(first, s, p), text(each, s, p), text(other, s, p), text(string.find, s, p, n, true)},\n"
    "  ' / ') end\n";

static void make_pattern(plain_text *random, char pattern[64], char subject[SUBJECT_LETTERS + 1]) {
  static const char *const units[] = {"%a",    "%d",    "%w",     "%s",     "%p", "%%", "%u",   "%l",    ".",
                                      "a",     "b",     "x",      " ",      "'",  "%(", "[ab]", "[^a]",  "[]]",
                                      "[^%d]", "[a-c]", "[%a_-]", "[%]%-]", "%D", "%S", "\\0",  "[^]'(]"},
                           *const others[] = {"(",  ")",  "()", "%b()", "%b''", "%bab", "%baa", "%f[%a]", "%f[^b]",
                                              "%1", "%2", "^",  "$",    "%b",   "%f",   "[",    "%"},
                           *const times[] = {"", "", "", "*", "+", "-", "?"};
  static const char letters[] = "aaabbxc ''(()1_]-B";
  uint32_t parts = 1 + plain_draw(random, PATTERN_PARTS), length = plain_draw(random, SUBJECT_LETTERS);
  *pattern = '\0';
  for (uint32_t i = 0; i < parts; i++) {
    bool unit = plain_draw(random, 4) > 0;
    strcat(pattern, unit ? PLAIN_ANY(random, units) : PLAIN_ANY(random, others));
    if (unit) strcat(pattern, PLAIN_ANY(random, times));
  }
  for (uint32_t i = 0; i < length; i++) subject[i] = letters[plain_draw(random, sizeof letters - 1)];
  subject[length] = '\0';
}

/* With the function on top of the stack, which stays there. */
static void answer(lua_State *L, const char *subject, const char *pattern, lua_Integer start, char text[ANSWER_BYTES]) {
  lua_pushvalue(L, -1);
  lua_pushstring(L, subject);
  lua_pushstring(L, pattern);
  lua_pushinteger(L, start);
  cr_assert_eq(lua_pcall(L, 3, 1, 0), LUA_OK, "%s", lua_tostring(L, -1));
  snprintf(text, ANSWER_BYTES, "%s", lua_tostring(L, -1));
  lua_pop(L, 1);
}

Test(patterns, mean_what_they_mean_in_lua_itself) {
  SCOPED_STATE *state = own_state_begin();
  lua_State *lua = luaL_newstate();
  char pattern[64], subject[SUBJECT_LETTERS + 1], own[ANSWER_BYTES], theirs[ANSWER_BYTES];
  plain_text random = {.seed = 7};
  uint32_t refused = 0, found = 0;
  own_state_run(state, calls, sizeof calls - 1, 1);
  luaL_openlibs(lua);
  cr_assert_eq(luaL_dostring(lua, calls), LUA_OK);
  for (uint32_t i = 0; i < PATTERNS; i++) {
    make_pattern(&random, pattern, subject);
    if (strstr(pattern, "()") && (strstr(pattern, "%1") || strstr(pattern, "%2")))
      continue; /* a place is no text: refused */
    lua_Integer start = (lua_Integer)plain_draw(&random, 6) - 2;
    answer(state->L, subject, pattern, start, own);
    answer(lua, subject, pattern, start, theirs);
    bool wrong = strstr(theirs, "refused") != NULL; /* a pattern that is none, which not every call meets */
    cr_assert(wrong ? strstr(own, "refused") != NULL : strcmp(own, theirs) == 0,
              "'%s' in '%s' from %lld: %s; in Lua %s", pattern, subject, (long long)start, own, theirs);
    refused += wrong;
    found += strncmp(theirs, "true|", 5) == 0 && strncmp(theirs, "true|nil", 8) != 0;
  }
  cr_expect(refused > SHARE_LEAST / 4 && found > SHARE_LEAST, "%u of %u are refused, %u found", refused, PATTERNS,
            found);
  lua_close(lua);
}

Test(patterns, have_at_most_32_captures) {
  SCOPED_STATE *state = own_state_begin();
  static const char text[] = "local function places(n) return pcall(string.find, 'x', ('()'):rep(n)) end\n"
                             "local done, why = places(33) return select('#', places(32)), done, why";
  own_state_run(state, text, sizeof text - 1, 3);
  cr_expect_eq(lua_tointeger(state->L, -3), 1 + 2 + 32);
  cr_expect_not(lua_toboolean(state->L, -2));
  cr_expect(strstr(lua_tostring(state->L, -1), "too many captures") != NULL, "%s", lua_tostring(state->L, -1));
}
