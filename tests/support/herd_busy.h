/* tests/support/herd_busy.h - a world of herds in which everything happens that can happen to herds: what a frame does
 * depends on the frame's number alone, so that a world that was loaded can be driven on. */
#ifndef HERD_BUSY_H
#define HERD_BUSY_H

#include "support/herd_world.h"

#include <muster/herd.h>

enum { BUSY_HERDS = 90, BUSY_FLOCKS = 12, BUSY_OBSERVERS = 3, BUSY_BUDGET_NS = 8000000 };

typedef struct herd_busy {
  little_world little;
  muster_type deer, elk, wolf;
  muster_herd_type herds, flocks; /* the second retains its members */
  muster_observer observers[BUSY_OBSERVERS];
} herd_busy;

/* Births and deaths, and a step; some lose their last member. */
static inline void busy_block(muster_herd_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    uint64_t random = block->random + block->herds[i] * 0x9e3779b97f4a7c15u;
    random = (random ^ random >> 29) * 0xbf58476d1ce4e5b9u;
    block->x[i] += block->velocity_x[i] * block->elapsed_s[i];
    block->y[i] += block->velocity_y[i] * block->elapsed_s[i];
    if (random >> 60 == 0 && block->members[i]) block->members[i]--;
    if (random >> 60 == 1 && block->members[i] < 16) block->members[i]++;
    if (random >> 58 == 9) block->velocity_y[i] += 1.0f;
    block->totals[0][i] += (float)block->members[i] * block->elapsed_s[i];
  }
}

static inline muster_atom_result busy_leaf(muster_update *update) {
  uint64_t *state = update->state;
  *state = *state * 31 + muster_update_random(update) + update->elapsed_ns;
  if (*state % 256 == 0) muster_update_wake_at(update, update->agent, update->now_ns + 30000000u);
  return walk_on(update);
}

/* Takes from the nearest herds, pushes them, and asks for more. */
static inline muster_atom_result busy_hunt(muster_update *update) {
  muster_herd_near near[4];
  uint64_t random = muster_update_random(update);
  uint32_t count = muster_update_herds_nearby(update, 150.0f, near, 4);
  for (uint32_t i = 0; i < count; i++) {
    if ((random >> i) % 4 == 0) muster_update_herd_take(update, near[i].herd, 1 + (uint32_t)(random >> 8) % 2, NULL);
    if ((random >> i) % 4 == 1) muster_update_herd_push(update, near[i].herd, 0.5f, -0.25f);
    if ((random >> i) % 16 == 2) muster_update_herd_wake(update, near[i].herd, (uint32_t)(random >> 16) % 8);
    if ((random >> i) % 64 == 3) muster_update_herd_remove(update, near[i].herd);
  }
  return MUSTER_ATOM_NEXT;
}

static inline muster_herd_type busy_herd_type(muster_world *world, const char *name, muster_type member,
                                              uint32_t branching, uint32_t depth, uint32_t unfolded) {
  muster_herd_type_def def = muster_herd_type_def_default();
  def.name = name;
  def.member = member;
  def.branching = branching;
  def.depth = depth;
  def.totals = 1;
  def.herds_max = 128;
  def.unfolded_max = unfolded;
  def.retains = branching == 3;
  def.look_ns = 30000000u;
  def.hold_ns = 150000000u;
  def.period_ns = 120000000u;
  def.run_block = busy_block;
  muster_herd_type type = muster_herd_type_register(world, &def);
  cr_assert_neq(type.index, 0, "%s", muster_last_error());
  return type;
}

/* Without agents and herds. `unfolded` is unfolded_max. */
static inline herd_busy herd_busy_world(uint32_t workers, uint32_t unfolded) {
  static const muster_atom leaf = {.role = MUSTER_ROLE_BEHAVIOUR, .run = busy_leaf, .model_ns = 3000};
  static const muster_atom hunt = {.role = MUSTER_ROLE_ACTION, .run = busy_hunt, .model_ns = 3000};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.agents_max = 700;
  world.limits.types_max = 8;
  world.limits.observers_max = 8;
  world.limits.commands_max = 256;
  world.limits.changes_frames = 3;
  herd_busy busy = {.little = little_world_create(workers, &world)};
  muster_type_def deer = deer_def(&leaf), elk = deer, wolf = muster_type_def_default();
  elk.name = "elk";
  elk.period_ns = 70000000u;
  wolf.name = "wolf";
  wolf.atoms = &hunt;
  wolf.atom_count = 1;
  wolf.period_ns = 200000000u;
  register_type(&busy.little, &deer);
  busy.deer = busy.little.type;
  register_type(&busy.little, &elk);
  busy.elk = busy.little.type;
  busy.herds = busy_herd_type(busy.little.world, "deer", busy.deer, 2, 4, unfolded);
  busy.flocks = busy_herd_type(busy.little.world, "elk", busy.elk, 3, 2, BUSY_FLOCKS);
  register_type(&busy.little, &wolf);
  busy.wolf = busy.little.type;
  return busy;
}

