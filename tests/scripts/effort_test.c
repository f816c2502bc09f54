/* Texts that Lua would compile for minutes are refused at once, with the line; long texts without such places are not.
 * Nothing looks at a clock: without the bounds this test takes minutes. */
#include "scripts/script_host.h"

#include "lua/effort.h"

enum { MANY = 60000, TEXT_BYTES = 1 << 20 };

static char text[TEXT_BYTES + 1];

static size_t put(size_t at, const char *words) {
  size_t length = strlen(words);
  cr_assert_lt(at + length, sizeof text);
  memcpy(text + at, words, length + 1);
  return at + length;
}

static size_t put_often(size_t at, uint32_t times, const char *words) {
  for (uint32_t i = 0; i < times; i++) at = put(at, words);
  return at;
}

/* That text in a function, so that it is only compiled. */
static void write_text(const char *begin, uint32_t times, const char *words, const char *end) {
  put(put_often(put(0, begin), times, words), end);
}

static void expect_refused(const char *begin, uint32_t times, const char *words, const char *end, const char *says) {
  write_text(begin, times, words, end);
  script_refused(text, says);
}

#define REFUSED_IF    "an 'if' with more than 2000 'elseif' takes too long to compile"
#define REFUSED_LOGIC "an expression with more than 2000 'and' and 'or' takes too long to compile"

Test(effort, a_chain_without_end_is_refused_with_its_line) {
  expect_refused("local a if a then\n", MANY, "elseif a then\n", "end", "main.lua:2002: " REFUSED_IF);
  expect_refused("local a\nif a then ", MANY / 2, "elseif a == 1 then ", "end", "main.lua:2: " REFUSED_IF);
  expect_refused("local a = 1\nlocal b = a", MANY, "\nor a", "", "main.lua:2003: " REFUSED_LOGIC);
  expect_refused("local a if a", MANY, " and a", " then end", "main.lua:1: " REFUSED_LOGIC);
  expect_refused("local a return a == 1", MANY, " or a == 1", "", REFUSED_LOGIC);
  expect_refused("local a a = (a)", MANY, " or (a)", "", REFUSED_LOGIC);
  expect_refused("local a a = {a}", MANY / 2, " and a[a] or {a, a}", "", REFUSED_LOGIC);
  expect_refused("local a a = a", MANY / 4, " or function() if a then a = 1 end end", "", REFUSED_LOGIC);
  expect_refused("local a while a", MANY, " or a", " do end", REFUSED_LOGIC);
  expect_refused("local a repeat until a", MANY, " or a", "", REFUSED_LOGIC);
}

/* Each name is looked for in each function that it is in. */
Test(effort, many_names_in_functions_in_functions_are_refused) {
  size_t at = put_often(0, 100, "local function f()\n");
  at = put_often(at, 20000, "x() ");
  put_often(at, 100, " end");
  script_refused(text, "main.lua:101: so many names in functions that are inside of others take too long to compile");
}

static void expect_accepted(const char *begin, uint32_t times, const char *words, const char *end) {
  write_text(begin, times, words, end);
  put(strlen(text), "\nmuster.type { name = 'a' }\n" SCRIPT_ONE);
  script_end(script_start(text));
}

/* What is usual in long texts, up to the bounds. */
Test(effort, a_long_text_is_not_refused) {
  expect_accepted("local a if a then\n", EFFORT_CHAIN_MAX, "elseif a then\n", "end");
  expect_accepted("local a local b = a", EFFORT_CHAIN_MAX, " or a", "");
  expect_accepted("local a ", 10000, "if a then a = 1 elseif a == 2 then a = a and 3 or 4 end\n", "");
  expect_accepted("local a local t = {", 10000, "a or 1, {b = a and 2 or 3; a or 4}, (a or 5),\n", "}");
  expect_accepted("local a ", 10000, "tostring(a or 1) tostring 'and or' -- or and elseif\n", "");
  expect_accepted("local a ", 10000, "a = function(b) return b and a or b end\n", "");
  expect_accepted("local a ", 5000, "while a and a do a = a or a repeat a = a until a or a end\n", "");
  expect_accepted("local function f() end local function g() return function() return function() local a\n",
                  EFFORT_NAMES_MAX / 7, "a=a ", "end end end"); /* two names, in three functions */
}

/* What compares is part of its expression; and where another expression begins, its count does. */
Test(effort, each_expression_is_counted_by_itself) {
  enum { MORE = EFFORT_CHAIN_MAX + 1, LESS = EFFORT_CHAIN_MAX - 1 };
  static const char *const compares[] = {"==", "~=", "<=", ">=", "<", ">"};
  static const char *const ends[] = {"for k in a or a do end ", "repeat until a or a ", "while a or a do end ",
                                     "a(a or a) "};
  static const char *const between[] = {" return a", " elseif a"};
  for (size_t i = 0; i < COUNT_OF(compares); i++)
    expect_refused("local a = 1 local b = a", MORE, formed(" or a %s 1", compares[i]), "", REFUSED_LOGIC);
  for (size_t i = 0; i < COUNT_OF(ends); i++) expect_accepted("local function f(a) ", MORE, ends[i], "end");
  expect_accepted("local a local t = {", MORE, "a or 1;", "}");
  for (size_t i = 0; i < COUNT_OF(between); i++) {
    size_t at = put_often(put(0, "local function f(a) if a then a = a"), LESS, " or a");
    at = put_often(put(at, between[i]), LESS, " or a");
    put(at, i ? " then end end\nmuster.type { name = 'a' }\n" : " end end\nmuster.type { name = 'a' }\n");
    script_end(script_start(text));
  }
}
