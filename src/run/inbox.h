/* run/inbox.h - what any thread hands to a world, until the next intake takes it.
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
#ifndef RUN_INBOX_H
#define RUN_INBOX_H

#include "agents/store.h"
#include "pool/ring.h"

/* Agents that were spawned. */
struct pending {
  shared_u64 *bits;
  uint32_t words;
  uint32_t next; /* the agent from which the intake goes on */
  _Alignas(64) shared_u32 count;
};

/* Reserves a bit for every agent. */
void pending_create(struct pending *pending, uint32_t agents_max, struct arena *arena);

/* An agent that is written, and that its spawner does not touch any more, waits for the intake. Any thread. */
static inline void pending_add(struct pending *pending, uint32_t agent) {
  fetch_or_ordered_u64(&pending->bits[agent / 64], 1ull << (agent % 64));
  fetch_add_relaxed_u32(&pending->count, 1);
}

/* How many agents wait, at least. Any thread. */
static inline uint32_t pending_count(const struct pending *pending) {
  return load_relaxed_u32(&pending->count);
}

/* Whether an agent waits. Any thread. */
static inline bool pending_has(const struct pending *pending, uint32_t agent) {
  return load_acquire_u64(&pending->bits[agent / 64]) >> (agent % 64) & 1;
}

/* Takes up to `most` agents; returns how many. One thread. O(taken + words passed over). */
uint32_t pending_take(struct pending *pending, uint32_t *agents, uint32_t most);

typedef enum command_kind {
  COMMAND_REMOVE = 0,
  COMMAND_MOVE,
  COMMAND_WAKE,
  COMMAND_TUNE,
  COMMAND_WAKE_AT,
  COMMAND_PARDON,
  COMMAND_LINK,
  COMMAND_UNLINK,
  COMMAND_OBSERVER_ADD,
  COMMAND_OBSERVER_MOVE,
  COMMAND_OBSERVER_REMOVE,
  COMMAND_PARDON_TYPE, /* from here on the index is the type's */
  COMMAND_SET_TUNE,
  COMMAND_PRIORITISE,
  COMMAND_QUARANTINE_TYPE,
  COMMAND_HERD_WAKE, /* from here on the index is a herd's, and the partition a member's number */
  COMMAND_HERD_REMOVE,
  COMMAND_KINDS
} command_kind;

/* For a set of a type; for the type itself only the priority counts. */
typedef struct command_tuning {
  uint64_t period_ns;
  uint32_t period_updates;
  uint16_t set;
  uint8_t priority, mode;
} command_tuning;

/* Records and snapshots keep its bytes, so it has no gaps. Initialise only the first member of the union, and assign
 * another one afterwards: an initialiser would leave the rest of the union as it was in memory. */
struct command {
  uint32_t kind; /* command_kind */
  uint32_t index, generation;
  uint32_t partition;
  union {
    muster_position position; /* tune: visibility, bulk, interactivity */
    uint64_t at_ns;           /* wake at */
    command_tuning tuning;    /* set tune, prioritise */
    muster_agent other;       /* meet, part */
  };
  float first, second; /* tune: importance floor, elasticity; observer: near_m, far_m */
  bool derive;         /* tune */
  bool rated;          /* tune: the next two are given, each RATING_OF_TYPE when it is not */
  uint8_t designer, role;
  uint32_t unused; /* 0 */
};

_Static_assert(sizeof(struct command) == 56, "without gaps: its bytes are kept");

struct inbox {
  shared_u32 types; /* how many are registered, as other threads may know it */
  shared_u32 messages_open;
  struct pending spawns; /* pending agents whose row and place are written */
  struct ring commands;  /* command */
  struct ring messages;  /* outgoing; reserved when the first type with boxes is registered */
  struct ring tunings;   /* muster_world_tuning, checked */
};

enum { INBOX_TUNINGS = 64 };

/* Another type is registered: a thread that sees the number sees the type. Frame's thread. */
static inline void inbox_announce_types(struct inbox *inbox, uint32_t count) {
  /* Release: pairs with the acquire in inbox_types. */
  store_release_u32(&inbox->types, count);
}

/* How many types a spawn may name. Any thread. */
static inline uint32_t inbox_types(const struct inbox *inbox) {
  return load_acquire_u32(&inbox->types);
}

/* The ring of messages is reserved: a thread that sees it open may push. Frame's thread. */
static inline void inbox_open_messages(struct inbox *inbox) {
  /* Release: pairs with the acquire in inbox_takes_messages. */
  store_release_u32(&inbox->messages_open, 1);
}

/* Whether any type has boxes. Any thread. */
static inline bool inbox_takes_messages(const struct inbox *inbox) {
  return load_acquire_u32(&inbox->messages_open);
}

/* Reserves room for spawns and commands. */
void inbox_create(struct inbox *inbox, uint32_t agents_max, uint32_t commands_max, struct arena *arena);

#endif
