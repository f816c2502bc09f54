/* world_api.c - creating and destroying a world, and registering types. */
#include "api/planner.h"
#include "base/error.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "run/callback.h"
#include "run/runner.h"
#include "run/watchdog.h"
#include "world/flight.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/overruns_state.h"
#include "world/trace.h"
#include "world/tune.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_observers.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_record.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_teams.h"
#include "world/world_whole.h"

#include <math.h>
#include <string.h>

static void create_agents(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  store_create(&world->agents.store, def->limits.agents_max, &world->arena);
  changes_create(&world->agents.store.changes, def->limits.changes_frames, def->limits.agents_max, def->shards,
                 clock_system(), &world->arena);
  types_create(&world->agents.types, def->limits.types_max, &world->arena);
  world->agents.types.planned = def->planner_workers > 0;
  space_create(&world->agents.space, def->limits.agents_max, (double)def->cell_m, &world->arena);
  space_moves_create(&world->agents.moves, &world->agents.space, &world->agents.store, def->limits.agents_max,
                     &world->arena);
  observers_create(&world->observers->table, def->limits.observers_max, &world->arena);
}

static void create_plan(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  classes_create(&world->queues->classes, def->limits.types_max, def->limits.agents_max, def->shards, &world->arena);
  activation_create(&world->queues->classes.activation, def->activation_delay, def->limits.agents_max, &world->arena);
  phases_create(&world->plan->phases, def->activation_delay, def->limits.types_max, def->limits.agents_max,
                &world->arena);
  costs_create(&world->learnt->costs, def->limits.types_max, &world->arena);
  controller_create(&world->learnt->experience.controller, (double)def->debt_budgets);
  world->learnt->experience.holding = 1.0;
  periods_create(&world->plan->periods, &world->queues->classes, def, &world->arena);
  ready_create(&world->queues->ready, def, &world->agents.types, world->queues->classes.classes, &world->arena);
  score_create(&world->score->board, def, &world->arena);
  timers_create(&world->queues->timers, def->limits.agents_max, &world->arena);
  overrun_table_create(&world->overruns->table, def->limits.agents_max, def->limits.types_max, &world->arena);
}

static void create_exec(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  uint32_t *generations = world->agents.store.rows ? &world->agents.store.rows[0].generation : NULL;
  identity_create_over(&world->agents.ids, def->limits.agents_max, generations, sizeof(agent_row), &world->arena);
  removals_create(&world->agents.removals, def->limits.agents_max, &world->arena);
  identity_create(&world->observers->ids, def->limits.observers_max, &world->arena);
  intake_queues_create(&world->commands->queues, def->limits.agents_max, def->limits.commands_max, &world->arena);
  wakes_create(&world->commands->wakes, def->limits.agents_max, def->limits.commands_max, &world->arena);
  batch_create(world->batch, def->limits.agents_max, &world->arena);
  trace_create(world->trace, def, muster_pool_indices(world->pool), &world->arena);
  runner_create(world->runner, threads_useful(world->pool), muster_pool_indices(world->pool), def->limits.types_max,
                &world->arena);
  overruns_create(&world->batch->overruns, def->limits.types_max, &world->arena);
  ARENA_ARRAY(&world->arena, world->agents.slots, def->limits.types_max);
  ARENA_ARRAY(&world->arena, world->commands->spawn_ids, def->limits.agents_max);
  ARENA_ARRAY(&world->arena, world->commands->deferred, def->limits.commands_max);
  ARENA_ARRAY(&world->arena, world->commands->deferred_before, def->limits.commands_max);
  ARENA_ARRAY(&world->arena, world->queues->acting, bits_words(def->limits.agents_max));
  ARENA_ARRAY(&world->arena, world->agents.marks, def->limits.agents_max);
  ARENA_ARRAY(&world->arena, world->agents.seen, bits_words(def->limits.agents_max));
  world->sums->part_count = muster_pool_indices(world->pool);
  ARENA_ARRAY(&world->arena, world->sums->parts, world->sums->part_count);
  ARENA_ARRAY(&world->arena, world->teams->lots.entries, def->limits.agents_max);
  ARENA_ARRAY(&world->arena, world->teams->lots.left_entries, def->limits.agents_max);
  planner_create(world);
}

