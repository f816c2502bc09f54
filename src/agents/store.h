/* agents/store.h - START HERE for the data: what exists.
 *
 * An agent is an index into parallel columns that are reserved for agents_max and never move. A column has one
 * writer stage at a time:
 *
 *   column               written by                     read by
 *   active               intake                         every stage, muster_agent_next
 *   row.importance       score (intake at activation)   rank, run
 *   row.level            score (intake at activation)   fit, release, rank, run
 *   row.class            score, intake                  fit, release, rank, run
 *   row.scheduled        intake, commit                 release
 *   row.filed            ready                          rank
 *   row.queued           ready                          rank
 *   row.first_due_ns,
 *      .released_frame   release (ready)                rank
 *   row.virtual_due_ns   due, intake (periods)          release, rank
 *   row.last_update_ns, .runs,
 *      .atom_next, .owes commit                         release, rank, run
 *   row.generation       pool/identity                  any thread, atomically
 *   removals             run/removals                   intake; any thread, atomically
 *   row.user, .type, .state_slot,
 *      .floor,
 *      .elasticity_step  intake                         score, run
 *   row.factors          intake; arrays between frames  score
 *   row.cost_factor,
 *      .factor_part,
 *      .factor_age,
 *      .doubted          commit                         fit (in its class's sum), rank, commit
 *   row.status           the stage that moves the agent along the diagram below
 *   row.front            commit (publishes)             run (reads others)
 *   row.level_floor,
 *      .acts             end of commit, intake          score
 *   place                commit, intake; arrays         score, run (neighbours)
 *   begun                commit                         rank, run, commit
 *   alarm                intake, commit                 run
 *   alarm.asked_ns,
 *      .react_asked_ns   run (own agent)                commit
 *   ratings              intake                         score
 *   own_importance       score (own agent)              score (next frames)
 *   inherited_importance,
 *      shed              score (frame's thread)         score (next frames)
 *   state, published     run (own agent), commit (action atoms)
 *   passes and states
 *      of sets (of the
 *      type)             run (own agent), commit        rank, run (own agent); muster_plan_parts
 *   boxes (of the type)  commit, intake (messages.c)    run (own agent)
 *   changes              whatever changes an agent      end of commit, muster_frame_changes
 *   ids, ghosts          run/zone_ids                   any thread, atomically; of agents that it runs each worker
 *
 * An admitted agent that found no time may be held for the next frame: it stays ADMITTED between the two.
 * Until its intake, row and place of a pending agent belong to the thread that spawns it.
 *
 *                 intake             release              rank
 *   FREE -> PENDING -----> WAITING ----------> READY -------------> ADMITTED
 *     ^        |             ^  ^                ^  not run, preempted |  |
 *     |        |             |  |                +--------------------+  |
 *     |        |             |  |  commit                                | no time for its action atoms
 *     |        |             |  +----------------------------------------+--------> ACTING
 *     |        v             |                                  commit, when they ran |
 *     +--- intake (remove)   +--------------------------------------------------------+
 *
 * At the end of the commit any active agent may become QUARANTINED (src/world/penalties.c): it is in no list and no
 * member of its class until it is reinstated, at an intake.
 *
 * In a world that is a zone an index may belong to a GHOST (src/world/ghosts.c): it has a row, a place in the grid and
 * a published state, and is not active, so that no stage but perception meets it.
 */
#ifndef AGENTS_STORE_H
#define AGENTS_STORE_H

#include "agents/changes.h"
#include "agents/lists.h"
#include "base/bits.h"

#include <muster/bulk.h>
#include <muster/muster.h>

typedef enum agent_status {
  AGENT_FREE = 0,
  AGENT_PENDING,
  AGENT_WAITING,
  AGENT_READY,
  AGENT_ADMITTED,
  AGENT_ACTING,
  AGENT_QUARANTINED,
  AGENT_GHOST
} agent_status;

enum { RUNS_ONE = 32768 };

/* A type as rows keep it: limits.types_max is at most 1024. */
#define ROW_TYPE_MASK 1023u

