/* The phases of sets: what is planned against a plain sum, and what choosing does to a crowd spawned at once. */
#include "plan/phases.h"
#include "plan/planning.h"

#include <muster/sets.h>

enum { AGENTS = 1000, TYPES = 2, SETS = 4, ATOM_NS = 1000 };

struct fixture {
  struct arena arena;
  muster_type_def def;
  muster_set_def sets[SETS];
  muster_atom atoms[SETS];
  set_table table;
  phase_table phases;
  uint32_t begins[AGENTS], time[AGENTS];
  bool joined[AGENTS];
};

/* One set in every update, three with periods, the later the longer; the last begins two updates later. */
static struct fixture *create(uint32_t delay_max, const uint32_t periods[3]) {
  static const muster_atom lasting[] = {
      {NULL, 0, ATOM_NS}, {NULL, 0, 2 * ATOM_NS}, {NULL, 0, 3 * ATOM_NS}, {NULL, 0, 4 * ATOM_NS}};
  struct fixture *fixture = new_fixture(sizeof *fixture);
  for (uint32_t i = 0; i < SETS; i++)
    fixture->sets[i] = WITH(muster_set_def, it.atoms = &lasting[i], it.atom_count = 1,
                            it.period_updates = i ? periods[i - 1] : 1, it.delay_updates = i == 3 ? 2 : 0);
  fixture->def = WITH(muster_type_def, it.sets.list = fixture->sets, it.sets.count = SETS);
  sets_register(&fixture->table, &fixture->def, fixture->atoms, AGENTS, &fixture->arena);
  phases_create(&fixture->phases, delay_max, TYPES, AGENTS, &fixture->arena);
  phases_register(&fixture->phases, 1, &fixture->table, fixture->atoms, &fixture->arena);
  cr_assert(!fixture->arena.failed);
  return fixture;
}

static void join(struct fixture *fixture, uint32_t agent, uint32_t time) {
  fixture->begins[agent] = phases_join(&fixture->phases, 1, agent, time);
  fixture->time[agent] = time;
  fixture->joined[agent] = true;
}

/* What all agents run at a time, by the numbers of their updates alone. */
static int64_t load_at(const struct fixture *fixture, uint32_t time) {
  int64_t load_ns = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    if (!fixture->joined[i]) continue;
    uint32_t number = fixture->begins[i] + (time - fixture->time[i]);
    for (uint32_t k = 0; k < SETS; k++) {
      const muster_set_def *set = &fixture->sets[k];
      if (number % set->period_updates == set->delay_updates) load_ns += (k + 1) * (int64_t)ATOM_NS;
    }
  }
  return load_ns;
}

Test(phases, the_ring_tells_what_everybody_runs_while_agents_come_and_go) {
  static const uint32_t periods[] = {4, 6, 8};
  SCOPED(free_fixture) struct fixture *fixture = create(3, periods);
  for (uint32_t step = 0; step < 5000; step++) {
    uint32_t agent = (uint32_t)(random_at(1, step, 0, 0) % AGENTS), time = 100 + step / 50;
    if (fixture->joined[agent]) {
      phases_leave(&fixture->phases, 1, agent);
      fixture->joined[agent] = false;
    } else {
      join(fixture, agent, time);
      uint32_t shift = (24 - fixture->begins[agent]) % 24;
      cr_assert_leq(shift, 3);
    }
    if (step % 10 == 0) cr_assert_eq(fixture->phases.types[1].load_ns[time % 24], load_at(fixture, 240 + time % 24));
  }
  for (uint32_t i = 0; i < AGENTS; i++) phases_leave(&fixture->phases, 1, i);
  for (uint32_t i = 0; i < 24; i++) cr_assert_eq(fixture->phases.types[1].load_ns[i], 0);
}

static double peak_of(const struct fixture *fixture, uint32_t cycle) {
  double sum = 0, most = 0;
  for (uint32_t i = 0; i < cycle; i++) {
    double load = (double)load_at(fixture, 2 * cycle + i);
    sum += load;
    most = fmax(most, load);
  }
  return most * cycle / sum;
}

static double peak_with(uint32_t delay_max, const uint32_t periods[3], uint32_t cycle) {
  SCOPED(free_fixture) struct fixture *fixture = create(delay_max, periods);
  for (uint32_t i = 0; i < AGENTS; i++) join(fixture, i, 7);
  return peak_of(fixture, cycle);
}

Test(phases, a_crowd_that_is_spawned_at_once_loses_its_peaks_the_more_it_may_shift) {
  static const uint32_t composite[] = {4, 6, 8}, primes[] = {3, 5, 7};
  double none = peak_with(0, composite, 24), some = peak_with(3, composite, 24), all = peak_with(23, composite, 24);
  cr_assert(none > 2.0 && some < 1.4 && all < 1.02, "composite: %.3f, %.3f, %.3f", none, some, all);
  none = peak_with(0, primes, 105);
  some = peak_with(3, primes, 105);
  all = peak_with(64, primes, 105);
  cr_assert(none > 2.0 && some < 1.5 && all < 1.05, "primes: %.3f, %.3f, %.3f", none, some, all);
}

Test(phases, types_that_take_long_to_repeat_or_were_changed_are_left_alone) {
  static const uint32_t periods[] = {29, 31, 37}, composite[] = {4, 6, 8};
  SCOPED(free_fixture) struct fixture *longer = create(3, periods), *changed = create(3, composite);
  for (uint32_t i = 0; i < 20; i++) {
    join(longer, i, 5);
    cr_assert_eq(longer->begins[i], 0);
  }
  for (uint32_t i = 0; i < 20; i++) join(changed, i, 5);
  phases_give_up(&changed->phases, 1);
  join(changed, 20, 5);
  cr_assert_eq(changed->begins[20], 0);
  phases_leave(&changed->phases, 1, 3);
  phases_leave(&changed->phases, 1, 20);
}
