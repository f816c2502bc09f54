#include "check.h"

#include "names.h"
#include "parts.h"
#include "planted.h"
#include "touched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 9, COPIED_BYTES = 5 * 64, CLEARED_BYTES = 3 * 64 };

/* A kind of access: in which part of a frame it is done, beginning at which line, and how many it must touch. */
typedef struct check_kind {
  const char *name;
  uint32_t part, from, touches;
} check_kind;

/* Some touch lines that others do, too; those of run alone are no part of the sum. */
static const check_kind check_kinds[KINDS] = {
    {"reads", MUSTER_STAGE_INTAKE, 0, PLANTED_READS},
    {"writes", MUSTER_STAGE_SCORE, 10, PLANTED_WRITES},
    {"a number in two lines", MUSTER_STAGE_FOLD, 41, PLANTED_ACROSS},
    {"a struct copied", MUSTER_STAGE_FIT, 35, PLANTED_COPY},
    {"bytes copied", MUSTER_STAGE_RELEASE, 20, PLANTED_COPY},
    {"bytes cleared", MUSTER_STAGE_RANK, 50, PLANTED_CLEARED},
    {"atomic counts", MUSTER_STAGE_RUN, 60, PLANTED_ATOMIC},
    {"atomic counts", MUSTER_STAGE_COMMIT, 45, PLANTED_ATOMIC},
    {"the stack", LINES_AROUND, 0, 0},
};

/* Lines 0 to 48 and 50 to 52; 60 to 63 are touched in run alone. */
enum { CHECK_SUM = 49 + PLANTED_CLEARED };

static uint64_t check_touch(planted_line *all, uint32_t kind) {
  planted_line *lines = all + check_kinds[kind].from;
  touched_turn(check_kinds[kind].part);
  switch (check_kinds[kind].part) {
  case MUSTER_STAGE_INTAKE:
    return planted_read(lines);
  case MUSTER_STAGE_SCORE:
    planted_write(lines);
    return 0;
  case MUSTER_STAGE_FOLD:
    return planted_read_across(lines);
  case MUSTER_STAGE_FIT:
    planted_copy(lines);
    return 0;
  case MUSTER_STAGE_RELEASE:
    planted_copy_bytes(lines, COPIED_BYTES);
    return 0;
  case MUSTER_STAGE_RANK:
    planted_clear(lines, CLEARED_BYTES);
    return 0;
  case MUSTER_STAGE_RUN:
  case MUSTER_STAGE_COMMIT:
    planted_count(lines);
    return 0;
  default:
    return planted_on_stack(kind);
  }
}

/* The planted structure's line of the row, of one update. */
static const lines_structure *check_find(const lines_row *row) {
  for (uint32_t i = 0; i < row->count; i++)
    if (strcmp(row->structures[i].name, PLANTED_NAME) == 0) return &row->structures[i];
  return NULL;
}

static const char *check_compare(const lines_row *row) {
  static char wrong[160];
  const lines_structure *planted = check_find(row);
  if (!planted) return "planted memory has no name";
  for (uint32_t i = 0; i < KINDS; i++)
    if (planted->lines[check_kinds[i].part] != check_kinds[i].touches ||
        row->lines[check_kinds[i].part] != check_kinds[i].touches) {
      snprintf(wrong, sizeof wrong, "%s touch %u planted lines, but %g were counted, and %g elsewhere",
               check_kinds[i].name, check_kinds[i].touches, planted->lines[check_kinds[i].part],
               row->lines[check_kinds[i].part] - planted->lines[check_kinds[i].part]);
      return wrong;
    }
  if (planted->lines[LINES_SUM] == CHECK_SUM && row->lines[LINES_SUM] == CHECK_SUM) return NULL;
  snprintf(wrong, sizeof wrong, "%d planted lines are touched outside run, but %g were counted", CHECK_SUM,
           planted->lines[LINES_SUM]);
  return wrong;
}

static const char *check_count(planted_line *lines, parts_tally *tally, lines_row *row) {
  uint64_t read = 0;
  if (!touched_begin(LINES_AROUND)) return "out of memory";
  for (uint32_t i = 0; i < KINDS; i++) read += check_touch(lines, i);
  if (!touched_end() || read == UINT64_MAX) return "out of memory";
  parts_take(tally);
  tally->updates = 1;
  if (!parts_conclude(tally, row)) return "nothing was counted";
  return check_compare(row);
}

const char *check_planted(void) {
  struct arena arena;
  parts_tally *tally = calloc(1, sizeof *tally);
  lines_row *row = calloc(1, sizeof *row);
  const char *wrong = "out of memory";
  names_forget();
  if (tally && row && arena_create(&arena, &(muster_allocator){0}) == MUSTER_OK) {
    planted_line *lines = planted_reserve(&arena);
    if (lines) wrong = check_count(lines, tally, row);
    arena_destroy(&arena);
  }
  free(tally);
  free(row);
  names_forget();
  return wrong;
}
