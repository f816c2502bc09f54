#include "tidy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool line_is_blank(const tidy_source *source, const char *form, size_t line) {
  for (size_t i = source->lines[line]; i < source->lines[line + 1]; i++)
    if (!isspace((unsigned char)form[i])) return false;
  return true;
}

static bool line_is_comment(const tidy_source *source, size_t line) {
  return line_is_blank(source, source->words, line) && !line_is_blank(source, source->text, line);
}

/* A comment covers the declaration below it, and those that follow without a blank line or anything else between. */
static void check_header(tidy_run *tidy, const tidy_source *source) {
  size_t covered_to = 0; /* the line behind the last declaration that a comment covers; 0 = none */
  tidy_declaration declaration;
  for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end) {
    if (declaration.kind != DECLARATION_PROTOTYPE) continue;
    size_t first = source_line_at(source, declaration.start), last = source_line_at(source, declaration.end - 1);
    bool covered = first > 0 && (line_is_comment(source, first - 1) || first == covered_to);
    if (covered)
      covered_to = last + 1;
    else
      tidy_report(tidy, source, first, "documented",
                  "write a comment directly above %.*s: what it does, for which arguments, on which thread",
                  (int)declaration.name.length, source->code + declaration.name.offset);
  }
}

void rule_documented(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++) {
    const tidy_source *source = &tidy->sources[i];
    if (source_ends(source, ".h") && (source_in(source, "include/muster/") || source_in(source, "src/")))
      check_header(tidy, source);
  }
}

/* ----------------------------------------------------------------------------------------------------------- stages */

static const char *const stages[] = {"stage_intake",  "stage_score", "stage_fold", "stage_fit",
                                     "stage_release", "stage_rank",  "stage_run",  "stage_commit"};

/* The last place inside a function's body that names the stage: its call. 0 when there is none. */
static size_t call_of(const tidy_source *source, const char *stage) {
  size_t call = 0, length = strlen(stage);
  tidy_declaration declaration;
  for (size_t at = 0; source_next_declaration(source, at, &declaration); at = declaration.end) {
    if (declaration.kind != DECLARATION_FUNCTION) continue;
    tidy_identifier word = {0};
    for (size_t i = declaration.body_open; source_next_identifier(source->code, declaration.body_end, i, &word);
         i = word.offset + word.length)
      if (word.length >= length && strncmp(source->code + word.offset, stage, length) == 0) call = word.offset;
  }
  return call;
}

static void check_stages(tidy_run *tidy, const tidy_source *frame) {
  size_t before = 0;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
    size_t call = call_of(frame, stages[i]);
    if (call == 0)
      tidy_report(tidy, frame, 0, "stages", "%s... is not called: the frame is the table of contents", stages[i]);
    else if (call < before)
      tidy_report(tidy, frame, source_line_at(frame, call), "stages", "call %s... after the stage before it",
                  stages[i]);
    if (call > before) before = call;
  }
}

void rule_stages(tidy_run *tidy) {
  for (size_t i = 0; i < tidy->source_count; i++)
    if (strcmp(tidy->sources[i].path, "src/frame/frame.c") == 0) {
      check_stages(tidy, &tidy->sources[i]);
      return;
    }
  tidy->findings++;
  puts("src/frame/frame.c:1: stages: the file is missing: write the eight stages of the frame there");
}
