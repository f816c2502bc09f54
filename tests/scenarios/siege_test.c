/* More players in one place than the budget can serve: the important share alike, and the rest holds on. */
#include "examples/worlds/siege.h"
#include "scenarios/scene.h"

#include <muster/explain.h>

/* A tenth of the scenario's own population and players, and of what two workers have for them. */
#define AGENTS      10000
#define PLAYERS     200
#define CAPACITY_NS 2000000u

enum { ARRIVED_FRAMES = 330, SETTLED_FRAMES = 600, WINDOW_FRAMES = 300 };

static muster_agent_info infos[AGENTS];

static muster_module_options options_for(uint64_t seed) {
  return WITH(muster_module_options, it.agents = AGENTS, it.seed = seed, it.observers = PLAYERS);
}

static struct scene open_with(uint64_t seed) {
  return scene_open(muster_module_siege(), options_for(seed), 2, CAPACITY_NS);
}

/* All agents in the order of ids. */
static uint32_t read_all(const struct scene *scene) {
  uint32_t count = 0;
  for (scene_agent one = {0}; scene_next_agent(scene, &one);) infos[count++] = one.info;
  return count;
}

static int by_value(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static double ranked(double *values, uint32_t count, double part) {
  cr_assert_gt(count, 100);
  qsort(values, count, sizeof *values, by_value);
  return values[(uint32_t)(part * (count - 1))];
}

static bool is_named(const struct scene *scene, const muster_agent_info *info, const char *name) {
  return strcmp(muster_type_name(scene->world, info->type), name) == 0;
}

Test(siege, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_siege(), options_for(3), CAPACITY_NS, 240);
}

Test(siege, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_siege());
}

/* ---------------------------------------------------------------------------------------------------------- sharing */

/* Every update of the agents of a band, in parts of their period by the law, rounded up to a frame; and at the end the
 * ages of all of them, so that agents that did not run count, too. */
enum { CAPTAINS = 5, SHARES };

struct shares {
  double *parts[SHARES];
  uint32_t count[SHARES], room;
};

static void add_part(const struct scene *scene, struct shares *partitions, const muster_agent_info *info,
                     uint64_t elapsed_ns) {
  /* Bands of importance: none, up to a quarter, a half, three quarters, one. */
  uint32_t band = is_named(scene, info, "captain") ? CAPTAINS : (uint32_t)ceilf(fmaxf(info->importance, 0.0f) * 4.0f);
  if (partitions->count[band] == partitions->room) return;
  partitions->parts[band][partitions->count[band]++] = (double)elapsed_ns / (double)(info->period_ns + SCENE_FRAME_NS);
}

static void watch(struct scene *scene, struct shares *partitions, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) {
    scene_frame(scene, SCENE_FRAME_NS);
    uint32_t count = read_all(scene);
    for (uint32_t k = 0; k < count; k++) {
      const siege_state *own = infos[k].state;
      if (own->mark.updated_ns == scene->now_ns) add_part(scene, partitions, &infos[k], own->mark.elapsed_ns);
      if (i + 1 == frames) add_part(scene, partitions, &infos[k], scene->now_ns - infos[k].last_update_ns);
    }
  }
}

/* The captains are exempt and keep their period. */
Test(siege, shares_alike_within_each_band_of_importance) {
  SCOPED(scene_close) struct scene scene = open_with(1);
  struct shares partitions = {.room = 2000000};
  for (uint32_t i = 0; i < SHARES; i++) partitions.parts[i] = calloc(partitions.room, sizeof **partitions.parts);
  scene_frames(&scene, ARRIVED_FRAMES);
  watch(&scene, &partitions, WINDOW_FRAMES);
  for (uint32_t i = 0; i < SHARES; i++) {
    double p50 = ranked(partitions.parts[i], partitions.count[i], 0.5),
           p99 = ranked(partitions.parts[i], partitions.count[i], 0.99);
    cr_assert(p50 <= 1.2 && p99 <= 1.5, "band %u: p50 %g, p99 %g", i, p50, p99);
    free(partitions.parts[i]);
  }
  scene_expect(&scene, "violations", 0);
}

