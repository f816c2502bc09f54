/* tests/support/square_world.h - a market square: more agents than a neighbour query looks at; they walk about, look
 * at one another, come and go. */
#ifndef SQUARE_WORLD_H
#define SQUARE_WORLD_H

#include "support/little_world.h"

enum { SQUARE_AGENTS = 1500, SQUARE_NEAR = 8 };

typedef struct square_state {
  uint64_t updates, seen, cut;
} square_state;

static inline muster_atom_result square_look(muster_update *update) {
  square_state *self = update->state;
  muster_neighbour near[SQUARE_NEAR];
  uint32_t count = muster_update_nearby(update, 30.0f, (muster_type){0}, near, SQUARE_NEAR);
  for (uint32_t i = 0; i < count; i++) self->seen = self->seen * 31 + muster_agent_index(near[i].agent);
  self->cut += muster_update_nearby_cut(update);
  self->updates++;
  return MUSTER_ATOM_NEXT;
}

/* Half of them stay in the spot where they were born, until they are called away. */
static inline muster_atom_result square_walk(muster_update *update) {
  muster_position to = update->position;
  double step_m = muster_agent_index(update->agent) % 2 && update->now_ns < 300 * (uint64_t)FRAME_NS ? 0 : 1.5;
  to.x += ((double)muster_update_random_share(update) - 0.5 - to.x * 0.02) * step_m;
  to.y += ((double)muster_update_random_share(update) - 0.5 - to.y * 0.02) * step_m;
  muster_update_move(update, to);
  return MUSTER_ATOM_NEXT;
}

static inline muster_atom_result square_act(muster_update *update) {
  muster_neighbour near[1];
  float chance = muster_update_random_share(update);
  muster_agent_def child = muster_agent_def_default();
  child.type = update->type;
  if (chance < 0.02f) muster_update_spawn(update, &child);
  if (chance > 0.98f && muster_update_nearby(update, 5.0f, (muster_type){0}, near, 1) == 1)
    muster_update_remove(update, near[0].agent);
  return MUSTER_ATOM_NEXT;
}

static inline little_world square_world(uint32_t workers, muster_clock clock) {
  static const muster_atom atoms[] = {{square_look, MUSTER_ROLE_PERCEPTION, 1500},
                                      {square_walk, MUSTER_ROLE_BEHAVIOUR, 500},
                                      {square_act, MUSTER_ROLE_ACTION, 500}};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = clock;
  world.limits.agents_max = 2 * SQUARE_AGENTS;
  little_world little = little_world_create(workers, &world);
  muster_type_def def = type_with(atoms, 3);
  def.state_bytes = sizeof(square_state);
  def.spawns_max = 1;
  def.period_ns = 30000000;
  register_type(&little, &def);
  return little;
}

static inline void square_populate(const little_world *little) {
  for (uint32_t i = 0; i < SQUARE_AGENTS; i++) spawn_in(little, (muster_position){1.0 / (1 + i % 7), i % 2, 0}, 0);
}

static inline uint64_t square_cut(const little_world *little) {
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(little->world, &sums);
  return sums.nearby_cut;
}

#endif
