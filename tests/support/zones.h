/* tests/support/zones.h - zones of a larger world in one process: agents that walk, publish, send and count. */
#ifndef ZONES_H
#define ZONES_H

#include "support/little_world.h"

#include <muster/zone.h>

#include <stdlib.h>

/* What crosses as bytes. */
typedef struct zone_bytes {
  unsigned char *bytes;
  size_t count, capacity;
  bool refuses;
} zone_bytes;

static inline bool zone_put(const void *bytes, size_t count, void *user) {
  zone_bytes *to = user;
  if (to->refuses) return false;
  if (to->count + count > to->capacity) {
    to->capacity = (to->count + count) * 2;
    to->bytes = realloc(to->bytes, to->capacity);
  }
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
  return true;
}

static inline void zone_bytes_forget(zone_bytes *bytes) {
  free(bytes->bytes);
}

/* The state of a walker; it publishes its sum. */
typedef struct walker_mind {
  uint64_t sum, updates, told_ns, messages, last_word;
  muster_agent friend_of; /* it sends to this one in each update */
} walker_mind;

static inline muster_atom_result zone_walk(muster_update *update) {
  walker_mind *mind = update->state;
  muster_message messages[8];
  uint32_t count = muster_update_messages(update, messages, 8);
  mind->updates++;
  mind->told_ns += update->elapsed_ns;
  mind->sum = mind->sum * 31 + muster_update_random(update) + update->elapsed_ns;
  for (uint32_t i = 0; i < count; i++) {
    mind->messages++;
    memcpy(&mind->last_word, messages[i].bytes, messages[i].size < 8 ? messages[i].size : 8);
    mind->sum = mind->sum * 31 + mind->last_word + messages[i].sender.value;
  }
  muster_position to = update->position;
  to.x += (double)(mind->sum % 5) - 2.0;
  muster_update_move(update, to);
  memcpy(update->published, &mind->sum, sizeof mind->sum);
  if (!muster_agent_is_null(mind->friend_of))
    muster_update_send(update, mind->friend_of, &mind->updates, sizeof mind->updates);
  return MUSTER_ATOM_NEXT;
}

static inline muster_type_def walker_type(void) {
  static const muster_atom walk = {zone_walk, MUSTER_ROLE_BEHAVIOUR, 2000};
  return WITH(muster_type_def, it.name = "walker", it.atoms = &walk, it.atom_count = 1,
              it.state_bytes = sizeof(walker_mind), it.published_bytes = sizeof(uint64_t), it.period_ns = 30000000u,
              it.messages.waiting_max = it.messages.bytes_max = 8, it.messages.sends_max = 4);
}

static inline muster_world_def zone_world_def(uint32_t number) {
  return WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.agents_max = 512,
              it.zone.number = number, it.zone.epoch = 1);
}

/* The first zone, for WITH(). */
typedef muster_world_def zone_def;

static inline zone_def zone_def_default(void) {
  return zone_world_def(1);
}

static inline little_world zone_world_of(uint32_t workers, const muster_world_def *def, const muster_type_def *type) {
  little_world little = little_world_create(workers, def);
  register_type(&little, type);
  return little;
}

/* On one worker, with walkers. */
static inline little_world zone_of(muster_world_def def) {
  muster_type_def type = walker_type();
  return zone_world_of(1, &def, &type);
}

static inline little_world zone_world(uint32_t number) {
  return zone_of(zone_world_def(number));
}

static inline void zones_destroy(little_world (*zones)[2]) {
  for (uint32_t i = 0; i < 2; i++) little_world_destroy(&(*zones)[i]);
}

static inline void run_both(little_world *one, little_world *other, uint32_t frames) {
  run_frames(one, frames);
  run_frames(other, frames);
}

static inline void depart(const little_world *from, muster_agent agent, uint32_t to, zone_bytes *bytes) {
  bytes->count = 0;
  assert_ok(muster_agent_depart(from->world, agent, to, zone_put, bytes));
  cr_assert_gt(bytes->count, 0);
}

static inline void arrive(const little_world *at, const zone_bytes *bytes, muster_agent agent) {
  muster_agent come = {0};
  assert_ok(muster_agent_arrive(at->world, bytes->bytes, bytes->count, &come));
  cr_assert(muster_agent_equal(come, agent), "%s", muster_last_error());
}

/* From one world into another. */
static inline void cross(const little_world *from, const little_world *to, muster_agent agent) {
  zone_bytes bytes = {0};
  muster_zone_def zone;
  cr_assert_eq(muster_zone_read(to->world, &zone), MUSTER_OK, "%s", muster_last_error());
  depart(from, agent, zone.number, &bytes);
  arrive(to, &bytes, agent);
  free(bytes.bytes);
}

/* What one zone shows of some of its agents to another. */
static inline zone_bytes ghosts_of(const little_world *from, const muster_agent *agents, uint32_t count) {
  zone_bytes bytes = {0};
  assert_ok(muster_ghosts_pack(from->world, agents, count, zone_put, &bytes));
  return bytes;
}

static inline void show_ghosts(const little_world *to, uint32_t from, const zone_bytes *bytes, bool whole) {
  assert_ok(muster_ghosts_set(to->world, from, bytes->bytes, bytes->count, whole));
}

/* The other world shows all of these agents of the first. */
static inline void mirror(const little_world *from, const little_world *to, const muster_agent *agents,
                          uint32_t count) {
  SCOPED(zone_bytes_forget) zone_bytes bytes = ghosts_of(from, agents, count);
  muster_zone_def zone;
  cr_assert_eq(muster_zone_read(from->world, &zone), MUSTER_OK, "%s", muster_last_error());
  show_ghosts(to, zone.number, &bytes, true);
}

static inline walker_mind *mind_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

static inline uint32_t hop_of(const little_world *little, muster_agent agent) {
  uint32_t hop = 77;
  cr_assert_eq(muster_agent_hop(little->world, agent, &hop), MUSTER_OK, "%s", muster_last_error());
  return hop;
}

static inline muster_zone_status zone_status(const little_world *little) {
  muster_zone_status status = muster_zone_status_default();
  cr_assert_eq(muster_zone_status_read(little->world, &status), MUSTER_OK, "%s", muster_last_error());
  return status;
}

#endif