/* ----------------------------------------------------------------------------------------------------- what it says */

/* What an update costs in a fight, in ns: 900 to see its neighbours, 180 for each look at a player, 150 to walk. */
static double cost_by_hand(const struct scene *scene, const muster_agent_info *info) {
  static const uint32_t fighters[] = {24, 20, 16, 12}, townsmen[] = {24, 18, 12}, animals[] = {24, 12};
  const uint32_t *looks = is_named(scene, info, "townsman") ? townsmen
                          : is_named(scene, info, "animal") ? animals
                                                            : fighters;
  return 900.0 + 180.0 * looks[info->level] + 150.0;
}

static double period_by_hand(const struct scene *scene, const muster_agent_info *info) {
  return is_named(scene, info, "guard") ? 1e9 / 15.0 : is_named(scene, info, "animal") ? 2e8 : 1e8;
}

/* The share of the capacity that agents of importance above 3/4 take at their wanted periods, computed by hand.
 * Fighters strike in some of their updates, which takes 300 ns more. */
Test(siege, says_what_the_important_alone_would_take) {
  SCOPED(scene_close) struct scene scene = open_with(4);
  scene_frames(&scene, SETTLED_FRAMES);
  muster_frame_report report = scene_frame(&scene, SCENE_FRAME_NS);
  uint32_t count = read_all(&scene), important = 0;
  double least = 0, blows = 0, desired = (double)report.utilisation_desired;
  for (uint32_t i = 0; i < count; i++) {
    if (infos[i].importance <= 0.75f) continue;
    bool fights = is_named(&scene, &infos[i], "guard") || is_named(&scene, &infos[i], "besieger");
    least += cost_by_hand(&scene, &infos[i]) / period_by_hand(&scene, &infos[i]);
    blows += fights ? 300.0 / period_by_hand(&scene, &infos[i]) : 0.0;
    important++;
  }
  cr_assert(important > AGENTS / 5 && important < AGENTS / 2, "%u are important", important);
  cr_assert(least > 1.5 * desired && blows < 0.1 * least);
  double said = (double)report.important_load * desired;
  cr_assert(said > 0.999 * least && said < 1.001 * (least + blows), "%g of %g .. %g", said, least, least + blows);
  cr_assert_lt((double)report.held_load, 0.1, "captains are few");
}

/* ------------------------------------------------------------------------------------------------------------- edge */

/* Agents that no player sees: their wish is stretched, all by as much, and they are held by it. */
Test(siege, holds_the_edge_of_the_crowd_by_the_stretched_wish) {
  SCOPED(scene_close) struct scene scene = open_with(5);
  static uint64_t updates[AGENTS];
  scene_frames(&scene, ARRIVED_FRAMES);
  double stretch = 2.0 * (double)scene_frame(&scene, SCENE_FRAME_NS).pressure;
  uint32_t count = read_all(&scene), edge = 0;
  cr_assert_gt(stretch, 1.1, "the wishes of all are more than half of the capacity");
  for (uint32_t i = 0; i < count; i++) {
    updates[i] = ((const siege_state *)infos[i].state)->updates;
    if (infos[i].importance > 0.0f) continue;
    double wish_ns = is_named(&scene, &infos[i], "besieger") ? 8e8 : is_named(&scene, &infos[i], "animal") ? 2e9 : 1e9;
    cr_assert_float_eq((double)infos[i].period_ns, wish_ns * stretch, 0.01 * wish_ns, "%g s",
                       (double)infos[i].period_ns * 1e-9);
    edge++;
  }
  cr_assert_gt(edge, AGENTS / 10);
  scene_frames(&scene, 600);
  read_all(&scene);
  for (uint32_t i = 0; i < count; i++) {
    double ran = (double)(((const siege_state *)infos[i].state)->updates - updates[i]);
    double due = 600.0 * SCENE_FRAME_NS / (double)infos[i].period_ns;
    if (infos[i].importance <= 0.0f) cr_assert_geq(ran, floor(due / 1.15) - 1.0, "agent %u: %g of %g", i, ran, due);
  }
}

/* ----------------------------------------------------------------------------------------------------------- levels */

