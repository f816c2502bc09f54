/* snapshot.h - a world to bytes and back: one function for each section, which writes it, checks it, or takes it.
 *
 * A section is exchanged in the same order in all three modes, so that what is written, checked and read cannot differ.
 * While it checks, nothing of the world is written: what later sections must know of the agents is kept aside. Of a
 * list the agents in it are saved, in order, and the list is made anew; what follows from other things (counts, back
 * links, the places in lists) is not saved. Frame's thread. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "base/chunks.h"
#include "base/fields.h"
#include "world/world.h"

#include <muster/snapshot.h>

enum { SNAPSHOT_VERSION = 6 };

typedef enum snapshot_section {
  SNAPSHOT_HEAD = 1,
  SNAPSHOT_TYPES,
  SNAPSHOT_CLASSES,
  SNAPSHOT_IDS,
  SNAPSHOT_AGENTS,
  SNAPSHOT_GRID,
  SNAPSHOT_WHEELS,
  SNAPSHOT_READY,
  SNAPSHOT_TIMERS,
  SNAPSHOT_OBSERVERS,
  SNAPSHOT_SCORE,
  SNAPSHOT_COMPANIONS,
  SNAPSHOT_QUEUES,
  SNAPSHOT_CONDUCT,
  SNAPSHOT_LEARNT,
  SNAPSHOT_HERDS,
  SNAPSHOT_FOLDS,
  SNAPSHOT_SECTIONS
} snapshot_section;

typedef enum snapshot_mode { SNAPSHOT_SAVES = 0, SNAPSHOT_CHECKS, SNAPSHOT_LOADS } snapshot_mode;

/* Where an agent was met while a snapshot is checked. */
enum {
  SNAPSHOT_IN_GRID = 1,
  SNAPSHOT_LISTED = 2, /* in the one list that its status asks for */
  SNAPSHOT_IN_FIFO = 4,
  SNAPSHOT_TAKEN = 8, /* the index is an agent's, set aside or free */
  SNAPSHOT_TIMED = 16,
  SNAPSHOT_REACTS = 32,
  SNAPSHOT_LOST = 64,
  SNAPSHOT_HAS_COMPANIONS = 128,
  SNAPSHOT_AWAITS = 256 /* a time: it must be in the list of agents that do */
};

/* And an observer's marks. */
enum {
  OBSERVER_IS_PRESENT = 1,
  OBSERVER_IS_WRITTEN = 2, /* its source is written */
  OBSERVER_IS_LIVE = 4,
  OBSERVER_IS_FREE = 8,
  OBSERVER_LEAPT = 16, /* in this queue */
  OBSERVER_WALKED = 32,
  OBSERVER_ENTERED = 64 /* into a bucket */
};

/* What was read of the herds of a type. */
typedef struct snapshot_herd_pool {
  uint8_t *homes;                   /* by home: what the herd is, as below; 0 = no herd was ever there */
  uint32_t *claims;                 /* by entry: its herd's home + 1 */
  uint8_t *entries;                 /* by entry: its state, and where it was met */
  uint32_t block_count, entry_high; /* in use */
} snapshot_herd_pool;

enum {
  HOME_IS_EMPTY = 1,
  HOME_IS_FOLDED,
  HOME_IS_UNFOLDED,
  HOME_IS_DYING,
  HOME_KINDS = 7 /* mask */,
  HOME_HAS_ENTRY = 8
};
enum { ENTRY_STATES = 7 /* mask */, ENTRY_IS_LISTED = 8, ENTRY_SETTLES = 16 };

struct snapshot {
  struct muster_world *world;
  snapshot_mode mode;
  bool failed;
  char trouble[256]; /* if it was refused: why */
  chunk_writer writer;
  chunk_reader reader;
  const muster_save_def *save;
  const muster_load_def *load;
  muster_snapshot_info info; /* the head */
  uint32_t high;             /* indices of agents that were ever in use */
  /* while it checks; what was read of the agents */
  agent_row *rows;
  uint16_t *marks;  /* by agent */
  uint16_t *types;  /* by class: its type, */
  uint8_t *members; /* and 1 when it is said to have members, 2 when members were found */
  uint64_t *seen;   /* bitmap: combinations of type, level and step that have a class */
  uint32_t classes;
  uint8_t *observers;           /* of each: what it is, as below */
  uint32_t *offenders;          /* OFFENDERS_MAX */
  uint32_t active, active_high; /* agents; indices below which they are */
  uint32_t shed;                /* how many of the active agents pressure lowers */
  uint8_t *ties;                /* by agent: whether it stands for anything in a herd */
  snapshot_herd_pool pools[MUSTER_HERD_TYPES_MAX];
};

