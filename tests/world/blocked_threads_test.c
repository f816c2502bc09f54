/* Atoms that wait inside an update: the frames in which they wait are late by that, everything else is as it would be.
 * Nothing is asserted of how fast this machine is: the test knows which agent sleeps, and the log names it. */
#include "pool/atomics.h"
#include "world/fixture.h"

#include <time.h>

/* All times are longer where everything else takes longer: planning must leave some of the budget. */
enum { SLOWER = UNDER_THREAD_SANITIZER ? 10 : 1 };
enum { SLEEP_MS = 50 * SLOWER, NAP_MS = 20 * SLOWER, BUDGET_NS = 10000000 * SLOWER, TRIES = 60, CLAIM_MOST = 64 };
enum { MANY = 4000 };

/* More than the machine makes of an honest atom, less than a sleeper's atom takes. */
static const uint64_t limit_ns = 5000000u * SLOWER;

static struct hall {
  uint32_t sleeper, sleeps_ms; /* index of the agent that sleeps; UINT32_MAX = none does */
  uint32_t asleep_atom;
  shared_u32 turns, slept_at, last_at; /* turns of this frame; the sleeper's turn; the others' last turn */
  shared_u32 lines;
  char line[512];
} hall; /* each test runs in a process of its own */

static void hear(muster_log_level level, const char *message, void *user) {
  (void)user;
  if (level != MUSTER_LOG_WARNING || !strstr(message, "blocked")) return;
  fetch_add_relaxed_u32(&hall.lines, 1);
  strncpy(hall.line, message, sizeof hall.line - 1);
}

/* The sleeper sleeps in that atom. Whether it has. */
static bool sleep_in(const muster_update *update, uint32_t atom) {
  if (muster_agent_index(update->agent) != hall.sleeper || hall.asleep_atom != atom) return false;
  nanosleep(&(struct timespec){.tv_nsec = (long)hall.sleeps_ms * 1000000}, NULL);
  return true;
}

static muster_atom_result look_around(muster_update *update) {
  sleep_in(update, 0);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result live(muster_update *update) {
  uint32_t turn = fetch_add_relaxed_u32(&hall.turns, 1) + 1;
  sleep_in(update, 1);
  store_relaxed_u32(muster_agent_index(update->agent) == hall.sleeper ? &hall.slept_at : &hall.last_at, turn);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  sleep_in(update, 2);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom all_atoms[] = {{.run = look_around}, {.run = live}, {.run = act, .role = MUSTER_ROLE_ACTION}};

static little_world open_hall(uint32_t workers, uint32_t sleeps_ms) {
  hall = (struct hall){.sleeper = UINT32_MAX, .sleeps_ms = sleeps_ms, .asleep_atom = 1};
  return little_world_of(workers, WITH(muster_world_def, it.log.write = hear));
}

static muster_type_def townsman(void) {
  return WITH(muster_type_def, it.name = "townsman", it.atoms = all_atoms, it.atom_count = 2, it.period_ns = FRAME_NS,
              it.period_max_ns = 10 * FRAME_NS, it.limit_ns = limit_ns);
}

/* Some of that type, of whom the last one sleeps. */
static muster_agent fill_hall(little_world *little, muster_type_def type, uint32_t agents) {
  muster_agent last = {0};
  add_type(little, type);
  for (uint32_t i = 0; i < agents; i++) last = spawn_at(little, i);
  hall.sleeper = muster_agent_index(last);
  return last;
}

static muster_frame_report run(little_world *little) {
  store_relaxed_u32(&hall.turns, 0);
  store_relaxed_u32(&hall.slept_at, 0);
  store_relaxed_u32(&hall.last_at, 0);
  return run_frame_with(little, BUDGET_NS);
}

/* Runs frames until the log tells that an atom blocked. */
static void run_until_told(little_world *little) {
  for (uint32_t i = 0; i < TRIES && statistics_of(little).atoms_blocked == 0; i++) run(little);
  cr_assert_gt(statistics_of(little).atoms_blocked, 0, "nobody was told of");
}

static void expect_named(const little_world *little, muster_agent sleeper, uint32_t atom) {
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT];
  char name[64];
  uint32_t count = muster_overruns_read(little->world, overruns, MUSTER_OVERRUNS_KEPT), blocked = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (overruns[i].kind != MUSTER_OVERRUN_BLOCKED) continue;
    blocked++;
    cr_assert_eq(muster_agent_index(overruns[i].agent), muster_agent_index(sleeper));
    cr_assert_eq(muster_agent_generation(overruns[i].agent), muster_agent_generation(sleeper));
    cr_assert_eq(overruns[i].type.index, little->type.index);
    cr_assert_eq(overruns[i].atom, atom);
    cr_assert_gt(overruns[i].duration_ns, limit_ns);
    cr_assert_eq(overruns[i].limit_ns, limit_ns);
  }
  cr_assert_gt(blocked, 0);
  muster_overrun_counts counts = overrun_counts_of(little);
  cr_assert_eq(counts.blocked, statistics_of(little).atoms_blocked);
  cr_assert_eq(muster_agent_index(counts.worst_blocked_agent), muster_agent_index(sleeper));
  cr_assert_eq(counts.worst_blocked_atom, atom);
  cr_assert_gt(counts.worst_blocked_ns, limit_ns);
  snprintf(name, sizeof name, "agent %u.%u of type 'townsman': ", muster_agent_index(sleeper),
           muster_agent_generation(sleeper));
  cr_assert_geq(load_relaxed_u32(&hall.lines), 1);
  cr_assert(strstr(hall.line, name), "%s", hall.line);
  snprintf(name, sizeof name, " in atom %u, ", atom);
  cr_assert(strstr(hall.line, name), "%s", hall.line);
}

