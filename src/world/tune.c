/* tune.c - weights that are turned while the world runs, and companions: checked on any thread, queued, applied at the
 * next intake. */
#include "world/tune.h"

#include "base/assert.h"
#include "base/fields.h"
#include "base/sized.h"
#include "plan/retime.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/penalties.h"
#include "world/workers.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_record.h"
#include "world/world_score.h"

#include <muster/tune.h>

/* -------------------------------------------------------------------------------------------------------- checks */

/* The groups of fields that do not count in such a world. */
static uint32_t groups_without(bool factors) {
  return factors ? 0 : FIELD_OF_FACTORS;
}

static muster_result check_factors(float focus, float designer, float role, float company) {
  if (focus + designer + role + company > 0.0f) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT,
                   "world: focus %g, designer %g, role %g and company %g must be 0..1 each and not all zero",
                   (double)focus, (double)designer, (double)role, (double)company);
}

static muster_result refuse_reserved(const char *what, const char *name) {
  return error_set(MUSTER_E_ARGUMENT, "%s: a `reserved` part is not 0: set it by %s(), or run with a newer library",
                   what, name);
}

/* Of the groups that definitions and tunings have. */
static bool groups_are_reserved(const muster_priority *priority, const muster_importance *importance,
                                const muster_levels *levels) {
  return FIELDS_RESERVED(*priority) && FIELDS_RESERVED(*importance) && FIELDS_RESERVED(*levels);
}

static muster_result check_world_reserved(const muster_world_def *def) {
  if (groups_are_reserved(&def->priority, &def->importance, &def->levels) && FIELDS_RESERVED(def->limits) &&
      FIELDS_RESERVED(def->clock) && FIELDS_RESERVED(def->load) && FIELDS_RESERVED(def->planner) &&
      FIELDS_RESERVED(def->trace) && FIELDS_RESERVED(def->watch) && FIELDS_RESERVED(def->zone))
    return MUSTER_OK;
  return refuse_reserved("world", "muster_world_def_default");
}

static muster_result check_zone(const muster_world_def *def) {
  if (!def->zone.number) return MUSTER_OK;
  if (def->limits.agents_max > ZONE_AGENTS_MAX)
    return error_set(MUSTER_E_ARGUMENT, "world: limits.agents_max %u of a zone must be at most %u",
                     def->limits.agents_max, ZONE_AGENTS_MAX);
  if (def->planner_workers)
    return error_set(MUSTER_E_ARGUMENT, "world: planner_workers %u of a zone must be 0", def->planner_workers);
  return MUSTER_OK;
}

muster_result tune_check_def(const muster_world_def *def) {
  bool factors = def->importance_model == MUSTER_IMPORTANCE_FACTORS;
  muster_result result = fields_check(fields_world, "world", NULL, def, groups_without(factors));
  if (!result) result = check_world_reserved(def);
  if (result) return result;
  if (def->limits.agents_ready > def->limits.agents_max)
    return error_set(MUSTER_E_ARGUMENT, "world: limits.agents_ready %u must be at most limits.agents_max %u",
                     def->limits.agents_ready, def->limits.agents_max);
  if (def->shards & (def->shards - 1))
    return error_set(MUSTER_E_ARGUMENT,
                     "world: shards %u must be a power of two, or 0 for as many as there are by default", def->shards);
  if (def->planner_workers && def->levels.cycles_max > 1)
    return error_set(MUSTER_E_ARGUMENT,
                     "world: levels.cycles_max %u must be 1 with planner_workers: the host runs updates",
                     def->levels.cycles_max);
  if ((result = check_zone(def))) return result;
  return factors ? check_factors(def->importance.focus, def->importance.designer, def->importance.role,
                                 def->importance.company)
                 : MUSTER_OK;
}

static bool gives_factors(const muster_world_tuning *tuning) {
  return !(tuning->importance.focus < 0.0f && tuning->importance.designer < 0.0f && tuning->importance.role < 0.0f &&
           tuning->importance.company < 0.0f);
}

