#include "tidy.h"

static bool is_searched(const tidy_source *source) {
  return source_in(source, "src/") && source_ends(source, ".c");
}

/* Another file of src that has a static function of this name; null when there is none. */
static const tidy_source *find_namesake(const tidy_run *tidy, const tidy_function *function) {
  for (tidy_function *at = functions_find(tidy, function->name); at; at = functions_next(at))
    if (at->is_static && is_searched(at->source) && at->source != function->source) return at->source;
  return NULL;
}

void rule_names(tidy_run *tidy) {
  enum { FEW_LINES = 5 };
  for (const tidy_function *function = tidy->functions; function->source; function++) {
    const tidy_source *source = function->source;
    if (!function->is_static || !is_searched(source) || function->lines <= FEW_LINES) continue;
    const tidy_source *other = find_namesake(tidy, function);
    if (other)
      tidy_report(tidy, source, source_line_at(source, function->name.offset), "names",
                  "%s has a %.*s, too: give it a word of its file, so that a search finds one place", other->path,
                  (int)function->name.length, function->name.start);
  }
}
