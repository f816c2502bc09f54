/* The law of importance and the order of deadlines, under the virtual clock: under load an agent gives way by how
 * little it matters, and no agent is passed over for good. */
#include "world/fixture.h"

enum { AGENTS = 10000, OBSERVERS = 10, WARM_UP = 400, COST_NS = 20000, BANDS = 5 };

#define SHORTEST_NS 50000000u
#define LONGEST_NS  2000000000u

struct diary {
  uint64_t last_ns, runs, longest_ns; /* time of the last run, number of runs, longest time between two */
  bool asked;
};

static const uint64_t *clock_of_test;
static uint32_t reactions_left; /* so many agents of importance 0 are still to ask for a reaction */

static muster_atom_result note(muster_update *update) {
  struct diary *diary = update->state;
  uint64_t gap_ns = *clock_of_test - diary->last_ns;
  if (diary->runs && gap_ns > diary->longest_ns) diary->longest_ns = gap_ns;
  diary->last_ns = *clock_of_test;
  diary->runs++;
  if (reactions_left && update->importance <= 0.0f && !diary->asked) {
    diary->asked = true;
    muster_update_react_by(update, update->now_ns + 20 * FRAME_NS);
    reactions_left--;
  }
  return MUSTER_ATOM_NEXT;
}

struct town {
  little_world little;
  muster_agent agents[AGENTS];
  uint64_t budget_ns;
};

static muster_type_def noting(void) {
  return CHANGED(type_running(note, COST_NS), it.state_bytes = sizeof(struct diary), it.period_ns = SHORTEST_NS,
                 it.period_max_ns = LONGEST_NS, it.limit_ns = 1000000000u);
}

static muster_world_def lawful(void) {
  return WITH(virtual_world_def, it.limits.agents_max = AGENTS + 16, it.elastic = MUSTER_ELASTIC_IMPORTANCE,
              it.order = MUSTER_ORDER_DEADLINE);
}

/* Spawns AGENTS agents in a square with a few observers. Together the agents wish for `load` times what a frame holds.
 */
static struct town *town_open(double load, muster_world_def world) {
  static const double side_m = 1400.0;
  struct town *town = calloc(1, sizeof *town);
  uint32_t random = 7;
  town->little = little_world_of(1, world);
  clock_of_test = &town->little.now_ns;
  add_type(&town->little, noting());
  town->budget_ns = (uint64_t)((double)AGENTS * COST_NS * FRAME_NS / (LONGEST_NS * load));
  for (uint32_t i = 0; i < AGENTS; i++)
    town->agents[i] =
        spawn_in(&town->little, (muster_position){side_m * draw_share(&random), side_m * draw_share(&random), 0}, 0);
  for (uint32_t i = 0; i < OBSERVERS; i++)
    observe_as(&town->little, WITH(muster_observer_def, it.position.x = side_m * draw_share(&random),
                                   it.position.y = side_m * draw_share(&random)));
  return town;
}

static muster_frame_report town_run(struct town *town, uint32_t frames) {
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t i = 0; i < frames; i++) report = run_frame_with(&town->little, town->budget_ns);
  return report;
}

static void town_close(struct town **town) {
  little_world_destroy(&(*town)->little);
  free(*town);
}

static muster_agent_info info_in(const struct town *town, uint32_t i) {
  return info_of(&town->little, town->agents[i]);
}

static const struct diary *diary_of(const struct town *town, uint32_t i) {
  return info_in(town, i).state;
}

/* The first agent that matters to nobody. */
static uint32_t find_unimportant(const struct town *town) {
  uint32_t chosen = 0;
  while (info_in(town, chosen).importance > 0.0f) chosen++;
  return chosen;
}

static uint32_t band_at(float importance) {
  return importance <= 0.0f ? 0 : importance <= 0.25f ? 1 : importance <= 0.5f ? 2 : importance < 0.9f ? 3 : 4;
}

struct band {
  double agents, runs, period_s; /* period_s: by the law, from the mean of the rates */
};

/* Runs a window of frames and sums up what the agents of each band did in it. */
static void measure(struct town *town, uint32_t frames, struct band bands[BANDS]) {
  SCOPED(free_memory) uint64_t *before = calloc(AGENTS, sizeof *before);
  for (uint32_t i = 0; i < AGENTS; i++) before[i] = diary_of(town, i)->runs;
  town_run(town, frames);
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_info info = info_in(town, i);
    struct band *band = &bands[band_at(info.importance)];
    band->agents++;
    band->runs += (double)(((const struct diary *)info.state)->runs - before[i]);
    band->period_s += 1e9 / (double)info.period_ns;
  }
  for (uint32_t i = 0; i < BANDS; i++) bands[i].period_s = bands[i].agents / bands[i].period_s;
}

