#include "base/json.h"

#include "base/assert.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void json_start(json_writer *writer, char *buffer, size_t capacity) {
  ASSERT(buffer && capacity > 0);
  *writer = (json_writer){.buffer = buffer, .capacity = capacity};
  buffer[0] = '\0';
}

/* One byte always stays free for the terminating zero. */
static void json_put(json_writer *writer, const char *text, size_t length) {
  if (writer->overflow || length > writer->capacity - 1 - writer->length) {
    writer->overflow = true;
    return;
  }
  memcpy(writer->buffer + writer->length, text, length);
  writer->length += length;
  writer->buffer[writer->length] = '\0';
}

static void put_text(json_writer *writer, const char *text) {
  json_put(writer, text, strlen(text));
}

static void put_line_break(json_writer *writer) {
  put_text(writer, "\n");
  for (uint32_t i = 0; i < writer->depth; i++) put_text(writer, "  ");
}

bool json_finish(json_writer *writer) {
  ASSERT(writer->depth == 0);
  put_text(writer, "\n");
  return !writer->overflow;
}

size_t json_utf8_length(const unsigned char *text) {
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t length = text[0] < 0x80         ? 1
                  : (text[0] >> 5) == 6  ? 2
                  : (text[0] >> 4) == 14 ? 3
                  : (text[0] >> 3) == 30 ? 4
                                         : 0;
  if (length < 2) return length;
  uint32_t point = text[0] & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
    point = point << 6 | (text[i] & 0x3fu);
  }
  return point < smallest[length] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) ? 0 : length;
}

static void put_escaped(json_writer *writer, unsigned char byte) {
  char escape[8];
  if (byte == '"' || byte == '\\')
    snprintf(escape, sizeof escape, "\\%c", byte);
  else
    snprintf(escape, sizeof escape, "\\u%04x", byte);
  put_text(writer, escape);
}

static void put_quoted(json_writer *writer, const char *text) {
  const unsigned char *next = (const unsigned char *)text;
  put_text(writer, "\"");
  while (*next) {
    size_t length = json_utf8_length(next);
    if (length == 0)
      put_text(writer, "\xef\xbf\xbd");
    else if (*next < 0x20 || *next == '"' || *next == '\\')
      put_escaped(writer, *next);
    else
      json_put(writer, (const char *)next, length);
    next += length ? length : 1;
  }
  put_text(writer, "\"");
}

/* Writes what comes before every value: the comma behind the value before it, a new line, its name. */
static void put_name(json_writer *writer, const char *name) {
  if (writer->depth == 0) {
    ASSERT(writer->length == 0 || writer->overflow);
    return;
  }
  ASSERT((name != NULL) == (writer->closing[writer->depth] == '}'));
  if (writer->has_members[writer->depth]) put_text(writer, ",");
  writer->has_members[writer->depth] = true;
  put_line_break(writer);
  if (!name) return;
  put_quoted(writer, name);
  put_text(writer, ": ");
}

static void json_begin(json_writer *writer, const char *name, const char *opening, char closing) {
  ASSERT(writer->depth < JSON_DEPTH_MAX);
  put_name(writer, name);
  put_text(writer, opening);
  writer->depth++;
  writer->has_members[writer->depth] = false;
  writer->closing[writer->depth] = closing;
}

static void json_end(json_writer *writer, char closing) {
  ASSERT(writer->depth > 0 && writer->closing[writer->depth] == closing);
  bool members = writer->has_members[writer->depth];
  writer->depth--;
  if (members) put_line_break(writer);
  json_put(writer, &closing, 1);
}

void json_begin_object(json_writer *writer, const char *name) {
  json_begin(writer, name, "{", '}');
}
void json_end_object(json_writer *writer) {
  json_end(writer, '}');
}
void json_begin_array(json_writer *writer, const char *name) {
  json_begin(writer, name, "[", ']');
}
void json_end_array(json_writer *writer) {
  json_end(writer, ']');
}

void json_string(json_writer *writer, const char *name, const char *text) {
  ASSERT(text);
  put_name(writer, name);
  put_quoted(writer, text);
}

void json_uint(json_writer *writer, const char *name, uint64_t value) {
  char digits[24];
  put_name(writer, name);
  snprintf(digits, sizeof digits, "%" PRIu64, value);
  put_text(writer, digits);
}

void json_number(json_writer *writer, const char *name, double value) {
  char digits[40];
  put_name(writer, name);
  if (!isfinite(value)) {
    put_text(writer, "null");
    return;
  }
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value) break;
  }
  put_text(writer, digits);
}

void json_float(json_writer *writer, const char *name, float value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.7g", (double)value);
  json_number(writer, name, strtof(digits, NULL) == value ? strtod(digits, NULL) : (double)value);
}

void json_bool(json_writer *writer, const char *name, bool value) {
  put_name(writer, name);
  put_text(writer, value ? "true" : "false");
}

void json_null(json_writer *writer, const char *name) {
  put_name(writer, name);
  put_text(writer, "null");
}

/* One part of a format behind its name, and the value that belongs to it. Returns how long the part is. */
static size_t print_part(json_writer *writer, const char *name, const char *part, va_list *values) {
  bool wide = part[0] == '%' && part[1] == 'l';
  const char *text;
  switch (part[0] == '%' ? part[1 + wide] : part[0]) {
  case '{':
    json_begin_object(writer, name);
    return 1;
  case '[':
    json_begin_array(writer, name);
    return 1;
  case '}':
    json_end_object(writer);
    return 1;
  case ']':
    json_end_array(writer);
    return 1;
  case 's':
    text = va_arg(*values, const char *);
    if (part[2] == '{' || part[2] == '[') return 2 + print_part(writer, text, part + 2, values);
    if (text)
      json_string(writer, name, text);
    else
      json_null(writer, name);
    break;
  case 'u':
    json_uint(writer, name, wide ? va_arg(*values, unsigned long) : va_arg(*values, unsigned));
    break;
  case 'd':
    json_bool(writer, name, va_arg(*values, int));
    break;
  case 'f':
    json_float(writer, name, (float)va_arg(*values, double));
    break;
  default:
    ASSERT(part[1] == 'g');
    json_number(writer, name, va_arg(*values, double));
  }
  return wide ? 3 : 2;
}

void json_print(json_writer *writer, const char *format, ...) {
  char name[JSON_NAME_BYTES];
  va_list values;
  va_start(values, format);
  for (const char *next = format + strspn(format, " "); *next; next += strspn(next, " ")) {
    size_t length = strcspn(next, "={[}]%");
    ASSERT(length < sizeof name);
    memcpy(name, next, length);
    name[length] = '\0';
    next += length + (next[length] == '=');
    next += print_part(writer, length ? name : NULL, next, &values);
  }
  va_end(values);
}
