#include "tidy.h"

#include <stdio.h>
#include <string.h>

static bool line_is_blank(const tidy_source *source, const char *form, size_t line) {
  size_t start = source->lines[line];
  return start + strspn(form + start, " \t\r\n") >= source->lines[line + 1];
}

static bool line_is_comment(const tidy_source *source, size_t line) {
  return line_is_blank(source, source->words, line) && !line_is_blank(source, source->text, line);
}

/* A comment covers the declaration below it, and those that follow without a blank line or anything else between. What
 * MUSTER_DEFAULTS declares is told where it is defined. */
static void check_header(tidy_run *tidy, const tidy_source *source) {
  size_t covered_to = 0; /* the line behind the last declaration that a comment covers; 0 = none */
  for (tidy_declaration declaration = {0}; source_next_declaration(source, &declaration);) {
    if (declaration.kind != DECLARATION_PROTOTYPE || word_is(declaration.name, "MUSTER_DEFAULTS")) continue;
    size_t first = source_line_at(source, declaration.start), last = source_line_at(source, declaration.end - 1);
    bool covered = first > 0 && (line_is_comment(source, first - 1) || first == covered_to);
    if (covered)
      covered_to = last + 1;
    else
      tidy_report(tidy, source, first, "documented",
                  "write a comment directly above %.*s: what it does, for which arguments, on which thread",
                  (int)declaration.name.length, declaration.name.start);
  }
}

void rule_documented(tidy_run *tidy) {
  static const char *const folders[] = {"include/muster/", "src/", NULL};
  for (const tidy_source *source = tidy->sources; source->path; source++)
    if (source_ends(source, ".h") && source_in_any(source, folders)) check_header(tidy, source);
}

/* ----------------------------------------------------------------------------------------------------------- stages */

static const char *const stages[] = {"stage_intake",  "stage_score", "stage_fold", "stage_fit",
                                     "stage_release", "stage_rank",  "stage_run",  "stage_commit"};

/* The last place inside a function's body that names the stage: its call. 0 when there is none. */
static size_t call_of(const tidy_run *tidy, const tidy_source *source, const char *stage) {
  size_t call = 0;
  for (const tidy_function *at = tidy->functions; at->source; at++)
    if (at->source == source)
      for (tidy_word word = {.offset = at->body_open}; word_next(source->code, at->body_end, &word);)
        if (word_begins(word, stage) && word.offset > call) call = word.offset;
  return call;
}

static void check_stages(tidy_run *tidy, const tidy_source *frame) {
  size_t before = 0;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    size_t call = call_of(tidy, frame, stages[i]);
    if (call == 0)
      tidy_report(tidy, frame, 0, "stages", "%s... is not called: the frame is the table of contents", stages[i]);
    else if (call < before)
      tidy_report(tidy, frame, source_line_at(frame, call), "stages", "call %s... after the stage before it",
                  stages[i]);
    if (call > before) before = call;
  }
}

void rule_stages(tidy_run *tidy) {
  for (const tidy_source *source = tidy->sources; source->path; source++)
    if (strcmp(source->path, "src/frame/frame.c") == 0) {
      check_stages(tidy, source);
      return;
    }
  tidy->findings++;
  puts("src/frame/frame.c:1: stages: the file is missing: write the eight stages of the frame there");
}