static void connect_runner(struct muster_world *world) {
  struct runner *runner = world->runner;
  runner->world = world;
  runner->store = &world->agents.store;
  runner->types = &world->agents.types;
  runner->space = &world->agents.space;
  runner->agents = &world->agents.ids;
  runner->removals = &world->agents.removals;
  runner->wakes = &world->commands->wakes;
  runner->pool = world->pool;
  runner->early_team = &world->teams->early;
  runner->team = &world->teams->run;
  runner->batch = world->batch;
  runner->spawn_ids = world->commands->spawn_ids;
  runner->clock = *pool_clock(world->pool);
  world->clock = &runner->clock;
  runner->tracks = world->def.clock.kind == MUSTER_CLOCK_WALL ? world->trace->tracks : NULL;
  runner->seed = world->def.seed;
  runner->virtual = world->def.clock.kind == MUSTER_CLOCK_VIRTUAL;
  world->timed = !runner->virtual;
  if (world->def.planner_workers) world->def.audit = false; /* what it measures would be the host's work */
  runner->audit = world->def.audit && !runner->virtual;
  runner_open(runner);
}

/* The updates of a planner world are run by the host, so it has no watchdog. */
static bool start_watchdog(struct muster_world *world) {
  if (!world->def.watch.stuck_ns || world->def.planner_workers) return true;
  world->watchdog = watchdog_create(world->runner->heartbeats, world->runner->state_count, world->def.watch.stuck_ns,
                                    &world->agents.types, &world->def.log, &world->arena);
  return world->watchdog && watchdog_start(world->watchdog);
}

/* A world without a pool works on the caller alone: a pool of one worker, which has no threads. */
static bool provide_pool(struct muster_world *world) {
  world->pool = world->def.pool;
  if (!world->pool) {
    muster_pool_def def = muster_pool_def_default();
    def.workers = 1;
    def.affinity = MUSTER_AFFINITY_NONE;
    def.allocator = world->def.allocator;
    world->pool = world->own_pool = muster_pool_create(&def);
  } else if (!pool_exists(world->pool)) {
    error_set(MUSTER_E_ARGUMENT, "world: pool %p is none, or was destroyed already", (const void *)world->pool);
    world->pool = NULL;
  }
  if (world->pool) pool_add_world(world->pool);
  return world->pool != NULL;
}

muster_world *muster_world_create(const muster_world_def *given) {
  muster_world_def def = muster_world_def_default();
  if (sized_read(SIZED(world_def), given, &def)) return NULL;
  if (tune_check_def(&def)) return NULL;
  struct arena arena;
  if (arena_create(&arena, &def.allocator)) return NULL;
  arena.ready = (double)def.limits.agents_ready / def.limits.agents_max;
  struct world_whole *whole = arena_reserve(&arena, 1, sizeof *whole);
  if (!whole) {
    arena_destroy(&arena);
    return NULL;
  }
  struct muster_world *world = &whole->world;
  world_connect_parts(whole);
  living_add(&world->living);
  world->arena = arena;
  world->def = def;
  world->sums->report = muster_frame_report_default();
  world->sums->statistics = muster_statistics_default();
  if (provide_pool(world)) {
    create_agents(world);
    create_plan(world);
    create_exec(world);
    zone_create(world, &whole->zone);
    tune_create(world);
  }
  world->arena.ready = 0.0; /* not known yet: how many agents are of which type */
  if (!world->pool || world->arena.failed) {
    muster_world_destroy(world);
    return NULL;
  }
  connect_runner(world);
  if (!world_is_planned(world)) world->run_stage = run_by_workers;
  world->costs_told = world_is_virtual(world) || world_is_planned(world);
  if (!start_watchdog(world)) {
    muster_world_destroy(world);
    return NULL;
  }
  log_write(&def.log, MUSTER_LOG_INFO, "world: room for %u agents, %u workers, %s clock", def.limits.agents_max,
            muster_pool_workers(world->pool), world_is_virtual(world) ? "virtual" : "wall");
  return world;
}

/* Calls on_removed for every agent. */
static CALLS_OUT void remove_all(struct muster_world *world) {
  MUST_RETURN(leaving_update);
  struct pool_entry entered;
  world->runner->caller = pool_index_of(pool_enter(&entered, world->pool));
  const update_context *outer = callback_begin(&runner_caller(world->runner)->context);
  frame_settle(world);
  for (uint32_t i = 0; store_finds(&world->agents.store, &i); i++) lifecycle_remove(world, i);
  callback_end(outer);
  pool_leave(&entered);
}

