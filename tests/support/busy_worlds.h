/* tests/support/busy_worlds.h - worlds under the virtual clock in which everything that a world can keep is kept: what
 * a frame does depends on the frame's number alone, so that a world that was loaded can be driven on. */
#ifndef BUSY_WORLDS_H
#define BUSY_WORLDS_H

#include "support/little_world.h"

#include <muster/overruns.h>
#include <muster/sets.h>
#include <muster/tune.h>

enum { BUSY_AGENTS = 1200, BUSY_THOUGHTS = 5, BUSY_OBSERVERS = 12 };

typedef struct busy_mind {
  uint64_t sum, told_ns, messages;
  double energy;
} busy_mind;

/* What a world is made of besides its types. */
typedef struct busy_kind {
  const char *name;
  muster_order order;
  muster_importance_model importance;
  uint32_t activation_delay, cycles_max;
  float level_pressure, weight_reduction;
  uint64_t budget_ns;
  bool repeats; /* nothing in it depends on the order of threads: no actions in parallel */
  bool wall;    /* on the wall clock, where no type has sets then */
} busy_kind;

/* Called in each update and action of a test that sets it. */
static void (*busy_interrupt)(void);

static const busy_kind busy_kinds[] = {
    {"plain", MUSTER_ORDER_PRIORITY, MUSTER_IMPORTANCE_PRODUCT, 0, 1, 0.0f, 0.0f, 8000000u, false, false},
    {"overloaded", MUSTER_ORDER_PRIORITY, MUSTER_IMPORTANCE_PRODUCT, 0, 1, 0.5f, 0.3f, 900000u, false, false},
    {"in the paper's order", MUSTER_ORDER_DELAYS, MUSTER_IMPORTANCE_PRODUCT, 0, 1, 0.0f, 0.0f, 1500000u, false, false},
    {"with factors", MUSTER_ORDER_PRIORITY, MUSTER_IMPORTANCE_FACTORS, 0, 3, 0.5f, 0.0f, 2000000u, false, false},
    {"planned", MUSTER_ORDER_PRIORITY, MUSTER_IMPORTANCE_PRODUCT, 8, 1, 0.0f, 0.0f, 4000000u, false, false},
    {"by deadlines", MUSTER_ORDER_DEADLINE, MUSTER_IMPORTANCE_FACTORS, 0, 2, 0.5f, 0.0f, 900000u, false, false}};

enum { BUSY_KINDS = sizeof busy_kinds / sizeof *busy_kinds };

static inline void busy_read(muster_update *update, busy_mind *mind) {
  muster_message messages[16];
  uint32_t count = muster_update_messages(update, messages, 16);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value = 0;
    memcpy(&value, messages[i].bytes, messages[i].size < sizeof value ? messages[i].size : sizeof value);
    mind->messages = mind->messages * 31 + value + muster_agent_index(messages[i].sender);
  }
  mind->messages += muster_update_messages_lost(update);
}

static inline void busy_write(muster_update *update, uint64_t random) {
  muster_neighbour near[3];
  uint32_t count = muster_update_nearby(update, 25.0f, (muster_type){0}, near, 3);
  for (uint32_t i = 0; i < count && random % 4 == 0; i++)
    muster_update_send(update, near[i].agent, &random, sizeof random);
  if (count && random % 32 == 1) muster_update_wake(update, near[0].agent);
  if (random % 64 == 2) muster_update_wake_at(update, update->agent, update->now_ns + random % 400000000u);
  if (random % 128 == 3) muster_update_react_by(update, update->now_ns + 200000000u);
}

