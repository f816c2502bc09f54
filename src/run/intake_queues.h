/* run/intake_queues.h - what any thread hands to a world, until the next intake takes it.
 *
 * Any number of spawned agents can wait, each written in place by its spawner; the intake takes as many as a frame
 * affords. Everything else is a ring of commands; a command may reach an agent that is still pending.
 *
 * Spawned agents have a bit each:
 *
 *   spawner: write the agent  ->  set its bit (ordered) [p]  ->  count one more
 *   intake:  look at the count  ->  find bits (acquire, pairs with [p])  ->  clear them (ordered)  ->  count them off
 *
 * The bit is set before it is counted, so at least as many bits are found as were counted. Several spawners and the
 * intake may share a word, hence the read-modify-writes. Agents are taken in order, from the last one found on. */
#ifndef RUN_INTAKE_QUEUES_H
#define RUN_INTAKE_QUEUES_H

#include "agents/store.h"
#include "pool/ring.h"

#include <muster/sets.h>

/* Agents that were spawned. */
struct spawn_queue {
  shared_u64 *bits;
  uint32_t words;
  uint32_t next; /* the agent from which the intake goes on */
  _Alignas(64) shared_u32 count;
};

/* Reserves a bit for every agent. */
void spawn_queue_create(struct spawn_queue *spawns, uint32_t agents_max, struct arena *arena);

/* An agent that is written, and that its spawner does not touch any more, waits for the intake. Any thread. */
static inline void spawn_queue_add(struct spawn_queue *spawns, uint32_t agent) {
  fetch_or_ordered_u64(&spawns->bits[agent / 64], 1ull << (agent % 64));
  fetch_add_relaxed_u32(&spawns->count, 1);
}

/* How many agents wait, at least. Any thread. */
static inline uint32_t spawn_queue_count(const struct spawn_queue *spawns) {
  return load_relaxed_u32(&spawns->count);
}

/* Whether an agent waits. Any thread. */
static inline bool spawn_queue_has(const struct spawn_queue *spawns, uint32_t agent) {
  return load_acquire_u64(&spawns->bits[agent / 64]) >> (agent % 64) & 1;
}

/* The intake goes on behind this agent, as it does when it has taken it. The intake's thread. */
static inline void spawn_queue_go_on(struct spawn_queue *spawns, uint32_t agent) {
  spawns->next = agent + 1 < spawns->words * 64 ? agent + 1 : 0;
}

/* Nobody waits, and the intake goes on where it would have. While no other thread adds. */
void spawn_queue_clear(struct spawn_queue *spawns);

/* An agent does not wait any more, if it did. One thread. */
static inline void spawn_queue_take_out(struct spawn_queue *spawns, uint32_t agent) {
  uint64_t bit = 1ull << (agent % 64);
  if (fetch_and_ordered_u64(&spawns->bits[agent / 64], ~bit) & bit) fetch_sub_relaxed_u32(&spawns->count, 1);
}

/* Takes up to `most` agents; returns how many. One thread. O(taken + words passed over). */
uint32_t spawn_queue_take(struct spawn_queue *spawns, uint32_t *agents, uint32_t most);

typedef enum command_kind {
  COMMAND_REMOVE = 0,
  COMMAND_MOVE,
  COMMAND_WAKE,
  COMMAND_TUNE,
  COMMAND_WAKE_AT,
  COMMAND_REINSTATE,
  COMMAND_QUARANTINE,
  COMMAND_LINK,
  COMMAND_UNLINK,
  COMMAND_PERIODS,
  COMMAND_OBSERVER_ADD,
  COMMAND_OBSERVER_MOVE,
  COMMAND_OBSERVER_REMOVE,
  COMMAND_REINSTATE_TYPE, /* from here on the index is the type's */
  COMMAND_SET_TUNE,
  COMMAND_SET_SHARE,
  COMMAND_QUARANTINE_TYPE,
  COMMAND_TYPE_PERIODS,
  COMMAND_HERD_WAKE, /* from here on the index is a herd's, and the partition a member's number */
  COMMAND_HERD_REMOVE,
  COMMAND_KINDS
} command_kind;

/* For a set of a type; for the type itself only the share counts. */
typedef struct command_tuning {
  uint64_t period_ns;
  uint32_t period_updates;
  uint16_t set;
  uint8_t share, mode;
} command_tuning;

/* Of an agent or a type; nominal 0 = back to what they were. */
typedef struct command_periods {
  uint64_t nominal_ns, longest_ns;
} command_periods;

/* Records and snapshots keep its bytes, so it has no gaps. Initialise only the first member of the union, and assign
 * another one afterwards: an initialiser would leave the rest of the union as it was in memory. */
struct command {
  uint32_t kind; /* command_kind */
  uint32_t index, generation;
  uint32_t partition;
  union {
    muster_position position; /* tune: visibility, bulk, interactivity */
    uint64_t at_ns;           /* wake at */
    command_tuning tuning;    /* set tune, set share */
    muster_agent other;       /* link, unlink: an id */
    command_periods periods;  /* periods, type periods */
  };
  float first, second; /* tune: importance floor, elasticity; observer: near_m, far_m */
  uint8_t derive;      /* tune; it and the next hold with any value but 0: files have them */
  uint8_t rated;       /* tune: the next two are given, each RATING_OF_TYPE when it is not */
  uint8_t designer, role;
  uint32_t epoch; /* observer that is added, in a zone: that of its id; else 0 */
};

/* A command about an agent. */
static inline struct command command_about(command_kind kind, muster_agent agent) {
  return (struct command){
      .kind = kind, .index = muster_agent_index(agent), .generation = muster_agent_generation(agent)};
}

/* The tuning of a set that a command carries. */
static inline muster_set_tuning command_set_tuning(const struct command *command) {
  return (muster_set_tuning){.share = command->tuning.share,
                             .period_updates = command->tuning.period_updates,
                             .period_ns = command->tuning.period_ns,
                             .mode = command->tuning.mode};
}

_Static_assert(sizeof(struct command) == 56, "without gaps: its bytes are kept");

struct intake_queues {
  shared_u32 types; /* how many are registered, as other threads may know it */
  shared_u32 messages_open;
  struct spawn_queue spawns; /* pending agents whose row and place are written */
  struct ring commands;      /* command */
  struct ring messages;      /* outgoing; reserved when the first type with boxes is registered */
  struct ring tunings;       /* muster_world_tuning, checked */
};

enum { INTAKE_TUNINGS = 64 };

/* Another type is registered: a thread that sees the number sees the type. Frame's thread. */
static inline void intake_queues_announce_types(struct intake_queues *queues, uint32_t count) {
  /* Release: pairs with the acquire in intake_queues_types. */
  store_release_u32(&queues->types, count);
}

/* How many types a spawn may name. Any thread. */
static inline uint32_t intake_queues_types(const struct intake_queues *queues) {
  return load_acquire_u32(&queues->types);
}

/* The ring of messages is reserved: a thread that sees it open may push. Frame's thread. */
static inline void intake_queues_open_messages(struct intake_queues *queues) {
  /* Release: pairs with the acquire in intake_queues_take_messages. */
  store_release_u32(&queues->messages_open, 1);
}

/* Whether any type has boxes. Any thread. */
static inline bool intake_queues_take_messages(const struct intake_queues *queues) {
  return load_acquire_u32(&queues->messages_open);
}

/* Reserves room for spawns and commands. */
void intake_queues_create(struct intake_queues *queues, uint32_t agents_max, uint32_t commands_max,
                          struct arena *arena);

#endif
