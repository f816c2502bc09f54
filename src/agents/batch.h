/* agents/batch.h - what a frame runs: the list that rank fills, run works off and commit settles.
 *
 * Entries stand in the order of rank. Claims cut them into what a worker takes at once: one long update, or
 * neighbours up to CLAIM_NS of predicted cost. Behind them stand entries of agents that were woken while the frame ran,
 * in the order in which workers took them. An update is long when it takes CLAIM_NS on average, or has several
 * atoms and takes that long in one case of twenty. Results stand beside the entries, each written by the one worker
 * that ran the entry. */
#ifndef AGENTS_BATCH_H
#define AGENTS_BATCH_H

#include "agents/overrun.h"
#include "agents/spot.h"

#include <muster/muster.h>
#include <muster/sets.h>

enum { CLAIM_NS = 20000, CLAIM_UPDATES_MAX = 64 };

#define NO_PLACES UINT32_MAX

typedef struct batch_entry {
  uint64_t model_ns; /* virtual clock: what the atoms run in this frame cost */
  uint32_t agent;
  uint32_t predicted_ns;
  uint32_t spawn_base; /* first of the ids set aside for its spawns */
  uint16_t spawn_limit;
  uint16_t atom_end; /* run atoms up to here at most; the type's number of parallel atoms unless virtual time says
                        otherwise */
  uint16_t send_limit;
  uint8_t cycles;     /* before: cycles to run, with the first; after: that ran. 0 counts as 1 */
  bool overran;       /* virtual clock: an atom is over its limit */
  uint32_t send_base; /* first of the places set aside for its messages. With a limit of 0: NO_PLACES when none were
                         left; else none were set aside yet, and the first message asks for them */
} batch_entry;

_Static_assert(sizeof(batch_entry) == 32, "two entries share a cache line");

/* How the pass of an entry runs; only for entries of types with sets. */
typedef struct batch_pass {
  uint32_t slice_ns;  /* what the update may take of the frame at most; 0 = what is left */
  uint32_t step;      /* virtual clock: the first of its steps, */
  uint8_t step_count; /* and how many there are */
  bool continues;     /* it runs sets that are owed time alone */
  bool stopped;       /* virtual clock: the end of the frame ends it */
} batch_pass;

/* Virtual clock: a set that has its turn, and the atom before which it is cut, or the set's end. */
typedef struct batch_step {
  uint16_t atom_end;
  uint8_t set;
} batch_step;

typedef enum batch_outcome {
  OUTCOME_NOT_RUN = 0, /* the deadline came first: carried */
  OUTCOME_FINISHED,    /* complete, no action wanted */
  OUTCOME_ACT,         /* parallel atoms done, action atoms to run at the commit */
  OUTCOME_PREEMPTED,   /* stopped before atom_next */
  OUTCOME_SETTLED = 8  /* the commit is done with it, but for what was left */
} batch_outcome;

/* What an entry that was settled beside others leaves to be done in the order of the batch, before anything else. Added
 * to OUTCOME_SETTLED. */
typedef enum batch_left {
  LEFT_NOTICE = 1, /* the score is to be told of its move */
  LEFT_LISTS = 2,  /* its agent is still in the grid's list of the cell that it has left */
  LEFT_SENDER = 4  /* it sent messages */
} batch_left;

/* Whether sets of an update are owed time, and why: the update used up its own time, or the frame ended. */
typedef enum batch_owing { OWES_NOTHING = 0, OWES_BY_SHARE, OWES_BY_FRAME } batch_owing;

/* What an update asked for its own agent: to drop the wake time that stands; then to set one; and a time to react by.
 */
typedef enum batch_ask { ASK_NONE = 0, ASK_NEVER = 1, ASK_TIME = 2, ASK_REACTION = 4 } batch_ask;

typedef struct batch_result {
  uint32_t cost_ns;      /* as measured, 0 when it was not; also of the part that a preempted update ran */
  uint32_t random_count; /* numbers drawn by an update that was interrupted */
  uint16_t atom_next;    /* of a type with sets: how many atoms were run */
  uint16_t spawned;
  uint16_t sends; /* messages that it sent, the refused ones above send_limit included */
  bool moved : 1;
  uint8_t owes : 2;    /* batch_owing */
  uint8_t asks;        /* batch_ask: a time at which its own agent runs, in the agent's alarm */
  space_spot moved_to; /* meaningless unless moved; what stands before it is zeroed when an entry begins */
  uint32_t state_hash; /* of a world that has sums: of its agent's state, as the update left it in this frame */
  uint32_t cut_asks;   /* of an update that was cut inside an atom: the question that was answered yes; else 0. In a
                          replay: as recorded, before it runs */
} batch_result;

