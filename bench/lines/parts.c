#include "parts.h"

#include "names.h"
#include "touched.h"

#include "frame/audit.h"

#include <stdlib.h>
#include <string.h>

static bool parts_missed;

/* ------------------------------------------------------------------------------------------------------------ frames
 *
 * The linker puts these functions in the place of those whose names they wear (--wrap): whoever calls
 * muster_frame_run() calls __wrap_muster_frame_run(), and __real_muster_frame_run() is the library's. The library tells
 * of each stage that is over by audit_stage(), so these are where one part of a frame ends and the next begins. */

muster_result __real_muster_frame_run(muster_world *world, const muster_frame *frame);
muster_result __wrap_muster_frame_run(muster_world *world, const muster_frame *frame);
void __real_audit_begin(struct muster_world *world);
void __wrap_audit_begin(struct muster_world *world);
void __real_audit_stage(struct muster_world *world, muster_stage stage);
void __wrap_audit_stage(struct muster_world *world, muster_stage stage);

muster_result __wrap_muster_frame_run(muster_world *world, const muster_frame *frame) {
  if (!touched_begin(LINES_AROUND)) parts_missed = true;
  muster_result result = __real_muster_frame_run(world, frame);
  if (!touched_end()) parts_missed = true;
  return result;
}

void __wrap_audit_begin(struct muster_world *world) {
  __real_audit_begin(world);
  touched_turn(MUSTER_STAGE_INTAKE);
}

void __wrap_audit_stage(struct muster_world *world, muster_stage stage) {
  __real_audit_stage(world, stage);
  touched_turn(stage == MUSTER_STAGE_COMMIT ? (uint32_t)LINES_AROUND : (uint32_t)stage + 1);
}

bool parts_are_whole(void) {
  return !parts_missed;
}

/* ---------------------------------------------------------------------------------------------------------- tallies */

static void parts_take_line(uintptr_t line, uint32_t parts, void *user) {
  parts_tally *tally = user;
  uint64_t *lines = tally->lines[names_at(line)];
  for (uint32_t i = 0; i < LINES_PARTS; i++) {
    lines[i] += parts >> i & 1;
    tally->all[i] += parts >> i & 1;
  }
  bool counts = (parts & ~(1u << MUSTER_STAGE_RUN)) != 0;
  lines[LINES_SUM] += counts;
  tally->all[LINES_SUM] += counts;
}

void parts_take(parts_tally *tally) {
  touched_visit(parts_take_line, tally);
  tally->frames++;
}

static int parts_in_order(const void *one, const void *other) {
  const lines_structure *a = one, *b = other;
  if (a->lines[LINES_SUM] != b->lines[LINES_SUM]) return a->lines[LINES_SUM] < b->lines[LINES_SUM] ? 1 : -1;
  if (a->lines[MUSTER_STAGE_RUN] != b->lines[MUSTER_STAGE_RUN])
    return a->lines[MUSTER_STAGE_RUN] < b->lines[MUSTER_STAGE_RUN] ? 1 : -1;
  return strcmp(a->name, b->name);
}

bool parts_conclude(const parts_tally *tally, lines_row *row) {
  double updates = (double)tally->updates;
  row->count = 0;
  row->frames = (uint32_t)tally->frames;
  if (tally->updates == 0) return false;
  row->updates_per_frame = updates / (double)tally->frames;
  row->carried_per_frame = (double)tally->carried / (double)tally->frames;
  row->pressure = tally->pressure / (double)tally->frames;
  for (uint32_t i = 0; i < LINES_COLUMNS; i++) row->lines[i] = (double)tally->all[i] / updates;
  for (uint32_t name = 0; name < names_count(); name++) {
    const uint64_t *lines = tally->lines[name];
    lines_structure *structure = &row->structures[row->count];
    if (lines[LINES_SUM] == 0 && lines[MUSTER_STAGE_RUN] == 0) continue;
    names_write(name, structure->name);
    for (uint32_t i = 0; i < LINES_COLUMNS; i++) structure->lines[i] = (double)lines[i] / updates;
    row->count++;
  }
  qsort(row->structures, row->count, sizeof *row->structures, parts_in_order);
  return true;
}
