/* tests/support/zone_pair.h - two zones between which agents, ghosts and messages go back and forth in each frame. */
#ifndef ZONE_PAIR_H
#define ZONE_PAIR_H

#include "support/zones.h"

enum { PAIR_AGENTS = 30 };

typedef struct zone_pair {
  little_world zones[2]; /* 1 and 2 */
  uint32_t crossed, delivered;
} zone_pair;

static inline zone_pair zone_pair_with(uint32_t workers, uint32_t agents_max) {
  muster_world_def one = zone_world_def(1), two = zone_world_def(2);
  muster_type_def type = walker_type();
  one.limits.agents_max = two.limits.agents_max = agents_max;
  zone_pair pair = {.zones = {zone_world_of(workers, &one, &type), zone_world_of(workers, &two, &type)}};
  return pair;
}

static inline zone_pair zone_pair_of(uint32_t workers) {
  return zone_pair_with(workers, 512);
}

static inline void zone_pair_destroy(zone_pair *pair) {
  for (uint32_t i = 0; i < 2; i++) little_world_destroy(&pair->zones[i]);
}

static inline void zone_pair_populate(const zone_pair *pair) {
  for (uint32_t i = 0; i < 2 * PAIR_AGENTS; i++) spawn_at(&pair->zones[i % 2], (double)i);
}

/* The agent with this place in agent order. */
static inline muster_agent nth_agent(const little_world *little, uint32_t number) {
  muster_agent agent = muster_agent_next(little->world, (muster_agent){0});
  for (; number > 0 && !muster_agent_is_null(agent); number--) agent = muster_agent_next(little->world, agent);
  return agent;
}

static inline void pair_cross(zone_pair *pair, uint32_t from, uint32_t number) {
  little_world *left = &pair->zones[from], *entered = &pair->zones[!from];
  muster_agent agent = nth_agent(left, number);
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  if (muster_agent_is_null(agent)) return;
  if (muster_agent_depart(left->world, agent, 2 - from, zone_put, &bytes) != MUSTER_OK) return;
  arrive(entered, &bytes, agent);
  pair->crossed++;
}

static inline void pair_take(const muster_zone_message *message, void *user) {
  zone_bytes *to = user;
  const uint64_t follows = muster_zone_message_follows(message);
  zone_put(message, sizeof *message, to);
  zone_put(&follows, sizeof follows, to);
  zone_put(message->bytes, message->size, to);
}

/* What one zone has for the other goes there; of each message to one that is there the second copy is
 * refused. */
static inline void pair_carry(zone_pair *pair, uint32_t from) {
  SCOPED(zone_bytes_forget) zone_bytes bytes = {0};
  muster_zone_messages(pair->zones[from].world, pair_take, &bytes);
  for (size_t at = 0; at < bytes.count;) {
    muster_zone_message message;
    memcpy(&message, bytes.bytes + at, sizeof message);
    at += sizeof message;
    uint64_t follows;
    memcpy(&follows, bytes.bytes + at, sizeof follows);
    at += sizeof follows;
    message.bytes = bytes.bytes + at;
    at += message.size;
    muster_result result = muster_zone_deliver_after(pair->zones[!from].world, &message, follows);
    cr_assert(result == MUSTER_OK || result == MUSTER_E_STALE, "%s", muster_last_error());
    pair->delivered += result == MUSTER_OK;
    if (result == MUSTER_OK && muster_agent_exists(pair->zones[!from].world, message.to))
      cr_assert_eq(muster_zone_deliver_after(pair->zones[!from].world, &message, follows), MUSTER_E_STALE,
                   "it comes twice");
  }
}

static inline void pair_show(zone_pair *pair, uint32_t from) {
  muster_agent agents[128];
  uint32_t count = 0;
  for (muster_agent next = nth_agent(&pair->zones[from], 0); !muster_agent_is_null(next) && count < 128;
       next = muster_agent_next(pair->zones[from].world, next))
    if (next.value % 3) agents[count++] = next;
  mirror(&pair->zones[from], &pair->zones[!from], agents, count);
}

/* A friend for an agent, who may be anywhere. */
static inline void pair_befriend(const zone_pair *pair, uint32_t zone, uint32_t number, muster_agent friend_of) {
  muster_agent agent = nth_agent(&pair->zones[zone], number);
  if (!muster_agent_is_null(agent)) mind_of(&pair->zones[zone], agent)->friend_of = friend_of;
}

/* What goes on before a frame. */
static inline void pair_meet(zone_pair *pair, uint32_t frame) {
  for (uint32_t zone = 0; zone < 2; zone++) {
    pair_cross(pair, zone, frame * 7 % 20);
    if (frame % 4 == zone) pair_show(pair, zone);
    pair_carry(pair, zone);
  }
  if (frame == 40) muster_zone_set_epoch(pair->zones[0].world, 2);
  if (frame == 44) muster_zone_set_offset(pair->zones[0].world, 2500000000); /* as if it had been restored ahead */
  if (frame % 9 == 4) spawn_at(&pair->zones[frame % 2], (double)frame);
  if (frame % 13 == 5) muster_agent_remove(pair->zones[0].world, nth_agent(&pair->zones[0], 3));
}

static inline void pair_frame(zone_pair *pair, uint32_t frame) {
  pair_meet(pair, frame);
  for (uint32_t zone = 0; zone < 2; zone++) run_frame(&pair->zones[zone]);
}

#endif