muster_result tune_check(const struct muster_world *world, const muster_world_tuning *tuning) {
  const muster_world_tuning none = muster_world_tuning_default();
  bool factors = gives_factors(tuning);
  muster_result result = fields_check_tuning(fields_world, "world tuning", tuning, &none);
  if (result) return result;
  if (!groups_are_reserved(&tuning->priority, &tuning->importance, &tuning->levels) || !FIELDS_RESERVED(tuning->load))
    return refuse_reserved("world tuning", "muster_world_tuning_default");
  if (tuning->levels.cycles_max > 1 && world_is_planned(world))
    return error_set(MUSTER_E_STATE,
                     "world tuning: levels.cycles_max %u in a world with planner_workers: its host runs updates",
                     tuning->levels.cycles_max);
  if (factors && !world->score->factors)
    return error_set(MUSTER_E_STATE, "world tuning: importance is no sum of factors in this world: create it with "
                                     "MUSTER_IMPORTANCE_FACTORS");
  if (factors && (tuning->importance.focus < 0.0f || tuning->importance.designer < 0.0f ||
                  tuning->importance.role < 0.0f || tuning->importance.company < 0.0f))
    return error_set(MUSTER_E_ARGUMENT,
                     "world tuning: focus %g, designer %g, role %g and company %g must be given all four, or none",
                     (double)tuning->importance.focus, (double)tuning->importance.designer,
                     (double)tuning->importance.role, (double)tuning->importance.company);
  return factors ? check_factors(tuning->importance.focus, tuning->importance.designer, tuning->importance.role,
                                 tuning->importance.company)
                 : MUSTER_OK;
}

muster_result muster_world_tune(muster_world *world, const muster_world_tuning *given) {
  if (!world) return error_missing("world tuning", "world");
  muster_world_tuning tuning = muster_world_tuning_default();
  muster_result result = sized_read(SIZED(world_tuning), given, &tuning);
  if (!result) result = tune_check(world, &tuning);
  if (result || !guard_asks(world, "muster_world_tune", &result)) return result;
  if (ring_push(&world->commands->queues.tunings, &tuning)) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "%d tunings of the world wait for the next frame", INTAKE_TUNINGS);
}

muster_result muster_world_tuning_read(const muster_world *world, muster_world_tuning *tuning) {
  muster_result result = guard_read(world, "world tuning");
  if (result) return result;
  muster_world_tuning whole = muster_world_tuning_default();
  fields_describe(fields_world, &world->def, &whole, groups_without(world->score->factors));
  return sized_write(SIZED(world_tuning), &whole, tuning);
}

/* --------------------------------------------------------------------------------------------------------- workers */

muster_result muster_world_set_workers(muster_world *world, uint32_t workers) {
  muster_result result = guard_between(world, "workers");
  if (result) return result;
  if (recorder_replays(world->recorder) || world_is_planned(world))
    return error_set(MUSTER_E_STATE, "workers: not in worlds that are replayed or planned");
  if (workers > muster_pool_workers(world->pool))
    return error_set(MUSTER_E_ARGUMENT, "workers: %u must be 0 (all) .. %u, as many as the pool has", workers,
                     muster_pool_workers(world->pool));
  world_set_own_workers(world, workers);
  return MUSTER_OK;
}

uint32_t muster_world_workers(const muster_world *world) {
  return guard_read(world, "workers") ? 0 : world_workers(world);
}

/* ------------------------------------------------------------------------------------------------------ application */

static void take_factors(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  world->score->factor_weights = (importance_weights){def->importance.focus, def->importance.designer,
                                                      def->importance.role, def->importance.company};
}

void tune_create(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  shedding_create(&world->score->shedding, (double)def->levels.pressure);
  world->score->board.inputs = (score_inputs){.store = &world->agents.store,
                                              .types = &world->agents.types,
                                              .space = &world->agents.space,
                                              .observers = &world->observers->table,
                                              .classes = &world->queues->classes,
                                              .ready = &world->queues->ready};
  timers_create(&world->queues->reactions, def->limits.agents_max, &world->arena);
  world->queues->ready.reacting = &world->agents.store;
  if (def->importance_model != MUSTER_IMPORTANCE_FACTORS) return;
  store_reserve_factors(&world->agents.store, &world->arena);
  companions_create(&world->links->companions, def->limits.agents_max, &world->arena);
  take_factors(world);
  world->score->factors = world->score->board.inputs.factors = &world->score->factor_weights;
}

static void tune_apply(struct muster_world *world, const muster_world_tuning *tuning) {
  const muster_world_tuning none = muster_world_tuning_default();
  const muster_world_def *def = &world->def;
  uint32_t changed = fields_tune(fields_world, &world->def, tuning, &none);
  if (changed & FIELD_RANKS) ready_reweigh(&world->queues->ready, &world->agents.store, def);
  world->score->shedding.from = (double)def->levels.pressure;
  world->plan->periods.wish_part = (double)def->importance.wish_part;
  if (changed & FIELD_WEIGHS) penalties_weigh_anew(world);
  if (!(changed & FIELD_OF_FACTORS)) return;
  take_factors(world);
  score_everybody(&world->score->board);
}

