/* tests/plan/ranking.h - agents that are ready and the stage that ranks them. No clock: time is what the test says. */
#ifndef RANKING_H
#define RANKING_H

#include "plan/planning.h"
#include "plan/rank.h"

struct ranking {
  struct arena arena;
  muster_world_def def;
  agent_store store;
  type_table types;
  cost_table costs;
  ready_set ready;
  struct batch batch;
  rank_limits limits;
  uint64_t frame;
};

/* Room for def.limits.agents_max agents of one type with so many atoms, 1,000 ns each. */
static inline void ranking_create(struct ranking *ranking, muster_world_def def, uint32_t atom_count) {
  muster_type_def type = idle_type(atom_count);
  uint32_t agents_max = def.limits.agents_max;
  ranking->def = def;
  ranking->arena = begin_arena();
  store_create(&ranking->store, agents_max, &ranking->arena);
  for (uint32_t i = 0; i < agents_max; i++) bits_set(ranking->store.active, i);
  types_create(&ranking->types, 1, &ranking->arena);
  costs_create(&ranking->costs, 1, &ranking->arena);
  batch_create(&ranking->batch, agents_max, &ranking->arena);
  cr_assert_eq(types_register(&ranking->types, &type, agents_max, &ranking->arena), 0);
  costs_guess(&ranking->costs, 0, 1000 * atom_count);
  ready_create(&ranking->ready, &ranking->def, &ranking->types, NULL, &ranking->arena);
  ranking->limits = (rank_limits){.capacity_ns = UINT64_MAX, .updates_max = UINT32_MAX};
}

static inline void ranking_begin_frame(struct ranking *ranking, uint64_t now_ns) {
  ranking->frame++;
  ranking->limits.now_ns = now_ns;
  ready_advance(&ranking->ready, &ranking->store, now_ns);
}

/* Admits agents; those admitted stand in the batch. */
static inline rank_result ranking_admit(struct ranking *ranking) {
  rank_result held = rank_held(&ranking->store, &ranking->types, &ranking->costs, &ranking->limits, &ranking->batch);
  return rank_fill(&ranking->ready, &ranking->store, &ranking->types, &ranking->costs, &ranking->limits, held,
                   &ranking->batch);
}

#endif
