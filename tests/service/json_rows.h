/* json_rows.h - rows (rows.h) in a JSON document: each member has its row's value, and none is left that has no row. */
#ifndef JSON_ROWS_H
#define JSON_ROWS_H

#include "rows.h"

/* Two functions of the service's writer have names of jansson's. A test that writes by the one and reads by the other
 * includes this header first, and calls neither of the writer's two; nor jansson's, for which the linker would take
 * these: json_pack makes such values. */
#define json_string json_string_of_writer
#define json_null   json_null_of_writer
#include "base/json.h"
#undef json_string
#undef json_null

#include <jansson.h>

/* The value by a path such as "frame.carried" or "levels.2"; null: there is none. It is taken away: what is left at the
 * end nobody has looked at. */
static inline json_t *rows_take(json_t *whole, const char *path) {
  char names[128], *last = NULL;
  json_t *within = NULL, *found = whole;
  snprintf(names, sizeof names, "%s", path);
  for (char *name = strtok(names, "."); name; last = name, name = strtok(NULL, ".")) {
    within = found;
    found = json_is_array(within) ? json_array_get(within, (size_t)atoi(name)) : json_object_get(within, name);
  }
  json_incref(found);
  if (found && json_is_array(within))
    json_array_set_new(within, (size_t)atoi(last), json_pack("n"));
  else if (found)
    json_object_del(within, last);
  return found;
}

/* Floats are written in the fewest digits that read back as the same float. */
static inline void rows_expect_value(json_t *whole, const char *path, row_kind kind, double wanted) {
  json_auto_t *value = rows_take(whole, path);
  cr_expect(value, "there is no %s", path);
  double shown = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
  bool of_kind = kind == ROW_SWITCH ? json_is_boolean(value) : json_is_number(value);
  cr_expect(value && of_kind && fabs(shown - wanted) <= 1e-7 * fabs(wanted), "%s is %.15g instead of %.15g", path,
            shown, wanted);
}

static inline void rows_expect(json_t *whole, const char *within, const shown_row *rows, size_t count, const void *of) {
  for (size_t i = 0; i < count; i++) {
    const void *place = (const char *)of + rows[i].offset;
    char path[128];
    double wanted = rows[i].kind == ROW_WHOLE_64   ? (double)*(const uint64_t *)place
                    : rows[i].kind == ROW_WHOLE_32 ? (double)*(const uint32_t *)place
                    : rows[i].kind == ROW_FRACTION ? (double)*(const float *)place
                    : rows[i].kind == ROW_PRECISE  ? *(const double *)place
                                                   : (double)*(const bool *)place;
    snprintf(path, sizeof path, "%s%s", within, rows[i].name);
    rows_expect_value(whole, path, rows[i].kind, wanted);
  }
}

static inline void rows_expect_text(json_t *whole, const char *path, const char *wanted) {
  json_auto_t *value = rows_take(whole, path);
  const char *text = json_string_value(value);
  cr_expect(text && strcmp(text, wanted) == 0, "%s is %s instead of %s", path, text ? text : "no text", wanted);
}

/* What was not looked at, but for what is null and for the names that are given. */
static inline void rows_expect_nothing_left(const json_t *value, const char *path) {
  char below[256];
  const char *name;
  json_t *member;
  size_t i;
  cr_expect(json_is_null(value) || json_is_object(value) || json_is_array(value),
            "no test gives %s a value of its own: add a row", path);
  json_object_foreach((json_t *)value, name, member) {
    snprintf(below, sizeof below, "%s.%s", path, name);
    rows_expect_nothing_left(member, below);
  }
  json_array_foreach((json_t *)value, i, member) {
    snprintf(below, sizeof below, "%s.%zu", path, i);
    rows_expect_nothing_left(member, below);
  }
}

#endif
