#include "base/error.h"

#include <muster/module.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A refusal in the middle of a frame must cost less than the work that it refuses, and its message is hardly ever read.
 * So error_set() keeps the format and the values of its conversions, and muster_last_error() makes the words. A thread
 * that is refused is mostly refused again, for the same reason: the format is then not read again either. A format with
 * a conversion that cannot be kept (such as "%p" or "%*d") is written at once. */

enum { MESSAGE_BYTES = 512, VALUES_MAX = 8 };

typedef enum value_kind { VALUE_NONE, VALUE_INT, VALUE_LONG, VALUE_DOUBLE, VALUE_STRING } value_kind;

union value {
  int of_int;
  long of_long; /* a long long, too */
  double of_double;
  const char *of_string;
};

/* One conversion of a format, such as "%.80s". */
struct conversion {
  const char *end; /* behind its letter */
  value_kind kind;
  size_t precision; /* of a string: how many of its bytes may be read at most */
};

struct failure {
  muster_result result;
  bool written;       /* `text` is the message */
  bool keeps;         /* all conversions of the format can be kept */
  uint32_t count;     /* how many conversions */
  const char *format; /* a literal, with its conversions below; null when none was read yet */
  struct conversion conversions[VALUES_MAX];
  union value values[VALUES_MAX];
  char strings[MESSAGE_BYTES + VALUES_MAX]; /* copies of the strings among the values, each with its zero */
  char text[MESSAGE_BYTES];
};

static _Thread_local struct failure last;

/* ------------------------------------------------------------------------------------------------- reading a format */

static bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

/* The kind of value that a conversion with this letter and `longs` times l takes; VALUE_NONE when it cannot be kept. */
static value_kind error_kind_of(char letter, uint32_t longs) {
  if (strchr("diuxXo", letter)) return longs == 0 ? VALUE_INT : longs < 3 ? VALUE_LONG : VALUE_NONE;
  if (longs) return VALUE_NONE;
  return letter == 's' ? VALUE_STRING : letter == 'c' ? VALUE_INT : strchr("efg", letter) ? VALUE_DOUBLE : VALUE_NONE;
}

/* Reads the conversion behind a '%'. */
static struct conversion read_conversion(const char *at) {
  _Static_assert(sizeof(size_t) == sizeof(long) && sizeof(intmax_t) == sizeof(long), "z, j and t are one l");
  _Static_assert(sizeof(long long) == sizeof(long), "two are no more than one");
  struct conversion found = {.precision = SIZE_MAX};
  uint32_t longs = 0;
  while (is_digit(*at) || *at == '-' || *at == '+' || *at == ' ' || *at == '#') at++;
  if (*at == '.')
    for (found.precision = 0; is_digit(*++at);) found.precision = found.precision * 10 + (size_t)(*at - '0');
  while (*at == 'h') at++;
  for (; *at == 'l' || *at == 'z' || *at == 'j' || *at == 't'; at++) longs++;
  found.end = at + 1;
  found.kind = *at ? error_kind_of(*at, longs) : VALUE_NONE;
  return found;
}

static bool find_conversions(struct failure *failure, const char *format) {
  failure->count = 0;
  for (const char *at = format; (at = strchr(at, '%'));) {
    if (at[1] == '%') {
      at += 2;
      continue;
    }
    struct conversion found = read_conversion(at + 1);
    if (found.kind == VALUE_NONE || failure->count == VALUES_MAX || found.end - format >= MESSAGE_BYTES) return false;
    failure->conversions[failure->count++] = found;
    at = found.end;
  }
  return true;
}

static void read_format(struct failure *failure, const char *format) {
  if (failure->format == format) return;
  failure->keeps = find_conversions(failure, format);
  failure->format = format;
}

/* -------------------------------------------------------------------------------------------------- keeping values */

/* Copies a string behind the strings before it. What does not fit would not fit the message either. */
static const char *keep_string(struct failure *failure, size_t *used, const char *string, size_t precision) {
  size_t left = sizeof failure->strings - *used - 1;
  char *copy = failure->strings + *used;
  if (!string) string = "(null)";
  size_t length = strnlen(string, precision < left ? precision : left);
  memcpy(copy, string, length);
  copy[length] = '\0';
  if (length < left) *used += length + 1;
  return copy;
}