static double interval_s(const struct band *band, uint32_t frames) {
  return band->agents * frames * FRAME_NS * 1e-9 / band->runs;
}

/* At loads from a half to twelve: each band runs as often as the law says, agents included that never ran, and less
 * important bands run less often. */
Test(law_of_importance, holds_for_each_band_at_every_load) {
  enum { LOADS = UNDER_SANITIZER ? 4 : 6 }; /* the last take three quarters of the frames */
  static const double loads[] = {0.5, 1.0, 1.5, 3.0, 6.0, 12.0};
  for (uint32_t k = 0; k < LOADS; k++) {
    struct band bands[BANDS] = {0};
    uint32_t frames = (uint32_t)(2000 * fmax(1.0, loads[k]));
    SCOPED(town_close) struct town *town = town_open(loads[k], lawful());
    muster_frame_report report = town_run(town, WARM_UP + frames / 4);
    measure(town, frames, bands);
    cr_assert_float_eq((double)report.pressure, loads[k], 0.1 * loads[k]);
    for (uint32_t i = 0; i < BANDS; i++) {
      double interval = interval_s(&bands[i], frames);
      cr_assert_gt(bands[i].agents, 0);
      cr_assert_leq(interval, bands[i].period_s * 1.15 + 0.001, "load %g, band %u: every %g s, by the law %g", loads[k],
                    i, interval, bands[i].period_s);
      if (i) cr_assert_leq(interval, interval_s(&bands[i - 1], frames) * 1.02, "load %g, band %u", loads[k], i);
    }
  }
}

/* In the papers' order and by their rule the same loads run round robin: the law is there to prevent that. */
Test(law_of_importance, is_what_the_elastic_rule_does_not_keep) {
  struct band bands[BANDS] = {0};
  muster_world_def world = CHANGED(lawful(), it.elastic = MUSTER_ELASTIC_RATE, it.order = MUSTER_ORDER_PRIORITY);
  SCOPED(town_close) struct town *town = town_open(3.0, world);
  town_run(town, WARM_UP);
  measure(town, 3000, bands);
  cr_assert_gt(interval_s(&bands[4], 3000), 0.8 * interval_s(&bands[0], 3000));
}

/* With weight_wait halved, every agent still runs within 2.1 of its periods and ten frames. */
Test(law_of_importance, lets_nobody_wait_for_much_longer_than_its_period) {
  SCOPED(town_close) struct town *town = town_open(4.0, CHANGED(lawful(), it.priority.wait = 0.5f));
  town_run(town, 4000);
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_info info = info_in(town, i);
    const struct diary *diary = info.state;
    cr_assert_gt(diary->runs, 1);
    cr_assert_lt((double)diary->longest_ns, 2.1 * (double)info.period_ns + 10.0 * FRAME_NS,
                 "agent %u of importance %g: %g of %g s", i, (double)info.importance, (double)diary->longest_ns * 1e-9,
                 (double)info.period_ns * 1e-9);
  }
}

/* Exempt agents want three times the budget: they share half of it alike, and all other agents run. */
Test(law_of_importance, keeps_half_for_the_others_beside_too_many_exempt) {
  SCOPED(town_close) struct town *town = town_open(1.0, CHANGED(lawful(), it.limits.agents_max = 2 * AGENTS));
  add_type(&town->little, CHANGED(noting(), it.name = "exempt", it.elasticity = 0.0f));
  uint32_t count = (uint32_t)(3.0 * (double)town->budget_ns / FRAME_NS * SHORTEST_NS / COST_NS);
  muster_agent first = spawn_at(&town->little, 0), last = first;
  for (uint32_t i = 1; i < count; i++) last = spawn_at(&town->little, i);
  muster_frame_report report = town_run(town, 6000);
  cr_assert_float_eq((double)report.held_load, 3.0, 0.1);
  for (uint32_t i = 0; i < AGENTS; i++) cr_assert_gt(diary_of(town, i)->runs, 2, "agent %u", i);
  double one = (double)((const struct diary *)info_of(&town->little, first).state)->runs;
  double other = (double)((const struct diary *)info_of(&town->little, last).state)->runs;
  cr_assert_float_eq(one, other, 0.1 * one);
  cr_assert_float_eq(one * SHORTEST_NS / (6000.0 * FRAME_NS), 1.0 / 6.0, 0.03);
}

/* A hundred frames with nearly no budget, and then as before: no agent is forgotten. */
Test(law_of_importance, recovers_from_frames_of_nearly_nothing) {
  SCOPED(town_close) struct town *town = town_open(0.5, lawful());
  town_run(town, WARM_UP);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&town->little, 10000u);
  uint64_t began_ns = town->little.now_ns;
  town_run(town, 2 * LONGEST_NS / FRAME_NS);
  for (uint32_t i = 0; i < AGENTS; i++) cr_assert_gt(diary_of(town, i)->last_ns, began_ns, "agent %u", i);
}

