#include "lua/reader.h"

#include <ctype.h>
#include <string.h>

/* The level of a long bracket at `at`, -1 = there is none. */
static int reader_bracket(const text_reader *reader, const char *at, char bracket) {
  int level = 0;
  if (at >= reader->end || *at != bracket) return -1;
  for (at++; at < reader->end && *at == '='; at++) level++;
  return at < reader->end && *at == bracket ? level : -1;
}

/* Goes behind a long string or comment that begins at the reader. */
static void reader_skip_long(text_reader *reader, int level) {
  for (reader->at += level + 2; reader->at < reader->end; reader->at++)
    if (reader_bracket(reader, reader->at, ']') == level) {
      reader->at += level + 2;
      return;
    }
}

static void reader_skip_comment(text_reader *reader) {
  reader->at += 2;
  int level = reader_bracket(reader, reader->at, '[');
  if (level >= 0)
    reader_skip_long(reader, level);
  else
    while (reader->at < reader->end && *reader->at != '\n' && *reader->at != '\r') reader->at++;
}

static void reader_skip_string(text_reader *reader) {
  char quote = *reader->at++;
  while (reader->at < reader->end && *reader->at != quote) reader->at += *reader->at == '\\' ? 2 : 1;
  reader->at++;
}

static bool reader_is_name(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

static void reader_take(text_reader *reader, text_token *token) {
  const char *at = reader->at;
  size_t length = 0;
  while (at + length < reader->end && reader_is_name(at[length])) length++;
  *token = (text_token){.at = at, .length = length ? length : 1, .word = length > 0};
  reader->at += token->length;
}

bool reader_next(text_reader *reader, text_token *token) {
  while (reader->at < reader->end) {
    const char *at = reader->at;
    int level = reader_bracket(reader, at, '[');
    if (*at == '-' && at + 1 < reader->end && at[1] == '-') {
      reader_skip_comment(reader);
    } else if (*at == '"' || *at == '\'') {
      reader_skip_string(reader);
    } else if (level >= 0) {
      reader_skip_long(reader, level);
    } else if (isspace((unsigned char)*at)) {
      reader->at++;
    } else {
      reader_take(reader, token);
      return true;
    }
  }
  return false;
}

bool reader_is(const text_token *token, const char *what) {
  return strlen(what) == token->length && memcmp(token->at, what, token->length) == 0;
}

/* Two letters that end a line, and differ, are one end. */
int reader_line(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) {
    if (*text != '\n' && *text != '\r') continue;
    if (text + 1 < at && (text[1] == '\n' || text[1] == '\r') && text[1] != *text) text++;
    line++;
  }
  return line;
}
