/* The cost of letting an agent wait again after an update, with and without planning. */
#include "activation.h"

#include "base/clock.h"
#include "base/prefetch.h"
#include "base/random.h"
#include "plan/periods.h"
#include "plan/ready_walk.h"
#include "rounds.h"

#include <math.h>
#include <stdlib.h>

enum { KINDS = 3, ROUND_INSERTIONS = 200000, FRAME_NS = 33333333 };

static const uint32_t periods_of_kinds[KINDS] = {4, 6, 8};

/* The waiting agents of one side, with or without planning, and the agents that are due. */
struct side {
  struct arena arena;
  agent_store store;
  type_table types;
  class_table classes;
  cost_table costs;
  struct periods periods;
  ready_set ready;
  uint32_t *due, due_count;
  uint64_t now_ns, frame;
};

static bool create(struct side *side, uint32_t agents, uint32_t delay) {
  muster_world_def def = muster_world_def_default();
  muster_allocator allocator = {0};
  def.limits.agents_max = agents;
  if (arena_create(&side->arena, &allocator)) return false;
  store_create(&side->store, agents, &side->arena);
  types_create(&side->types, KINDS, &side->arena);
  classes_create(&side->classes, KINDS, agents, 0, &side->arena);
  activation_create(&side->classes.activation, delay, agents, &side->arena);
  costs_create(&side->costs, KINDS, &side->arena);
  periods_create(&side->periods, &side->classes, &def, &side->arena);
  ready_create(&side->ready, &def, &side->types, side->classes.classes, &side->arena);
  side->due = arena_reserve(&side->arena, agents, sizeof *side->due);
  return !side->arena.failed;
}

/* Finds the agents that are due in the next frame. */
static void release(struct side *side) {
  side->frame++;
  side->now_ns += FRAME_NS;
  periods_fit(&side->periods, &side->classes, &side->costs, INFINITY, 0);
  ready_advance(&side->ready, &side->store, side->now_ns);
  const release_frame frame = {side->now_ns, FRAME_NS, side->frame, UINT32_MAX};
  periods_release(&side->periods, &side->classes, &side->store, &side->ready, &frame, NULL);
  side->due_count = 0;
  ready_begin_walk(&side->ready, NULL);
  for (uint32_t agent; (agent = ready_next(&side->ready, &side->store)) != UINT32_MAX;) {
    ready_admit(&side->ready, &side->store, agent);
    side->due[side->due_count++] = agent;
  }
  ready_end_walk(&side->ready, &side->store);
  ready_keep_fresh(&side->ready, &side->store);
}

/* Prefetches the coming agents, as the commit does. */
PREFETCH_FUNCTION prefetch_ahead(const struct side *side, uint32_t i) {
  enum { AHEAD = 16 };
  if (i + AHEAD >= side->due_count) return;
  __builtin_prefetch(&side->store.rows[side->due[i + AHEAD]], 1);
  activation_prefetch(&side->classes.activation, side->due[i + AHEAD]);
}

static void complete(struct side *side) {
  for (uint32_t i = 0; i < side->due_count; i++) {
    uint32_t agent = side->due[i];
    prefetch_ahead(side, i);
    agent_class *class = &side->classes.classes[side->store.rows[agent].class];
    periods_completed(&side->classes, class, 0, &side->store, &side->ready, agent, side->now_ns);
  }
}

static bool populate(struct side *side, uint32_t agents) {
  muster_type_def def = muster_type_def_default();
  agent_class *of_kind[KINDS];
  side->types.planned = true; /* nothing is run */
  for (uint32_t i = 0; i < KINDS; i++) {
    def.period_ns = def.period_max_ns = (uint64_t)periods_of_kinds[i] * FRAME_NS;
    if (types_register(&side->types, &def, agents, &side->arena) == UINT32_MAX) return false;
    costs_guess(&side->costs, i, 1000);
    of_kind[i] = classes_get(&side->classes, &def, i, 0, 0);
  }
  for (uint32_t i = 0; i < agents; i++) {
    agent_row *row = &side->store.rows[i];
    row->type = i % KINDS & ROW_TYPE_MASK;
    row->class = of_kind[i % KINDS]->number;
    classes_join(&side->classes, of_kind[i % KINDS], &(agent_row){0});
    store_activate(&side->store, i);
    periods_begin(&side->classes, &side->store, i, 0, periods_first_ns(of_kind[i % KINDS], random_at(1, i, 0, 0)));
  }
  return true;
}

/* Runs frames until there are enough insertions; returns ns for each. */
static double measure_round(struct side *side, uint64_t *insertions) {
  uint64_t spent_ns = 0, count = 0;
  while (count < ROUND_INSERTIONS) {
    release(side);
    uint64_t begin_ns = clock_thread_cpu();
    complete(side);
    spent_ns += clock_thread_cpu() - begin_ns;
    count += side->due_count;
  }
  *insertions += count;
  return (double)spent_ns / (double)count;
}

/* Runs until every agent has run, and chosen its frame, twice. */
static void warm_up(struct side *side) {
  for (uint32_t i = 0; i < 2 * periods_of_kinds[KINDS - 1]; i++) {
    release(side);
    complete(side);
  }
}

static bool measure(struct side sides[2], uint32_t rounds, activation_reservation_cost *row) {
  double ns[2][ACTIVATION_ROUNDS_MOST], difference_ns[ACTIVATION_ROUNDS_MOST];
  uint64_t unused = 0;
  for (uint32_t i = 0; i < 2; i++)
    if (!create(&sides[i], row->agents, i ? ACTIVATION_DELAY : 0) || !populate(&sides[i], row->agents)) return false;
  for (uint32_t i = 0; i < 2; i++) warm_up(&sides[i]);
  for (uint32_t round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < 2; i++) {
      uint32_t turn = (i + round) % 2;
      ns[turn][round] = measure_round(&sides[turn], turn ? &row->insertions : &unused);
    }
    difference_ns[round] = ns[1][round] - ns[0][round];
  }
  row->plain_ns = rounds_median(ns[0], rounds);
  row->planned_ns = rounds_median(ns[1], rounds);
  row->reservation_ns = rounds_median(difference_ns, rounds);
  return true;
}

const char *activation_bench_reservations(uint32_t agents, uint32_t rounds, activation_reservation_cost *row) {
  struct side *sides = calloc(2, sizeof *sides);
  *row = (activation_reservation_cost){.agents = agents};
  bool done = sides && measure(sides, rounds, row);
  for (uint32_t i = 0; sides && i < 2; i++)
    if (sides[i].arena.blocks) arena_destroy(&sides[i].arena);
  free(sides);
  return done ? NULL : "out of memory: ask for fewer agents";
}
