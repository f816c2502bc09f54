#include "service/api_read.h"

#include "base/assert.h"

#include <jansson.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_BYTES = 96 };

bool api_complain(api_problem *problem, unsigned status, const char *code, const char *field, const char *format, ...) {
  va_list arguments;
  *problem = (api_problem){.status = status};
  snprintf(problem->code, sizeof problem->code, "%s", code);
  if (field) snprintf(problem->field, sizeof problem->field, "%s", field);
  va_start(arguments, format);
  vsnprintf(problem->message, sizeof problem->message, format, arguments);
  va_end(arguments);
  return false;
}

/* jansson gives the name only in its error text: ... near '"name"'. */
static void complain_twice(const json_error_t *error, api_problem *problem) {
  char name[FIELD_BYTES] = "";
  const char *quoted = strchr(error->text, '"');
  if (quoted) snprintf(name, sizeof name, "%.*s", (int)strcspn(quoted + 1, "\""), quoted + 1);
  api_complain(problem, 400, "duplicate_field", *name ? name : NULL, "line %d, column %d: %s is given twice",
               error->line, error->column, *name ? name : "a name");
}

json_t *api_parse(const void *text, size_t bytes, api_problem *problem) {
  json_error_t error = {0};
  json_t *json = bytes ? json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error) : NULL;
  if (json) return json;
  if (!bytes)
    api_complain(problem, 400, "json", NULL, "the body is empty; send a JSON value");
  else if (json_error_code(&error) == json_error_duplicate_key)
    complain_twice(&error, problem);
  else
    api_complain(problem, 400, "json", NULL, "line %d, column %d: %s", error.line, error.column, error.text);
  return NULL;
}

bool api_is_json(const void *text, size_t bytes, api_problem *problem) {
  json_t *parsed = api_parse(text, bytes, problem);
  json_decref(parsed);
  return parsed != NULL;
}

/* ---------------------------------------------------------------------------------------------------------- members */

static bool wrong_kind(const char *name, const char *wanted, api_problem *problem) {
  return api_complain(problem, 400, "wrong_type", name, "%s must be %s", name, wanted);
}

static bool out_of_range(const field_row *field, const char *name, double value, api_problem *problem) {
  char range[FIELD_WORDS];
  field_row exact = *field;
  if (exact.kind == FIELD_TIME) exact.kind = FIELD_NUMBER; /* no rounded hours: JSON has all times in nanoseconds */
  return api_complain(problem, 400, "out_of_range", name, "%s %.17g %s%s", name, value,
                      field_range_words(&exact, range), field->kind == FIELD_TIME ? " ns" : "");
}

/* Whole numbers are compared as such: a double does not hold all of them. */
static bool api_read_whole(const json_t *value, const field_row *field, const char *name, uint64_t *out,
                           api_problem *problem) {
  if (!json_is_integer(value)) return wrong_kind(name, "a whole number", problem);
  json_int_t number = json_integer_value(value);
  if (number < 0 || !field_allows(field, (double)number)) return out_of_range(field, name, (double)number, problem);
  *out = (uint64_t)number;
  return true;
}

static bool api_read_number(const json_t *value, const field_row *field, const char *name, double *out,
                            api_problem *problem) {
  if (!json_is_number(value)) return wrong_kind(name, "a number", problem);
  double number = json_number_value(value);
  if (!field_allows(field, number)) return out_of_range(field, name, number, problem);
  *out = number;
  return true;
}

static bool read_text(const json_t *value, const field_row *field, const char *name, char *out, api_problem *problem) {
  if (!json_is_string(value)) return wrong_kind(name, "a text", problem);
  size_t length = json_string_length(value);
  if ((double)length < field->least || (double)length > field->most)
    return api_complain(problem, 400, "out_of_range", name, "%s must have %g .. %g bytes", name, field->least,
                        field->most);
  memcpy(out, json_string_value(value), length + 1);
  return true;
}

/* An axis that is there. */
static bool read_axis(const json_t *object, const char *axis, const char *path, double *out, api_problem *problem) {
  const field_row field = {.kind = FIELD_FLOAT, .least = -1e9, .most = 1e9};
  char name[FIELD_BYTES];
  const json_t *value = json_object_get(object, axis);
  snprintf(name, sizeof name, "%s.%s", path, axis);
  return api_read_number(value, &field, name, out, problem);
}