/* What the frame touches for a due agent: one cache line. Shares are in 65535ths, or 255ths where they are bytes. */
typedef struct agent_row {
  uint64_t last_update_ns; /* simulation time of the last completed update */
  uint64_t virtual_due_ns; /* on the clock of its class */
  uint64_t first_due_ns;   /* simulation time of the frame that released it */
  void *user;
  uint32_t generation; /* of the agent's id; written by pool/identity alone, since any thread may read it */
  uint32_t state_slot;
  union {
    uint32_t scheduled; /* WAITING: 1 = until its class's clock comes to virtual_due_ns (plan/due.h); 0 = for no time */
    uint32_t filed;     /* READY: what it is known by in the ready ring (ring_mark); 0 = it is not there */
  };
  uint16_t class;
  uint16_t type : 10;
  uint16_t reacts : 1;      /* it must react by a time: alarm.react_by_ns */
  uint16_t doubted : 1;     /* it may cost something else than is believed: its next update is timed */
  uint16_t factor_part : 4; /* sixteenths of a step beyond cost_factor */
  uint16_t atom_next : 12;  /* > 0: a preempted update goes on here */
  uint16_t factor_age : 4;  /* how much cost_factor is learnt from, up to FACTOR_AGE_MOST */
  uint16_t runs;            /* Rankin's run counter rc, decaying by 1/16 per missed period; in 32768ths */
  uint16_t importance;
  uint16_t floor; /* set by the designer: importance never falls below it */
  uint8_t level : 2;
  uint8_t level_floor : 2; /* set for its own overruns: no level below it */
  uint8_t status : 3;      /* agent_status */
  uint8_t queued : 1;      /* it waits (ready_queue); not next to `front`, which workers read during ranking */
  int8_t cost_factor;      /* what it costs beside others of its type and level: plan/cost_factors.h; 0 = as much */
  uint8_t released_frame;  /* lower bits of the frame's number: delays are counted from it */
  uint8_t elasticity_step; /* as the designer set it, or ELASTICITY_DERIVED */
  uint8_t factors[MUSTER_FACTORS]; /* the host's: what lowers importance besides distance */
  uint8_t front : 1;               /* which of the two published buffers others read */
  uint8_t woken : 1;
  uint8_t removal_pending : 1; /* removal is queued by an action atom, or a pending agent was removed */
  uint8_t timed : 1;           /* released at a time that was asked for: alarm.answered_ns */
  uint8_t called : 1;          /* released by a wake, of a type with a gap */
  uint8_t delayed : 1;         /* a wake waits until alarm.quiet_until_ns */
  uint8_t acts : 1;            /* in quarantine: its action atoms wait until it is reinstated; pending: it goes there */
  uint8_t owes : 1;            /* sets of it are owed time: it does not wait for its period */
} agent_row;

_Static_assert(sizeof(agent_row) == 64, "an agent's row is one cache line");
_Static_assert(MUSTER_LEVELS == 4 && AGENT_GHOST == 7 && MUSTER_ATOMS_MAX == 4096,
               "rows have two bits for a level, three for a status, and twelve for an atom");

/* A share 0..1 as rows keep it, and back. */
static inline uint16_t share_of(float value) {
  return (uint16_t)(value * 65535.0f + 0.5f);
}

static inline float share_value(uint16_t share) {
  return (float)share * (1.0f / 65535.0f);
}

/* The band of an importance (muster_band). A quarter is in the band that it ends, as rounded. */
static inline uint32_t band_of(uint16_t importance) {
  return (importance > 0) + (importance > share_of(0.25f)) + (importance > share_of(0.5f)) +
         (importance > share_of(0.75f));
}

/* A share as one of the row's bytes. */
static inline uint8_t byte_share_of(float value) {
  return (uint8_t)(value * 255.0f + 0.5f);
}

/* Where an agent is: a cell of the ground plane and the place inside it; and its spot in the neighbour grid. */
typedef struct agent_place {
  int32_t cell_x, cell_y;
  float x, y; /* metres from the cell's corner */
  float z;
  list_spot spot;
  uint16_t partition;
  uint16_t type;
  uint8_t depth;   /* of its bin, when its cell is a crowd; else 0 */
  uint8_t changed; /* it was placed, or published, since the host of a zone looked; not saved */
  uint8_t unused[2];
} agent_place;

_Static_assert(sizeof(agent_place) == 32, "two places share a cache line");

/* The begun update of an agent: preempted, or waiting for its action atoms. Touched for such agents only. */
typedef struct agent_begun {
  uint64_t started_ns; /* simulation time at which it began */
  uint64_t spent_ns;   /* what its earlier parts took */
} agent_begun;

