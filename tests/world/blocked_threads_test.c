/* Atoms that wait inside an update: the frames in which they wait are late by that, everything else is as it would be.
 * Nothing is asserted of how fast this machine is: the test knows which agent sleeps, and the log names it. */
#include "pool/atomics.h"
#include "support/recording.h"
#include "support/sanitized.h"

#include <muster/overruns.h>
#include <muster/record.h>
#include <muster/sets.h>

#include <stdio.h>
#include <time.h>

/* All times are longer where everything else takes longer: planning must leave some of the budget. */
enum { SLOWER = UNDER_THREAD_SANITIZER ? 10 : 1 };
enum { SLEEP_MS = 50 * SLOWER, NAP_MS = 20 * SLOWER, BUDGET_NS = 10000000 * SLOWER, TRIES = 60, CLAIM_MOST = 64 };
enum { MANY = 4000 };

/* More than the machine makes of an honest atom, less than a sleeper's atom takes. */
static const uint64_t limit_ns = 5000000u * SLOWER;

struct hall {
  little_world little;
  uint32_t sleeper, sleeps_ms; /* index of the agent that sleeps; UINT32_MAX = none does */
  uint32_t asleep_atom;
  shared_u32 turns, slept_at, last_at; /* turns of this frame; the sleeper's turn; the others' last turn */
  shared_u32 lines;
  char line[512];
};

static void hear(muster_log_level level, const char *message, void *user) {
  struct hall *hall = user;
  if (level != MUSTER_LOG_WARNING || !strstr(message, "blocked")) return;
  fetch_add_relaxed_u32(&hall->lines, 1);
  strncpy(hall->line, message, sizeof hall->line - 1);
}

static void sleep_ms(uint32_t duration_ms) {
  nanosleep(&(struct timespec){.tv_nsec = (long)duration_ms * 1000000}, NULL);
}

static bool sleeps_in(const muster_update *update, uint32_t atom) {
  const struct hall *hall = update->type_user;
  return muster_agent_index(update->agent) == hall->sleeper && hall->asleep_atom == atom;
}

static muster_atom_result look_around(muster_update *update) {
  struct hall *hall = update->type_user;
  if (sleeps_in(update, 0)) sleep_ms(hall->sleeps_ms);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result live(muster_update *update) {
  struct hall *hall = update->type_user;
  uint32_t turn = fetch_add_relaxed_u32(&hall->turns, 1) + 1;
  bool sleeps = sleeps_in(update, 1);
  if (sleeps) sleep_ms(hall->sleeps_ms);
  store_relaxed_u32(muster_agent_index(update->agent) == hall->sleeper ? &hall->slept_at : &hall->last_at, turn);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act(muster_update *update) {
  struct hall *hall = update->type_user;
  if (sleeps_in(update, 2)) sleep_ms(hall->sleeps_ms);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom all_atoms[] = {{.run = look_around}, {.run = live}, {.run = act, .role = MUSTER_ROLE_ACTION}};

static void open_hall(struct hall *hall, uint32_t workers, uint32_t sleeps_ms) {
  muster_world_def def = muster_world_def_default();
  *hall = (struct hall){.sleeper = UINT32_MAX, .sleeps_ms = sleeps_ms, .asleep_atom = 1};
  def.log = (muster_log_sink){hear, hall};
  hall->little = little_world_create(workers, &def);
}

static muster_type_def type_of(struct hall *hall) {
  muster_type_def def = muster_type_def_default();
  def.name = "townsman";
  def.atoms = all_atoms;
  def.atom_count = 2;
  def.period_ns = FRAME_NS;
  def.period_max_ns = 10 * FRAME_NS;
  def.limit_ns = limit_ns;
  def.user = hall;
  return def;
}

static muster_frame_report run(struct hall *hall) {
  store_relaxed_u32(&hall->turns, 0);
  store_relaxed_u32(&hall->slept_at, 0);
  store_relaxed_u32(&hall->last_at, 0);
  return run_frame_with(&hall->little, BUDGET_NS);
}

static muster_statistics statistics_of(const struct hall *hall) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(hall->little.world, &statistics);
  return statistics;
}

static muster_overrun_counts counts_of(const struct hall *hall) {
  muster_overrun_counts counts = muster_overrun_counts_default();
  muster_overrun_counts_read(hall->little.world, hall->little.type, &counts);
  return counts;
}

/* Runs frames until the log tells that an atom blocked. */
static void run_until_told(struct hall *hall) {
  for (uint32_t i = 0; i < TRIES && statistics_of(hall).atoms_blocked == 0; i++) run(hall);
  cr_assert_gt(statistics_of(hall).atoms_blocked, 0, "nobody was told of");
}

static void expect_named(const struct hall *hall, muster_agent sleeper, uint32_t atom) {
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT];
  char name[64];
  uint32_t count = muster_overruns_read(hall->little.world, overruns, MUSTER_OVERRUNS_KEPT), blocked = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (overruns[i].kind != MUSTER_OVERRUN_BLOCKED) continue;
    blocked++;
    cr_assert_eq(muster_agent_index(overruns[i].agent), muster_agent_index(sleeper));
    cr_assert_eq(muster_agent_generation(overruns[i].agent), muster_agent_generation(sleeper));
    cr_assert_eq(overruns[i].type.index, hall->little.type.index);
    cr_assert_eq(overruns[i].atom, atom);
    cr_assert_gt(overruns[i].duration_ns, limit_ns);
    cr_assert_eq(overruns[i].limit_ns, limit_ns);
  }
  cr_assert_gt(blocked, 0);
  muster_overrun_counts counts = counts_of(hall);
  cr_assert_eq(counts.blocked, statistics_of(hall).atoms_blocked);
  cr_assert_eq(muster_agent_index(counts.worst_blocked_agent), muster_agent_index(sleeper));
  cr_assert_eq(counts.worst_blocked_atom, atom);
  cr_assert_gt(counts.worst_blocked_ns, limit_ns);
  snprintf(name, sizeof name, "agent %u.%u of type 'townsman': ", muster_agent_index(sleeper),
           muster_agent_generation(sleeper));
  cr_assert_geq(load_relaxed_u32(&hall->lines), 1);
  cr_assert(strstr(hall->line, name), "%s", hall->line);
  snprintf(name, sizeof name, " in atom %u, ", atom);
  cr_assert(strstr(hall->line, name), "%s", hall->line);
}

