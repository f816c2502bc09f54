/* agents/sets.h - the sets of a type, and how far each agent is with them.
 *
 * A type's atoms are its sets' atoms one after another: perceptions, then behaviours, then actions, so that an atom has
 * one number everywhere. What is kept of an agent is written by the worker that runs it, and between frames by the
 * frame's thread. */
#ifndef AGENTS_SETS_H
#define AGENTS_SETS_H

#include "base/arena.h"

#include <muster/muster.h>

/* A set of a type. Those of a type stand in the order of the definition. */
typedef struct type_set {
  uint16_t first_atom, end_atom; /* of the type's atoms */
  uint8_t role, mode;
  uint8_t priority;
  uint8_t levels; /* bit k: it is there at level k */
  uint32_t period_updates, delay_updates;
  uint64_t period_ns, delay_ns;
  uint32_t asks;
  char name[32];
} type_set;

/* One set of one agent. */
typedef struct set_state {
  uint64_t last_ns;   /* simulation time to which its last completed run brought it */
  uint64_t began_ns;  /* of a run that was cut: when it began */
  uint64_t due_ns;    /* with a period in ns: when it is active next */
  uint16_t atom_next; /* of a run that was cut, in the type's atoms; 0 = it begins with its first */
  uint16_t progress;  /* as reported, in 65535ths */
  uint32_t unused;
} set_state;

/* How far one agent is with all of them. */
typedef struct set_pass {
  uint32_t updates;  /* whole passes so far */
  uint16_t owed;     /* bitmap: cut, or without time in the last pass */
  uint16_t left;     /* bitmap: of the pass that is under way, not run yet */
  uint16_t progress; /* of those owed time: the least, in 65535ths */
  uint8_t first;     /* where those that are owed time go on: the set after the last that ran */
  uint8_t unused;
} set_pass;

/* The sets of one type. */
typedef struct set_table {
  uint32_t count; /* 0: the type has none */
  muster_set_order order;
  type_set sets[MUSTER_SETS_MAX];
  uint8_t sequence[MUSTER_SETS_MAX]; /* in which they run: by role, then as the order says */
  uint16_t behaviours, actions;      /* bitmaps */
  set_state *states;                 /* count of each slot */
  set_pass *passes;                  /* of each slot */
} set_table;

/* Checks the sets of a definition. `type` is its name. */
muster_result sets_check(const muster_type_def *def);

/* Their atoms in all. */
uint32_t sets_atom_count(const muster_type_def *def);

/* Copies the sets of a checked definition, their atoms one after another to `atoms`; room for agents_max agents. The
 * arena tells of refusal. */
void sets_register(set_table *table, const muster_type_def *def, muster_atom *atoms, uint32_t agents_max, arena *arena);

/* Puts the sequence in order again, after a change. */
void sets_order(set_table *table);

/* An agent's states, and its pass. */
static inline set_state *sets_states_of(const set_table *table, uint32_t slot) {
  return table->states + (size_t)slot * table->count;
}

/* A new agent: nothing ran yet. */
void sets_begin(const set_table *table, uint32_t slot, uint64_t now_ns);

#endif
