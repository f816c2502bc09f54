/* Small worlds of Rankin's scheduler with updates that take several ticks: the effects of progress and preemption. */
#include "rankin.h"

#include <muster/sets.h>

#include <math.h>

enum { MS = 1000000, SLICES = 4, CHARACTERS = 40, PER_TICK = 4, TICKS = 400, ATOMS_MAX = 30, IMPORTANT = 4 };

static const uint64_t tick_ns = 30 * (uint64_t)MS;

/* What callbacks note. */
struct notes {
  uint32_t tick;
  uint32_t completed, important; /* updates; of the important, in this tick */
  double ticks;                  /* sum over those that are complete */
};

static muster_atom_result begin_update(muster_update *update) {
  const struct notes *notes = update->type_user;
  *(uint32_t *)update->state = notes->tick;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result go_on(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result end_update(muster_update *update) {
  struct notes *notes = update->type_user;
  notes->completed++;
  notes->ticks += notes->tick - *(uint32_t *)update->state + 1;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result note_important(muster_update *update) {
  ((struct notes *)update->type_user)->important++;
  return MUSTER_ATOM_NEXT;
}

static muster_world_def little_world(void) {
  muster_world_def def = repro_world_def();
  def.limits.agents_max = CHARACTERS;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.priority.runs = 0.0f;
  def.priority.guarantee_ns = RANKIN_OUT_OF_REACH * tick_ns;
  return def;
}

static muster_type_def little_type(struct notes *notes) {
  muster_type_def def = muster_type_def_default();
  def.state_bytes = sizeof(uint64_t);
  def.period_ns = def.period_max_ns = tick_ns;
  def.limit_ns = 100 * (uint64_t)MS;
  def.user = notes;
  return def;
}

static bool run_ticks(muster_world *world, struct notes *notes, rankin_slices *slices) {
  muster_frame_report report = muster_frame_report_default();
  for (notes->tick = 0; notes->tick < TICKS; notes->tick++) {
    notes->important = 0;
    if (muster_frame_run(world, &(muster_frame){notes->tick * tick_ns, tick_ns}) != MUSTER_OK) return false;
    muster_frame_report_read(world, &report);
    slices->longest_ms = fmax(slices->longest_ms, (double)report.update_cpu_ns / MS);
    slices->missed += notes->tick > 0 && notes->important < IMPORTANT; /* the first is the intake's */
  }
  slices->completed = notes->completed;
  slices->ticks = notes->ticks / fmax(notes->completed, 1);
  return true;
}

bool rankin_run_progress(float weight, rankin_slices *slices) {
  const muster_atom atoms[SLICES] = {{.run = begin_update, .model_ns = MS},
                                     {.run = go_on, .model_ns = MS},
                                     {.run = go_on, .model_ns = MS},
                                     {.run = end_update, .model_ns = MS}};
  muster_world_def def = little_world();
  muster_set_def set = muster_set_def_default();
  struct notes notes = {0};
  muster_type_def type = little_type(&notes);
  *slices = (rankin_slices){0};
  def.updates_per_frame = PER_TICK;
  def.priority.progress = weight;
  set.atoms = atoms;
  set.atom_count = SLICES;
  set.mode = MUSTER_MODE_SLICEABLE;
  type.sets.list = &set;
  type.sets.count = 1;
  type.sets.slice_ns = MS;
  muster_world *world = muster_world_create(&def);
  bool done = world && repro_spawn(world, &type, CHARACTERS, 0.5f) && run_ticks(world, &notes, slices);
  muster_world_destroy(world);
  return done;
}

bool rankin_run_long(uint32_t count, rankin_slices *slices) {
  const muster_atom brief = {.run = note_important, .model_ns = MS};
  muster_atom atoms[ATOMS_MAX + 1];
  muster_world_def def = little_world();
  struct notes notes = {0};
  muster_type_def long_type = little_type(&notes), important = little_type(&notes);
  *slices = (rankin_slices){0};
  def.clock.capacity_ns = 10 * (uint64_t)MS;
  def.debt_budgets = 0.0f; /* each tick is judged by itself */
  for (uint32_t i = 0; i < count; i++)
    atoms[i] = (muster_atom){.run = i + 1 < count ? go_on : end_update, .model_ns = ATOMS_MAX / count * MS};
  long_type.atoms = atoms;
  long_type.atom_count = count;
  important.atoms = &brief;
  important.atom_count = 1;
  muster_world *world = muster_world_create(&def);
  bool done = world && repro_spawn(world, &important, IMPORTANT, 1.0f) && repro_spawn(world, &long_type, 1, 0.1f) &&
              run_ticks(world, &notes, slices);
  muster_world_destroy(world);
  return done;
}