typedef struct batch_claim {
  uint32_t first, end; /* entries */
  uint32_t predicted_ns;
  float variance_ns2; /* of what it takes: the sum of those of its updates */
  uint32_t risk_ns;   /* how much longer it may take, by what the types of its agents did of late */
  bool timed;         /* read the clock after each atom: a long update, which may stop in between, or a sample */
  bool sure;          /* runs whatever it costs, like the first */
  uint16_t strand;    /* 1 + the strand of its agents; 0 = none */
} batch_claim;

/* Entries that could not be run in a frame but came first among the rest: held back from the ready set, they lead the
 * next batch, so that other workers have something to do while the caller plans. */
enum { HELD_MAX = 4096 };

struct batch {
  uint64_t now_ns; /* simulation time of its frame */
  uint32_t count, claim_count;
  uint32_t woken_count;        /* entries behind `count`, until the commit makes them its own */
  uint32_t places, places_max; /* for messages: set aside in this frame, and all there are */
  uint32_t held_count;
  uint64_t held_ns; /* predicted cost of those held for the next frame */
  uint32_t *held;   /* HELD_MAX agents, in order */
  batch_entry *entries;
  uint8_t *outcomes; /* batch_outcome; cleared by rank, so that the results need not be */
  batch_result *results;
  batch_claim *claims;
  batch_pass *passes; /* of entries whose types have sets; null when no type has */
  batch_step *steps;  /* virtual clock: of their passes, one after another */
  uint32_t step_count;
  uint32_t *shares;    /* by type: the slice of its last entry, for agents that run without being ranked */
  uint16_t *strands;   /* of each entry: 1 + its strand, 0 = none; these six are null when no type has strands */
  uint32_t *following; /* of each claim: the next on its strand; run/strands.h */
  uint32_t *gathered;  /* room for plan/strands.c: numbers of entries, */
  batch_entry *entries_before;
  uint16_t *strands_before;
  batch_pass *passes_before; /* and what was ranked */
  overrun_list overruns;     /* virtual clock: what was charged over its limit */
};

/* Reserves room for every agent. */
static inline void batch_create(struct batch *batch, uint32_t agents_max, struct arena *arena) {
  *batch = (struct batch){0};
  ARENA_ARRAY(arena, batch->entries, agents_max);
  ARENA_ARRAY(arena, batch->outcomes, agents_max);
  ARENA_ARRAY(arena, batch->results, agents_max);
  ARENA_ARRAY(arena, batch->claims, agents_max);
  ARENA_ARRAY(arena, batch->held, HELD_MAX);
}

/* The first type with sets is registered: reserves room for passes. */
static inline void batch_reserve_passes(struct batch *batch, uint32_t agents_max, uint32_t types_max, bool virtual,
                                        struct arena *arena) {
  if (batch->passes) return;
  batch_pass *passes = arena_reserve(arena, agents_max, sizeof *passes);
  uint32_t *shares = arena_reserve(arena, types_max, sizeof *shares);
  batch_step *steps = NULL;
  if (virtual) ARENA_ARRAY(arena, steps, (size_t)agents_max * MUSTER_SETS_MAX);
  if (arena->failed) return;
  batch->passes = passes;
  batch->steps = steps;
  batch->shares = shares;
}

/* The first type with strands is registered: reserves room to gather them. */
static inline void batch_reserve_strands(struct batch *batch, uint32_t agents_max, struct arena *arena) {
  if (batch->strands) return;
  uint16_t *strands = arena_reserve(arena, agents_max, sizeof *strands);
  uint16_t *strands_before = arena_reserve(arena, agents_max, sizeof *strands_before);
  uint32_t *following = arena_reserve(arena, agents_max, sizeof *following);
  uint32_t *gathered = arena_reserve(arena, agents_max, sizeof *gathered);
  batch_entry *entries = arena_reserve(arena, agents_max, sizeof *entries);
  batch_pass *passes = arena_reserve(arena, agents_max, sizeof *passes);
  if (arena->failed) return;
  batch->strands = strands;
  batch->strands_before = strands_before;
  batch->following = following;
  batch->gathered = gathered;
  batch->entries_before = entries;
  batch->passes_before = passes;
}

#endif