static void keep_values(struct failure *failure, va_list arguments) {
  size_t used = 0;
  for (uint32_t i = 0; i < failure->count; i++) {
    union value *value = &failure->values[i];
    const struct conversion *conversion = &failure->conversions[i];
    if (conversion->kind == VALUE_INT)
      value->of_int = va_arg(arguments, int);
    else if (conversion->kind == VALUE_LONG)
      value->of_long = va_arg(arguments, long);
    else if (conversion->kind == VALUE_DOUBLE)
      value->of_double = va_arg(arguments, double);
    else
      value->of_string = keep_string(failure, &used, va_arg(arguments, const char *), conversion->precision);
  }
}

/* Writes to a copy first, since the values may point into the message before. */
static void error_write_now(struct failure *failure, const char *format, va_list arguments) {
  char message[MESSAGE_BYTES];
  vsnprintf(message, sizeof message, format, arguments);
  memcpy(failure->text, message, sizeof message);
  failure->written = true;
}

muster_result error_keep(muster_result result, const char *format, ...) {
  va_list arguments;
  struct failure *failure = &last;
  failure->result = result;
  failure->written = false;
  read_format(failure, format);
  va_start(arguments, format);
  if (failure->keeps)
    keep_values(failure, arguments);
  else
    error_write_now(failure, format, arguments);
  va_end(arguments);
  return result;
}

/* A module's format belongs to the module and may be gone before the message is read, so it is written at once. */
muster_result muster_module_fail(muster_result result, const char *format, ...) {
  va_list arguments;
  if (!format) return error_set(result, "module: it failed without a reason");
  last.result = result;
  va_start(arguments, format);
  error_write_now(&last, format, arguments);
  va_end(arguments);
  return result;
}

muster_result error_missing(const char *what, const char *missing) {
  return error_set(MUSTER_E_ARGUMENT, "%s: the %s must be given", what, missing);
}

/* ---------------------------------------------------------------------------------------------------- making words */

/* Writes a piece of a format with its one conversion. */
static int write_piece(char *text, size_t bytes, const char *piece, value_kind kind, const union value *value) {
  switch (kind) {
  case VALUE_LONG:
    return snprintf(text, bytes, piece, value->of_long);
  case VALUE_DOUBLE:
    return snprintf(text, bytes, piece, value->of_double);
  case VALUE_STRING:
    return snprintf(text, bytes, piece, value->of_string);
  case VALUE_INT:
  case VALUE_NONE:
    break;
  }
  return snprintf(text, bytes, piece, value->of_int);
}

/* The rest of a format behind its last conversion is a piece without a conversion. */
static void make_words(struct failure *failure) {
  static const union value none = {0};
  size_t written = 0;
  const char *at = failure->format;
  for (uint32_t i = 0; i <= failure->count && written < sizeof failure->text; i++) {
    bool tail = i == failure->count;
    char piece[MESSAGE_BYTES];
    size_t length = tail ? strnlen(at, sizeof piece - 1) : (size_t)(failure->conversions[i].end - at);
    memcpy(piece, at, length);
    piece[length] = '\0';
    int more = write_piece(failure->text + written, sizeof failure->text - written, piece,
                           tail ? VALUE_NONE : failure->conversions[i].kind, tail ? &none : &failure->values[i]);
    written += more > 0 ? (size_t)more : 0;
    at += length;
  }
  failure->written = true;
}

const char *muster_last_error(void) {
  if (last.format && !last.written) make_words(&last);
  return last.text;
}

muster_result muster_last_result(void) {
  return last.result;
}

const char *muster_version(void) {
  return MUSTER_VERSION;
}

const char *muster_result_name(muster_result result) {
  switch (result) {
  case MUSTER_OK:
    return "MUSTER_OK";
  case MUSTER_E_ARGUMENT:
    return "MUSTER_E_ARGUMENT";
  case MUSTER_E_NOT_INITIALISED:
    return "MUSTER_E_NOT_INITIALISED";
  case MUSTER_E_STALE:
    return "MUSTER_E_STALE";
  case MUSTER_E_FULL:
    return "MUSTER_E_FULL";
  case MUSTER_E_MEMORY:
    return "MUSTER_E_MEMORY";
  case MUSTER_E_STATE:
    return "MUSTER_E_STATE";
  case MUSTER_E_TIME:
    return "MUSTER_E_TIME";
  case MUSTER_E_SYSTEM:
    return "MUSTER_E_SYSTEM";
  case MUSTER_E_INPUT:
    return "MUSTER_E_INPUT";
  }
  return "unknown result";
}

void log_write(const muster_log_sink *sink, muster_log_level level, const char *format, ...) {
  char message[MESSAGE_BYTES];
  va_list arguments;
  if (!sink->write && level == MUSTER_LOG_INFO) return;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (sink->write)
    sink->write(level, message, sink->user);
  else
    fprintf(stderr, "muster: %s\n", message);
}
