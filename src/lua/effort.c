#include "lua/effort.h"

#include "lua/reader.h"

/* Lua refuses what is nested deeper. */
enum { LEVELS_MAX = 250 };

/* A block, or what stands in brackets. */
typedef struct effort_level {
  uint32_t elseifs; /* of the `if` that it is */
  uint32_t logic;   /* `and` and `or` of the expression that is read in it */
  bool function;
} effort_level;

typedef struct effort_meter {
  uint32_t depth, functions; /* levels; how many of them are functions */
  uint64_t names;
  effort_level levels[LEVELS_MAX + 1];
} effort_meter;

static bool is_any(const text_token *token, const char *const *words) {
  for (; *words; words++)
    if (reader_is(token, *words)) return true;
  return false;
}

static void effort_enter(effort_meter *meter, bool function) {
  meter->levels[++meter->depth] = (effort_level){.function = function};
  meter->functions += function;
}

static void effort_leave(effort_meter *meter) {
  if (meter->depth == 0) return; /* it does not compile */
  meter->functions -= meter->levels[meter->depth--].function;
}

/* Whether an `=` that is none of `==`, `~=`, `<=` and `>=`. */
static bool is_assignment(const text_token *token, const char *text, const char *end) {
  const char *at = token->at;
  bool behind = at > text && (at[-1] == '=' || at[-1] == '~' || at[-1] == '<' || at[-1] == '>');
  return *at == '=' && !behind && !(at + 1 < end && at[1] == '=');
}

/* Marks stand between expressions, or around other ones. */
static void effort_take_mark(effort_meter *meter, const text_token *token, const char *text, const char *end) {
  switch (*token->at) {
  case '(':
  case '[':
  case '{':
    effort_enter(meter, false);
    break;
  case ')':
  case ']':
  case '}':
    effort_leave(meter);
    break;
  case ',':
  case ';':
    meter->levels[meter->depth].logic = 0;
    break;
  default:
    if (is_assignment(token, text, end)) meter->levels[meter->depth].logic = 0;
  }
}

/* `while` and `for` have a `do`. The condition of `until` stands behind the block, that of `while` before it. */
static void effort_take_word(effort_meter *meter, const text_token *token) {
  static const char *const opening[] = {"if", "do", "repeat", "function", NULL},
                           *const closing[] = {"end", "until", NULL}, *const between[] = {"while",  "until", "then",
                                                                                          "elseif", "else",  "return",
                                                                                          "in",     "local", NULL},
                           *const logic[] = {"and", "or", NULL};
  if (is_any(token, closing)) effort_leave(meter);
  effort_level *level = &meter->levels[meter->depth];
  if (is_any(token, between)) level->logic = 0;
  level->logic += is_any(token, logic);
  level->elseifs += reader_is(token, "elseif");
  meter->names += meter->functions;
  if (is_any(token, opening)) effort_enter(meter, reader_is(token, "function"));
}

/* Pushes what is wrong. False: nothing is, so far. */
static bool effort_push_complaint(lua_State *L, const effort_meter *meter) {
  const effort_level *level = &meter->levels[meter->depth];
  if (level->elseifs > EFFORT_CHAIN_MAX)
    lua_pushfstring(L, "an 'if' with more than %d 'elseif' takes too long to compile: use a table", EFFORT_CHAIN_MAX);
  else if (level->logic > EFFORT_CHAIN_MAX)
    lua_pushfstring(L, "an expression with more than %d 'and' and 'or' takes too long to compile: use a table",
                    EFFORT_CHAIN_MAX);
  else if (meter->names > EFFORT_NAMES_MAX)
    lua_pushliteral(L, "so many names in functions that are inside of others take too long to compile");
  else
    return false;
  return true;
}

void effort_check(lua_State *L, const char *text, size_t bytes, const char *chunk) {
  text_reader reader = {text, text + bytes};
  effort_meter meter = {.functions = 0};
  text_token token;
  while (meter.depth < LEVELS_MAX && reader_next(&reader, &token)) {
    if (token.word)
      effort_take_word(&meter, &token);
    else
      effort_take_mark(&meter, &token, text, reader.end);
    if (!effort_push_complaint(L, &meter)) continue;
    lua_pushfstring(L, "%s:%d: %s", chunk + 1, reader_line(text, token.at), lua_tostring(L, -1));
    lua_error(L);
  }
}
