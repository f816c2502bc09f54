#include "service/api_read.h"

#include "base/assert.h"

#include <jansson.h>
#include <math.h>
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

/* ---------------------------------------------------------------------------------------------------------- members */

static bool wrong_kind(const char *name, const char *wanted, api_problem *problem) {
  return api_complain(problem, 400, "wrong_type", name, "%s must be %s", name, wanted);
}

static bool out_of_range(const api_field *field, const char *name, api_problem *problem) {
  return api_complain(problem, 400, "out_of_range", name, "%s must be %.17g .. %.17g", name, field->least, field->most);
}

/* Whole numbers are compared as such: a double does not hold all of them. */
static bool api_read_whole(const json_t *value, const api_field *field, const char *name, uint64_t *out,
                           api_problem *problem) {
  if (!json_is_integer(value)) return wrong_kind(name, "a whole number", problem);
  json_int_t number = json_integer_value(value);
  if (number < 0 || (double)number < field->least || (double)number > field->most)
    return out_of_range(field, name, problem);
  *out = (uint64_t)number;
  return true;
}

static bool api_read_number(const json_t *value, const api_field *field, const char *name, double *out,
                            api_problem *problem) {
  if (!json_is_number(value)) return wrong_kind(name, "a number", problem);
  double number = json_number_value(value);
  if (!(number >= field->least && number <= field->most)) return out_of_range(field, name, problem);
  *out = number;
  return true;
}

static bool read_text(const json_t *value, const api_field *field, const char *name, char *out, api_problem *problem) {
  if (!json_is_string(value)) return wrong_kind(name, "a text", problem);
  size_t length = json_string_length(value);
  if ((double)length < field->least || (double)length > field->most)
    return api_complain(problem, 400, "out_of_range", name, "%s must have %g .. %g bytes", name, field->least,
                        field->most);
  memcpy(out, json_string_value(value), length + 1);
  return true;
}

struct place {
  double x, y, z;
};

static bool read_axis(const json_t *object, const char *axis, const char *path, double *out, api_problem *problem) {
  const api_field field = {.least = -1e9, .most = 1e9};
  char name[FIELD_BYTES];
  const json_t *value = json_object_get(object, axis);
  snprintf(name, sizeof name, "%s.%s", path, axis);
  if (!value) return api_complain(problem, 400, "missing", name, "%s is missing", name);
  return api_read_number(value, &field, name, out, problem);
}

static bool read_position(const json_t *value, const char *name, muster_position *out, api_problem *problem) {
  struct place place = {0};
  if (!json_is_object(value)) return wrong_kind(name, "an object {\"x\", \"y\", \"z\"}", problem);
  bool flat = !json_object_get(value, "z");
  if (json_object_size(value) != (flat ? 2u : 3u) || !json_object_get(value, "x") || !json_object_get(value, "y"))
    return api_complain(problem, 400, "unknown_field", name, "%s must have x and y, may have z, and nothing else",
                        name);
  if (!read_axis(value, "x", name, &place.x, problem) || !read_axis(value, "y", name, &place.y, problem)) return false;
  if (!flat && !read_axis(value, "z", name, &place.z, problem)) return false;
  *out = (muster_position){place.x, place.y, place.z};
  return true;
}

static bool read_member(const json_t *value, const api_field *field, const char *name, char *out,
                        api_problem *problem) {
  uint64_t whole = 0;
  double number = 0;
  switch (field->kind) {
  case API_SWITCH:
    if (!json_is_boolean(value)) return wrong_kind(name, "true or false", problem);
    *(bool *)(void *)out = json_is_true(value);
    return true;
  case API_COUNT:
    if (!api_read_whole(value, field, name, &whole, problem)) return false;
    *(uint32_t *)(void *)out = (uint32_t)whole;
    return true;
  case API_TIME:
    return api_read_whole(value, field, name, (uint64_t *)(void *)out, problem);
  case API_FLOAT:
    if (!api_read_number(value, field, name, &number, problem)) return false;
    *(float *)(void *)out = (float)number;
    return true;
  case API_TEXT:
    return read_text(value, field, name, out, problem);
  case API_POSITION:
    return read_position(value, name, (muster_position *)(void *)out, problem);
  }
  ASSERT(!"a field of an unknown kind");
  return false;
}

/* ---------------------------------------------------------------------------------------------------------- objects */

static const api_field *find(const api_field *fields, uint32_t count, const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(fields[i].name, name) == 0) return &fields[i];
  return NULL;
}

static bool api_read_complain_unknown(const char *name, const api_field *fields, uint32_t count, api_problem *problem) {
  char known[256] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < count && length < sizeof known; i++)
    length += (size_t)snprintf(known + length, sizeof known - length, "%s%s", i ? ", " : "", fields[i].name);
  return api_complain(problem, 400, "unknown_field", name, "there is no such field; there are: %s", known);
}

bool api_read(const json_t *object, const char *path, const api_field *fields, uint32_t count, void *out,
              uint32_t *given, api_problem *problem) {
  ASSERT(count <= 32);
  const char *key;
  json_t *value;
  uint32_t seen = 0;
  char name[FIELD_BYTES];
  if (!json_is_object(object))
    return api_complain(problem, 400, "wrong_type", *path ? path : NULL, "%s must be an object",
                        *path ? path : "the body");
  json_object_foreach((json_t *)object, key, value) {
    const api_field *field = find(fields, count, key);
    snprintf(name, sizeof name, "%s%s", path, key);
    if (!field) return api_read_complain_unknown(name, fields, count, problem);
    if (!read_member(value, field, name, (char *)out + field->offset, problem)) return false;
    seen |= 1u << (field - fields);
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!fields[i].required || seen & 1u << i) continue;
    snprintf(name, sizeof name, "%s%s", path, fields[i].name);
    return api_complain(problem, 400, "missing", name, "%s is missing", name);
  }
  if (given) *given = seen;
  return true;
}
