#include "service/exposition.h"

#include "base/assert.h"
#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool exposition_make_room(struct exposition *exposition, size_t more) {
  size_t room = exposition->room ? exposition->room : 1u << 16;
  if (exposition->failed) return false;
  while (room < exposition->bytes + more) room *= 2;
  if (room == exposition->room) return true;
  char *text = realloc(exposition->text, room);
  exposition->failed = text == NULL;
  if (!text) return false;
  exposition->text = text;
  exposition->room = room;
  return true;
}

/* The text has room for a zero behind it. */
__attribute__((format(printf, 2, 3))) static void put(struct exposition *exposition, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t length = (size_t)vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (!exposition_make_room(exposition, length + 1)) return;
  va_start(arguments, format);
  vsnprintf(exposition->text + exposition->bytes, length + 1, format, arguments);
  va_end(arguments);
  exposition->bytes += length;
}

void exposition_begin(struct exposition *exposition, const char *name, exposition_kind kind, const char *help) {
  static const char *const kinds[] = {"gauge", "histogram", "summary"};
  size_t length = strlen(name);
  bool counts = kind == EXPOSITION_NUMBER && length > 6 && strcmp(name + length - 6, "_total") == 0;
  exposition->family = name;
  put(exposition, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, counts ? "counter" : kinds[kind]);
}

static void put_value(struct exposition *exposition, const char *value) {
  for (size_t bytes; *value; value += bytes ? bytes : 1) {
    bytes = json_utf8_length((const unsigned char *)value);
    if (bytes == 0)
      put(exposition, "?");
    else if (*value == '\n')
      put(exposition, "\\n");
    else
      put(exposition, "%s%.*s", *value == '"' || *value == '\\' ? "\\" : "", (int)bytes, value);
  }
}

static void exposition_put_head(struct exposition *exposition, const char *suffix, const exposition_labels *labels) {
  uint32_t count = labels ? labels->count : 0;
  put(exposition, "%s%s", exposition->family, suffix);
  for (uint32_t i = 0; i < count; i++) {
    put(exposition, "%c%s=\"", i ? ',' : '{', labels->labels[i].name);
    put_value(exposition, labels->labels[i].value);
    put(exposition, "\"");
  }
  put(exposition, "%s", count ? "} " : " ");
}

void exposition_write(struct exposition *exposition, const char *suffix, const exposition_labels *labels,
                      double value) {
  exposition_put_head(exposition, suffix, labels);
  if (isfinite(value))
    put(exposition, "%.15g\n", value);
  else
    put(exposition, "%s\n", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
}

void exposition_write_count(struct exposition *exposition, const char *suffix, const exposition_labels *labels,
                            uint64_t value) {
  exposition_put_head(exposition, suffix, labels);
  put(exposition, "%lu\n", value);
}

exposition_labels exposition_with(const exposition_labels *labels, const char *name, const char *value) {
  exposition_labels more = *labels;
  ASSERT(more.count < EXPOSITION_LABELS_MAX);
  more.labels[more.count++] = (exposition_label){name, value};
  return more;
}

void exposition_free(struct exposition *exposition) {
  free(exposition->text);
  *exposition = (struct exposition){0};
}