/* Thousands of agents in frames of 10 ms, and one that sleeps for 50 ms. It comes first, and yet the others have their
 * turn in the same frame: more than the agents of its own claim, and all of them if the machine runs them all without
 * it. At least one of many frames must show this, since the machine may run other programs meanwhile. */
static void expect_only_it_is_late(uint32_t workers) {
  SCOPED_WORLD little = open_hall(workers, SLEEP_MS);
  muster_type_def type = townsman();
  type.period_ns = type.period_max_ns; /* a tenth of the agents in each frame; the sleeper is woken */
  register_type(&little, &type);
  muster_agent sleeper = spawn_as(&little, WITH(muster_agent_def, it.importance_floor = 1.0f));
  for (uint32_t i = 0; i < MANY; i++) spawn_at(&little, i % 100);
  uint32_t easy_frames = 0;
  for (uint32_t i = 0; i < 60; i++) easy_frames += run(&little).carried == 0 && i >= 30;
  bool easy = easy_frames > 15; /* of 30: the machine runs them all without it */
  hall.sleeper = muster_agent_index(sleeper);
  uint32_t told = 0, moved = 0, unharmed = 0, without_debt = 0;
  for (uint32_t i = 0; i < TRIES && (!told || !moved || !unharmed || !without_debt); i++) {
    muster_agent_wake(little.world, sleeper);
    muster_frame_report report = run(&little);
    uint32_t slept_at = load_relaxed_u32(&hall.slept_at);
    told += report.atoms_blocked > 0;
    moved += report.blocked_ns > limit_ns;
    if (!slept_at) continue;
    bool goes_on = load_relaxed_u32(&hall.last_at) > slept_at + CLAIM_MOST;
    unharmed += goes_on && (!easy || report.carried == 0);
    without_debt += !easy || report.debt_ns < BUDGET_NS / 2;
  }
  cr_assert_gt(told, 0, "nobody was told of");
  cr_assert_gt(moved, 0, "no frame's end was moved");
  cr_assert_gt(unharmed, 0, "whenever it slept, others were left out");
  cr_assert_gt(without_debt, 0, "later frames pay for it");
  expect_named(&little, sleeper, 1);
  cr_assert_eq(statistics_of(&little).quarantines, 0);
}

Test(blocked, in_frames_of_10_ms_only_the_atom_that_blocks_is_late_and_it_is_named) {
  expect_only_it_is_late(2);
}
Test(blocked, the_same_where_one_thread_does_everything) {
  expect_only_it_is_late(1);
}

Test(blocked, time_that_an_atom_waits_is_no_cost_of_its_type) {
  SCOPED_WORLD little = open_hall(1, NAP_MS);
  fill_hall(&little, townsman(), 1);
  run_until_told(&little);
  for (uint32_t i = 0; i < 10; i++) run(&little);
  muster_type_cost cost = type_cost_of(&little);
  cr_assert_geq(cost.samples, 5);
  cr_assert_lt(cost.mean_ns, limit_ns, "mean %lu", cost.mean_ns);
}

