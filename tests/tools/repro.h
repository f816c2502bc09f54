/* repro.h - what the tests of `muster repro` ask of each paper: that each of its statements is there, and holds. */
#ifndef REPRO_H
#define REPRO_H

#include "program.h"

/* One or several statements in a row that begin alike. */
typedef struct repro_statements {
  const char *beginning;
  int count;
} repro_statements;

/* The statements of one list of the document, in their order, with none more and none fewer. */
static inline void repro_expect_statements(json_t *json, const char *name, const repro_statements *wanted) {
  json_t *list = program_member(json, name);
  size_t at = 0;
  for (const repro_statements *it = wanted; it->beginning; it++)
    for (int i = 0; i < it->count; i++, at++) {
      cr_assert(at < json_array_size(list), "%s: '%s' is left out", name, it->beginning);
      json_t *statement = json_array_get(list, at);
      const char *what = json_string_value(program_member(statement, "what"));
      cr_assert(strncmp(what, it->beginning, strlen(it->beginning)) == 0, "%s: '%s' in place of '%s'", name, what,
                it->beginning);
      cr_expect(json_is_boolean(program_member(statement, "holds")));
    }
  cr_assert_eq(at, json_array_size(list), "%s: more than the %zu statements that were expected", name, at);
}

/* What `muster repro LINE --json -` writes. It ends with 0, each check is there and holds, and each comparison is
 * there: whether one of these holds is a matter of what else the machine does. The caller releases the document. */
static inline json_t *repro_json(const char *line, const repro_statements *checks, const repro_statements *compared) {
  char command[128];
  snprintf(command, sizeof command, "repro %s --json -", line);
  json_t *json = program_json(command), *list = program_member(json, "checks");
  repro_expect_statements(json, "checks", checks);
  repro_expect_statements(json, "compared", compared);
  for (size_t i = 0; i < json_array_size(list); i++) {
    json_t *check = json_array_get(list, i);
    cr_expect(json_is_true(program_member(check, "holds")), "%s", json_string_value(program_member(check, "what")));
  }
  cr_assert(json_is_true(program_member(json, "holds")));
  return json;
}

#endif
