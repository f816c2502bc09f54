/* repro.h - what the tests of `muster repro` ask of each paper: that each of its statements is there, and holds. */
#ifndef REPRO_H
#define REPRO_H

#include "program.h"

/* The statements of one list of the document begin so, in this order, with none more and none fewer. */
static inline void repro_expect_statements(json_t *json, const char *name, const char *const *wanted) {
  json_t *list = program_member(json, name);
  size_t at = 0;
  for (; wanted[at]; at++) {
    cr_assert(at < json_array_size(list), "%s: '%s' is left out", name, wanted[at]);
    json_t *statement = json_array_get(list, at);
    const char *what = program_text(statement, "what");
    cr_assert(strncmp(what, wanted[at], strlen(wanted[at])) == 0, "%s: '%s' in place of '%s'", name, what, wanted[at]);
    cr_expect(json_is_boolean(program_member(statement, "holds")));
  }
  cr_assert_eq(at, json_array_size(list), "%s: more than the %zu statements that were expected", name, at);
}

static const char *const repro_none[] = {NULL};

/* What `muster repro LINE --json -` writes. It ends with 0, each check is there and holds, and each comparison is
 * there: whether one of these holds is a matter of what else the machine does. The caller releases the document. */
static inline json_t *repro_json(const char *line, const char *const *checks, const char *const *compared) {
  json_t *json = program_json(formed("repro %s --json -", line)), *list = program_member(json, "checks");
  repro_expect_statements(json, "checks", checks);
  repro_expect_statements(json, "compared", compared);
  PROGRAM_EACH(i, check, list) {
    cr_expect(program_true(check, "holds"), "%s", json_string_value(program_member(check, "what")));
  }
  cr_assert(json_is_true(program_member(json, "holds")));
  return json;
}

#endif