/* Not even where the host asked for quarantine: no CPU clock says that the agent computed. */
Test(blocked, who_blocks_repeatedly_goes_down_its_levels_and_no_further) {
  SCOPED_WORLD little = open_hall(1, NAP_MS);
  add_type(&little, CHANGED(townsman(), it.levels.count = 3, it.levels.importance[0] = it.levels.importance[1] = 0.0f,
                            it.overruns.quarantine = 1));
  muster_agent sleeper = spawn_at(&little, 0), other = spawn_at(&little, 1);
  hall.sleeper = muster_agent_index(sleeper);
  for (uint32_t i = 0; i < 2 * TRIES && info_of(&little, sleeper).penalty < 2; i++) run(&little);
  for (uint32_t i = 0; i < 5; i++) run(&little);
  cr_assert_eq(info_of(&little, sleeper).penalty, 2);
  cr_assert_eq(info_of(&little, sleeper).level, 2);
  cr_assert_not(info_of(&little, sleeper).quarantined);
  cr_assert_eq(info_of(&little, other).penalty, 0);
  cr_assert_eq(overrun_counts_of(&little).level_floor, 0);
  cr_assert_not(overrun_counts_of(&little).quarantined);
}

Test(blocked, the_atom_is_named_also_when_it_is_one_of_several_or_an_action) {
  for (uint32_t atom = 0; atom < 3; atom += 2) {
    SCOPED_WORLD little = open_hall(2, NAP_MS);
    muster_agent sleeper = fill_hall(&little, CHANGED(townsman(), it.atom_count = 3), 64);
    hall.asleep_atom = atom;
    run_until_told(&little);
    expect_named(&little, sleeper, atom);
  }
}

Test(blocked, so_it_is_in_sets) {
  static const muster_atom atoms[] = {{.run = look_around}, {.run = live}};
  const muster_set_def set = set_with(atoms, 2);
  SCOPED_WORLD little = open_hall(2, NAP_MS);
  muster_agent sleeper = fill_hall(&little, with_sets(townsman(), &set, 1), 64);
  run_until_told(&little);
  expect_named(&little, sleeper, 1);
}

Test(blocked, a_storm_of_them_writes_one_line_for_a_while) {
  SCOPED_WORLD little = open_hall(1, NAP_MS);
  fill_hall(&little, townsman(), 1);
  run_until_told(&little);
  for (uint32_t i = 0; i < 30; i++) run(&little);
  cr_assert_gt(statistics_of(&little).atoms_blocked, 1);
  cr_assert_eq(load_relaxed_u32(&hall.lines), 1, "%s", hall.line);
  little.now_ns += 11000000000u;
  uint64_t told = statistics_of(&little).atoms_blocked;
  for (uint32_t i = 0; i < TRIES && statistics_of(&little).atoms_blocked == told; i++) run(&little);
  cr_assert_eq(load_relaxed_u32(&hall.lines), 2);
  cr_assert(strstr(hall.line, "more of this type"), "%s", hall.line);
}

/* Penalties follow from what clocks measured, so the record holds them. */
Test(blocked, a_replay_without_anybody_asleep_comes_to_the_same_penalties) {
  SCOPED(recorded_forget) struct recorded recorded;
  SCOPED_WORLD little = open_hall(2, NAP_MS);
  muster_type_def type = CHANGED(townsman(), it.levels.count = 2, it.levels.importance[0] = 0.0f);
  recorded_begin(&recorded, little.world);
  muster_agent sleeper = fill_hall(&little, type, 64);
  for (uint32_t i = 0; i < TRIES && info_of(&little, sleeper).penalty == 0; i++)
    recorded_note(&recorded, &little, run(&little));
  cr_assert_eq(info_of(&little, sleeper).penalty, 1);
  recorded_end(&recorded, little.world);
  SCOPED_WORLD again = open_hall(1, 0);
  recorded_replay(&recorded, again.world);
  add_type(&again, type);
  replay_alike(&recorded, &again);
  cr_assert_eq(info_of(&again, sleeper).penalty, 1);
  cr_assert_eq(overrun_counts_of(&again).blocked, overrun_counts_of(&little).blocked);
  expect_named(&again, sleeper, 1);
}
