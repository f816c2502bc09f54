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

#include <math.h>
#include <muster/herd.h>
#include <muster/snapshot.h>
#include <setjmp.h>

enum { SNAPSHOT_VERSION = 13 };

struct outgoing;
struct saved_agent;
struct zone_outgoing;

/* Sections by number; src/snapshot/snapshot.c has them in order. */
enum {
  SNAPSHOT_HEAD = 1,
  SNAPSHOT_SECTIONS = 18,
  SNAPSHOT_OF_AGENT = SNAPSHOT_SECTIONS, /* from here on they are the only one of what crosses between zones */
  SNAPSHOT_OF_GHOSTS,
  SNAPSHOT_OF_HERD,
  SNAPSHOT_OF_OBSERVER
};

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
  SNAPSHOT_AWAITS = 256, /* a time: it must be in the list of agents that do */
  SNAPSHOT_OVERRUNS = 512,
  SNAPSHOT_TIED = 1024 /* to a herd */
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
  struct herd_type *type;
  uint8_t number;                   /* of the type */
  uint8_t *homes;                   /* by home: what the herd is, as below; 0 = no herd was ever there */
  uint32_t *claims;                 /* by entry: its herd's home + 1 */
  uint8_t *entries;                 /* by entry: its state, and where it was met; */
  uint32_t *nexts;                  /* the next one of its list + 1 */
  uint32_t *firsts;                 /* by block: the first entry that its folded herds have + 1 */
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
  jmp_buf refused;    /* where the check ends when it refuses */
  char trouble[256];  /* if it was refused: why */
  const char *column; /* the first column that was out of its range: the next expectation names it; null: none was */
  uint32_t *indices;  /* room for every agent: the list that is saved or was read last */
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
  uint64_t *seen;   /* bitmap: combinations of type, level and step that have a class of the type's periods */
  uint32_t classes;
  uint32_t observer_ids;        /* that were ever in use */
  uint8_t *observers;           /* of each: what it is, as below */
  uint32_t active, active_high; /* agents; indices below which they are */
  uint32_t shed;                /* how many of the active agents pressure lowers */
  uint32_t ghosts;              /* agents of other zones that are perceived */
  uint64_t *ghost_bits;         /* and by index */
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

/* Refuses the snapshot when a condition on what was read does not hold, or a column was out of its range, printf-style.
 * The whole check ends there, so that nothing goes on with what was refused: this does not return then. A function that
 * checks must therefore hold nothing that it would have to give back. */
