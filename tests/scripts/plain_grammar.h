/* tests/scripts/plain_grammar.h - random texts in Lua that end by themselves: the same seed gives the same text.
 *
 * Between the words stand all kinds of spaces, line ends and comments; names and strings look like keywords. Each block
 * that begins with `do`, `repeat` or the head of a function, and each goto, calls `count`, and values are told to
 * `tell`: so a text says itself how many safepoints it must meet. */
#ifndef PLAIN_GRAMMAR_H
#define PLAIN_GRAMMAR_H

#include "support/with.h"

#include <muster/random.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PLAIN_TEXT_BYTES = 60000, PLAIN_ROOM_BYTES = 12000, PLAIN_DEPTH = 4 };

typedef struct plain_text {
  uint64_t seed, drawn;
  uint32_t labels;
  size_t count;
  char text[PLAIN_TEXT_BYTES];
} plain_text;

#define PLAIN_ANY(text, list) ((list)[plain_draw(text, (uint32_t)COUNT_OF(list))])

static inline uint32_t plain_draw(plain_text *text, uint32_t below) {
  return (uint32_t)(muster_random_mix(text->seed * 0x9e3779b97f4a7c15u + ++text->drawn) >> 33) % below;
}

static inline void plain_add(plain_text *text, const char *what) {
  size_t length = strlen(what);
  if (text->count + length >= PLAIN_TEXT_BYTES) return;
  memcpy(text->text + text->count, what, length + 1);
  text->count += length;
}

static inline void plain_space(plain_text *text) {
  static const char *const rare[] = {/* line ends and spaces */
                                     "\n", "\r\n", "\r", "\n\r", "\t\v\f", "\n\n",
                                     /* comments */
                                     " --\n", " -- do goto function( repeat\n", " -- a quote: ' \" [[\r",
                                     " --[ [ do\r\n", " --[=do\n", " --[[ ) do repeat\n function( ]]",
                                     " --[==[ ]] do ]=] goto\r\n ]==]", " --[[]]--[=[]]]=]", " --[[ ' ]]"};
  plain_add(text, plain_draw(text, 6) ? " " : PLAIN_ANY(text, rare));
}

/* Words, with something between that divides them. A '@' in one is the number of the label. */
static inline void plain_put(plain_text *text, const char *words, uint32_t label) {
  for (const char *at = words; *at; at++) {
    char number[16], one[2] = {*at, 0};
    snprintf(number, sizeof number, "%u", label);
    if (*at == ' ')
      plain_space(text);
    else
      plain_add(text, *at == '@' ? number : one);
  }
  plain_space(text);
}

/* ------------------------------------------------------------------------------------------------------ expressions */

static const char *const plain_names[] = {"a", "_do", "goto_", "function1", "repeat_until", "_safepoint__", "DO", "e"};

static const char *const plain_numbers[] = {"0",      "1",    "7",        "3.",         ".5",    "1e2",    "1E+2",
                                            "25e-1",  "0xA",  "0xdE",     "0x.8p1",     "0x1P4", "0xfp-1", "1e0",
                                            "0x7fff", "2^3",  "7//2",     "7 // 2",     "-7%3",  "~5",     "6&3",
                                            "1<<4",   "- -1", "2--[[-]]", "4--[=[do]=]"};

static const char *const plain_strings[] = {/* with quotes */
                                            "'do'", "\"goto x\"", "'it\\'s function ('", "\"\\\"repeat\\\\\"", "'\\\\'",
                                            "'\\z \n\r\n  do'", "'a\\\ndo'", "'a\\\r\ndo'",
                                            "'\\x64o\\100\\u{64}\\u{6F}'", "'--[['", "'[[do]]'",
                                            /* long ones */
                                            "[[ do ']]", "[==[]] \" ]=]do]==]", "[[\r\n\\]]", "[=[]]]=]", "'\\\\]]'",
                                            "'\\'--'"};

static inline void plain_block(plain_text *text, int depth);

/* A number, whatever the names hold. */
static inline void plain_expression(plain_text *text, int depth) {
  static const char *const operators[] = {"+", "-", "*", "and", "or", "< 3 and 1 or", "== 4 and 2 or", ">= 1 and - "};
  switch (plain_draw(text, depth > 0 && text->count < PLAIN_TEXT_BYTES - PLAIN_ROOM_BYTES ? 9 : 4)) {
  case 0:
    plain_put(text, PLAIN_ANY(text, plain_numbers), 0);
    break;
  case 1:
    plain_put(text, "#", 0);
    plain_add(text, PLAIN_ANY(text, plain_strings)); /* what is in it stays */
    plain_space(text);
    break;
  case 2:
  case 3:
    plain_put(text, PLAIN_ANY(text, plain_names), 0);
    break;
  case 4:
    plain_put(text, "( function(...) count()", 0);
    plain_block(text, depth - 2);
    plain_put(text, "return select( '#' , ... ) end )( 1 , 2 , nil )", 0);
    break;
  case 5:
    plain_put(text, "select( 2 , pcall( function( a , e ) count()", 0);
    plain_block(text, depth - 2);
    plain_put(text, "return a + e end , 1 ,", 0);
    plain_expression(text, depth - 1);
    plain_put(text, ") )", 0);
    break;
  case 6:
    plain_put(text, "({ ['do'] = 1 , goto_ = 2 , function( e ) count() return e end ; [ [[repeat]] ] = 3 }) .goto_", 0);
    break;
  default:
    plain_put(text, "(", 0);
    plain_expression(text, depth - 1);
    plain_put(text, PLAIN_ANY(text, operators), 0);
    plain_expression(text, depth - 1);
    plain_put(text, ")", 0);
  }
}

