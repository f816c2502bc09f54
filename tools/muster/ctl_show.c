/* ctl_show.c - what the daemon answers, as people read it. */
#include "ctl.h"
#include "text.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 128, COLUMNS_MAX = 16 };

static const json_t *value_at(const json_t *object, const char *path) {
  char name[64];
  while (object && *path) {
    size_t length = strcspn(path, ".");
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    object = json_object_get(object, name);
    path += length + (path[length] == '.');
  }
  return object;
}

static void write_place(char cell[CELL_BYTES], const json_t *value) {
  snprintf(cell, CELL_BYTES, "%.1f, %.1f, %.1f", json_number_value(json_object_get(value, "x")),
           json_number_value(json_object_get(value, "y")), json_number_value(json_object_get(value, "z")));
}

static void write_list(char cell[CELL_BYTES], const json_t *value) {
  char number[TEXT_BYTES];
  size_t length = 0;
  for (size_t i = 0; i < json_array_size(value) && length < CELL_BYTES; i++)
    length += (size_t)snprintf(cell + length, CELL_BYTES - length, "%s%s", i ? " " : "",
                               text_count(number, (uint64_t)json_integer_value(json_array_get(value, i))));
}

static void write_plain(char cell[CELL_BYTES], const json_t *value) {
  if (json_is_string(value))
    snprintf(cell, CELL_BYTES, "%s", json_string_value(value));
  else if (json_is_boolean(value))
    snprintf(cell, CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
  else if (json_is_integer(value))
    snprintf(cell, CELL_BYTES, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    snprintf(cell, CELL_BYTES, "%.4g", json_real_value(value));
  else
    snprintf(cell, CELL_BYTES, "-");
}

static void write_cell(char cell[CELL_BYTES], const json_t *value, ctl_kind kind) {
  char text[TEXT_BYTES];
  *cell = '\0';
  if (!value || json_is_null(value))
    snprintf(cell, CELL_BYTES, "-");
  else if (kind == CTL_DURATION)
    snprintf(cell, CELL_BYTES, "%s", text_duration(text, json_number_value(value)));
  else if (kind == CTL_COUNT)
    snprintf(cell, CELL_BYTES, "%s", text_count(text, (uint64_t)json_integer_value(value)));
  else if (kind == CTL_BYTES)
    snprintf(cell, CELL_BYTES, "%s", text_bytes(text, json_number_value(value)));
  else if (kind == CTL_PLACE)
    write_place(cell, value);
  else if (kind == CTL_LIST)
    write_list(cell, value);
  else
    write_plain(cell, value);
}

static void widen(size_t widths[COLUMNS_MAX], const json_t *row, const ctl_column *columns) {
  char cell[CELL_BYTES];
  for (size_t i = 0; columns[i].title; i++) {
    write_cell(cell, value_at(row, columns[i].path), columns[i].kind);
    if (strlen(cell) > widths[i]) widths[i] = strlen(cell);
  }
}

/* Texts and places stand left, numbers right. */
static void print_cell(const char *cell, size_t width, ctl_kind kind, bool last) {
  bool left = kind == CTL_TEXT || kind == CTL_PLACE || kind == CTL_LIST;
  if (left && last)
    printf("%s\n", cell);
  else
    printf("%*s%s", left ? -(int)width : (int)width, cell, last ? "\n" : "  ");
}

static void print_row(const size_t *widths, const json_t *row, const ctl_column *columns) {
  char cell[CELL_BYTES];
  for (size_t i = 0; columns[i].title; i++) {
    write_cell(cell, value_at(row, columns[i].path), columns[i].kind);
    print_cell(cell, widths[i], columns[i].kind, !columns[i + 1].title);
  }
}

void ctl_show_table(const json_t *rows, const ctl_column *columns) {
  size_t widths[COLUMNS_MAX] = {0}, count = json_is_array(rows) ? json_array_size(rows) : 1;
  for (size_t i = 0; columns[i].title; i++) widths[i] = strlen(columns[i].title);
  for (size_t i = 0; i < count; i++) widen(widths, json_is_array(rows) ? json_array_get(rows, i) : rows, columns);
  for (size_t i = 0; columns[i].title; i++)
    print_cell(columns[i].title, widths[i], columns[i].kind, !columns[i + 1].title);
  for (size_t i = 0; i < count; i++) print_row(widths, json_is_array(rows) ? json_array_get(rows, i) : rows, columns);
}

static bool ends(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

void ctl_show_object(const json_t *object) {
  const char *name;
  json_t *value;
  char cell[CELL_BYTES];
  json_object_foreach((json_t *)object, name, value) {
    ctl_kind kind = ends(name, "_ns") ? CTL_DURATION : strncmp(name, "bytes", 5) == 0 ? CTL_BYTES : CTL_TEXT;
    if (json_is_object(value) && !json_object_get(value, "x")) continue;
    if (json_is_object(value)) kind = CTL_PLACE;
    if (json_is_array(value)) kind = CTL_LIST;
    write_cell(cell, value, kind);
    printf("%-20s %s\n", name, cell);
  }
}

void ctl_show_json(const json_t *document) {
  char *text = json_dumps(document, JSON_INDENT(2));
  if (text) puts(text);
  free(text);
}
