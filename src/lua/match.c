/* match.c - see match.h. The matcher is that of Lua 5.4's lstrlib.c (Copyright (C) 1994-2022 Lua.org, PUC-Rio; MIT
 * licence), with a count of its steps. */
#include "lua/match.h"

#include <ctype.h>
#include <string.h>

enum { CAPTURES_MAX = 32, CAPTURE_UNFINISHED = -1, CAPTURE_POSITION = -2, DEPTH_MAX = 200 };
enum { STEPS_OF_INSTRUCTION = 2, SET_STEP_BYTES = 16 }; /* so much of a set is looked at in a step */

typedef struct match_run {
  const char *text, *text_end;
  const char *pattern_end;
  lua_State *L;
  int depth;
  uint32_t steps;
  int level;
  struct {
    const char *start;
    ptrdiff_t length;
  } captures[CAPTURES_MAX];
} match_run;

static const char *match_here(match_run *m, const char *s, const char *p);

static void count_step(match_run *m) {
  if (++m->steps <= MATCH_STEPS_MAX) return;
  state_charge(m->L, MATCH_STEPS_MAX / STEPS_OF_INSTRUCTION);
  luaL_error(m->L, "the pattern takes more than %d steps on this text", MATCH_STEPS_MAX);
}

static int check_capture(match_run *m, int letter) {
  letter -= '1';
  if (letter < 0 || letter >= m->level || m->captures[letter].length == CAPTURE_UNFINISHED)
    return luaL_error(m->L, "invalid capture index %%%d", letter + 1);
  return letter;
}

static int capture_to_close(match_run *m) {
  for (int level = m->level - 1; level >= 0; level--)
    if (m->captures[level].length == CAPTURE_UNFINISHED) return level;
  return luaL_error(m->L, "invalid pattern capture");
}

/* Behind a single class. */
static const char *class_end(match_run *m, const char *p) {
  const char *begin = p;
  if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
  if (*p == '%') {
    if (p + 1 == m->pattern_end) luaL_error(m->L, "malformed pattern (ends with '%%')");
    return p + 2;
  }
  if (*p++ != '[') return p;
  if (p < m->pattern_end && *p == '^') p++;
  do { /* the first ] is one of the set */
    if (p == m->pattern_end) luaL_error(m->L, "malformed pattern (missing ']')");
    if (*p++ == '%' && p < m->pattern_end) p++;
  } while (p == m->pattern_end || *p != ']');
  m->steps += (uint32_t)(p - begin) / SET_STEP_BYTES;
  return p + 1;
}

static bool match_class(int c, int class) {
  bool yes;
  switch (tolower(class)) {
  case 'a':
    yes = isalpha(c) != 0;
    break;
  case 'c':
    yes = iscntrl(c) != 0;
    break;
  case 'd':
    yes = isdigit(c) != 0;
    break;
  case 'g':
    yes = isgraph(c) != 0;
    break;
  case 'l':
    yes = islower(c) != 0;
    break;
  case 'p':
    yes = ispunct(c) != 0;
    break;
  case 's':
    yes = isspace(c) != 0;
    break;
  case 'u':
    yes = isupper(c) != 0;
    break;
  case 'w':
    yes = isalnum(c) != 0;
    break;
  case 'x':
    yes = isxdigit(c) != 0;
    break;
  default:
    return class == c;
  }
  return isupper(class) ? !yes : yes;
}

/* `p` is at the [, `end` at the ]. */
static bool match_set(int c, const char *p, const char *end) {
  bool yes = true;
  if (p[1] == '^') {
    yes = false;
    p++;
  }
  while (++p < end) {
    if (*p == '%') {
      p++;
      if (match_class(c, (unsigned char)*p)) return yes;
    } else if (p[1] == '-' && p + 2 < end) {
      p += 2;
      if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p) return yes;
    } else if ((unsigned char)*p == c) {
      return yes;
    }
  }
  return !yes;
}

static bool match_single(match_run *m, const char *s, const char *p, const char *end) {
  if (s >= m->text_end) return false;
  count_step(m);
  int c = (unsigned char)*s;
  switch (*p) {
  case '.':
    return true;
  case '%':
    return match_class(c, (unsigned char)p[1]);
  case '[':
    m->steps += (uint32_t)(end - p) / SET_STEP_BYTES;
    return match_set(c, p, end - 1);
  default:
    return (unsigned char)*p == c;
  }
}