static inline void herd_busy_end(herd_busy *busy) {
  little_world_destroy(&busy->little);
}

static inline muster_position busy_place(uint32_t number, uint32_t frame) {
  return (muster_position){(double)((number * 7919u + frame * 29u) % 1200u), (double)((number * 104729u) % 900u), 0.0};
}

static inline void busy_add(herd_busy *busy, muster_herd_type type, uint32_t members, uint32_t number, uint32_t frame) {
  muster_herd_def def = {.position = busy_place(number, frame),
                         .velocity_x = (float)(number % 5) - 2.0f,
                         .partition = number % 10 == 9,
                         .members = 1 + (number * 3) % members,
                         .totals = {(float)number}};
  muster_herds_add(busy->little.world, type, &def, 1, NULL); /* at times there is no room */
}

static inline void herd_busy_populate(herd_busy *busy) {
  for (uint32_t i = 0; i < BUSY_HERDS; i++) busy_add(busy, busy->herds, 16, i, 0);
  for (uint32_t i = 0; i < BUSY_FLOCKS; i++) busy_add(busy, busy->flocks, 9, i * 5, 0);
  for (uint32_t i = 0; i < 6; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = busy->wolf;
    def.position = busy_place(i, 77);
    muster_agent_spawn(busy->little.world, &def);
  }
  for (uint32_t i = 0; i < BUSY_OBSERVERS; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = busy_place(i * 31, 0);
    busy->observers[i] = muster_observer_add(busy->little.world, &def);
  }
}

/* The herd that has so many before it, from the beginning again when there are fewer. */
static inline muster_herd busy_herd(const herd_busy *busy, uint32_t number) {
  muster_herd herd = {0};
  for (uint32_t i = 0; i <= number % 64; i++) herd = muster_herd_next(busy->little.world, herd);
  return herd;
}

/* What a host asks for before a frame, as far as it may while a record is kept. */
static inline void herd_busy_recorded_command(herd_busy *busy, uint32_t frame) {
  muster_world *world = busy->little.world;
  for (uint32_t i = 0; i < BUSY_OBSERVERS; i++) {
    bool leaps = frame % 17 == 5 * i;
    muster_position to = leaps ? busy_place(i * 31 + frame, 0) : busy_place(i * 31, 0);
    to.x += leaps ? 0.0 : 8.0 * (frame % 50);
    muster_observer_move(world, busy->observers[i], to);
  }
  muster_herd herd = busy_herd(busy, frame * 13);
  if (frame % 3 == 0) muster_herd_wake(world, herd, frame % 16);
  if (frame % 20 == 7) muster_herd_remove(world, herd);
}

/* The same at any time. */
static inline void herd_busy_command(herd_busy *busy, uint32_t frame) {
  herd_busy_recorded_command(busy, frame);
  if (frame % 11 == 4) busy_add(busy, frame % 2 ? busy->herds : busy->flocks, 9, frame, frame);
}

static inline muster_frame_report herd_busy_frame(herd_busy *busy, uint32_t frame) {
  if (frame % 9 == 2) muster_herd_name(busy->little.world, busy_herd(busy, frame * 5), frame % 8);
  herd_busy_command(busy, frame);
  return run_frame_with(&busy->little, BUSY_BUDGET_NS);
}

/* Drives a new world so far that it can be saved with something of everything, commands that wait included. */
static inline herd_busy herd_busy_driven(uint32_t frames, uint32_t unfolded) {
  herd_busy busy = herd_busy_world(1, unfolded);
  herd_busy_populate(&busy);
  for (uint32_t frame = 0; frame < frames; frame++) herd_busy_frame(&busy, frame);
  herd_busy_command(&busy, frames);
  return busy;
}

#endif