/* For an agent that was asked to run at a time, or that limits how often it is woken. Touched for such agents only. */
typedef struct agent_alarm {
  uint64_t wake_at_ns;     /* the time that it waits for; 0 = none */
  uint64_t answered_ns;    /* the time that its next update answers */
  uint64_t asked_ns;       /* what its update asks for itself, until the commit */
  uint64_t quiet_until_ns; /* a wake before that is delayed: a gap, or the time at which it began or ran */
  uint64_t react_by_ns;    /* its next update must begin by then, */
  uint64_t react_from_ns;  /* asked at this time */
  uint64_t react_asked_ns; /* what its update asks for itself, until the commit */
} agent_alarm;

/* What the host says about how much an agent matters, in 254ths. Only where importance is made of factors. */
typedef struct agent_ratings {
  uint8_t designer;
  uint8_t role; /* RATING_OF_TYPE = as the type */
} agent_ratings;

enum { RATING_ONE = 254, RATING_OF_TYPE = 255 };

typedef struct agent_store {
  uint32_t maximum;
  uint32_t active_count;
  uint32_t high; /* every active index is below */
  agent_row *rows;
  agent_place *places;
  agent_begun *begun;
  agent_alarm *alarms;
  agent_ratings *ratings;         /* these three are null unless importance is made of factors */
  uint16_t *own_importance;       /* importance without companions, share */
  uint16_t *inherited_importance; /* what it inherits from companions, share */
  uint8_t *shed;                  /* levels by which pressure lowers it */
  uint64_t *active;               /* bitmap */
  muster_agent *ids;              /* of a world that is a zone: the id of each agent, by index; written by run/zone_ids
                                     alone, since any thread may read it. Else null */
  uint64_t *ghosts;               /* likewise: bitmap of the indices that ghosts have */
  uint32_t ghost_count;
  uint32_t level_counts[MUSTER_LEVELS];
  change_log changes; /* for hosts that tell others; reserved by changes_create() */
} agent_store;

/* Reserves the columns for `maximum` agents in the arena; arena->failed tells of refusal. */
void store_create(agent_store *store, uint32_t maximum, struct arena *arena);

/* Reserves the columns that factors of importance need. */
void store_reserve_factors(agent_store *store, struct arena *arena);

/* A share as ratings keep it, and back. */
static inline uint8_t rating_of(float value) {
  return (uint8_t)(value * (float)RATING_ONE + 0.5f);
}

static inline float rating_value(uint8_t rating) {
  return (float)rating * (1.0f / (float)RATING_ONE);
}

/* Whether the index names an active agent. Frame's thread. */
static inline bool store_is_active(const agent_store *store, uint32_t index) {
  return bits_has(store->active, index);
}

/* Reserves the columns of a world that is a zone. */
void store_reserve_zone(agent_store *store, struct arena *arena);

/* The id of an index that an agent or a ghost has, as hosts and atoms know it. */
static inline muster_agent store_id(const agent_store *store, uint32_t index) {
  if (__builtin_expect(store->ids != NULL, false)) return store->ids[index];
  return muster_agent_make(index, store->rows[index].generation);
}

/* The first index at or after `from` that an active agent or a ghost has; UINT32_MAX when there is none. */
uint32_t store_next_seen(const agent_store *store, uint32_t from);

/* Activates a pending agent, or deactivates an active one; keeps the counts per level. */
void store_activate(agent_store *store, uint32_t index);
void store_deactivate(agent_store *store, uint32_t index);

/* Changes the level of an active agent and the counts. */
void store_set_level(agent_store *store, uint32_t index, uint32_t level);

/* The first active index at or after `from`; UINT32_MAX when there is none. */
uint32_t store_next_active(const agent_store *store, uint32_t from);

/* Moves *index on to the first active index at or after it; false when there is none. */
static inline bool store_finds(const agent_store *store, uint32_t *index) {
  *index = store_next_active(store, *index);
  return *index != UINT32_MAX;
}

/* How readily a period gives way, in steps of an eighth of an octave: few enough that agents which stretch alike can
 * share a class. */
enum {
  ELASTICITY_STEPS = 162, /* step 0: never gives way; step s: 2^((s - 81) / 8) = 2^-10 .. 2^10 */
  ELASTICITY_STEP_OF_ONE = 81,
  ELASTICITY_DERIVED = 255 /* in place of a step: follows from importance */
};

/* The step that an elasticity is rounded to; 0 for 0, ELASTICITY_DERIVED for a negative one. */
uint32_t elasticity_step_of(float elasticity);

/* The elasticity of a step below ELASTICITY_STEPS. */
double elasticity_of_step(uint32_t step);

#endif