static const char *match_balance(match_run *m, const char *s, const char *p) {
  if (p >= m->pattern_end - 1) luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
  if (s >= m->text_end || *s != *p) return NULL;
  int depth = 1;
  while (++s < m->text_end) {
    count_step(m);
    if (*s == p[1]) {
      if (--depth == 0) return s + 1;
    } else if (*s == *p) {
      depth++;
    }
  }
  return NULL;
}

static const char *expand_most(match_run *m, const char *s, const char *p, const char *end) {
  ptrdiff_t count = 0;
  while (match_single(m, s + count, p, end)) count++;
  for (; count >= 0; count--) {
    const char *found = match_here(m, s + count, end + 1);
    if (found) return found;
  }
  return NULL;
}

static const char *expand_least(match_run *m, const char *s, const char *p, const char *end) {
  for (;; s++) {
    const char *found = match_here(m, s, end + 1);
    if (found) return found;
    if (!match_single(m, s, p, end)) return NULL;
  }
}

static const char *begin_capture(match_run *m, const char *s, const char *p, int what) {
  if (m->level >= CAPTURES_MAX) luaL_error(m->L, "too many captures");
  m->captures[m->level].start = s;
  m->captures[m->level++].length = what;
  const char *found = match_here(m, s, p);
  if (!found) m->level--;
  return found;
}

static const char *end_capture(match_run *m, const char *s, const char *p) {
  int level = capture_to_close(m);
  m->captures[level].length = s - m->captures[level].start;
  const char *found = match_here(m, s, p);
  if (!found) m->captures[level].length = CAPTURE_UNFINISHED;
  return found;
}

static const char *match_back(match_run *m, const char *s, int letter) {
  int level = check_capture(m, letter);
  if (m->captures[level].length < 0) luaL_error(m->L, "invalid capture index %%%d", level + 1);
  size_t length = (size_t)m->captures[level].length;
  m->steps += (uint32_t)length;
  count_step(m);
  return (size_t)(m->text_end - s) >= length && memcmp(m->captures[level].start, s, length) == 0 ? s + length : NULL;
}

/* %f[set] */
static bool match_frontier(match_run *m, const char *s, const char **p) {
  *p += 2;
  if (*p >= m->pattern_end || **p != '[') luaL_error(m->L, "missing '[' after '%%f' in pattern");
  const char *end = class_end(m, *p);
  int before = s == m->text ? 0 : (unsigned char)s[-1], here = s < m->text_end ? (unsigned char)*s : 0;
  bool yes = !match_set(before, *p, end - 1) && match_set(here, *p, end - 1);
  *p = end;
  return yes;
}

/* A single class and what may stand behind it. *again: goes on with *s and *p. */
static const char *match_default(match_run *m, const char **s, const char **p, bool *again) {
  const char *end = class_end(m, *p);
  char suffix = end < m->pattern_end ? *end : 0;
  if (suffix == '*') return expand_most(m, *s, *p, end);
  if (suffix == '-') return expand_least(m, *s, *p, end);
  bool single = match_single(m, *s, *p, end);
  if (suffix == '+') return single ? expand_most(m, *s + 1, *p, end) : NULL;
  if (suffix == '?') {
    const char *found = single ? match_here(m, *s + 1, end + 1) : NULL;
    if (found) return found;
    *p = end + 1;
  } else {
    if (!single) return NULL;
    ++*s;
    *p = end;
  }
  *again = true;
  return NULL;
}

/* What begins with a %. *again: goes on with *s and *p; else it is a class like others when *class. */
static const char *match_escape(match_run *m, const char **s, const char **p, bool *again, bool *class) {
  char letter = *p + 1 < m->pattern_end ? (*p)[1] : 0;
  *class = false;
  if (letter == 'b') {
    const char *found = match_balance(m, *s, *p + 2);
    if (!found) return NULL;
    *s = found;
    *p += 4;
    *again = true;
  } else if (letter == 'f') {
    *again = match_frontier(m, *s, p);
  } else if (letter >= '0' && letter <= '9') {
    const char *found = match_back(m, *s, (unsigned char)letter);
    if (!found) return NULL;
    *s = found;
    *p += 2;
    *again = true;
  } else {
    *class = true;
  }
  return NULL;
}