void snapshot_expect(struct snapshot *snapshot, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same where nothing is expected but that the columns before it were in their ranges. */
#define snapshot_expect_columns(snapshot, ...) snapshot_expect(snapshot, true, __VA_ARGS__)

/* A count that may be at most `most`. */
uint32_t snapshot_count(struct snapshot *snapshot, uint32_t count, uint32_t most, const char *what);

/* The same for one that belongs to the world. */
uint32_t snapshot_count_own(struct snapshot *snapshot, uint32_t *own, uint32_t most, const char *what);

/* Writes a field of a definition, or expects it to be what it was: "the world", or a type and its name. */
void snapshot_same(struct snapshot *snapshot, const field_row *field, const void *own, const char *what,
                   const char *name);

/* The same for the name of a type and all of its fields that must be what they were. */
void snapshot_shape(struct snapshot *snapshot, const char *what, uint32_t number, const char *name, size_t bytes,
                    const field_row *fields, const void *object);

/* Expects an index of an agent. */
void snapshot_expect_agent(struct snapshot *snapshot, uint32_t index);

/* Expects an agent without these marks, and sets them. Only while it checks. */
void snapshot_mark(struct snapshot *snapshot, uint32_t index, uint16_t mark, const char *where);

/* A column: a value of an object, and what may stand there. Tables of them end with one without a name. A table says
 * once what is saved, checked and loaded; where columns depend on each other, the section checks that besides. */
typedef enum snapshot_kind { COLUMN_ANY = 0, COLUMN_COUNT, COLUMN_FLOAT, COLUMN_DOUBLE } snapshot_kind;
typedef enum snapshot_limit { COLUMN_UP_TO_MOST = 0, COLUMN_UP_TO_NOW, COLUMN_UP_TO_HIGH } snapshot_limit;

typedef struct snapshot_column {
  const char *name; /* appended to the message when the object is refused */
  uint16_t offset, bytes;
  uint8_t kind, limit;
  uint64_t most;    /* of a count: 0 .. most, or .. the time or the indices of the snapshot */
  double low, high; /* of a number; NaN is never within */
} snapshot_column;

/* Of an object of this type: a column that may hold anything, several that stand next to each other, a count, a time
 * that is past, an index below the snapshot's `high` or that itself, and numbers of both widths. */
#define COLUMN_PLACE(type, member) .name = #member, .offset = offsetof(type, member), .bytes = sizeof((type *)0)->member
#define ANY(type, member)                                                                                              \
  { COLUMN_PLACE(type, member) }
#define SPAN(type, first, last)                                                                                        \
  {                                                                                                                    \
    .name = #first, .offset = offsetof(type, first),                                                                   \
    .bytes = offsetof(type, last) + sizeof((type *)0)->last - offsetof(type, first)                                    \
  }
#define COUNT(type, member, highest)                                                                                   \
  { COLUMN_PLACE(type, member), .kind = COLUMN_COUNT, .most = (highest) }
#define PAST(type, member)                                                                                             \
  { COLUMN_PLACE(type, member), .kind = COLUMN_COUNT, .limit = COLUMN_UP_TO_NOW }
#define INDEX(type, member)                                                                                            \
  { COLUMN_PLACE(type, member), .kind = COLUMN_COUNT, .limit = COLUMN_UP_TO_HIGH }
#define FLOAT(type, member, least, highest)                                                                            \
  { COLUMN_PLACE(type, member), .kind = COLUMN_FLOAT, .low = (double)(least), .high = (double)(highest) }
#define DOUBLE(type, member, least, highest)                                                                           \
  { COLUMN_PLACE(type, member), .kind = COLUMN_DOUBLE, .low = (double)(least), .high = (double)(highest) }
#define GROUND_FLOAT(type, member)  FLOAT(type, member, -SNAPSHOT_GROUND, SNAPSHOT_GROUND)
#define GROUND_DOUBLE(type, member) DOUBLE(type, member, -SNAPSHOT_GROUND, SNAPSHOT_GROUND)
#define COLUMNS_END                                                                                                    \
  { .name = NULL }

/* The columns of an object: written, or read into it. While it checks, the next expectation fails when one is out of
 * its range, and names it. `object` must not belong to the world while it checks: see snapshot_object(). */
void snapshot_columns(struct snapshot *snapshot, const snapshot_column *columns, void *object);

/* Where an object is exchanged: in the world, or, while it checks, in a substitute. */
static inline void *snapshot_object(const struct snapshot *snapshot, void *own, void *substitute) {
  return snapshot_checks(snapshot) ? substitute : own;
}

/* All values of a ring, in order: `exchange` writes what stands in `value`, or reads the next one into it. */
void snapshot_ring(struct snapshot *snapshot, struct ring *ring, const char *what, void *value,
                   void (*exchange)(struct snapshot *snapshot, void *value));

/* Saving: appends the agents in a list to `indices`, in the order in which they came, behind the `before` that stand
 * there. Returns how many stand there now. */
uint32_t snapshot_list(struct snapshot *snapshot, const list_store *lists, agent_list list, uint32_t before);

/* Which agents may be in a list. */
typedef struct snapshot_listing {
  const char *what;  /* in "%u agents in a line; there is room for %u" */
  const char *where; /* in "agent %u is in the line" */
  uint16_t mark;     /* that each agent gets; 0: it may be there several times */
  uint8_t statuses;  /* bitmap: that its agents may have; AGENT_FREE: the index is no agent's */
} snapshot_listing;

enum { LISTS_ACTIVE = 0x7c, LISTS_LIVE = 0x7e, LISTS_SEEN = 0xfc /* with ghosts */, LISTS_ANY = 0xff };

/* A list of agents: writes the `count` that stand in `indices`, or reads them into it. Returns how many there are. */
uint32_t snapshot_indices(struct snapshot *snapshot, uint32_t count, uint32_t most, const snapshot_listing *listing);

/* The same for a list that is an array of the world. */
uint32_t snapshot_array(struct snapshot *snapshot, uint32_t *own, uint32_t *own_count, uint32_t most,
                        const snapshot_listing *listing);

/* The sections: each function writes its section, checks it, or takes it. */
typedef void snapshot_part(struct snapshot *snapshot);
snapshot_part snapshot_types, snapshot_classes;                                  /* src/snapshot/snapshot_types.c */
snapshot_part snapshot_zone;                                                     /* src/snapshot/snapshot_zone.c */
snapshot_part snapshot_ids, snapshot_agents, snapshot_grid, snapshot_companions; /* src/snapshot/snapshot_agents.c */
snapshot_part snapshot_ready, snapshot_timers, snapshot_queues;                  /* src/snapshot/snapshot_waiting.c */
snapshot_part snapshot_observers, snapshot_score;                                /* src/snapshot/snapshot_plan.c */
snapshot_part snapshot_overruns, snapshot_learnt;                                /* src/snapshot/snapshot_learnt.c */
snapshot_part snapshot_herds;                                                    /* src/snapshot/snapshot_herds.c */
snapshot_part snapshot_folds;                                                    /* src/snapshot/snapshot_pool.c */

/* A part of the section of herds: the unfolded herds of a type. */
void snapshot_pool(struct snapshot *snapshot, const snapshot_herd_pool *pool);

/* One agent: what is described, and then its state, sets and messages, in the slot of its row. */
void snapshot_saved(struct snapshot *snapshot, struct saved_agent *saved);
void snapshot_state(struct snapshot *snapshot, const agent_row *row);

/* Whether an index belongs to an agent, or a ghost, for a snapshot: one that is active, or waits for its intake. Only
 * while it saves. */
bool snapshot_is_somebody(const struct snapshot *snapshot, uint32_t index);

/* Whether the snapshot says that an index is a ghost's. Only while it checks. */
static inline bool snapshot_is_ghost(const struct snapshot *snapshot, uint32_t index) {
  return snapshot->ghost_bits && bits_has(snapshot->ghost_bits, index);
}

/* Whether a row that was read is an active agent's, which neither waits for its intake nor is a ghost. */
static inline bool snapshot_is_active(const agent_row *row) {
  return row->status > AGENT_PENDING && row->status < AGENT_GHOST;
}

/* Goes through one part, in the snapshot's mode. False with the reason when it was refused. */
bool snapshot_go_through(struct snapshot *snapshot, snapshot_part *part);

/* A message, of at most so many bytes. */
void snapshot_message(struct snapshot *snapshot, struct outgoing *message, uint32_t most);

/* A message from zone to zone. */
void snapshot_zone_message(struct snapshot *snapshot, struct zone_outgoing *message);

/* Expects an active agent of a type that is not tied to any herd yet, and ties it to one. Only while it checks. */
void snapshot_tie(struct snapshot *snapshot, uint32_t index, uint32_t type, const char *what);

/* Where a herd can be: on either axis, from the middle or from its origin. */
#define SNAPSHOT_GROUND 4e9

/* Whether a position is one that a herd can have. */
static inline bool snapshot_is_ground(double x, double y) {
  return fabs(x) <= SNAPSHOT_GROUND && fabs(y) <= SNAPSHOT_GROUND;
}

#endif
