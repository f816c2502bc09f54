/* ctl_show.c - what the daemon answers, as people read it. */
#include "ctl.h"
#include "text.h"

#include "base/columns.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS_MAX = 16, LABEL_BYTES = 64 };

static const json_t *value_at(const json_t *object, const char *path) {
  char name[LABEL_BYTES];
  while (object && *path) {
    size_t length = strcspn(path, ".");
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    object = json_object_get(object, name);
    path += length + (path[length] == '.');
  }
  return object;
}

static double axis_of(const json_t *place, const char *axis) {
  return json_number_value(json_object_get(place, axis));
}

/* "317 337", "walkers towns"; or "0: 317, 1: 337" of levels, of which 0 is the best. */
static const char *list_of(const json_t *value, bool levels) {
  char list[TEXT_BYTES] = "";
  size_t length = 0;
  for (size_t i = 0; i < json_array_size(value) && length < sizeof list; i++) {
    const json_t *one = json_array_get(value, i);
    const char *text = json_string_value(one);
    length += (size_t)snprintf(list + length, sizeof list - length, "%s%s%s", i ? levels ? ", " : " " : "",
                               levels ? text_of("%zu: ", i) : "",
                               text ? text : text_count((uint64_t)json_integer_value(one)));
  }
  return text_of("%s", list);
}

