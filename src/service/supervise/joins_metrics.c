#include "service/supervise/joins_metrics.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 128 };

typedef struct metric_line {
  const char *text;
  size_t length;
  const char *world;
  size_t family; /* number of the family */
} metric_line;

typedef struct metric_lines {
  json_t *families, *comments; /* names with their numbers; which comments were taken */
  metric_line *lines;
  size_t count, room;
  bool failed;
} metric_lines;

/* ---------------------------------------------------------------------------------------------------------- reading */

/* The number of a name, which is a new one when it was not there. */
static size_t metric_number_of(json_t *names, const char *name) {
  const json_t *known = json_object_get(names, name);
  if (known) return (size_t)json_integer_value(known);
  size_t number = json_object_size(names);
  json_object_set_new(names, name, json_integer((json_int_t)number));
  return number;
}

static void take_metric(metric_lines *all, const metric_line *line) {
  if (all->count == all->room) {
    size_t room = all->room ? 2 * all->room : 4096;
    metric_line *more = realloc(all->lines, room * sizeof *more);
    all->failed = all->failed || !more;
    if (!more) return;
    all->lines = more;
    all->room = room;
  }
  all->lines[all->count++] = *line;
}

/* A name, labels in braces or none, and a number: what a world says must not spoil what the others say. */
static bool is_sample(const char *line, size_t length) {
  size_t name = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
  const char *blank = memrchr(line, ' ', length);
  char *end = NULL;
  if (name == 0 || name >= length || isdigit((unsigned char)*line) || !blank) return false;
  bool labels = line[name] == '{' && blank[-1] == '}';
  if (!labels && line + name != blank) return false;
  strtod(blank + 1, &end);
  return end == line + length && end > blank + 1 && !isspace((unsigned char)blank[1]);
}

/* A comment is taken once, from the first part that has it. Sets the family that it is about. */
static bool take_comment(metric_lines *all, const char *line, size_t length, size_t *family) {
  char name[NAME_BYTES_MAX], comment[NAME_BYTES_MAX + 16];
  if (length < 8 || (strncmp(line, "# HELP ", 7) != 0 && strncmp(line, "# TYPE ", 7) != 0)) return false;
  size_t bytes = strcspn(line + 7, " \n"), before = json_object_size(all->comments);
  if (bytes == 0 || bytes >= sizeof name) return false;
  snprintf(name, sizeof name, "%.*s", (int)bytes, line + 7);
  snprintf(comment, sizeof comment, "%.7s%s", line, name);
  *family = metric_number_of(all->families, name);
  metric_number_of(all->comments, comment);
  return json_object_size(all->comments) > before;
}

static void read_metrics(metric_lines *all, const joins_metrics_part *part) {
  size_t length, family = SIZE_MAX;
  for (const char *line = part->text; *line; line += length + (line[length] == '\n')) {
    length = strcspn(line, "\n");
    bool taken = *line == '#' ? take_comment(all, line, length, &family) : family < SIZE_MAX && is_sample(line, length);
    if (taken) take_metric(all, &(metric_line){line, length, part->world, family});
  }
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static bool names_world(const char *labels, size_t length) {
  const char *found = memmem(labels, length, "world=\"", 7);
  return found && (found[-1] == '{' || found[-1] == ',');
}

static void write_line(const metric_line *line, FILE *out) {
  size_t name = strcspn(line->text, "{ ");
  const char *rest = line->text + name;
  int length = (int)(line->length - name);
  if (*line->text == '#' || !line->world || names_world(rest, line->length - name))
    fprintf(out, "%.*s\n", (int)line->length, line->text);
  else if (*rest == '{')
    fprintf(out, "%.*s{process=\"%s\",%.*s\n", (int)name, line->text, line->world, length - 1, rest + 1);
  else
    fprintf(out, "%.*s{process=\"%s\"}%.*s\n", (int)name, line->text, line->world, length, rest);
}

/* Family by family; within one the lines keep their order. */
static bool write_lines(const metric_lines *all, FILE *out) {
  size_t families = json_object_size(all->families), *ends = calloc(families + 1, sizeof *ends);
  const metric_line **sorted = malloc((all->count + 1) * sizeof *sorted);
  bool room = ends && sorted;
  for (size_t i = 0; room && i < all->count; i++) ends[all->lines[i].family + 1]++;
  for (size_t i = 1; room && i <= families; i++) ends[i] += ends[i - 1];
  for (size_t i = 0; room && i < all->count; i++) sorted[ends[all->lines[i].family]++] = &all->lines[i];
  for (size_t i = 0; room && i < all->count; i++) write_line(sorted[i], out);
  free(ends);
  free(sorted);
  return room;
}

bool joins_write_metrics(const joins_metrics_part *parts, uint32_t count, FILE *out) {
  metric_lines all = {.families = json_object(), .comments = json_object()};
  for (uint32_t i = 0; i < count; i++) read_metrics(&all, &parts[i]);
  bool written = all.families && all.comments && !all.failed && write_lines(&all, out);
  json_decref(all.families);
  json_decref(all.comments);
  free(all.lines);
  return written;
}
