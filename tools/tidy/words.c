#include "tidy.h"

#include <string.h>
#include <strings.h>

static bool begins(const tidy_source *source, tidy_identifier word, const char *prefix) {
  size_t length = strlen(prefix);
  return word.length >= length && strncmp(source->words + word.offset, prefix, length) == 0;
}

static bool is(const tidy_source *source, tidy_identifier word, const char *wanted) {
  return word.length == strlen(wanted) && begins(source, word, wanted);
}

static bool begins_with_any(const tidy_source *source, tidy_identifier word, const char *const *prefixes) {
  for (; *prefixes; prefixes++)
    if (begins(source, word, *prefixes)) return true;
  return false;
}

static bool is_any(const tidy_source *source, tidy_identifier word, const char *const *list) {
  for (; *list; list++)
    if (is(source, word, *list)) return true;
  return false;
}

/* Calls `check` for every identifier outside comments and literals. */
static void each_word(tidy_run *tidy, const tidy_source *source,
                      void (*check)(tidy_run *tidy, const tidy_source *source, tidy_identifier word)) {
  tidy_identifier word = {0};
  for (size_t at = 0; source_next_identifier(source->words, source->length, at, &word); at = word.offset + word.length)
    check(tidy, source, word);
}

static void report_word(tidy_run *tidy, const tidy_source *source, tidy_identifier word, const char *rule,
                        const char *advice) {
  tidy_report(tidy, source, source_line_at(source, word.offset), rule, "%.*s: %s", (int)word.length,
              source->words + word.offset, advice);
}

/* ---------------------------------------------------------------------------------------------------------- atomics */

static bool ends(const tidy_source *source, tidy_identifier word, const char *ending) {
  size_t length = strlen(ending);
  return word.length >= length && strncmp(source->words + word.offset + word.length - length, ending, length) == 0;
}

/* Whether the word is one of pool/atomics.h: an operation, its order and its width, such as load_relaxed_u32. */
static bool is_wrapper(const tidy_source *source, tidy_identifier word) {
  static const char *const orders[] = {"_relaxed", "_acquire", "_release", "_ordered", NULL};
  static const char *const widths[] = {"_u8", "_u32", "_u64", NULL};
  for (const char *const *width = widths; *width; width++) {
    if (!ends(source, word, *width)) continue;
    tidy_identifier operation = {word.offset, word.length - strlen(*width)};
    for (const char *const *order = orders; *order; order++)
      if (ends(source, operation, *order)) return true;
  }
  return is(source, word, "pause_processor");
}

static void check_atomic(tidy_run *tidy, const tidy_source *source, tidy_identifier word) {
  static const char *const prefixes[] = {"__atomic_", "__sync_",      "atomic_", "stdatomic", "pthread", "ck_",
                                         "thrd_",     "memory_order", "mtx_",    "cnd_",      "sem_",    NULL};
  if (begins_with_any(source, word, prefixes) || is(source, word, "_Atomic") || is_wrapper(source, word))
    report_word(tidy, source, word, "atomics",
                "atomics and threads belong to src/pool and src/run: call their interface");
}

void rule_atomics(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    bool ours = source_in(source, "src/") || source_in(source, "include/") || source_in(source, "tools/");
    if (ours && !source_in(source, "src/pool/") && !source_in(source, "src/run/"))
      each_word(tidy, source, check_atomic);
  }
}

/* --------------------------------------------------------------------------------------------------------- prefetch */

static void check_prefetch(tidy_run *tidy, const tidy_source *source, const tidy_declaration *declaration) {
  static const char prefix[] = "prefetch_", wanted[] = "PREFETCH_FUNCTION";
  tidy_identifier first;
  if (declaration->kind == DECLARATION_OTHER || declaration->name.length < sizeof prefix ||
      strncmp(source->code + declaration->name.offset, prefix, sizeof prefix - 1) != 0)
    return;
  source_next_identifier(source->code, source->length, declaration->start, &first);
  if (!is(source, first, wanted))
    tidy_report(tidy, source, source_line_at(source, declaration->name.offset), "prefetch",
                "declare %.*s with %s: base/prefetch.h says why", (int)declaration->name.length,
                source->code + declaration->name.offset, wanted);
}

void rule_prefetch(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    tidy_declaration declaration;
    for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end)
      check_prefetch(tidy, source, &declaration);
  }
}

/* ------------------------------------------------------------------------------------------------------------ clock */

static void check_clock(tidy_run *tidy, const tidy_source *source, tidy_identifier word) {
  static const char *const clocks[] = {
      "clock_gettime", "gettimeofday", "timespec_get", "__rdtsc", "_rdtsc", "__rdtscp", NULL};
  if (is_any(source, word, clocks))
    report_word(tidy, source, word, "clock", "the machine's clocks are read in base/clock.c alone: use base/clock.h");
}

void rule_clock(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    if (source_in(source, "src/") && strcmp(source->path, "src/base/clock.c") != 0)
      each_word(tidy, source, check_clock);
  }
}

/* ------------------------------------------------------------------------------------------------------- vocabulary */

/* Whether a word between two underscores of an identifier is one of the list, in any case. */
static bool has_part(const tidy_source *source, tidy_identifier word, const char *const *list) {
  size_t end = word.offset + word.length;
  for (size_t start = word.offset; start < end;) {
    size_t length = 0;
    while (start + length < end && source->words[start + length] != '_') length++;
    for (const char *const *entry = list; *entry; entry++)
      if (strlen(*entry) == length && strncasecmp(source->words + start, *entry, length) == 0) return true;
    start += length + 1;
  }
  return false;
}

static void check_vocabulary(tidy_run *tidy, const tidy_source *source, tidy_identifier word) {
  static const char *const foreign[] = {"tick", "ticks", "entity", "entities", "task", "tasks", NULL};
  if (has_part(source, word, foreign))
    report_word(tidy, source, word, "vocabulary", "say agent, update, atom, frame or job, whichever it is");
}

void rule_vocabulary(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++)
    if (source_in(&tidy->sources[i], "src/") || source_in(&tidy->sources[i], "include/"))
      each_word(tidy, &tidy->sources[i], check_vocabulary);
}

/* -------------------------------------------------------------------------------------------------------- leftovers */

/* Such notes stand in comments. */
static bool is_note(const tidy_source *source, tidy_identifier word) {
  static const char *const notes[] = {"TODO", "FIXME", "XXX"};
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
    if (word.length == strlen(notes[i]) && strncmp(source->prose + word.offset, notes[i], word.length) == 0)
      return true;
  return false;
}

void rule_no_leftovers(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    tidy_identifier word = {0};
    for (size_t at = 0; source_next_identifier(source->prose, source->length, at, &word);
         at = word.offset + word.length)
      if (is_note(source, word))
        tidy_report(tidy, source, source_line_at(source, word.offset), "leftover", "%.*s: do it now, or leave it out",
                    (int)word.length, source->prose + word.offset);
  }
}
