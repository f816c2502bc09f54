/* ctl_show.c - what the daemon answers, as people read it. */
#include "ctl.h"
#include "text.h"

#include "base/columns.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELL_BYTES = 128, COLUMNS_MAX = 16, LABEL_BYTES = 64 };

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

/* "317 337"; or "0: 317, 1: 337" of levels, of which 0 is the best. */
static void write_list(char cell[CELL_BYTES], const json_t *value, bool levels) {
  size_t length = 0;
  for (size_t i = 0; i < json_array_size(value) && length < CELL_BYTES; i++)
    length += (size_t)snprintf(cell + length, CELL_BYTES - length, "%s%s%s", i ? levels ? ", " : " " : "",
                               levels ? text_of("%zu: ", i) : "",
                               text_count((uint64_t)json_integer_value(json_array_get(value, i))));
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
  *cell = '\0';
  if (!value || json_is_null(value))
    snprintf(cell, CELL_BYTES, "-");
  else if (kind == CTL_DURATION)
    snprintf(cell, CELL_BYTES, "%s", text_duration(json_number_value(value)));
  else if (kind == CTL_COUNT)
    snprintf(cell, CELL_BYTES, "%s", text_count((uint64_t)json_integer_value(value)));
  else if (kind == CTL_BYTES)
    snprintf(cell, CELL_BYTES, "%s", text_bytes(json_number_value(value)));
  else if (kind == CTL_PLACE)
    write_place(cell, value);
  else if (kind == CTL_LIST || kind == CTL_LEVELS)
    write_list(cell, value, kind == CTL_LEVELS);
  else if (kind == CTL_PRESSURE)
    snprintf(cell, CELL_BYTES, "%s", text_pressure(json_number_value(value)));
  else
    write_plain(cell, value);
}

/* --------------------------------------------------------------------------------------------------------- tables */

struct table {
  const json_t *rows; /* an array, or one object */
  size_t count;
  const ctl_column *columns;
  size_t widths[COLUMNS_MAX]; /* 0 = is not shown */
};

static const json_t *row_of(const struct table *table, size_t index) {
  return json_is_array(table->rows) ? json_array_get(table->rows, index) : table->rows;
}

static bool is_shown(const struct table *table, const ctl_column *column) {
  bool any = column->kind != CTL_FLAG;
  for (size_t i = 0; !any && i < table->count; i++) any = json_is_true(value_at(row_of(table, i), column->path));
  return any;
}

/* The width of the table. */
static size_t measure(struct table *table) {
  char cell[CELL_BYTES];
  size_t width = 0;
  for (size_t k = 0; table->columns[k].title; k++) {
    const ctl_column *column = &table->columns[k];
    if (!is_shown(table, column)) continue;
    table->widths[k] = strlen(column->title);
    for (size_t i = 0; i < table->count; i++) {
      write_cell(cell, value_at(row_of(table, i), column->path), column->kind);
      if (strlen(cell) > table->widths[k]) table->widths[k] = strlen(cell);
    }
    width += table->widths[k] + (width ? 2 : 0);
  }
  return width;
}

/* Texts and places stand left, numbers right. */
static bool stands_left(ctl_kind kind) {
  return kind == CTL_TEXT || kind == CTL_PLACE || kind == CTL_LIST || kind == CTL_LEVELS || kind == CTL_FLAG;
}

/* A line of the table; the titles where `row` is null. No blanks end it. */
static void print_row(const struct table *table, const json_t *row) {
  char cell[CELL_BYTES];
  size_t blanks = 0;
  for (size_t k = 0; table->columns[k].title; k++) {
    const ctl_column *column = &table->columns[k];
    if (!table->widths[k]) continue;
    if (row)
      write_cell(cell, value_at(row, column->path), column->kind);
    else
      snprintf(cell, sizeof cell, "%s", column->title);
    size_t room = table->widths[k] - strlen(cell);
    bool left = stands_left(column->kind);
    printf("%*s%s", (int)(blanks + (left ? 0 : room)), "", cell);
    blanks = 2 + (left ? room : 0);
  }
  putchar('\n');
}

static void print_block(const struct table *table, const json_t *row) {
  char cell[CELL_BYTES];
  for (size_t k = 0; table->columns[k].title; k++) {
    if (!table->widths[k]) continue;
    write_cell(cell, value_at(row, table->columns[k].path), table->columns[k].kind);
    printf("%-12s %s\n", table->columns[k].title, cell);
  }
}

void ctl_show_table(const json_t *rows, const ctl_column *columns) {
  struct table table = {.rows = rows, .count = json_is_array(rows) ? json_array_size(rows) : 1, .columns = columns};
  int room = columns_known(STDOUT_FILENO);
  bool fits = measure(&table) <= (size_t)room || room == 0;
  if (fits) print_row(&table, NULL);
  for (size_t i = 0; i < table.count; i++) {
    if (!fits && i > 0) putchar('\n');
    if (fits)
      print_row(&table, row_of(&table, i));
    else
      print_block(&table, row_of(&table, i));
  }
}

/* -------------------------------------------------------------------------------------------------------- objects */

bool ctl_ends(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static ctl_kind kind_of(const char *name, const json_t *value) {
  if (json_is_object(value)) return CTL_PLACE;
  if (json_is_array(value)) return strcmp(name, "levels") == 0 ? CTL_LEVELS : CTL_LIST;
  if (strcmp(name, "pressure") == 0) return CTL_PRESSURE;
  if (strncmp(name, "bytes", 5) == 0) return CTL_BYTES;
  return ctl_ends(name, "_ns") ? CTL_DURATION : CTL_TEXT;
}

/* The daemon's names tell units and are made for programs. */
static void write_label(char label[LABEL_BYTES], const char *within, const char *name, bool typed) {
  if (strcmp(name, "sim_now_ns") == 0) name = "simulated_time_ns";
  snprintf(label, LABEL_BYTES, "%s%s%s", within, *within ? " " : "", name);
  if (ctl_ends(label, "_ns")) label[strlen(label) - 3] = '\0';
  for (char *next = label; *next && !typed; next++)
    if (*next == '_') *next = ' ';
}

static void show_members(const json_t *object, const char *within, bool typed) {
  const char *name;
  json_t *value;
  char cell[CELL_BYTES], label[LABEL_BYTES];
  json_object_foreach((json_t *)object, name, value) {
    if (json_is_object(value) && !json_object_get(value, "x")) {
      show_members(value, name, typed);
      continue;
    }
    write_label(label, within, name, typed);
    write_cell(cell, value, kind_of(name, value));
    printf("%-26s %s\n", label, cell);
  }
}

void ctl_show_object(const json_t *object) {
  show_members(object, "", false);
}

void ctl_show_members(const json_t *object) {
  show_members(object, "", true);
}

void ctl_show_json(const json_t *document) {
  char *text = json_dumps(document, JSON_INDENT(2));
  if (text) puts(text);
  free(text);
}