/* ------------------------------------------------------------------------------------------------------- statements */

/* In these a '$' is an expression, a '%' a name, a '!' a block, and '@' the number of the statement. */
static const char *const plain_statements[] = {
    /* simple ones */
    "% = $", "local % = $", "local k@ <const> = $ tell( k@ )", "local c@ <close> = nil !", "tell( % , $ )",
    "; ; tell( $ ) ;",
    /* blocks and loops */
    "do count() ! end", "if $ then ! elseif $ then ! else ! end", "for i@ = 1 , 3 do count() ! end",
    "for i@ = 3 , 1 , -1 do count() if i@ == 2 then break end ! end", "for i@ = 1.0 , 2 , .5 do count() ! end",
    "for i@ , v@ in ipairs { 4 , $ , 6 } do count() tell( i@ , v@ ) ! end",
    "do count() local w@ = 0 while w@ < 3 do count() w@ = w@ + 1 ! end end",
    "do count() local w@ = 0 repeat count() local last@ = w@ w@ = w@ + 1 ! until last@ > 1 end",
    "for i@ = 1 , 4 do count() if i@ // 2 == 1 then count() goto continue@ end local u@ = i@ ! ::continue@:: end",
    "do count() local g@ = 0 ::again@:: g@ = g@ + 1 if g@ < 3 then count() goto again@ end ! end",
    "do count() do count() do count() count() goto out@ end end tell( 1 ) ::out@:: ; ::end@:: end",
    /* functions */
    "local function f@ ( % , ... ) count() if % == 0 then return ... end return f@ ( 0 , % , ... ) end tell( f@ ( $ ) "
    ")",
    "local t@ = { u = { } } function t@.u.f ( ) count() ! return 1 end function t@ . u : g ( n ) count() return self "
    "== n "
    "end tell( t@.u.f ( ) , t@ . u : g ( t@.u ) )",
    "tell( pcall( function( ... ) count() local n@ = ... return n@.x.y end , $ ) )",
    "tell( pcall( function( ) count() ! error( 'here@' ) end ) )",
    "do count() local _ENV = { count = count , tell = tell , select = select , pcall = pcall , ipairs = ipairs , error "
    "= "
    "error } ! end",
    "tell( type 'do' , type [[goto]] , type { function( ) count() end } )",
    "do count() local f@ = { } for i@ = 1 , 3 do count() f@ [ i@ ] = function( ) count() % = i@ return % end end tell( "
    "f@ "
    "[ 1 ] ( ) , f@ [ 3 ] ( ) ) end"};

static inline void plain_statement(plain_text *text, int depth) {
  const char *at = PLAIN_ANY(text, plain_statements), *name = PLAIN_ANY(text, plain_names);
  uint32_t label = ++text->labels;
  char word[64];
  for (size_t length; *at; at += length + (at[length] == ' ')) {
    length = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    if (strcmp(word, "$") == 0)
      plain_expression(text, depth);
    else if (strcmp(word, "!") == 0)
      plain_block(text, depth - 1);
    else
      plain_put(text, strcmp(word, "%") == 0 ? name : word, label);
  }
}

static inline void plain_block(plain_text *text, int depth) {
  if (depth <= 0 || text->count > PLAIN_TEXT_BYTES - PLAIN_ROOM_BYTES) return;
  for (uint32_t left = plain_draw(text, 4); left > 0; left--) plain_statement(text, depth);
}

static inline void plain_generate(plain_text *text, uint64_t seed) {
  *text = (plain_text){.seed = seed};
  plain_put(text,
            "local a , _do , goto_ , function1 , repeat_until , _safepoint__ , DO , e = 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8",
            0);
  for (uint32_t left = 4 + plain_draw(text, 12); left > 0; left--) {
    bool held = plain_draw(text, 4) != 0; /* what is behind it is run, too */
    if (held) plain_put(text, "tell( pcall( function( ... ) count()", 0);
    plain_statement(text, PLAIN_DEPTH);
    if (held) plain_put(text, "end , 1 ) )", 0);
  }
  plain_put(text, "tell( a , _do , goto_ , function1 , repeat_until , _safepoint__ , DO , e )", 0);
  if (plain_draw(text, 2)) plain_put(text, "return a", 0);
  if (plain_draw(text, 2)) plain_add(text, "-- the end, do");
}

#endif