static bool read_position(const json_t *value, const char *name, muster_position *out, api_problem *problem) {
  muster_position place = {0};
  if (!json_is_object(value)) return wrong_kind(name, "an object {\"x\", \"y\", \"z\"}", problem);
  bool flat = !json_object_get(value, "z");
  if (json_object_size(value) != (flat ? 2u : 3u) || !json_object_get(value, "x") || !json_object_get(value, "y"))
    return api_complain(problem, 400, "unknown_field", name, "%s must have x and y, may have z, and nothing else",
                        name);
  if (!read_axis(value, "x", name, &place.x, problem) || !read_axis(value, "y", name, &place.y, problem)) return false;
  if (!flat && !read_axis(value, "z", name, &place.z, problem)) return false;
  *out = place;
  return true;
}

static bool read_member(const json_t *value, const field_row *field, const char *name, void *out,
                        api_problem *problem) {
  uint64_t whole = 0;
  double number = 0;
  switch (field->kind) {
  case FIELD_SWITCH:
    if (!json_is_boolean(value)) return wrong_kind(name, "true or false", problem);
    *(bool *)out = json_is_true(value);
    return true;
  case FIELD_COUNT:
    if (!api_read_whole(value, field, name, &whole, problem)) return false;
    *(uint32_t *)out = (uint32_t)whole;
    return true;
  case FIELD_TIME:
    return api_read_whole(value, field, name, out, problem);
  case FIELD_FLOAT:
    if (!api_read_number(value, field, name, &number, problem)) return false;
    *(float *)out = (float)number;
    return true;
  case FIELD_TEXT:
    return read_text(value, field, name, out, problem);
  case FIELD_POSITION:
    return read_position(value, name, out, problem);
  case FIELD_NUMBER:
  case FIELD_RATE:
  case FIELD_DOUBLE:
  case FIELD_CHOICE:
  case FIELD_LEVELS:
    break;
  }
  ASSERT(false && "a field of a kind that no body has");
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- objects */

void api_append(field_row rows[API_FIELDS], const field_row *table, bool live, size_t offset) {
  uint32_t count = 0;
  while (rows[count].name) count++;
  for (; table->name; table++) {
    if (live && !table->tuned) continue;
    ASSERT(count < API_FIELDS - 1);
    field_row *row = &rows[count++];
    *row = *table;
    row->offset = (uint32_t)offset + (live ? table->tuned : table->offset);
    if (row->least < 0) row->least = 0;
  }
}

static bool api_read_complain_unknown(const char *name, const field_row *fields, api_problem *problem) {
  char known[256] = "";
  size_t length = 0;
  for (const field_row *field = fields; field->name && length < sizeof known; field++)
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", length ? ", " : "", field->name);
  return api_complain(problem, 400, "unknown_field", name, "there is no field '%.40s'; there are: %s", name, known);
}

bool api_read(const json_t *object, const char *path, const field_row *fields, void *out, uint32_t *given,
              api_problem *problem) {
  const char *key;
  json_t *value;
  uint32_t seen = 0;
  char name[FIELD_BYTES];
  if (!json_is_object(object))
    return api_complain(problem, 400, "wrong_type", *path ? path : NULL, "%s must be an object",
                        *path ? path : "the body");
  json_object_foreach((json_t *)object, key, value) {
    const field_row *field = fields;
    while (field->name && strcmp(field->name, key) != 0) field++;
    snprintf(name, sizeof name, "%s%s", path, key);
    if (!field->name) return api_read_complain_unknown(name, fields, problem);
    if (!read_member(value, field, name, (char *)out + field->offset, problem)) return false;
    seen |= 1u << (field - fields);
  }
  for (uint32_t i = 0; fields[i].name; i++) {
    if (!(fields[i].uses & FIELD_REQUIRED) || seen & 1u << i) continue;
    snprintf(name, sizeof name, "%s%s", path, fields[i].name);
    return api_complain(problem, 400, "missing", name, "%s is missing", name);
  }
  if (given) *given = seen;
  return true;
}
