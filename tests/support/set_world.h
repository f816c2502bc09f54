/* tests/support/set_world.h - a world with one type of sets, whose atoms write down what they are told. */
#ifndef SET_WORLD_H
#define SET_WORLD_H

#include "support/little_world.h"

#include <muster/sets.h>

enum { CALLS_MAX = 4096, SET_ATOMS = 8, ATOM_NS = 10000 };

/* One call of an atom. */
struct call {
  uint32_t agent, set, atom;
  uint64_t now_ns, elapsed_ns;
};

/* What the atoms of a world wrote, and what they are to answer; the type's user. One worker only. */
struct calls {
  uint32_t count;
  struct call calls[CALLS_MAX];
  muster_atom_result answers[MUSTER_SETS_MAX][SET_ATOMS];
  void (*inside)(muster_update *update, uint32_t atom); /* in each atom; may be null */
  char text[2 * CALLS_MAX + 1];
};

static inline muster_atom_result note_call(muster_update *update, uint32_t atom) {
  struct calls *calls = update->type_user;
  if (calls->inside) calls->inside(update, atom);
  if (calls->count < CALLS_MAX)
    calls->calls[calls->count++] =
        (struct call){muster_agent_index(update->agent), update->set, atom, update->now_ns, update->elapsed_ns};
  return calls->answers[update->set][atom];
}

#define NOTING_ATOM(number)                                                                                            \
  static inline muster_atom_result note_atom_##number(muster_update *update) {                                         \
    return note_call(update, number);                                                                                  \
  }
NOTING_ATOM(0)
NOTING_ATOM(1)
NOTING_ATOM(2)
NOTING_ATOM(3)
NOTING_ATOM(4)
NOTING_ATOM(5)
NOTING_ATOM(6)
NOTING_ATOM(7)
#undef NOTING_ATOM

/* The atoms of a set, each of ATOM_NS. */
static const muster_atom noting_atoms[SET_ATOMS] = {
    {note_atom_0, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}, {note_atom_1, MUSTER_ROLE_BEHAVIOUR, ATOM_NS},
    {note_atom_2, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}, {note_atom_3, MUSTER_ROLE_BEHAVIOUR, ATOM_NS},
    {note_atom_4, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}, {note_atom_5, MUSTER_ROLE_BEHAVIOUR, ATOM_NS},
    {note_atom_6, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}, {note_atom_7, MUSTER_ROLE_BEHAVIOUR, ATOM_NS}};

/* A behaviour set of `count` of them. */
static inline muster_set_def set_of(uint32_t count, muster_mode mode, uint32_t priority) {
  muster_set_def set = muster_set_def_default();
  set.atoms = noting_atoms;
  set.atom_count = count;
  set.mode = mode;
  set.share = priority;
  return set;
}

/* A type of these sets that wants to run in every frame. */
static inline muster_type_def type_of_sets(const muster_set_def *sets, uint32_t count, struct calls *calls) {
  muster_type_def type = muster_type_def_default();
  type.name = "setter";
  type.sets.list = sets;
  type.sets.count = count;
  type.period_ns = FRAME_NS;
  type.user = calls;
  return type;
}

/* The calls since the last time: set and atom, "a0a1b0" = two atoms of the first set, then one of the second. */
static inline const char *text_of(struct calls *calls) {
  for (uint32_t i = 0; i < calls->count; i++) {
    calls->text[2 * i] = (char)('a' + calls->calls[i].set);
    calls->text[2 * i + 1] = (char)('0' + calls->calls[i].atom);
  }
  calls->text[2 * calls->count] = 0;
  calls->count = 0;
  return calls->text;
}

/* Runs a frame; what it ran. */
static inline const char *run_and_tell(little_world *little, struct calls *calls) {
  run_frame(little);
  return text_of(calls);
}

/* A world with one agent of the type, in the frame before the one in which it runs first. */
static inline little_world create_sets(const muster_type_def *type, muster_agent *agent) {
  little_world little = little_world_create(1, NULL);
  register_type(&little, type);
  *agent = spawn_at(&little, 0);
  return little;
}

static inline muster_set_info set_info_of(const little_world *little, muster_agent agent, uint32_t set) {
  muster_set_info info = muster_set_info_default();
  muster_result result = muster_agent_set_read(little->world, agent, set, &info);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  return info;
}

static inline muster_statistics statistics_of(const little_world *little) {
  muster_statistics statistics = muster_statistics_default();
  cr_assert_eq(muster_statistics_read(little->world, &statistics), MUSTER_OK);
  return statistics;
}

#endif