static inline bool snapshot_saves(const struct snapshot *snapshot) {
  return snapshot->mode == SNAPSHOT_SAVES;
}
static inline bool snapshot_checks(const struct snapshot *snapshot) {
  return snapshot->mode == SNAPSHOT_CHECKS;
}
static inline bool snapshot_loads(const struct snapshot *snapshot) {
  return snapshot->mode == SNAPSHOT_LOADS;
}

/* Writes a value, or reads it; a null one is passed over. */
void snapshot_exchange(struct snapshot *snapshot, void *value, size_t bytes);

/* The same for something that belongs to the world: it is not written before everything was checked. */
void snapshot_exchange_own(struct snapshot *snapshot, void *value, size_t bytes);

/* Writes a number and returns it, or reads it. */
uint32_t snapshot_number(struct snapshot *snapshot, uint32_t number);
uint64_t snapshot_long(struct snapshot *snapshot, uint64_t number);

/* A count that may be at most `most`: refuses the snapshot, and returns 0, when it is more. */
uint32_t snapshot_count(struct snapshot *snapshot, uint32_t count, uint32_t most, const char *what);

/* Refuses the snapshot when a condition on what was read does not hold, printf-style. Returns whether it holds. */
bool snapshot_expect(struct snapshot *snapshot, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes a field of a definition, or expects it to be what it was: "the world", or a type and its name. */
bool snapshot_same(struct snapshot *snapshot, const field_row *field, const void *own, const char *what,
                   const char *name);

/* The same for the name of a type and all of its fields that must be what they were. */
bool snapshot_shape(struct snapshot *snapshot, const char *what, uint32_t number, const char *name, size_t bytes,
                    const field_row *fields, const void *object);

/* Expects an index of an agent. */
bool snapshot_expect_agent(struct snapshot *snapshot, uint32_t index);

/* Expects an agent without these marks, and sets them. Only while it checks. */
bool snapshot_mark(struct snapshot *snapshot, uint32_t index, uint16_t mark, const char *where);

/* Saving: writes the agents in a list, in the order in which they came, to world->plan->periods.due, which belongs
 * to the frames and has room for every agent. Returns how many there are. */
uint32_t snapshot_list(struct snapshot *snapshot, const list_store *lists, agent_list list);

/* Whether a value can be a duration, or a share, that was learnt. */
static inline bool snapshot_is_duration(double value) {
  return value >= 0.0 && value < 1e15;
}

/* The sections; in src/snapshot/snapshot_types.c, */
void snapshot_types(struct snapshot *snapshot);
void snapshot_classes(struct snapshot *snapshot);
/* src/snapshot/snapshot_agents.c, */
void snapshot_ids(struct snapshot *snapshot);
void snapshot_agents(struct snapshot *snapshot);
void snapshot_grid(struct snapshot *snapshot);
void snapshot_companions(struct snapshot *snapshot);
/* src/snapshot/snapshot_waiting.c, */
void snapshot_wheels(struct snapshot *snapshot);
void snapshot_ready(struct snapshot *snapshot);
void snapshot_timers(struct snapshot *snapshot);
void snapshot_queues(struct snapshot *snapshot);
/* src/snapshot/snapshot_plan.c, */
void snapshot_observers(struct snapshot *snapshot);
void snapshot_score(struct snapshot *snapshot);
/* src/snapshot/snapshot_learnt.c, */
void snapshot_conduct(struct snapshot *snapshot);
void snapshot_learnt(struct snapshot *snapshot);
/* src/snapshot/snapshot_herds.c, */
void snapshot_herds(struct snapshot *snapshot);
/* and src/snapshot/snapshot_pool.c; snapshot_pool() is a part of the section before. */
void snapshot_pool(struct snapshot *snapshot, uint32_t number);
void snapshot_folds(struct snapshot *snapshot);

/* Expects an active agent of a type that is not tied to any herd yet, and ties it to one. Only while it checks. */
bool snapshot_tie(struct snapshot *snapshot, uint32_t index, uint32_t type, const char *what);

/* Whether a position is one that a herd can have. */
static inline bool snapshot_is_ground(double x, double y) {
  return x >= -4e9 && x <= 4e9 && y >= -4e9 && y <= 4e9;
}

#endif
