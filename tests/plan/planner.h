/* tests/plan/planner.h - the stages that plan, over agents that do nothing: score, fit, release, rank and what the
 * commit does for periods. No threads, no clock: time is what the test says. */
#ifndef PLANNER_H
#define PLANNER_H

#include "plan/periods.h"
#include "plan/planning.h"
#include "plan/rank.h"
#include "plan/score.h"

struct planner {
  struct arena arena;
  muster_world_def def;
  agent_store store;
  type_table types;
  struct space space;
  observer_table observers;
  class_table classes;
  cost_table costs;
  score_board board;
  struct periods periods;
  ready_set ready;
  struct batch batch;
  uint64_t now_ns, frame;
  uint32_t count;
};

static inline struct planner *planner_create(muster_elastic elastic, uint32_t agents_max, uint32_t types_max) {
  struct planner *planner = new_fixture(sizeof *planner);
  planner->def = WITH(papers_world_rules, it.limits.agents_max = agents_max, it.elastic = elastic);
  store_create(&planner->store, agents_max, &planner->arena);
  types_create(&planner->types, types_max, &planner->arena);
  space_create(&planner->space, agents_max, 32.0, &planner->arena);
  observers_create(&planner->observers, 8, &planner->arena);
  classes_create(&planner->classes, types_max, agents_max, 0, &planner->arena);
  costs_create(&planner->costs, types_max, &planner->arena);
  periods_create(&planner->periods, &planner->classes, &planner->def, &planner->arena);
  ready_create(&planner->ready, &planner->def, &planner->types, planner->classes.classes, &planner->arena);
  batch_create(&planner->batch, agents_max, &planner->arena);
  score_create(&planner->board, &planner->def, &planner->arena);
  planner->board.inputs = (score_inputs){
      &planner->store, &planner->types, &planner->space, &planner->observers, &planner->classes, &planner->ready, NULL};
  return planner;
}

/* Types are numbered from 0 in the order of registration. */
static inline void planner_register(struct planner *planner, uint32_t index, uint64_t period_ns,
                                    uint64_t period_max_ns) {
  muster_type_def type = CHANGED(idle_type(1), it.period_ns = period_ns, it.period_max_ns = period_max_ns);
  cr_assert_eq(types_register(&planner->types, &type, planner->def.limits.agents_max, &planner->arena), index);
  classes_reserve(&planner->classes, &type, index);
}

/* A new agent, due at a random part of its period. */
static inline uint32_t planner_add(struct planner *planner, uint32_t type, double elasticity, uint64_t random) {
  uint32_t index = planner->count++;
  planner->store.rows[index].type = type & ROW_TYPE_MASK;
  planner->store.rows[index].elasticity_step = (uint8_t)elasticity_step_of((float)elasticity);
  space_place(&planner->space, &planner->store.places[index], (muster_position){0, 0, 0});
  score_new_agent(&planner->board, index);
  store_activate(&planner->store, index);
  const agent_class *class = &planner->classes.classes[planner->store.rows[index].class];
  periods_begin(&planner->classes, &planner->store, index, 0, periods_first_ns(class, random));
  return index;
}

static inline void planner_set_elasticity(struct planner *planner, uint32_t index, double elasticity) {
  planner->store.rows[index].elasticity_step = (uint8_t)elasticity_step_of((float)elasticity);
  score_tuned_agent(&planner->board, index);
}

/* Plans one frame in which every agent that is due runs; those agents are the entries of the batch. */
static inline fit_result planner_frame(struct planner *planner, uint64_t elapsed_ns, double desired) {
  planner->now_ns += elapsed_ns;
  planner->frame++;
  rank_limits limits = {.now_ns = planner->now_ns, .capacity_ns = UINT64_MAX, .updates_max = UINT32_MAX};
  fit_result fit = periods_fit(&planner->periods, &planner->classes, &planner->costs, desired, 0).fit;
  ready_advance(&planner->ready, &planner->store, planner->now_ns);
  const release_frame release = {planner->now_ns, elapsed_ns, planner->frame, UINT32_MAX};
  periods_release(&planner->periods, &planner->classes, &planner->store, &planner->ready, &release, NULL);
  rank_result held = rank_held(&planner->store, &planner->types, &planner->costs, &limits, &planner->batch);
  rank_fill(&planner->ready, &planner->store, &planner->types, &planner->costs, &limits, held, &planner->batch);
  cr_assert_eq(planner->ready.count, 0);
  for (uint32_t i = 0; i < planner->batch.count; i++) {
    uint32_t agent = planner->batch.entries[i].agent;
    agent_class *class = &planner->classes.classes[planner->store.rows[agent].class];
    periods_completed(&planner->classes, class, 0, &planner->store, &planner->ready, agent, planner->now_ns);
  }
  return fit;
}

#endif
