/* tests/support/set_world.h - a world with one type of sets, whose atoms write down what they are told. */
#ifndef SET_WORLD_H
#define SET_WORLD_H

#include "support/little_world.h"

enum { CALLS_MAX = 4096, ATOM_NS = 10000 };

/* One call of an atom. */
typedef struct call {
  uint32_t agent, set, level;
  uint64_t now_ns, elapsed_ns;
} call;

/* What one world's atoms wrote; the type's user. One worker only. */
typedef struct calls {
  uint32_t count;
  call calls[CALLS_MAX];
} calls;

static inline void note_call(const muster_update *update) {
  calls *calls = update->type_user;
  if (calls->count < CALLS_MAX)
    calls->calls[calls->count++] =
        (call){update->agent.index, update->set, update->level, update->now_ns, update->elapsed_ns};
}

static inline muster_atom_result note_atom(muster_update *update) {
  note_call(update);
  return MUSTER_ATOM_NEXT;
}

/* Eight atoms of ATOM_NS each, for sets of up to so many. */
#define NOTING_ATOM                                                                                                    \
  { note_atom, MUSTER_ROLE_BEHAVIOUR, ATOM_NS }
static const muster_atom noting_atoms[8] = {NOTING_ATOM, NOTING_ATOM, NOTING_ATOM, NOTING_ATOM,
                                            NOTING_ATOM, NOTING_ATOM, NOTING_ATOM, NOTING_ATOM};

/* A behaviour set of `count` such atoms. */
static inline muster_set_def set_of(uint32_t count, muster_mode mode, uint32_t priority) {
  muster_set_def set = muster_default_set_def();
  set.atoms = noting_atoms;
  set.atom_count = count;
  set.mode = mode;
  set.priority = priority;
  return set;
}

/* A type of these sets that runs in every frame. */
static inline muster_type_def type_of_sets(const muster_set_def *sets, uint32_t count, calls *calls) {
  muster_type_def type = muster_default_type_def();
  type.name = "setter";
  type.sets = sets;
  type.set_count = count;
  type.period_ns = FRAME_NS;
  type.user = calls;
  return type;
}

static inline muster_set_info set_info_of(const little_world *little, muster_agent agent, uint32_t set) {
  muster_set_info info = muster_default_set_info();
  muster_result result = muster_agent_set_info(little->world, agent, set, &info);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  return info;
}

/* The sets of the calls since the last time as letters: "aab" = twice the first set, then the second. */
static inline const char *letters_of(calls *calls, char text[CALLS_MAX + 1]) {
  for (uint32_t i = 0; i < calls->count; i++) text[i] = (char)('a' + calls->calls[i].set);
  text[calls->count] = 0;
  calls->count = 0;
  return text;
}

#endif
