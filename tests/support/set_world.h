/* tests/support/set_world.h - a world with one type of sets, whose atoms write down what they are told. */
#ifndef SET_WORLD_H
#define SET_WORLD_H

#include "base/clock.h"
#include "world/fixture.h"

enum { CALLS_MAX = 4096, SET_ATOMS = 8, ATOM_NS = 10000 };

/* One call of an atom. */
struct call {
  uint32_t agent, set, atom;
  uint64_t now_ns, elapsed_ns;
};

/* What atoms wrote, and what they are to answer. One worker only. */
static struct calls {
  uint32_t count;
  struct call calls[CALLS_MAX];
  muster_atom_result answers[MUSTER_SETS_MAX][SET_ATOMS];
  void (*inside)(muster_update *update, uint32_t atom); /* in each atom; may be null */
  char text[2 * CALLS_MAX + 1];
} noted;

static inline void forget_calls(void) {
  memset(&noted, 0, sizeof noted);
}

static inline muster_atom_result note_call(muster_update *update, uint32_t atom) {
  if (noted.inside) noted.inside(update, atom);
  if (noted.count < CALLS_MAX)
    noted.calls[noted.count++] =
        (struct call){muster_agent_index(update->agent), update->set, atom, update->now_ns, update->elapsed_ns};
  return noted.answers[update->set][atom];
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
  return WITH(muster_set_def, it.atoms = noting_atoms, it.atom_count = count, it.mode = mode, it.share = priority);
}

/* A type of these sets that wants to run in every frame. */
static inline muster_type_def type_of_sets(const muster_set_def *sets, uint32_t count) {
  return WITH(muster_type_def, it.name = "setter", it.sets.list = sets, it.sets.count = count, it.period_ns = FRAME_NS);
}

/* The same in a slice of so many atoms; 0: without a slice. */
static inline muster_type_def sliced_type(const muster_set_def *sets, uint32_t count, uint32_t slice_atoms) {
  muster_type_def type = type_of_sets(sets, count);
  type.sets.slice_ns = slice_atoms * (uint64_t)ATOM_NS;
  return type;
}

/* The calls since the last time: set and atom, "a0a1b0" = two atoms of the first set, then one of the second. */
static inline const char *calls_text(void) {
  for (uint32_t i = 0; i < noted.count; i++) {
    noted.text[2 * i] = (char)('a' + noted.calls[i].set);
    noted.text[2 * i + 1] = (char)('0' + noted.calls[i].atom);
  }
  noted.text[2 * noted.count] = 0;
  noted.count = 0;
  return noted.text;
}

/* Runs a frame; what it ran. */
static inline const char *run_and_tell(little_world *little) {
  run_frame(little);
  return calls_text();
}

/* What each of the next frames runs. */
#define EXPECT_RUNS(LITTLE, ...) expect_runs(LITTLE, (const char *const[]){__VA_ARGS__, NULL})

static inline void expect_runs(little_world *little, const char *const *runs) {
  for (uint32_t i = 0; runs[i]; i++) {
    const char *text = run_and_tell(little);
    cr_assert_str_eq(text, runs[i], "%s in frame %u", text, i);
  }
}

/* Runs frames until the first update. Returns what ran in it. */
static inline const char *run_first(little_world *little) {
  for (int i = 0; i < 20 && noted.count == 0; i++) run_frame(little);
  return calls_text();
}

/* The agent of the world that was created last. */
static muster_agent setter;

/* A world with one agent of the type, in the frame before the one in which it runs first. */
static inline little_world create_sets(muster_type_def type) {
  little_world little = world_of(type);
  setter = spawn_at(&little, 0);
  return little;
}

static inline muster_set_info set_info_of(const little_world *little, muster_agent agent, uint32_t set) {
  muster_set_info info = muster_set_info_default();
  assert_ok(muster_agent_set_read(little->world, agent, set, &info));
  return info;
}

#endif