static const char *match_in_depth(match_run *m, const char *s, const char *p) {
  for (bool again = true; again;) {
    again = false;
    count_step(m);
    if (p == m->pattern_end) return s;
    if (*p == '(')
      return p + 1 < m->pattern_end && p[1] == ')' ? begin_capture(m, s, p + 2, CAPTURE_POSITION)
                                                   : begin_capture(m, s, p + 1, CAPTURE_UNFINISHED);
    if (*p == ')') return end_capture(m, s, p + 1);
    if (*p == '$' && p + 1 == m->pattern_end) return s == m->text_end ? s : NULL;
    bool class = true;
    if (*p == '%') match_escape(m, &s, &p, &again, &class);
    if (!class) continue;
    const char *found = match_default(m, &s, &p, &again);
    if (found) return found;
  }
  return NULL;
}

static const char *match_here(match_run *m, const char *s, const char *p) {
  if (m->depth-- == 0) luaL_error(m->L, "pattern too complex");
  const char *found = match_in_depth(m, s, p);
  m->depth++;
  return found;
}

/* ------------------------------------------------------------------------------------------------------------- find */

static void push_capture(match_run *m, int level) {
  ptrdiff_t length = m->captures[level].length;
  if (length == CAPTURE_UNFINISHED) luaL_error(m->L, "unfinished capture");
  if (length == CAPTURE_POSITION)
    lua_pushinteger(m->L, m->captures[level].start - m->text + 1);
  else
    lua_pushlstring(m->L, m->captures[level].start, (size_t)length);
}

static int push_captures(match_run *m) {
  luaL_checkstack(m->L, m->level, "too many captures");
  for (int level = 0; level < m->level; level++) push_capture(m, level);
  return m->level;
}

static bool has_no_specials(const char *pattern, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (pattern[i] && strchr("^$*+?.([%-", pattern[i])) return false;
  return true;
}

static int find_plain(lua_State *L, const char *text, size_t text_length, size_t first, const char *pattern,
                      size_t length) {
  state_charge(L, (text_length - first + length) / SET_STEP_BYTES);
  const char *found = length ? memmem(text + first, text_length - first, pattern, length) : text + first;
  if (!found) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushinteger(L, found - text + 1);
  lua_pushinteger(L, found - text + (lua_Integer)length);
  return 2;
}

/* What is answered for a match: by `match` its captures, or all of it; else where it is, and its captures. */
static int push_match(match_run *m, const char *start, const char *end, bool captures_only) {
  if (captures_only && m->level) return push_captures(m);
  if (captures_only) {
    lua_pushlstring(m->L, start, (size_t)(end - start));
    return 1;
  }
  lua_pushinteger(m->L, start - m->text + 1);
  lua_pushinteger(m->L, end - m->text);
  return 2 + push_captures(m);
}

int match_find(lua_State *L) {
  size_t text_length, length;
  const char *text = luaL_checklstring(L, 1, &text_length), *pattern = luaL_checklstring(L, 2, &length);
  lua_Integer first = luaL_checkinteger(L, 3), last = luaL_optinteger(L, 6, 0);
  bool captures_only = lua_toboolean(L, 5), walks = lua_isnoneornil(L, 5);
  if (first < 0) first = (lua_Integer)text_length + first + 1 < 1 ? 1 : (lua_Integer)text_length + first + 1;
  if (first == 0) first = 1;
  if (first > (lua_Integer)text_length + 1) {
    lua_pushnil(L);
    return 1;
  }
  if (!captures_only && !walks && (lua_toboolean(L, 4) || has_no_specials(pattern, length)))
    return find_plain(L, text, text_length, (size_t)first - 1, pattern, length);
  bool anchored = length && *pattern == '^';
  match_run m = {
      .text = text, .text_end = text + text_length, .pattern_end = pattern + length, .L = L, .depth = DEPTH_MAX};
  for (const char *start = text + first - 1; start <= m.text_end; start++) {
    m.level = 0;
    const char *end = match_here(&m, start, pattern + anchored);
    if (end && !(walks && end - text + 1 == last)) {
      state_charge(L, m.steps / STEPS_OF_INSTRUCTION);
      return push_match(&m, start, end, captures_only);
    }
    if (anchored) break;
  }
  state_charge(L, m.steps / STEPS_OF_INSTRUCTION);
  lua_pushnil(L);
  return 1;
}