bool ctl_ends(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static const char *time_in_words(double seconds) {
  char text[TEXT_BYTES];
  time_t moment = (time_t)seconds;
  struct tm parts;
  if (moment == 0 || !localtime_r(&moment, &parts)) return "never";
  strftime(text, sizeof text, "%F %T", &parts);
  return text_of("%s", text);
}

static const char *rate_in_words(double rate) {
  return text_of("%.4g Hz", rate);
}

static const char *metres_in_words(double metres) {
  return text_of("%.4g m", metres);
}

/* The numbers whose name tells their unit: by the whole name, its end (with _ before) or its beginning (with _ behind).
 */
static const struct unit {
  const char *name;
  const char *(*words)(double number);
} units[] = {{"pressure", text_pressure},
             {"hz", rate_in_words},
             {"written_at", time_in_words},
             {"share", text_share},
             {"serial_share", text_share},
             {"important_load", text_share},
             {"utilisation_", text_processors},
             {"bytes", text_bytes},
             {"bytes_", text_bytes},
             {"_ns", text_duration},
             {"_m", metres_in_words}};

static const struct unit *unit_of(const char *name) {
  for (const struct unit *unit = units; unit < units + sizeof units / sizeof *units; unit++) {
    size_t length = strlen(unit->name);
    bool begins = unit->name[length - 1] == '_' && strncmp(name, unit->name, length) == 0;
    bool ends = *unit->name == '_' && ctl_ends(name, unit->name);
    if (begins || ends || strcmp(name, unit->name) == 0) return unit;
  }
  return NULL;
}

/* A value in words, by its type and by the name, which tells its unit; `grouped` is for whole numbers without one. */
static const char *cell_of(const char *name, const json_t *value, bool grouped) {
  const struct unit *unit = unit_of(name);
  if (json_is_string(value)) return *json_string_value(value) ? text_of("%s", json_string_value(value)) : "-";
  if (json_is_boolean(value)) return json_is_true(value) ? "yes" : "no";
  if (json_is_array(value)) return list_of(value, strcmp(name, "levels") == 0);
  if (json_is_object(value))
    return text_of("%.1f, %.1f, %.1f m", axis_of(value, "x"), axis_of(value, "y"), axis_of(value, "z"));
  if (!json_is_number(value)) return "-";
  if (unit) return unit->words(json_number_value(value));
  if (grouped) return text_count((uint64_t)json_integer_value(value));
  return json_is_integer(value) ? text_of("%lld", (long long)json_integer_value(value))
                                : text_of("%.4g", json_number_value(value));
}

/* The daemon's names tell units and are made for programs. */
static void write_label(char label[LABEL_BYTES], const char *within, const char *name, bool typed) {
  static const char *const others[][2] = {{"sim_now_ns", "simulated_time_ns"},
                                          {"hz", "rate"},
                                          {"bytes_used", "memory_used"},
                                          {"write_ns", "writing_took_ns"},
                                          {"pause_ns", "frames_stood_still_ns"}};
  for (size_t i = 0; i < sizeof others / sizeof *others && !typed; i++)
    if (strcmp(name, others[i][0]) == 0) name = others[i][1];
  snprintf(label, LABEL_BYTES, "%s%s%s", within, *within ? " " : "", name);
  if (ctl_ends(label, "_ns")) label[strlen(label) - 3] = '\0';
  if (ctl_ends(label, "_m") && !typed) label[strlen(label) - 2] = '\0';
  for (char *next = label; *next && !typed; next++)
    if (*next == '_') *next = ' ';
}

/* --------------------------------------------------------------------------------------------------------- tables */

struct column {
  char title[LABEL_BYTES], path[LABEL_BYTES];
  char mark;  /* '#', '?' or another character */
  bool right; /* numbers stand right, texts and places left */
  int width;  /* 0 = is not shown */
};

struct table {
  struct column columns[COLUMNS_MAX]; /* ends with one without a path */
  int width;
};

static void read_columns(struct table *table, const char *columns) {
  char word[LABEL_BYTES];
  struct column *column = table->columns;
  for (int used; sscanf(columns, "%63s%n", word, &used) == 1; columns += used, column++) {
    size_t last = strlen(word) - 1;
    column->mark = word[last];
    if (strchr("#?", column->mark)) word[last] = '\0';
    if (sscanf(word, "%63[^=]=%63s", column->title, column->path) == 2) continue;
    strcpy(column->path, word);
    write_label(column->title, "", word, false);
  }
}

static const char *column_cell(const struct column *column, const json_t *row) {
  return cell_of(column->path, value_at(row, column->path), column->mark == '#');
}

static void measure(struct table *table, const json_t *rows) {
  size_t i;
  const json_t *row;
  for (struct column *column = table->columns; *column->path; column++) {
    bool shown = column->mark != '?';
    int width = (int)strlen(column->title);
    json_array_foreach(rows, i, row) {
      int length = (int)strlen(column_cell(column, row));
      if (length > width) width = length;
      column->right |= json_is_number(value_at(row, column->path));
      shown |= json_is_true(value_at(row, column->path));
    }
    column->width = shown ? width : 0;
    if (shown) table->width += width + (table->width ? 2 : 0);
  }
}

/* A line of the table; the titles where `row` is null. No blanks end it. */
static void print_row(const struct table *table, const json_t *row) {
  int blanks = 0;
  for (const struct column *column = table->columns; *column->path; column++) {
    if (!column->width) continue;
    const char *cell = row ? column_cell(column, row) : column->title;
    int room = column->width - (int)strlen(cell);
    printf("%*s%s", blanks + (column->right ? room : 0), "", cell);
    blanks = 2 + (column->right ? 0 : room);
  }
  putchar('\n');
}

static void print_block(const struct table *table, const json_t *row) {
  for (const struct column *column = table->columns; *column->path; column++)
    if (column->width) printf("%-12s %s\n", column->title, column_cell(column, row));
}

void ctl_show_table(const json_t *rows, const char *columns) {
  struct table table = {0};
  size_t i;
  const json_t *row;
  int room = columns_known(STDOUT_FILENO);
  read_columns(&table, columns);
  measure(&table, rows);
  bool fits = table.width <= room || room == 0;
  if (fits) print_row(&table, NULL);
  json_array_foreach(rows, i, row) {
    if (!fits && i > 0) putchar('\n');
    if (fits)
      print_row(&table, row);
    else
      print_block(&table, row);
  }
}

/* -------------------------------------------------------------------------------------------------------- objects */

static void show_members(const json_t *object, const char *within, bool typed) {
  const char *name;
  json_t *value;
  char label[LABEL_BYTES];
  json_object_foreach((json_t *)object, name, value) {
    if (json_is_object(json_array_get(value, 0))) continue; /* a table of its own, where a command shows it */
    if (json_is_object(value) && !json_object_get(value, "x")) {
      show_members(value, name, typed);
      continue;
    }
    write_label(label, within, name, typed);
    printf("%-26s %s\n", label, cell_of(name, value, !typed && json_is_integer(value)));
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