/* Thousands of agents in frames of 10 ms, and one that sleeps for 50 ms. It comes first, and yet the others have their
 * turn in the same frame: more than the agents of its own claim, and all of them if the machine runs them all without
 * it. At least one of many frames must show this, since the machine may run other programs meanwhile. */
static void expect_only_it_is_late(uint32_t workers) {
  struct hall hall;
  open_hall(&hall, workers, SLEEP_MS);
  muster_type_def type = type_of(&hall);
  muster_agent_def first = muster_agent_def_default();
  type.period_ns = type.period_max_ns; /* a tenth of the agents in each frame; the sleeper is woken */
  register_type(&hall.little, &type);
  first.type = hall.little.type;
  first.importance_floor = 1.0f;
  muster_agent sleeper = muster_agent_spawn(hall.little.world, &first);
  for (uint32_t i = 0; i < MANY; i++) spawn_at(&hall.little, i % 100);
  uint32_t easy_frames = 0;
  for (uint32_t i = 0; i < 60; i++) easy_frames += run(&hall).carried == 0 && i >= 30;
  bool easy = easy_frames > 15; /* of 30: the machine runs them all without it */
  hall.sleeper = muster_agent_index(sleeper);
  uint32_t told = 0, moved = 0, unharmed = 0, without_debt = 0;
  for (uint32_t i = 0; i < TRIES && (!told || !moved || !unharmed || !without_debt); i++) {
    muster_agent_wake(hall.little.world, sleeper);
    muster_frame_report report = run(&hall);
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
  expect_named(&hall, sleeper, 1);
  cr_assert_eq(statistics_of(&hall).quarantines, 0);
  little_world_destroy(&hall.little);
}

Test(blocked, in_frames_of_10_ms_only_the_atom_that_blocks_is_late_and_it_is_named) {
  expect_only_it_is_late(2);
}

Test(blocked, the_same_where_one_thread_does_everything) {
  expect_only_it_is_late(1);
}

Test(blocked, time_that_an_atom_waits_is_no_cost_of_its_type) {
  struct hall hall;
  open_hall(&hall, 1, NAP_MS);
  muster_type_def type = type_of(&hall);
  muster_type_cost cost = muster_type_cost_default();
  register_type(&hall.little, &type);
  hall.sleeper = muster_agent_index(spawn_at(&hall.little, 0));
  run_until_told(&hall);
  for (uint32_t i = 0; i < 10; i++) run(&hall);
  cr_assert_eq(muster_type_cost_read(hall.little.world, hall.little.type, 0, &cost), MUSTER_OK);
  cr_assert_geq(cost.samples, 5);
  cr_assert_lt(cost.mean_ns, limit_ns, "mean %llu", (unsigned long long)cost.mean_ns);
  little_world_destroy(&hall.little);
}

/* Not even where the host asked for quarantine: no CPU clock says that the agent computed. */
Test(blocked, who_blocks_repeatedly_goes_down_its_levels_and_no_further) {
  struct hall hall;
  open_hall(&hall, 1, NAP_MS);
  muster_type_def type = type_of(&hall);
  type.levels.count = 3;
  type.levels.importance[0] = type.levels.importance[1] = 0.0f;
  type.overruns.quarantine = 1;
  register_type(&hall.little, &type);
  muster_agent sleeper = spawn_at(&hall.little, 0), other = spawn_at(&hall.little, 1);
  hall.sleeper = muster_agent_index(sleeper);
  for (uint32_t i = 0; i < 2 * TRIES && info_of(&hall.little, sleeper).penalty < 2; i++) run(&hall);
  for (uint32_t i = 0; i < 5; i++) run(&hall);
  cr_assert_eq(info_of(&hall.little, sleeper).penalty, 2);
  cr_assert_eq(info_of(&hall.little, sleeper).level, 2);
  cr_assert_not(info_of(&hall.little, sleeper).quarantined);
  cr_assert_eq(info_of(&hall.little, other).penalty, 0);
  cr_assert_eq(counts_of(&hall).level_floor, 0);
  cr_assert_not(counts_of(&hall).quarantined);
  little_world_destroy(&hall.little);
}

Test(blocked, the_atom_is_named_also_when_it_is_one_of_several_or_an_action) {
  for (uint32_t atom = 0; atom < 3; atom += 2) {
    struct hall hall;
    open_hall(&hall, 2, NAP_MS);
    muster_type_def type = type_of(&hall);
    type.atom_count = 3;
    register_type(&hall.little, &type);
    muster_agent sleeper = {0};
    for (uint32_t i = 0; i < 64; i++) sleeper = spawn_at(&hall.little, i);
    hall.sleeper = muster_agent_index(sleeper);
    hall.asleep_atom = atom;
    run_until_told(&hall);
    expect_named(&hall, sleeper, atom);
    little_world_destroy(&hall.little);
  }
}

Test(blocked, so_it_is_in_sets) {
  static const muster_atom atoms[] = {{.run = look_around}, {.run = live}};
  muster_set_def set = muster_set_def_default();
  struct hall hall;
  set.atoms = atoms;
  set.atom_count = 2;
  open_hall(&hall, 2, NAP_MS);
  muster_type_def type = type_of(&hall);
  type.atoms = NULL;
  type.atom_count = 0;
  type.sets.list = &set;
  type.sets.count = 1;
  register_type(&hall.little, &type);
  muster_agent sleeper = {0};
  for (uint32_t i = 0; i < 64; i++) sleeper = spawn_at(&hall.little, i);
  hall.sleeper = muster_agent_index(sleeper);
  run_until_told(&hall);
  expect_named(&hall, sleeper, 1);
  little_world_destroy(&hall.little);
}

Test(blocked, a_storm_of_them_writes_one_line_for_a_while) {
  struct hall hall;
  open_hall(&hall, 1, NAP_MS);
  muster_type_def type = type_of(&hall);
  register_type(&hall.little, &type);
  hall.sleeper = muster_agent_index(spawn_at(&hall.little, 0));
  run_until_told(&hall);
  for (uint32_t i = 0; i < 30; i++) run(&hall);
  cr_assert_gt(statistics_of(&hall).atoms_blocked, 1);
  cr_assert_eq(load_relaxed_u32(&hall.lines), 1, "%s", hall.line);
  hall.little.now_ns += 11000000000u;
  uint64_t told = statistics_of(&hall).atoms_blocked;
  for (uint32_t i = 0; i < TRIES && statistics_of(&hall).atoms_blocked == told; i++) run(&hall);
  cr_assert_eq(load_relaxed_u32(&hall.lines), 2);
  cr_assert(strstr(hall.line, "more of this type"), "%s", hall.line);
  little_world_destroy(&hall.little);
}

/* Penalties follow from what clocks measured, so the record holds them. */
Test(blocked, a_replay_without_anybody_asleep_comes_to_the_same_penalties) {
  struct recorded recorded;
  struct hall hall, again;
  open_hall(&hall, 2, NAP_MS);
  muster_type_def type = type_of(&hall);
  type.levels.count = 2;
  type.levels.importance[0] = 0.0f;
  recorded_begin(&recorded, hall.little.world);
  register_type(&hall.little, &type);
  muster_agent sleeper = {0};
  for (uint32_t i = 0; i < 64; i++) sleeper = spawn_at(&hall.little, i);
  hall.sleeper = muster_agent_index(sleeper);
  for (uint32_t i = 0; i < TRIES && info_of(&hall.little, sleeper).penalty == 0; i++)
    recorded_note(&recorded, &hall.little, run(&hall));
  cr_assert_eq(info_of(&hall.little, sleeper).penalty, 1);
  recorded_end(&recorded, hall.little.world);
  open_hall(&again, 1, 0);
  type.user = &again;
  recorded_replay(&recorded, again.little.world);
  register_type(&again.little, &type);
  for (uint32_t i = 0; i < recorded.frames; i++) {
    cr_assert_eq(muster_replay_frame(again.little.world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(again.little.world), recorded.hashes[i], "frame %u", i);
  }
  cr_assert_eq(info_of(&again.little, sleeper).penalty, 1);
  cr_assert_eq(counts_of(&again).blocked, counts_of(&hall).blocked);
  expect_named(&again, sleeper, 1);
  recorded_forget(&recorded);
  little_world_destroy(&again.little);
  little_world_destroy(&hall.little);
}
