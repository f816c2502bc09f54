/* agents/types.h - agent types: what their agents share, and the flat state that they asked for. */
#ifndef AGENTS_TYPES_H
#define AGENTS_TYPES_H

#include "agents/boxes.h"
#include "agents/sets.h"

#include <muster/muster.h>

enum { ACT_KINDS = MUSTER_ACT_PARALLEL + 1 };

typedef struct agent_type {
  /* what each update reads */
  _Alignas(64) const muster_atom *atoms; /* the type's own copy */
  void *user;
  unsigned char *states;    /* state_bytes of each slot */
  unsigned char *published; /* two buffers of published_bytes of each slot */
  uint32_t state_stride;    /* rounded up to 8, so that no two agents share a word */
  uint32_t published_stride;
  uint16_t parallel_atoms; /* atoms before the first action atom */
  uint16_t spawns_max, sends_max;
  uint16_t atom_count;
  bool has_boxes, publishes;
  uint8_t elapsed;    /* muster_elapsed */
  bool gapped;        /* its agents are woken def.wake_gap_ns apart at least */
  uint32_t steps_max; /* of step_ns */
  uint64_t step_ns;
  bool has_sets;
  bool rated;       /* it has sets, and the host runs them (plan/rates.h): an update has no pass */
  bool sliced;      /* its updates can be cut inside an atom: def.slices */
  uint16_t strands; /* 0 = its updates run beside any others */
  bool watched;     /* its claims are timed, since some atom took too long of late */
  bool quarantined; /* its agents are not run */
  bool herded;      /* they are members or blocks of herds: never run while a frame is planned */
  bool blocks;      /* each stands for a block of herds */
  uint32_t risk_ns; /* how long its atoms' latest overruns took, fading */
  uint32_t suspect; /* 1 + an agent with atoms that may have waited for something: see run/overrun_check.h; 0 = none */
  /* the rest */
  muster_type_def def; /* name and atoms point to the type's own copies */
  char name[32];
  uint64_t model_ns; /* sum of the atoms' model_ns */
  box_table boxes;
  set_table sets;
} agent_type;

typedef struct type_table {
  uint32_t maximum, count;
  bool planned;     /* of a planner world: the host runs the updates, atoms are only counted */
  bool has_levels;  /* some type has a cheaper level */
  bool has_strands; /* some type's updates run on strands */
  agent_type *types;
} type_table;

/* Reserves the table for `maximum` types in the arena. */
void types_create(type_table *table, uint32_t maximum, struct arena *arena);

/* Checks a definition and registers a copy with room for `agents_max` agents. Returns its index, or UINT32_MAX with
 * an error message; nothing is registered then. */
uint32_t types_register(type_table *table, const muster_type_def *def, uint32_t agents_max, struct arena *arena);

/* Whether a type can have these periods; null = whether an agent can, of whatever type. Any thread. */
muster_result types_check_periods(const muster_type_def *type, uint64_t period_ns, uint64_t period_max_ns);

/* What the models of the atoms [first, end) of a type say that these cost. */
static inline uint64_t type_model_ns(const agent_type *type, uint32_t first, uint32_t end) {
  uint64_t cost_ns = 0;
  for (uint32_t atom = first; atom < end; atom++) cost_ns += type->atoms[atom].model_ns;
  return cost_ns;
}

/* Own state of a slot; null when the type has none. */
static inline void *type_state(const agent_type *type, uint32_t slot) {
  return type->states ? type->states + (size_t)slot * type->state_stride : NULL;
}

/* One of the two published buffers of a slot; null when the type publishes nothing. */
static inline void *type_published(const agent_type *type, uint32_t slot, uint32_t buffer) {
  return type->published ? type->published + ((size_t)slot * 2 + buffer) * type->published_stride : NULL;
}

#endif