/* An agent waits for a period of many seconds; then it is made important. */
Test(law_of_importance, reaches_at_once_who_has_become_important) {
  SCOPED(town_close) struct town *town = town_open(6.0, lawful());
  town_run(town, 3000);
  uint32_t chosen = find_unimportant(town);
  uint64_t began_ns = town->little.now_ns, waited = 0;
  tune_agent(&town->little, town->agents[chosen], WITH(muster_agent_tuning, it.importance_floor = 1.0f));
  for (; diary_of(town, chosen)->last_ns <= began_ns && waited < 1000; waited++) town_run(town, 1);
  uint64_t period_ns = info_in(town, chosen).period_ns;
  cr_assert_leq(waited, period_ns / FRAME_NS + 2, "%lu frames at a period of %g s", waited, (double)period_ns * 1e-9);
}

/* A reaction's time is its deadline, whatever the agent's own period is. */
Test(law_of_importance, keeps_times_to_react_by_under_load) {
  SCOPED(town_close) struct town *town = town_open(6.0, lawful());
  town_run(town, 2000);
  reactions_left = 20;
  for (uint32_t i = 0; i < 100 && reactions_left; i++) town_run(town, 1);
  town_run(town, 60);
  muster_statistics sums = statistics_of(&town->little);
  cr_assert_eq(sums.reactions_met, 20, "%lu, and %lu late", sums.reactions_met, sums.reactions_late);
}

/* More agents are woken in each frame than it holds. The agents that wait for their periods still run within 2.5
 * periods and ten frames. */
Test(law_of_importance, passes_nobody_over_for_the_woken) {
  enum { WOKEN = AGENTS / 2 };
  muster_world_def world = CHANGED(lawful(), it.limits.commands_max = 2 * AGENTS);
  SCOPED(town_close) struct town *town = town_open(1.0, world);
  town_run(town, WARM_UP);
  for (uint32_t frame = 0; frame < 10000; frame++) {
    for (uint32_t i = 0; i < WOKEN; i++) muster_agent_wake(town->little.world, town->agents[i]);
    town_run(town, 1);
  }
  for (uint32_t i = WOKEN; i < AGENTS; i++) {
    muster_agent_info info = info_in(town, i);
    const struct diary *diary = info.state;
    cr_assert_gt(diary->runs, 2, "agent %u", i);
    if (info.importance > 0.0f) continue; /* its period may have grown meanwhile */
    cr_assert_lt((double)diary->longest_ns, 2.5 * (double)info.period_ns + 10.0 * FRAME_NS, "agent %u: %g of %g s", i,
                 (double)diary->longest_ns * 1e-9, (double)info.period_ns * 1e-9);
  }
}

/* importance_octaves is tuned while frames run: at 0 an important agent has the same period as any other. */
Test(law_of_importance, can_be_tuned) {
  SCOPED(town_close) struct town *town = town_open(3.0, lawful());
  town_run(town, WARM_UP);
  uint32_t chosen = 0, other = find_unimportant(town);
  while (info_in(town, chosen).importance < 0.9f) chosen++;
  cr_assert_gt(info_in(town, other).period_ns, 5 * info_in(town, chosen).period_ns);
  assert_ok(tune_world(&town->little, WITH(muster_world_tuning, it.importance.octaves = 0.0f)));
  town_run(town, 200);
  cr_assert_eq(info_in(town, other).period_ns, info_in(town, chosen).period_ns);
  muster_world_tuning steep = WITH(muster_world_tuning, it.importance.octaves = 17.0f);
  cr_assert_eq(tune_world(&town->little, steep), MUSTER_E_ARGUMENT);
  muster_world_tuning wishful =
      WITH(muster_world_tuning, it.importance.octaves = -1.0f, it.importance.wish_part = 0.95f);
  cr_assert_eq(tune_world(&town->little, wishful), MUSTER_E_ARGUMENT);
}

/* What explain says of an agent that waits for longer than its type wishes. */
Test(law_of_importance, is_explained) {
  SCOPED(town_close) struct town *town = town_open(3.0, lawful());
  cr_assert_gt(town_run(town, WARM_UP).agents_beyond_wish, AGENTS / 2);
  muster_agent_explanation explanation = explain(&town->little, town->agents[find_unimportant(town)]);
  cr_assert(explanation.reasons & MUSTER_REASON_BEYOND_WISH);
  expect_explained(&explanation, "longer than its type wishes, 2 s at most, because the pressure is");
}
