/* agents/sets.h - the sets of a type, and how far each agent is with them.
 *
 * A type's atoms are its sets' atoms one after another: perceptions, then behaviours, then actions, so that an atom has
 * one number everywhere. A worker writes the state of the agent that it runs; between frames the frame's thread may. */
#ifndef AGENTS_SETS_H
#define AGENTS_SETS_H

#include "base/arena.h"

#include <muster/muster.h>
#include <muster/sets.h>

/* A set of a type. Those of a type stand in the order of the definition. */
typedef struct type_set {
  uint16_t first_atom, end_atom; /* of the type's atoms */
  uint8_t role, mode;
  uint8_t share;
  uint8_t levels; /* bit k: the set exists at level k */
  uint32_t period_updates, delay_updates;
  uint64_t period_ns, delay_ns;
  uint32_t asks;
  uint16_t unit; /* counts changes between periods in updates and in ns; a set_state with another count is due */
  char name[32];
} type_set;

/* One set of one agent. */
typedef struct set_state {
  uint64_t last_ns;  /* simulation time to which its last completed run brought it */
  uint64_t began_ns; /* when the run began that is under way; when the last was complete */
  uint64_t due_ns;   /* with a period in ns: when it is active next. Of a set that the host runs: how much later than
                        its agent it is due, on the clock of the agent's class (plan/rates.h) */
  uint16_t goes_on;  /* 1 + the next atom (of the type's) of the run under way; 0 = none is */
  uint16_t progress; /* of that run, in 65535ths */
  uint16_t unit;     /* the set's, as this agent knows it */
  bool reported;     /* the progress was reported */
} set_state;

/* How far one agent is with all sets of its type. */
typedef struct set_pass {
  uint32_t updates;  /* whole passes so far */
  uint16_t owed;     /* bitmap: cut, or without time in the last pass */
  uint16_t left;     /* bitmap: of the pass that is under way, not run yet */
  uint16_t cut;      /* bitmap: of these, run and cut */
  uint16_t progress; /* the least of all sets that are owed time, in 65535ths */
  uint8_t last[2];   /* 1 + the perception and the behaviour that ran last: those owed time begin behind it */
  uint8_t current;   /* 1 + the set in which the pass gave way to something more urgent; 0 = between two */
  uint8_t continues; /* not 0: the pass, or the last one, ran sets that were owed time alone */
} set_pass;

_Static_assert(sizeof(set_state) == 32 && sizeof(set_pass) == 16, "what is kept of an agent is a part of cache lines");

/* The sets of one type. */
typedef struct set_table {
  uint32_t count; /* 0: the type has none */
  muster_set_order order;
  type_set sets[MUSTER_SETS_MAX];
  uint8_t sequence[MUSTER_SETS_MAX]; /* in which they run: by role, then as the order says */
  uint8_t shares[MUSTER_SETS_MAX];
  uint16_t behaviours, actions;            /* bitmaps */
  uint16_t at_level[MUSTER_LEVELS];        /* bitmaps: there, and not empty */
  uint16_t always;                         /* bitmap: active in every update */
  uint8_t behaviours_first, actions_first; /* in the sequence */
  uint16_t weight;                         /* sum of the shares of behaviours that are not empty */
  uint16_t whole;    /* the most atoms of a perception or behaviour that run one after another, whatever the time */
  uint64_t least_ns; /* of sets that the host runs: the type's period, the shortest of theirs; 0 = workers run them */
  set_state *states; /* `count` for each slot */
  set_pass *passes;  /* one for each slot */
} set_table;

/* Checks the sets of a definition, whose workers run them. */
muster_result sets_check(const muster_type_def *def);

/* The same where the host runs them: they have periods in ns, no atoms and nothing that is for workers. */
muster_result sets_check_hosted(const muster_type_def *def);

/* How many atoms the sets of a definition have in all. Those that the host runs have one each, to be charged. */
uint32_t sets_atom_count(const muster_type_def *def);

/* Copies the sets of a checked definition, and their atoms one after another to `atoms`; reserves room for agents_max
 * agents. Sets arena->failed when memory is refused. */
void sets_register(set_table *table, const muster_type_def *def, muster_atom *atoms, uint32_t agents_max,
                   struct arena *arena);

/* Puts the sequence and the bitmaps in order again, after a change. */
void sets_order(set_table *table);

/* Checks a change of a set of a type, whose name is `type`. */
muster_result sets_check_tuning(const set_table *table, const char *type, uint32_t set,
                                const muster_set_tuning *tuning);

/* Changes a set. No worker may be running. */
void sets_tune(set_table *table, uint32_t set, const muster_set_tuning *tuning);

/* An agent's states, and its pass. */
static inline set_state *sets_states_of(const set_table *table, uint32_t slot) {
  return table->states + (size_t)slot * table->count;
}

/* How many atoms of a set run at least once it has begun. */
static inline uint32_t sets_whole(const type_set *set) {
  return set->mode == MUSTER_MODE_RUN ? (uint32_t)set->end_atom - set->first_atom : 1;
}

/* Begins the sets of a new agent: none has run yet. */
void sets_begin(const set_table *table, uint32_t slot, uint64_t now_ns);

#endif
