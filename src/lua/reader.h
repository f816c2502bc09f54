/* lua/reader.h - the words and marks of a Lua text, without its strings and comments. The text may be anything. */
#ifndef LUA_READER_H
#define LUA_READER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct text_reader {
  const char *at, *end;
} text_reader;

/* A name, keyword or number, which is met as a name; or a single character. */
typedef struct text_token {
  const char *at;
  size_t length;
  bool word;
} text_token;

/* Reads the next one, and goes behind it. False at the end. */
bool reader_next(text_reader *reader, text_token *token);

/* Whether it is that word, or that character. */
bool reader_is(const text_token *token, const char *what);

/* The line in which `at` is, as Lua counts them. */
int reader_line(const char *text, const char *at);

#endif
