/* tests/world/herd_fixture.h - what tests of herds in worlds begin with. */
#ifndef WORLD_HERD_FIXTURE_H
#define WORLD_HERD_FIXTURE_H

#include "support/herd_world.h"
#include "world/fixture.h"

static inline muster_herd_type add_herd_type(const little_world *little, muster_herd_type_def def) {
  muster_herd_type type = muster_herd_type_register(little->world, &def);
  cr_assert_neq(type.index, 0, "%s", muster_last_error());
  return type;
}

/* Herds whose members walk on, folded or not. */
static inline herd_world walking_herds(uint32_t workers, muster_world_def world, muster_herd_type_def def) {
  const muster_type_def deer = deer_def(atom_of(walk_on, 1000));
  def.run_block = walk_block_on;
  return herd_world_of(workers, &world, &def, &deer);
}

/* Of the worlds below: the herd, of 32 at the origin, and the observer. */
static muster_herd only_herd;
static muster_observer only_observer;

static inline herd_world one_herd(muster_herd_type_def def, uint32_t frames) {
  herd_world herds = herd_world_with(def);
  only_herd = add_herd(&herds, 0.0, 0.0, 32);
  run_frames(&herds.little, frames);
  return herds;
}

static inline void add_seen_herd(herd_world *herds, double from_m, uint32_t frames) {
  only_herd = add_herd(herds, 0.0, 0.0, 32);
  only_observer = observe(herds, from_m, 0.0);
  run_frames(&herds->little, frames);
}

static inline herd_world seen_herd(muster_herd_type_def def, double from_m, uint32_t frames) {
  herd_world herds = herd_world_with(def);
  add_seen_herd(&herds, from_m, frames);
  return herds;
}

/* For a world whose types of herds are registered one by one. */
static inline muster_herd_info read_herd(const little_world *little, muster_herd herd) {
  return herd_info_of(&(herd_world){.little = *little}, herd);
}

static inline muster_herd add_herd_to(const little_world *little, muster_herd_type type, muster_herd_def def) {
  muster_herd herd = {0};
  cr_assert_eq(muster_herds_add(little->world, type, &def, 1, &herd), 1, "%s", muster_last_error());
  return herd;
}

static inline void expect_herd(const herd_world *herds, muster_herd herd, uint32_t leaves, uint32_t members) {
  muster_herd_info info = herd_info_of(herds, herd);
  cr_assert_eq(info.leaves, leaves, "herd %u has %u leaves", muster_herd_index(herd), info.leaves);
  cr_assert_eq(info.members, members, "herd %u has %u members", muster_herd_index(herd), info.members);
}

static inline void read_leaves(const herd_world *herds, muster_herd herd, muster_agent *agents, uint32_t count) {
  cr_assert_eq(muster_herd_leaves(herds->little.world, herd, agents, NULL, count), count);
}

#endif
