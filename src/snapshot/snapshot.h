/* snapshot.h - a world to bytes and back: one function for each section, which writes it, checks it, or takes it.
 *
 * A section is exchanged in the same order in all three modes, so that what is written, checked and read cannot differ.
 * While it checks, nothing of the world is written: what later sections must know of the agents is kept aside. Lists
 * are saved as who stands in them, in order, and made anew; what follows from other things (counts, back links, the
 * places in lists) is not saved. Frame's thread. */
#ifndef SNAPSHOT_H
#define SNAPSHOT_H

#include "base/chunks.h"
#include "world/world.h"

#include <muster/snapshot.h>

enum { SNAPSHOT_VERSION = 5 };

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
  SNAPSHOT_TAKEN = 8, /* the index is somebody's, set aside or free */
  SNAPSHOT_TIMED = 16,
  SNAPSHOT_REACTS = 32,
  SNAPSHOT_LOST = 64,
  SNAPSHOT_HAS_COMPANIONS = 128,
  SNAPSHOT_AWAITS = 256 /* a time: it must be among those who do */
};

/* And an observer. */
enum {
  OBSERVER_IS_PRESENT = 1,
  OBSERVER_IS_WRITTEN = 2, /* its source is */
  OBSERVER_IS_LIVE = 4,
  OBSERVER_IS_FREE = 8,
  OBSERVER_LEAPT = 16, /* in this queue */
  OBSERVER_WALKED = 32,
  OBSERVER_ENTERED = 64 /* into a bucket */
};

/* What was read of a type's herds. */
typedef struct snapshot_herd_pool {
  uint8_t *homes;                   /* by home: what the herd is, as below; 0 = no herd was ever there */
  uint32_t *claims;                 /* by entry: + 1, its herd's home */
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
  char trouble[256]; /* then: why */
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
  uint8_t *members; /* and 1 when it is said to have members, 2 when it was found to */
  uint64_t *seen;   /* bitmap: of type, level and step, which have a class */
  uint32_t classes;
  uint8_t *observers;           /* of each: what it is, as below */
  uint32_t *offenders;          /* OFFENDERS_MAX */
  uint32_t active, active_high; /* agents; indices below which they are */
  uint32_t shed;                /* of them, those that pressure lowers */
  uint8_t *ties;                /* by agent: whether it is somebody to a herd */
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

/* The same for something that belongs to the world: it is not written before all was checked. */
void snapshot_exchange_own(struct snapshot *snapshot, void *value, size_t bytes);

/* Writes a number and returns it, or reads it. */
uint32_t snapshot_number(struct snapshot *snapshot, uint32_t number);
uint64_t snapshot_long(struct snapshot *snapshot, uint64_t number);

/* A count that may be `most`: refuses the snapshot, and returns 0, when it is more. */
uint32_t snapshot_count(struct snapshot *snapshot, uint32_t count, uint32_t most, const char *what);

/* What must hold of something that was read: else the snapshot is refused, printf-style. Returns whether it does. */
bool snapshot_expect(struct snapshot *snapshot, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Expects an index of an agent. */
bool snapshot_expect_agent(struct snapshot *snapshot, uint32_t index);

/* Expects an agent that has none of these marks yet, and gives them to it. Only while it checks. */
bool snapshot_mark(struct snapshot *snapshot, uint32_t index, uint16_t mark, const char *where);

/* Saving: writes who stands in a list, in the order in which they came, to world.periods.due, which has room for
 * everybody and is the frames'. Returns how many. */
uint32_t snapshot_list(struct snapshot *snapshot, const list_store *lists, agent_list list);

/* Whether a duration, or a share, can have been learnt. */
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
/* and src/snapshot/snapshot_pool.c, of which the first is a part of the section before. */
void snapshot_pool(struct snapshot *snapshot, uint32_t number);
void snapshot_folds(struct snapshot *snapshot);

/* Expects an active agent of a type that is nothing to any herd yet, and ties it to one. Only while it checks. */
bool snapshot_tie(struct snapshot *snapshot, uint32_t index, uint32_t type, const char *what);

/* Whether something of a herd can be there. */
static inline bool snapshot_is_ground(double x, double y) {
  return x >= -4e9 && x <= 4e9 && y >= -4e9 && y <= 4e9;
}

#endif