static inline muster_atom_result busy_think(muster_update *update) {
  busy_mind *mind = update->state;
  uint64_t random = muster_update_random(update);
  if (busy_interrupt) busy_interrupt();
  mind->sum = mind->sum * 31 + random + update->set + update->elapsed_ns + update->level;
  mind->told_ns += update->elapsed_ns;
  busy_read(update, mind);
  busy_write(update, random);
  muster_position to = update->position;
  to.x += (double)(random % 7) - 3.0;
  to.y += (double)(random / 7 % 7) - 3.0;
  muster_update_move(update, to);
  mind->energy += (double)update->elapsed_ns * 1e-9;
  memcpy(update->published, &mind->energy, sizeof mind->energy);
  return random % 64 == 5 ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

static inline muster_atom_result busy_act(muster_update *update) {
  busy_mind *mind = muster_update_state_of(update, update->agent);
  muster_agent_def child = muster_agent_def_default();
  muster_neighbour near[1];
  if (busy_interrupt) busy_interrupt();
  mind->sum = mind->sum * 7 + update->elapsed_ns;
  child.type = update->type;
  child.position = update->position;
  uint64_t random = muster_update_random(update);
  if (random % 24 == 0) muster_update_spawn(update, &child);
  if (random % 24 == 1 && muster_update_nearby(update, 40.0f, (muster_type){0}, near, 1) == 1)
    muster_update_remove(update, near[0].agent);
  return MUSTER_ATOM_NEXT;
}

static inline uint64_t busy_cost(const muster_cost_query *query, void *user) {
  (void)user;
  /* Some are over their limit of 20 us. */
  return 800 + query->random % 4000 + (muster_agent_index(query->agent) % 97 == 5 ? 30000 : 0);
}

static inline muster_type_def busy_type(const char *name) {
  muster_type_def type = muster_type_def_default();
  type.name = name;
  type.state_bytes = sizeof(busy_mind);
  type.published_bytes = sizeof(double);
  type.period_ns = 30000000u;
  type.period_max_ns = 90000000u;
  type.limit_ns = 20000;
  type.levels.count = 4;
  type.spawns_max = 1;
  type.messages.waiting_max = 4;
  type.messages.bytes_max = 8;
  type.messages.sends_max = 3;
  type.models.cost_ns = busy_cost;
  return type;
}

static inline void busy_register_sets(little_world *little) {
  static const muster_atom thoughts[BUSY_THOUGHTS] = {{busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0}};
  static const muster_atom acts[] = {{busy_act, MUSTER_ROLE_ACTION, 500}};
  muster_set_def sets[4];
  for (uint32_t i = 0; i < 4; i++) {
    sets[i] = muster_set_def_default();
    sets[i].atoms = thoughts;
    sets[i].atom_count = 1 + i;
    sets[i].mode = i % 3;
    sets[i].share = 10 + 20 * i;
  }
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[1].period_updates = 3;
  sets[2].period_updates = 0;
  sets[2].period_ns = 150000000u;
  sets[3].role = MUSTER_ROLE_ACTION;
  sets[3].mode = MUSTER_MODE_RUN;
  sets[3].atoms = acts;
  sets[3].atom_count = 1;
  muster_type_def type = busy_type("setter");
  type.sets.list = sets;
  type.sets.count = 4;
  type.sets.slice_ns = 9000;
  type.sets.share = 40;
  register_type(little, &type);
}

/* Penalties are meant. */
static inline void busy_log(muster_log_level level, const char *message, void *user) {
  (void)level, (void)message, (void)user;
}

/* Four types: of atoms, that are called only, with bounded steps and wakes at a distance, and of sets. */
static inline little_world busy_world(const busy_kind *kind, uint32_t workers) {
  static const muster_atom atoms[] = {{busy_think, MUSTER_ROLE_PERCEPTION, 0},
                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                      {busy_think, MUSTER_ROLE_BEHAVIOUR, 0},
                                      {busy_act, MUSTER_ROLE_ACTION, 600}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = kind->wall ? MUSTER_CLOCK_WALL : MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 4000;
  def.order = kind->order;
  if (kind->order != MUSTER_ORDER_DEADLINE) def.elastic = MUSTER_ELASTIC_RATE;
  def.importance_model = kind->importance;
  def.activation_delay = kind->activation_delay;
  def.levels.cycles_max = kind->cycles_max;
  def.levels.pressure = kind->level_pressure;
  def.priority.reduction = kind->weight_reduction;
  def.log.write = busy_log;
  def.limits.changes_frames = 3;
  little_world little = little_world_create(workers, &def);
  muster_type_def type = busy_type("walker");
  type.atoms = atoms;
  type.atom_count = 4;
  type.messages.wake = true;
  register_type(&little, &type);
  type.name = "called";
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  type.messages.wake = true;
  register_type(&little, &type);
  type.name = "stepper";
  type.elapsed.contract = MUSTER_ELAPSED_STEPS;
  type.elapsed.step_ns = 10000000u;
  type.elapsed.steps_max = 10;
  type.wake_gap_ns = 50000000u;
  type.act = kind->repeats ? MUSTER_ACT_REGION : MUSTER_ACT_PARALLEL;
  type.overruns.demote = 3;
  type.overruns.quarantine = 4;
  register_type(&little, &type);
  type.name = "setter";
  if (kind->wall)
    register_type(&little, &type);
  else
    busy_register_sets(&little);
  return little;
}

static inline muster_position busy_place(uint32_t number, uint32_t frame) {
  uint32_t mixed = number * 2654435761u + frame * 40503u;
  return (muster_position){(double)(mixed % 601) - 300.0, (double)(mixed / 601 % 601) - 300.0, 0.0};
}

static inline void busy_spawn(const little_world *little, uint32_t number, uint32_t frame) {
  muster_agent_def def = muster_agent_def_default();
  def.type.index = 1 + number % 4;
  def.position = busy_place(number, frame);
  def.importance_floor = number % 50 == 0 ? 1.0f : 0.0f;
  def.elasticity = number % 70 == 0 ? 0.0f : -1.0f;
  def.designer = (float)(number % 10) * 0.1f;
  muster_agent_spawn(little->world, &def);
}

static inline void busy_populate(const little_world *little) {
  for (uint32_t i = 0; i < BUSY_AGENTS; i++) busy_spawn(little, i, 0);
  for (uint32_t i = 0; i < BUSY_OBSERVERS; i++) {
    muster_observer_def observer = muster_observer_def_default();
    observer.position = busy_place(i, 1);
    observer.near_m = 10;
    observer.far_m = i == 3 ? 900.0f : 120.0f;
    muster_observer_add(little->world, &observer);
  }
}

/* An id of the world, chosen by its frame and number; null when there is none near. */
static inline muster_agent busy_choose(const little_world *little, uint32_t frame, uint32_t number) {
  uint32_t index = (frame * 7919u + number * 104729u) % 1500u;
  return muster_agent_next(little->world, muster_agent_make(index, 1));
}

static inline void busy_command(const little_world *little, uint32_t frame) {
  muster_world *world = little->world;
  muster_agent one = busy_choose(little, frame, 1), other = busy_choose(little, frame, 2);
  muster_agent third = busy_choose(little, frame, 3);
  muster_agent_wake(world, one);
  muster_agent_move(world, other, busy_place(frame, 9));
  muster_agent_send(world, other, &frame, sizeof frame);
  muster_agent_wake_at(world, third, little->now_ns + 95000000u);
  muster_agent_link(world, one, other);
  if (frame % 3 == 0) muster_agent_remove(world, third);
  if (frame % 11 == 5) muster_agent_reinstate(world, one);
  if (frame % 40 == 7) {
    muster_set_tuning tuning = muster_set_tuning_default();
    tuning.share = 20 + frame % 60;
    muster_set_tune(world, (muster_type){4}, 1, &tuning);
  }
  if (frame % 50 == 11) {
    muster_world_tuning tuning = muster_world_tuning_default();
    tuning.priority.runs = (float)(frame % 3) * 0.4f;
    muster_world_tune(world, &tuning);
  }
}

/* What the host asks for before a frame, and the frame. */
static inline void busy_frame(little_world *little, const busy_kind *kind, uint32_t frame) {
  for (uint32_t i = 0; i < 6; i++) busy_spawn(little, frame * 6 + i, frame);
  for (uint32_t i = 0; i < BUSY_OBSERVERS; i++)
    muster_observer_move(little->world, muster_observer_make(i, 1), busy_place(i, 1 + frame / (1 + i)));
  busy_command(little, frame);
  run_frame_with(little, kind->budget_ns + frame % 5 * 10000u);
}

/* A populated world after so many frames. */
static inline little_world busy_driven(const busy_kind *kind, uint32_t workers, uint32_t frames) {
  little_world little = busy_world(kind, workers);
  busy_populate(&little);
  for (uint32_t frame = 0; frame < frames; frame++) busy_frame(&little, kind, frame);
  return little;
}

#endif