/* Takes the next tuning, of those that were queued when the intake began. */
static bool next_tuning(struct muster_world *world, uint32_t *left, muster_world_tuning *tuning) {
  bool any = *left > 0 && ring_pop(&world->commands->queues.tunings, tuning);
  *left -= any;
  if (!world_record_tuning(world, any, tuning)) return false;
  if (!recorder_replays(world->recorder) || tune_check(world, tuning) == MUSTER_OK) return true;
  return recorder_diverges(world->recorder, "its record has a tuning that cannot be");
}

void tune_run(struct muster_world *world) {
  muster_world_tuning tuning;
  uint32_t left = ring_count(&world->commands->queues.tunings);
  while (next_tuning(world, &left, &tuning)) tune_apply(world, &tuning);
}

void tune_ratings(struct muster_world *world, const struct command *command) {
  agent_ratings *ratings = &world->agents.store.ratings[command->index];
  if (command->designer != RATING_OF_TYPE) ratings->designer = command->designer;
  if (command->role != RATING_OF_TYPE) ratings->role = command->role;
}

/* --------------------------------------------------------------------------------------------------------- periods */

static retime_input tune_retiming(struct muster_world *world) {
  return (retime_input){&world->queues->classes, &world->agents.types, &world->agents.store, &world->queues->ready};
}

void tune_type_periods(struct muster_world *world, uint32_t type, class_periods periods) {
  ASSERT(type < world->agents.types.count);
  retime_input retiming = tune_retiming(world);
  retime_type(&retiming, type, periods);
}

void tune_periods(struct muster_world *world, uint32_t index, class_periods own, bool counted) {
  const agent_row *row = world_row(world, index);
  retime_input retiming = tune_retiming(world);
  uint64_t longest_ns =
      classes_periods_of(&world->queues->classes, &world_type(world, row->type)->def, row->type).longest_ns;
  ASSERT(world_is_active(world, index));
  if (own.nominal_ns && !own.longest_ns) own.longest_ns = longest_ns > own.nominal_ns ? longest_ns : own.nominal_ns;
  retime_agent(&retiming, index, own, counted);
}

/* ------------------------------------------------------------------------------------------------------ companions */

/* Sets what company is worth to an agent; when that changes, the agent is noted for the score. */
static void set_inherited_importance(struct muster_world *world, uint32_t index, uint16_t inherited) {
  if (world->agents.store.inherited_importance[index] == inherited) return;
  world->agents.store.inherited_importance[index] = inherited;
  if (world_is_active(world, index)) score_note(&world->score->board, index);
}

void tune_companions(struct muster_world *world, const struct command *command) {
  ASSERT(command->kind == COMMAND_LINK || command->kind == COMMAND_UNLINK);
  if (!world->score->factors) return;
  if (command->kind == COMMAND_LINK)
    companions_link(&world->links->companions, command->index, command->other);
  else
    companions_unlink(&world->links->companions, command->index, command->other);
  if (!world->links->companions.places[command->index]) set_inherited_importance(world, command->index, 0);
}

/* The standing of the most important companion that is active, if it is above the agent's own; else 0. Standings leave
 * company out. */
static uint16_t worth_of_companions(const struct muster_world *world, uint32_t index) {
  const struct companion_list *list = &world->links->companions.of[index];
  ASSERT(world->links->companions.places[index] > 0 && world_is_active(world, index));
  uint16_t best = world->agents.store.own_importance[index], own = best;
  for (uint32_t i = 0; i < MUSTER_COMPANIONS_MAX; i++) {
    muster_agent other = list->others[i];
    if (muster_agent_is_null(other)) break;
    other = world_find(world, other);
    if (!world_is_live(world, other) || !world_is_active(world, muster_agent_index(other))) continue;
    if (world->agents.store.own_importance[muster_agent_index(other)] > best)
      best = world->agents.store.own_importance[muster_agent_index(other)];
  }
  return best > own ? best : 0;
}

void tune_look_at_companions(struct muster_world *world) {
  enum { LOOKS_PER_FRAME = 4096, NOTICED = 256 /* 65535ths */ };
  struct companions *companions = &world->links->companions;
  if (!world->score->factors) return;
  uint32_t left = companions->count < LOOKS_PER_FRAME ? companions->count : LOOKS_PER_FRAME;
  for (; left > 0; left--) {
    if (companions->next >= companions->count) companions->next = 0;
    uint32_t index = companions->members[companions->next++];
    if (!world_is_active(world, index)) continue;
    uint16_t worth = worth_of_companions(world, index), held = world->agents.store.inherited_importance[index];
    int32_t change = (int32_t)worth - held;
    if (change > NOTICED || change < -NOTICED || (worth == 0 && held)) set_inherited_importance(world, index, worth);
  }
}
