#include "tidy.h"

#include <string.h>
#include <strings.h>

/* Whether the word is one of pool/atomics.h: an operation, its order and its width, such as load_relaxed_u32. */
static bool is_wrapper(tidy_word word) {
  static const char *const orders[] = {"_relaxed", "_acquire", "_release", "_ordered", NULL};
  static const char *const widths[] = {"_u8", "_u32", "_u64", NULL};
  for (const char *const *width = widths; *width; width++) {
    if (!word_ends(word, *width)) continue;
    tidy_word operation = {.start = word.start, .length = word.length - strlen(*width)};
    for (const char *const *order = orders; *order; order++)
      if (word_ends(operation, *order)) return true;
  }
  return word_is(word, "pause_processor");
}

static bool is_atomic(tidy_word word) {
  static const char *const prefixes[] = {"__atomic_", "__sync_",      "atomic_", "stdatomic", "pthread", "ck_",
                                         "thrd_",     "memory_order", "mtx_",    "cnd_",      "sem_",    NULL};
  for (const char *const *prefix = prefixes; *prefix; prefix++)
    if (word_begins(word, *prefix)) return true;
  return word_is(word, "_Atomic") || is_wrapper(word);
}

static bool is_clock(tidy_word word) {
  static const char *const clocks[] = {
      "clock_gettime", "gettimeofday", "timespec_get", "__rdtsc", "_rdtsc", "__rdtscp", NULL};
  return word_is_any(word, clocks);
}

/* Whether a word between two underscores of an identifier is foreign, in any case. */
static bool is_foreign(tidy_word word) {
  static const char *const foreign[] = {"tick", "ticks", "entity", "entities", "task", "tasks", NULL};
  const char *end = word.start + word.length;
  for (const char *start = word.start, *next; start < end; start = next + 1) {
    next = memchr(start, '_', (size_t)(end - start));
    if (!next) next = end;
    for (const char *const *entry = foreign; *entry; entry++)
      if (strlen(*entry) == (size_t)(next - start) && strncasecmp(start, *entry, strlen(*entry)) == 0) return true;
  }
  return false;
}

/* Such notes stand in comments. */
static bool is_note(tidy_word word) {
  static const char *const notes[] = {"TODO", "FIXME", "XXX", NULL};
  return word_is_any(word, notes);
}

/* Identifiers that may not stand in some folders; in comments, too, where `prose` says so. */
static const struct word_rule {
  const char *name;
  bool prose;
  bool (*breaks)(tidy_word word);
  const char *in[4], *but[3];
  const char *advice;
} rules[] = {
    {"atomics",
     false,
     is_atomic,
     {"src/", "include/", "tools/"},
     {"src/pool/", "src/run/"},
     "atomics and threads belong to src/pool and src/run: call their interface"},
    {"clock",
     false,
     is_clock,
     {"src/"},
     {"src/base/clock.c"},
     "the machine's clocks are read in base/clock.c alone: use base/clock.h"},
    {"vocabulary",
     false,
     is_foreign,
     {"src/", "include/"},
     {NULL},
     "say agent, update, atom, frame or job, whichever it is"},
    {"leftover", true, is_note, {""}, {NULL}, "do it now, or leave it out"},
};

void rule_words(tidy_run *tidy) {
  for (const struct word_rule *rule = rules; rule < rules + sizeof rules / sizeof *rules; rule++)
    for (const tidy_source *source = tidy->sources; source->path; source++) {
      if (!source_in_any(source, rule->in) || source_in_any(source, rule->but)) continue;
      for (tidy_word word = {0}; word_next(rule->prose ? source->prose : source->words, source->length, &word);)
        if (rule->breaks(word))
          tidy_report(tidy, source, source_line_at(source, word.offset), rule->name, "%.*s: %s", (int)word.length,
                      word.start, rule->advice);
    }
}

/* --------------------------------------------------------------------------------------------------------- prefetch */

void rule_prefetch(tidy_run *tidy) {
  static const char prefix[] = "prefetch_", wanted[] = "PREFETCH_FUNCTION";
  for (const tidy_source *source = tidy->sources; source->path; source++)
    for (tidy_declaration declaration = {0}; source_next_declaration(source, &declaration);) {
      tidy_word name = declaration.name;
      if (declaration.kind == DECLARATION_OTHER || name.length < sizeof prefix || !word_begins(name, prefix) ||
          word_is(word_at(source->code, declaration.start), wanted))
        continue;
      tidy_report(tidy, source, source_line_at(source, name.offset), "prefetch",
                  "declare %.*s with %s: base/prefetch.h says why", (int)name.length, name.start, wanted);
    }
}
