/* The figures of `muster bench all`: where sections name them, and where a step's JSON has them. */
#include "bench_all.h"

#include "complaint.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- places */

static void copy(char *out, size_t bytes, const char *text, size_t length) {
  snprintf(out, bytes, "%.*s", (int)length, text);
}

/* Puts the fields of a line, which stand between @, into a pattern. */
static const char *fill(const char *pattern, const char *fields, char out[ALL_PART_BYTES]) {
  size_t length = 0;
  for (; *pattern && length < ALL_PART_BYTES; pattern++) {
    const char *field = pattern, *end = pattern + 1;
    if (*pattern == '$') {
      field = fields;
      for (int number = *++pattern - '1'; number > 0; number--) field = strchr(field, '@') + 1;
      end = field + strcspn(field, "@");
    }
    length += (size_t)snprintf(out + length, ALL_PART_BYTES - length, "%.*s", (int)(end - field), field);
  }
  return out;
}

const char *all_read(all_reader *reader) {
  while (*reader->next && **reader->next == '=') reader->pattern = *reader->next++ + 1;
  const char *part = *reader->next;
  if (!part) return NULL;
  reader->next++;
  return *part == '+' ? fill(reader->pattern, part + 1, reader->line) : part;
}

static void read_modifiers(all_place *place) {
  for (const char *next = strchr(place->begin, '|'); next && next < place->end; next = strchr(next + 1, '|')) {
    if (next[1] == '*') place->factor = strtod(next + 2, NULL);
    if (next[1] == '.') place->decimals = (int)strtol(next + 2, NULL, 10);
    if (next[1] == 'v') place->verdict = true;
    if (next[1] == 'l') place->large = true;
  }
}

bool all_place_next(const char *text, all_place *place) {
  const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
  if (!close) return false;
  *place = (all_place){.begin = open, .end = close + 1, .exact = open[1] == '=', .factor = 1, .decimals = -1};
  read_modifiers(place);
  return sscanf(open + 1, "%199[^|}]", place->name) == 1 &&
         sscanf(place->name + place->exact, "%31s %159[^\n]", place->step, place->path) == 2;
}

/* ------------------------------------------------------------------------------------------------------------ paths */

static bool has_value(json_t *member, const char *value) {
  char number[32];
  if (json_is_string(member)) return strcmp(json_string_value(member), value) == 0;
  snprintf(number, sizeof number, "%.15g", json_number_value(member));
  return json_is_number(member) && strcmp(number, value) == 0;
}

/* Whether an element has all of "key=value,key=value". */
static bool fits(json_t *element, const char *filter, size_t length) {
  char words[160], *rest = words;
  copy(words, sizeof words, filter, length);
  for (char *word; (word = strsep(&rest, ",")) != NULL && *word;) {
    char *key = strsep(&word, "=");
    if (!word || !has_value(json_object_get(element, key), word)) return false;
  }
  return true;
}

static bool collect(json_t *at, const char *path, json_t *values);

static bool collect_elements(json_t *array, const char *filter, json_t *values) {
  const char *close = strchr(filter, ']');
  bool found = false;
  size_t i;
  json_t *element;
  json_array_foreach(array, i, element) {
    if (fits(element, filter, (size_t)(close - filter))) found |= collect(element, close + 1, values);
  }
  return found;
}

/* Adds all numbers that the path leads to; null is a figure that the step could not tell. False: it leads nowhere. */
static bool collect(json_t *at, const char *path, json_t *values) {
  char name[64];
  if (*path == '[') return collect_elements(at, path + 1, values);
  path += *path == '.';
  if (*path == '\0') {
    if (json_is_number(at)) json_array_append(values, at);
    return json_is_number(at) || json_is_null(at);
  }
  size_t length = strcspn(path, ".[");
  copy(name, sizeof name, path, length);
  json_t *member = json_object_get(at, name);
  return member && collect(member, path + length, values);
}

/* ---------------------------------------------------------------------------------------------------------- figures */

/* Whether the path asks for a job system that is not installed; its best is absent with it. */
static bool asks_for_absent(const char *path, json_t *printed) {
  size_t i;
  json_t *absent;
  json_array_foreach(json_object_get(printed, "absent"), i, absent) {
    char filter[64];
    snprintf(filter, sizeof filter, "[system=%s", json_string_value(json_object_get(absent, "system")));
    const char *found = strstr(path, filter);
    if (found && strchr(",-]", found[strlen(filter)])) return true;
  }
  return false;
}

static json_t *values_of(json_t *figures, const char *name) {
  json_t *values = json_object_get(figures, name);
  if (!values) json_object_set_new(figures, name, values = json_array());
  return values;
}

/* `taken` has the names of this run's figures: one that stands in several sections is taken once. */
static bool take_part(json_t *figures, const char *text, const all_step *step, json_t *printed, json_t *taken) {
  all_place place;
  for (; all_place_next(text, &place); text = place.end) {
    if (strcmp(place.step, step->name) != 0 || json_object_get(taken, place.name)) continue;
    json_object_set_new(taken, place.name, json_true());
    json_t *values = values_of(figures, place.name);
    if (!printed || collect(printed, place.path, values) || asks_for_absent(place.path, printed) || place.large)
      continue;
    complain_failure("`muster %s` has no %s", step->command, place.path);
    return false;
  }
  return true;
}

bool all_figures_take(json_t *figures, const all_step *step, json_t *printed) {
  const char *part;
  bool good = true;
  json_t *taken = json_object();
  for (const all_section *section = all_sections; section->name; section++)
    for (all_reader reader = {.next = section->parts}; good && (part = all_read(&reader)) != NULL;)
      good = take_part(figures, part, step, printed, taken);
  json_decref(taken);
  return good;
}

void all_figures_forget(json_t *figures, const all_step *step) {
  size_t length = strlen(step->name);
  const char *name;
  void *next;
  json_t *values;
  json_object_foreach_safe(figures, next, name, values) {
    const char *of = name + (name[0] == '=');
    if (strncmp(of, step->name, length) == 0 && of[length] == ' ') json_object_del(figures, name);
  }
}

static void keep_range(json_t *values) {
  json_t *low = json_array_get(values, 0), *high = low, *value;
  size_t i;
  json_array_foreach(values, i, value) {
    if (json_number_value(value) < json_number_value(low)) low = value;
    if (json_number_value(value) > json_number_value(high)) high = value;
  }
  json_t *range = json_pack("[O,O]", low, high);
  json_array_clear(values);
  json_array_extend(values, range);
  json_decref(range);
}

void all_figures_finish(json_t *figures) {
  const char *name;
  json_t *values;
  json_object_foreach(figures, name, values) {
    if (name[0] != '=' && json_array_size(values) > 0) keep_range(values);
  }
}