static uint32_t at_best_level(const struct scene *scene) {
  uint32_t count = read_all(scene), best = 0;
  for (uint32_t i = 0; i < count; i++) best += infos[i].level == 0 && !is_named(scene, &infos[i], "captain");
  return best;
}

/* Counts agents that say that they are lowered. */
static uint32_t count_shed(const struct scene *scene) {
  muster_agent_explanation why = muster_agent_explanation_default();
  uint32_t count = 0;
  for (muster_agent agent = muster_agent_next(scene->world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(scene->world, agent))
    count += muster_agent_explain(scene->world, agent, &why) == MUSTER_OK && why.reasons & MUSTER_REASON_SHED;
  return count;
}

/* The players go back to their camps after 20 s; levels come back slowly. */
Test(siege, lowers_levels_and_gives_them_back) {
  SCOPED(scene_close) struct scene scene = scene_begin(muster_module_siege(), options_for(6), CAPACITY_NS);
  siege_choose(scene.instance, 20.0f);
  scene_enter(&scene, 2, muster_world_def_default());
  scene_frames(&scene, 8);
  uint32_t before = at_best_level(&scene);
  cr_assert_gt(before, AGENTS / 2, "%u: there is peace, and camps are near", before);
  scene_frames(&scene, 590);
  muster_frame_report report = scene_frame(&scene, SCENE_FRAME_NS);
  cr_assert_eq(at_best_level(&scene), 0, "the important, too");
  cr_assert(report.agents_shed > before && report.important_load > 1.5f, "%u are shed", report.agents_shed);
  cr_assert_eq(report.agents_shed, count_shed(&scene), "who is at the cheapest level anyway is not");
  for (uint32_t i = 0; i < 300 || (i < 3000 && report.agents_shed > 0); i++)
    report = scene_frame(&scene, SCENE_FRAME_NS);
  cr_assert(report.agents_shed == 0 && report.important_load < 1.0f, "%u are shed", report.agents_shed);
  uint32_t after = at_best_level(&scene);
  cr_assert_geq(after, before, "%u were at their best level, and are %u", before, after);
  cr_assert_eq(scene_reported(&scene, "players_at_the_gate") + scene_reported(&scene, "fighting"), 0);
}

/* ------------------------------------------------------------------------------------------------------------ waits */

static uint64_t longest_period_ns(const struct scene *scene) {
  uint32_t count = read_all(scene);
  uint64_t longest_ns = 0;
  for (uint32_t i = 0; i < count; i++)
    if (infos[i].period_ns > longest_ns) longest_ns = infos[i].period_ns;
  return longest_ns;
}

/* From release to start no agent waits longer than the longest period in force since its release, and the work that may
 * go before: what waits, by the capacity, and a frame. The longest is taken over a time longer than any wait. */
Test(siege, lets_nobody_wait_beyond_the_bound) {
  enum { LATELY = 150 };
  SCOPED(scene_close) struct scene scene = open_with(7);
  uint64_t lately_ns[LATELY] = {0};
  for (uint32_t i = 0; i < ARRIVED_FRAMES + WINDOW_FRAMES; i++) {
    muster_frame_report report = scene_frame(&scene, SCENE_FRAME_NS);
    uint64_t longest_ns = 0;
    lately_ns[i % LATELY] = longest_period_ns(&scene);
    for (uint32_t k = 0; k < LATELY; k++) longest_ns = lately_ns[k] > longest_ns ? lately_ns[k] : longest_ns;
    double turns = report.completed ? ceil((double)report.carried / report.completed) : 0.0;
    double bound_ns = (double)longest_ns + (turns + 1.0) * SCENE_FRAME_NS;
    cr_assert_leq((double)report.longest_wait_ns, bound_ns, "frame %u: %g s of %g", i,
                  (double)report.longest_wait_ns * 1e-9, bound_ns * 1e-9);
  }
  cr_assert_lt(scene.longest_wait_ns, LATELY * (uint64_t)SCENE_FRAME_NS);
  cr_assert_gt(scene.longest_wait_ns, 1000000000u, "or nobody waited");
  cr_assert_eq(scene.worst_excess_ns, 0);
}
