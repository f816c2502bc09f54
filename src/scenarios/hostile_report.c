#include "scenarios/hostile.h"

#include <math.h>
#include <stdio.h>

/* Sums over the living. */
typedef struct census {
  uint32_t count, of_kind[HOSTILE_KINDS];
  uint64_t updates, level_changes, wakes;
  uint64_t sent, heard, heard_twice, lost, in_boxes;
  uint64_t refused, misplaced;
  uint32_t lifetime_errors, place_errors;
} census;

void hostile_check_census(hostile *self, const muster_world *world) {
  muster_frame_report report = muster_default_frame_report();
  muster_frame_report_read(world, &report);
  if (!report.frame && self->begun) return; /* the world was loaded, and has run no frame yet */
  self->tally.census_errors += self->tally.births - self->tally.deaths != report.agents;
  if (report.agents > self->tally.population_max) self->tally.population_max = report.agents;
}

/* The last update may have done its atoms and not be complete. */
static bool has_lived_as_long(const hostile_life *life, const muster_agent_info *info) {
  uint64_t completed_ns = info->last_update_ns - life->born_ns;
  return life->lived_ns == completed_ns || life->lived_ns == completed_ns + life->last_elapsed_ns;
}

static void hostile_report_count_one(const hostile *self, const muster_agent_info *info, census *sums) {
  const hostile_life *life = info->state;
  sums->count++;
  for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++)
    sums->of_kind[kind] += self->casts[kind].type.index == info->type.index;
  sums->updates += life->updates;
  sums->level_changes += life->level_changes;
  sums->wakes += life->wakes;
  sums->sent += life->sent;
  sums->heard += life->heard;
  sums->heard_twice += life->heard_twice;
  sums->lost += life->lost;
  sums->in_boxes += info->messages;
  sums->refused += life->refused;
  sums->misplaced += life->misplaced;
  sums->lifetime_errors += !has_lived_as_long(life, info);
  sums->place_errors += !isfinite(info->position.x) || !isfinite(info->position.y) || !isfinite(info->position.z);
}

static census hostile_report_take_census(const hostile *self, const muster_world *world) {
  census sums = {0};
  muster_agent_info info = muster_default_agent_info();
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0, 0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent))
    if (muster_agent_read(world, agent, &info) == MUSTER_OK) hostile_report_count_one(self, &info, &sums);
  return sums;
}

static void emit_kinds(const census *sums, muster_module_emit emit, void *emit_user) {
  for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++) {
    char name[32];
    snprintf(name, sizeof name, "kind_%s", hostile_name((hostile_kind)kind));
    emit(name, sums->of_kind[kind], emit_user);
  }
}

static void emit_deeds(const hostile *self, const census *sums, muster_module_emit emit, void *emit_user) {
  const hostile_tally *tally = &self->tally;
  emit("births", (double)tally->births, emit_user);
  emit("deaths", (double)tally->deaths, emit_user);
  emit("kills", (double)tally->kills, emit_user);
  emit("births_refused", (double)tally->births_refused, emit_user);
  emit("updates_of_living", (double)sums->updates, emit_user);
  emit("cost_flips", (double)tally->flips, emit_user);
  emit("chorus_calls", (double)tally->calls, emit_user);
  emit("chorus_calls_refused", (double)tally->calls_refused, emit_user);
  emit("level_changes", (double)sums->level_changes, emit_user);
  emit("ring_wakes", (double)sums->wakes, emit_user);
  emit("messages_sent", (double)sums->sent, emit_user);
  emit("messages_heard", (double)sums->heard, emit_user);
  emit("messages_lost", (double)sums->lost, emit_user);
  emit("moves_refused", (double)sums->refused, emit_user);
}

/* Each must be 0. Gossips never die, so every message that was heard, waits or was lost had been sent. */
static void hostile_report_emit_violations(const hostile *self, const census *sums, muster_module_emit emit,
                                           void *emit_user) {
  const hostile_tally *tally = &self->tally;
  uint64_t arrived = sums->heard + sums->in_boxes + sums->lost;
  double invented = arrived > sums->sent ? (double)(arrived - sums->sent) : 0.0;
  double census_errors = (double)tally->census_errors + (tally->births - tally->deaths != sums->count);
  double misplaced = (double)(sums->misplaced + sums->place_errors);
  bool too_many = tally->population_max > self->agents_max;
  emit("census_errors", census_errors, emit_user);
  emit("lifetime_errors", sums->lifetime_errors, emit_user);
  emit("messages_heard_twice", (double)sums->heard_twice, emit_user);
  emit("messages_invented", invented, emit_user);
  emit("misplaced", misplaced, emit_user);
  emit("violations",
       census_errors + sums->lifetime_errors + (double)sums->heard_twice + invented + misplaced + too_many, emit_user);
}

void hostile_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  const hostile *self = instance;
  census sums = hostile_report_take_census(self, world);
  emit("population", sums.count, emit_user);
  emit("population_max", self->tally.population_max, emit_user);
  emit_kinds(&sums, emit, emit_user);
  emit_deeds(self, &sums, emit, emit_user);
  hostile_report_emit_violations(self, &sums, emit, emit_user);
}
