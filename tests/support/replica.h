/* tests/support/replica.h - what a host knows of everybody, kept up by the changes of frames alone, and compared with a
 * loop over everybody. */
#ifndef REPLICA_H
#define REPLICA_H

#include "support/little_world.h"

#include <muster/replicate.h>
#include <stdlib.h>

enum { REPLICA_BATCH = 512 };

typedef struct replica_agent {
  muster_agent agent;
  muster_position position;
  uint64_t last_update_ns;
  uint32_t level, type;
  unsigned char published[16];
  uint32_t told; /* kinds of the last frame */
} replica_agent;

struct replica {
  const muster_world *world;
  uint32_t maximum, known;
  uint32_t changed[5]; /* by kind: how often it was told, */
  uint32_t passing;    /* agents that came and left within a frame, */
  uint32_t in_vain;    /* and MOVED and LEVEL of agents that are as they were */
  uint64_t cursor, hash;
  replica_agent *agents;
};

static inline struct replica replica_create(const muster_world *world, uint32_t agents_max) {
  return (struct replica){.world = world, .maximum = agents_max, .agents = calloc(agents_max, sizeof(replica_agent))};
}

static inline void replica_destroy(struct replica *replica) {
  free(replica->agents);
}

static inline bool replica_knows(const struct replica *replica, muster_agent agent) {
  return muster_agent_equal(replica->agents[muster_agent_index(agent)].agent, agent);
}

static inline void replica_take(struct replica *replica, const muster_change *change) {
  replica_agent *kept = &replica->agents[muster_agent_index(change->agent)];
  replica->hash = replica->hash * 0x9e3779b97f4a7c15u + muster_agent_index(change->agent);
  replica->hash = replica->hash * 31 + muster_agent_generation(change->agent);
  replica->hash = replica->hash * 31 + change->kinds * 1024 + change->type.index;
  for (uint32_t kind = 0; kind < 5; kind++) replica->changed[kind] += change->kinds >> kind & 1;
  if (change->kinds & MUSTER_CHANGE_LEFT) {
    cr_assert_eq(change->kinds, MUSTER_CHANGE_LEFT);
    if (!replica_knows(replica, change->agent)) { /* it came and left within the frame */
      replica->passing++;
      return;
    }
    cr_assert_eq(kept->type, change->type.index);
    *kept = (replica_agent){0};
    replica->known--;
    return;
  }
  if (change->kinds & MUSTER_CHANGE_SPAWNED) {
    cr_assert(muster_agent_is_null(kept->agent), "agent %u came while another was there",
              muster_agent_index(change->agent));
    kept->agent = change->agent;
    kept->type = change->type.index;
    replica->known++;
  }
  cr_assert(replica_knows(replica, change->agent), "agent %u changed and never came",
            muster_agent_index(change->agent));
  cr_assert_eq(kept->type, change->type.index);
  cr_assert_eq(kept->told, 0, "agent %u is told twice", muster_agent_index(change->agent));
  kept->told = change->kinds;
}

/* Reads the changes of one frame: first those that left, then the others in agent order. */
static inline muster_result replica_read(struct replica *replica) {
  muster_change changes[REPLICA_BATCH];
  uint32_t count, next = 0;
  bool left = true;
  do {
    muster_result result =
        muster_frame_changes(replica->world, MUSTER_CHANGE_ALL, &replica->cursor, changes, REPLICA_BATCH, &count);
    if (result) return result;
    for (uint32_t i = 0; i < count; i++) {
      bool leaves = changes[i].kinds & MUSTER_CHANGE_LEFT;
      cr_assert(left || !leaves);
      cr_assert(leaves || muster_agent_index(changes[i].agent) >= next, "not in agent order");
      if (!leaves) next = muster_agent_index(changes[i].agent) + 1;
      left = leaves;
      replica_take(replica, &changes[i]);
    }
  } while (count == REPLICA_BATCH);
  return MUSTER_OK;
}

/* Compares an agent with what was known of it, and takes over what it is now. */
static inline void replica_compare(struct replica *replica, muster_agent agent) {
  replica_agent *kept = &replica->agents[muster_agent_index(agent)];
  muster_agent_info info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(replica->world, agent, &info), MUSTER_OK);
  cr_assert(replica_knows(replica, agent), "nobody told of agent %u", muster_agent_index(agent));
  cr_assert_eq(kept->type, info.type.index);
  bool came = kept->told & MUSTER_CHANGE_SPAWNED;
  bool moved = memcmp(&kept->position, &info.position, sizeof info.position) != 0;
  bool level = kept->level != info.level;
  bool published =
      info.published && (memcmp(kept->published, info.published, 8) || kept->last_update_ns != info.last_update_ns);
  cr_assert(came || !moved || kept->told & MUSTER_CHANGE_MOVED, "agent %u moved", muster_agent_index(agent));
  cr_assert(came || !level || kept->told & MUSTER_CHANGE_LEVEL, "agent %u has another level",
            muster_agent_index(agent));
  cr_assert(came || !published || kept->told & MUSTER_CHANGE_PUBLISHED, "agent %u published",
            muster_agent_index(agent));
  cr_assert(info.published || !(kept->told & MUSTER_CHANGE_PUBLISHED));
  replica->in_vain +=
      (!came && !moved && kept->told & MUSTER_CHANGE_MOVED) + (!came && !level && kept->told & MUSTER_CHANGE_LEVEL);
  kept->position = info.position;
  kept->level = info.level;
  kept->last_update_ns = info.last_update_ns;
  if (info.published) memcpy(kept->published, info.published, 8);
  kept->told = 0;
}

static inline void replica_check(struct replica *replica) {
  uint32_t there = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(replica->world, agent)); there++)
    replica_compare(replica, agent);
  cr_assert_eq(there, replica->known, "%u agents are there, %u were told", there, replica->known);
}

#endif
