/* tests/support/herd_world.h - a little world with a type of herds: 32 deer each, with one total. */
#ifndef HERD_WORLD_H
#define HERD_WORLD_H

#include "support/little_world.h"

#include <muster/herd.h>

struct deer {
  float velocity_x, velocity_y, total; /* as a muster_herd_body with one total */
  float own;
};

typedef struct herd_world {
  little_world little;
  muster_herd_type type;
} herd_world;

static inline muster_atom_result stand_still(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

/* Moves on by its velocity and adds a second's worth of its total for each member and second. */
static inline muster_atom_result walk_on(muster_update *update) {
  muster_flock flock;
  struct deer *deer = update->published;
  double seconds = (double)update->elapsed_ns * 1e-9;
  if (!muster_update_flock(update, &flock)) return MUSTER_ATOM_NEXT;
  muster_position position = update->position;
  position.x += (double)deer->velocity_x * seconds;
  position.y += (double)deer->velocity_y * seconds;
  muster_update_move(update, position);
  deer->total += (float)((double)flock.members * seconds);
  return MUSTER_ATOM_NEXT;
}

/* The same for folded herds. */
static inline void walk_block_on(muster_herd_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    block->x[i] += block->velocity_x[i] * block->elapsed_s[i];
    block->y[i] += block->velocity_y[i] * block->elapsed_s[i];
    block->totals[0][i] += (float)block->members[i] * block->elapsed_s[i];
  }
}

static inline muster_type_def deer_def(const muster_atom *atom) {
  muster_type_def def = muster_type_def_default();
  def.name = "deer";
  def.atoms = atom;
  def.atom_count = 1;
  def.period_ns = 100000000u;
  def.published_bytes = sizeof(struct deer);
  def.state_bytes = sizeof(uint64_t);
  return def;
}

/* A world whose deer are given; null: they stand still. */
static inline herd_world herd_world_of(uint32_t workers, const muster_world_def *world,
                                       const muster_herd_type_def *given, const muster_type_def *deer) {
  static const muster_atom still = {.role = MUSTER_ROLE_BEHAVIOUR, .run = stand_still, .model_ns = 1000};
  herd_world herds = {.little = little_world_create(workers, world)};
  muster_type_def still_deer = deer_def(&still);
  register_type(&herds.little, deer ? deer : &still_deer);
  muster_herd_type_def def = given ? *given : muster_herd_type_def_default();
  def.totals = 1;
  if (!def.member.index) def.member = herds.little.type;
  herds.type = muster_herd_type_register(herds.little.world, &def);
  cr_assert_neq(herds.type.index, 0, "%s", muster_last_error());
  return herds;
}

static inline herd_world herd_world_create(uint32_t workers, const muster_world_def *world,
                                           const muster_herd_type_def *given) {
  return herd_world_of(workers, world, given, NULL);
}

/* On one worker, with the virtual clock. */
static inline herd_world herd_world_with(muster_herd_type_def def) {
  return herd_world_create(1, NULL, &def);
}

static inline void herd_world_destroy(herd_world *herds) {
  little_world_destroy(&herds->little);
}

static inline muster_herd add_herd(const herd_world *herds, double x, double y, uint32_t members) {
  muster_herd_def def = {
      .position = {x, y, 0.0}, .velocity_x = 1.0f, .members = members, .totals = {2.0f * (float)members}};
  muster_herd herd = {0};
  cr_assert_eq(muster_herds_add(herds->little.world, herds->type, &def, 1, &herd), 1, "%s", muster_last_error());
  return herd;
}

static inline muster_observer observe(const herd_world *herds, double x, double y) {
  muster_observer_def def = muster_observer_def_default();
  def.position = (muster_position){x, y, 0.0};
  muster_observer observer = muster_observer_add(herds->little.world, &def);
  cr_assert_neq(muster_observer_generation(observer), 0, "%s", muster_last_error());
  return observer;
}

/* Moves an observer to a place on the axis, and runs frames. */
static inline void look_from(herd_world *herds, muster_observer observer, double x, uint32_t frames) {
  muster_observer_move(herds->little.world, observer, (muster_position){x, 0.0, 0.0});
  run_frames(&herds->little, frames);
}

static inline muster_herd_info herd_info_of(const herd_world *herds, muster_herd herd) {
  muster_herd_info info = muster_herd_info_default();
  assert_ok(muster_herd_read(herds->little.world, herd, &info));
  return info;
}

#endif
