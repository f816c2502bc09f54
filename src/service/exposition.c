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

static void put(struct exposition *exposition, const char *text, size_t bytes) {
  if (!exposition_make_room(exposition, bytes)) return;
  memcpy(exposition->text + exposition->bytes, text, bytes);
  exposition->bytes += bytes;
}

static void put_text(struct exposition *exposition, const char *text) {
  put(exposition, text, strlen(text));
}

void exposition_begin(struct exposition *exposition, const char *name, exposition_kind kind, const char *help) {
  static const char *const kinds[] = {"counter", "gauge", "histogram", "summary"};
  exposition->family = name;
  put_text(exposition, "# HELP ");
  put_text(exposition, name);
  put_text(exposition, " ");
  put_text(exposition, help);
  put_text(exposition, "\n# TYPE ");
  put_text(exposition, name);
  put_text(exposition, " ");
  put_text(exposition, kinds[kind]);
  put_text(exposition, "\n");
}

static void put_value(struct exposition *exposition, const char *value) {
  for (size_t bytes; *value; value += bytes ? bytes : 1) {
    bytes = json_utf8_length((const unsigned char *)value);
    if (bytes == 0)
      put_text(exposition, "?");
    else if (*value == '\n')
      put_text(exposition, "\\n");
    else if (*value == '"' || *value == '\\')
      put(exposition, (char[]){'\\', *value}, 2);
    else
      put(exposition, value, bytes);
  }
}

static void exposition_put_head(struct exposition *exposition, const char *suffix, const exposition_labels *labels) {
  put_text(exposition, exposition->family);
  put_text(exposition, suffix);
  for (uint32_t i = 0; labels && i < labels->count; i++) {
    put_text(exposition, i ? "," : "{");
    put_text(exposition, labels->labels[i].name);
    put_text(exposition, "=\"");
    put_value(exposition, labels->labels[i].value);
    put_text(exposition, "\"");
  }
  put_text(exposition, labels && labels->count ? "} " : " ");
}

void exposition_write(struct exposition *exposition, const char *suffix, const exposition_labels *labels,
                      double value) {
  char text[40];
  exposition_put_head(exposition, suffix, labels);
  if (isfinite(value))
    snprintf(text, sizeof text, "%.15g\n", value);
  else
    snprintf(text, sizeof text, "%s\n", isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
  put_text(exposition, text);
}

void exposition_write_count(struct exposition *exposition, const char *suffix, const exposition_labels *labels,
                            uint64_t value) {
  char text[24];
  exposition_put_head(exposition, suffix, labels);
  snprintf(text, sizeof text, "%llu\n", (unsigned long long)value);
  put_text(exposition, text);
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
