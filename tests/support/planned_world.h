/* tests/support/planned_world.h - a planner world for tests, and a host that runs its plans. */
#ifndef PLANNED_WORLD_H
#define PLANNED_WORLD_H

#include "support/little_world.h"

#include <muster/planner.h>

enum { ENTRIES_MAX = 4096 };

typedef struct planned_world {
  little_world little; /* no pool of its own */
  muster_plan_summary plan;
  muster_plan_entry entries[ENTRIES_MAX];
  muster_plan_result results[ENTRIES_MAX];
} planned_world;

static inline planned_world *planned_world_create(const muster_world_def *given) {
  planned_world *planned = calloc(1, sizeof *planned);
  muster_world_def def = given ? *given : muster_world_def_default();
  if (!given) def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  if (!def.planner_workers) def.planner_workers = 1;
  planned->little.world = muster_world_create(&def);
  cr_assert_not_null(planned->little.world, "%s", muster_last_error());
  return planned;
}

static inline void planned_world_destroy(planned_world *planned) {
  if (!planned->little.provokes_idle) expect_full_frames(planned->little.world);
  muster_world_destroy(planned->little.world);
  free(planned);
}

/* For SCOPED(). */
static inline void planned_world_end(planned_world **planned) {
  planned_world_destroy(*planned);
}

/* A type of so many steps of 1 us. */
static inline muster_type_def parts_type(uint32_t steps) {
  return WITH(muster_type_def, it.parts.count = steps);
}

/* Its period does not stretch. */
static inline muster_type_def rigid_type(uint32_t steps) {
  return WITH(muster_type_def, it.parts.count = steps, it.period_max_ns = it.period_ns);
}

/* A world with so many agents of a type, a metre apart. */
static inline planned_world *planned_world_of(const muster_world_def *given, muster_type_def type, uint32_t agents) {
  planned_world *planned = planned_world_create(given);
  register_type(&planned->little, &type);
  for (uint32_t i = 0; i < agents; i++) spawn_at(&planned->little, i);
  return planned;
}

static inline uint32_t plan_with(planned_world *planned, uint64_t budget_ns, uint32_t capacity) {
  planned->little.now_ns += FRAME_NS;
  planned->plan = muster_plan_summary_default();
  assert_ok(muster_plan(planned->little.world, &(muster_frame){planned->little.now_ns, budget_ns}, planned->entries,
                        capacity, &planned->plan));
  cr_assert_leq(planned->plan.count, capacity);
  return planned->plan.count;
}

static inline uint32_t plan(planned_world *planned) {
  return plan_with(planned, 5000000u, ENTRIES_MAX);
}

/* What a host reports that ran an entry as it was planned, at the cost that was expected. */
static inline muster_plan_result result_as_planned(const muster_plan_entry *entry, uint32_t steps) {
  muster_plan_result result = {.agent = entry->agent, .cost_ns = entry->slice_ns, .outcome = MUSTER_PLAN_FINISHED};
  if (entry->part_end == steps) return result;
  result.outcome = MUSTER_PLAN_CONTINUED;
  result.part_next = entry->part_end;
  return result;
}

/* The same for the first `count` entries of the plan. */
static inline void run_entries(planned_world *planned, uint32_t count, uint32_t steps) {
  for (uint32_t i = 0; i < count; i++) planned->results[i] = result_as_planned(&planned->entries[i], steps);
}

/* What an update of the last type takes at its best level. */
static inline muster_type_cost planned_cost(const planned_world *planned) {
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(planned->little.world, planned->little.type, 0, &cost), MUSTER_OK);
  return cost;
}

/* What a host reports that stopped before that part. */
static inline muster_plan_result result_until(muster_agent agent, uint32_t part, uint64_t cost_ns) {
  return (muster_plan_result){.agent = agent, .cost_ns = cost_ns, .outcome = MUSTER_PLAN_CONTINUED, .part_next = part};
}

/* The first results are refused, for what these words name. */
static inline void expect_report_refused(const planned_world *planned, uint32_t count, const char *words) {
  cr_assert_eq(muster_plan_report(planned->little.world, planned->results, count), MUSTER_E_ARGUMENT, "%s", words);
  cr_assert_not_null(strstr(muster_last_error(), words), "'%s' should name '%s'", muster_last_error(), words);
}

static inline muster_frame_report report(planned_world *planned, uint32_t count) {
  muster_frame_report report = muster_frame_report_default();
  assert_ok(muster_plan_report(planned->little.world, planned->results, count));
  muster_frame_report_read(planned->little.world, &report);
  return report;
}

/* A frame in which all that is planned is finished. */
static inline muster_frame_report run_plan(planned_world *planned) {
  uint32_t count = plan(planned);
  for (uint32_t i = 0; i < count; i++)
    planned->results[i] = result_as_planned(&planned->entries[i], planned->entries[i].part_end);
  return report(planned, count);
}

#endif
