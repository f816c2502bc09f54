/* Sets beside a plain list of the same atoms. */
#include "sets.h"

#include "base/clock.h"
#include "everyone.h"
#include "rounds.h"

#include "scenarios/scaffold.h"

#include <muster/sets.h>

enum { AGENTS = 2000, ROUND_FRAMES = 20, WARM_UP = 30 };

/* Minimal work that the compiler cannot leave out. */
static muster_atom_result count_up(muster_update *update) {
  ++*(uint64_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

enum { LIST, SETS, KINDS };

struct pair {
  muster_atom atoms[SETS_SETS_MOST * SETS_ATOMS_MOST];
  muster_set_def sets[SETS_SETS_MOST];
  struct everyone worlds[KINDS];
  uint64_t states[AGENTS]; /* of the loop */
};

static bool open_pair(struct pair *pair, const sets_overhead *row) {
  muster_type_def type =
      scaffold_type(NULL, pair->atoms, row->sets * row->atoms, sizeof(uint64_t), EVERYONE_FRAME_NS, EVERYONE_FRAME_NS);
  for (uint32_t i = 0; i < type.atom_count; i++) pair->atoms[i] = (muster_atom){count_up, MUSTER_ROLE_BEHAVIOUR, 20};
  for (uint32_t i = 0; i < row->sets; i++) {
    pair->sets[i] = muster_set_def_default();
    pair->sets[i].atoms = pair->atoms;
    pair->sets[i].atom_count = row->atoms;
  }
  if (!everyone_open(&pair->worlds[LIST], &type, AGENTS)) return false;
  type.atoms = NULL;
  type.atom_count = 0;
  type.sets.list = pair->sets;
  type.sets.count = row->sets;
  return everyone_open(&pair->worlds[SETS], &type, AGENTS);
}

/* The same callbacks without a world; CPU of an atom. */
static double run_loop(struct pair *pair, uint32_t atoms) {
  muster_update update = {.elapsed_ns = EVERYONE_FRAME_NS};
  uint64_t begin_ns = clock_thread_cpu();
  for (uint32_t frame = 0; frame < ROUND_FRAMES; frame++)
    for (uint32_t i = 0; i < AGENTS; i++) {
      update.state = &pair->states[i];
      for (uint32_t k = 0; k < atoms; k++) pair->atoms[k].run(&update);
    }
  return (double)(clock_thread_cpu() - begin_ns) / ((double)ROUND_FRAMES * AGENTS * atoms);
}

static bool measure(struct pair *pair, uint32_t rounds, sets_overhead *row) {
  double loop_ns[SETS_ROUNDS_MOST], ns[KINDS][SETS_ROUNDS_MOST], over_ns[SETS_ROUNDS_MOST];
  uint32_t atoms = row->sets * row->atoms;
  for (uint32_t kind = 0; kind < KINDS; kind++)
    if (!everyone_run(&pair->worlds[kind], WARM_UP, ns[kind])) return false;
  for (uint32_t round = 0; round < rounds; round++) {
    loop_ns[round] = run_loop(pair, atoms);
    for (uint32_t i = 0; i < KINDS; i++) {
      uint32_t kind = (i + round) % KINDS;
      if (!everyone_run(&pair->worlds[kind], ROUND_FRAMES, &ns[kind][round])) return false;
    }
    over_ns[round] = ns[SETS][round] - ns[LIST][round];
  }
  row->loop_ns = rounds_median(loop_ns, rounds);
  row->list_ns = rounds_median(ns[LIST], rounds) / atoms;
  row->sets_ns = rounds_median(ns[SETS], rounds) / atoms;
  row->over_list_ns = rounds_median(over_ns, rounds) / atoms;
  return true;
}

const char *sets_measure_overhead(uint32_t rounds, sets_overhead *row) {
  static struct pair pair;
  pair.worlds[LIST] = pair.worlds[SETS] = (struct everyone){0};
  bool done = open_pair(&pair, row) && measure(&pair, rounds, row);
  for (uint32_t i = 0; i < KINDS; i++) everyone_close(&pair.worlds[i]);
  return done ? NULL : muster_last_error();
}