void muster_world_destroy(muster_world *world) {
  if (!world) return;
  guard_destroy(world);
  planner_abandon(world);
  occupancy_set(&world->occupancy, OCCUPIED_BY_DESTROYING);
  world_record_close(world);
  if (world->pool && !world->arena.failed) remove_all(world);
  watchdog_stop(world->watchdog);
  if (world->pool) pool_drop_world(world->pool);
  muster_pool_destroy(world->own_pool);
  struct arena arena = world->arena;
  arena_destroy(&arena);
}

/* What types with sets need together. */
static void reserve_passes(struct muster_world *world) {
  const muster_world_def *def = &world->def;
  if (!world_is_planned(world)) /* else its host runs sets */
    batch_reserve_passes(world->batch, def->limits.agents_max, def->limits.types_max, world_is_virtual(world),
                         &world->arena);
  if (!world->arena.failed) runner_count_sets(world->runner, def->limits.types_max, &world->arena);
}

/* What types with strands need together. */
static void reserve_strands(struct muster_world *world) {
  batch_reserve_strands(world->batch, world->def.limits.agents_max, &world->arena);
  runner_reserve_strands(world->runner, &world->arena);
}

/* Whether what agents of the type do can be recorded, in a world that is. */
static bool can_be_recorded(const struct muster_world *world, const muster_type_def *def) {
  if (!def || !recorder_records(world->recorder)) return true;
  const char *name = def->name ? def->name : "agent";
  if (def->size >= offsetof(muster_type_def, sets.count) && def->sets.list && !world_is_virtual(world))
    return error_set(MUSTER_E_STATE,
                     "type '%s' has sets: this world is recorded on the wall clock, where they cannot be", name) == 0;
  if (def->size >= offsetof(muster_type_def, act) + sizeof def->act && def->act == MUSTER_ACT_PARALLEL &&
      world->recorder->journal.on)
    return error_set(MUSTER_E_STATE, "type '%s' has parallel actions: this world has a journal, where they cannot be",
                     name) == 0;
  return true;
}

muster_type muster_type_register(muster_world *world, const muster_type_def *def) {
  if (guard_between(world, "type") || !can_be_recorded(world, def)) return (muster_type){0};
  uint32_t index = types_register(&world->agents.types, def, world->def.limits.agents_max, &world->arena);
  if (index == UINT32_MAX) return (muster_type){0};
  const agent_type *type = world_type(world, index);
  identity_create_over(&world->agents.slots[index], world->def.limits.agents_max, NULL, 0, &world->arena);
  messages_reserve(world, type);
  act_reserve(world, type);
  if (type->strands) reserve_strands(world);
  if (type->has_sets) {
    reserve_passes(world);
    phases_register(&world->plan->phases, index, &type->sets, type->atoms, &world->arena);
  }
  if (world->arena.failed) {
    world->arena.failed = false;
    world->agents.types.count--;
    return (muster_type){0};
  }
  costs_guess(&world->learnt->costs, index, type->model_ns);
  if (type->def.limit_ns < world->runner->limit_ns) world->runner->limit_ns = type->def.limit_ns;
  classes_reserve(&world->queues->classes, &type->def, index);
  ready_widen(&world->queues->ready, &world->agents.store, type->def.period_max_ns);
  intake_queues_announce_types(&world->commands->queues, index + 1);
  flight_enter_types(world);
  return (muster_type){index + 1};
}

const char *muster_type_name(const muster_world *world, muster_type type) {
  if (guard_any(world, "type name")) return NULL;
  return type.index && type.index <= intake_queues_types(&world->commands->queues)
             ? world_type(world, type.index - 1)->name
             : NULL;
}

muster_type muster_type_find(const muster_world *world, const char *name) {
  if (guard_any(world, "type find") || (!name && error_missing("type find", "name"))) return (muster_type){0};
  for (uint32_t i = 0; i < intake_queues_types(&world->commands->queues); i++)
    if (strcmp(world_type(world, i)->name, name) == 0) return (muster_type){i + 1};
  error_set(MUSTER_E_STALE, "type find: no type has the name '%.80s'", name);
  return (muster_type){0};
}
