/* Several rates in a planner world: which sets of an entry are due, and what each is told. A small model follows each
 * set from what its host sees: it is due once in each period, at the same place of it, and knows that place better with
 * each plan that names the set, or does not. */
#include "support/planned_world.h"
#include "world/fixture.h"

enum { MS = 1000000, SETS = 4, CROWD = 60, PARTS = CROWD * SETS, QUARTER = 4 };

static const uint64_t periods_ns[SETS] = {50u * MS, 200u * MS, 70u * MS, 1000u * MS};
static const uint32_t costs_ns[SETS] = {2000, 5000, 3000, 30000};

/* A type of the first so many of these sets; `sets` must live until it is registered. */
static muster_type_def rates_type(muster_set_def *sets, uint32_t count) {
  static const char *const names[SETS] = {"move", "look", "aim", "think"};
  for (uint32_t i = 0; i < count; i++)
    sets[i] = WITH(muster_set_def, it.name = names[i], it.period_updates = 0, it.period_ns = periods_ns[i],
                   it.part_ns = costs_ns[i]);
  return WITH(muster_type_def, it.name = "bot", it.sets.list = sets, it.sets.count = count,
              it.period_ns = periods_ns[0], it.period_max_ns = 20 * periods_ns[0]);
}

static planned_world *rates_world(uint64_t capacity_ns, uint32_t agents, uint32_t delay) {
  muster_set_def sets[SETS];
  muster_world_def def = WITH(virtual_world_def, it.clock.capacity_ns = capacity_ns, it.activation_delay = delay);
  return planned_world_of(&def, rates_type(sets, SETS), agents);
}

static uint32_t parts_of_plan(const planned_world *planned, muster_plan_part *parts) {
  uint32_t count = 0;
  assert_ok(muster_plan_parts(planned->little.world, planned->entries, planned->plan.count, parts, PARTS, &count));
  return count;
}

/* ------------------------------------------------------------------------------------------------------- the model */

/* A set is due at some time from `low` to `high`, on a clock that goes as fast as the agent's periods are short. */
struct followed_set {
  double low, high;
  uint64_t last_ns; /* when it last ran */
  uint32_t runs;
};

struct followed {
  muster_agent agent;
  double clock, slack; /* slack: what rounding may have added up to */
  bool known;
  struct followed_set sets[SETS];
};

struct scene {
  planned_world *planned;
  struct followed bots[CROWD];
  uint64_t named, rode, stretched, carried;
};

static void model_begin(struct followed *bot, muster_agent agent, uint64_t now_ns) {
  *bot = (struct followed){.agent = agent, .slack = 1.0, .known = true};
  for (uint32_t i = 0; i < SETS; i++)
    bot->sets[i] = (struct followed_set){.low = 0.0, .high = (double)periods_ns[i], .last_ns = now_ns};
}

static void model_narrow(const struct followed *bot, uint32_t set, double low, double high) {
  struct followed_set *own = (struct followed_set *)&bot->sets[set];
  if (low - bot->slack > own->low) own->low = low - bot->slack;
  if (high + bot->slack < own->high) own->high = high + bot->slack;
  cr_assert_leq(own->low, own->high + 2 * bot->slack, "agent %u, set %u, at %.0f: due %.0f .. %.0f",
                muster_agent_index(bot->agent), set, bot->clock, own->low, own->high);
}

/* What was due then is due again a period later; what has missed more than one period skips those. */
static double model_next(double due, double clock, double period) {
  double next = due + period;
  for (uint32_t missed = 0; next < clock; missed++) {
    if (next + period >= clock && missed == 0) return next; /* missed by less than one: it still counts */
    next += period;
  }
  return next;
}

/* The sets that ran: `woken` ones that were not due keep their times. */
static void model_ran(struct followed *bot, uint32_t due, uint64_t now_ns, bool woken) {
  for (uint32_t i = 0; i < SETS; i++) {
    struct followed_set *own = &bot->sets[i];
    double period = (double)periods_ns[i], along = bot->clock + period / QUARTER;
    if (!(due >> i & 1)) continue;
    own->runs++;
    own->last_ns = now_ns;
    if (woken && own->low > along) continue;
    if (woken && own->high > along) { /* it may have been due or not */
      own->low = along;
      own->high = along + period > own->high ? along + period : own->high;
      continue;
    }
    double low = model_next(own->low, bot->clock, period), high = model_next(own->high, bot->clock, period);
    bool same = fabs((high - low) - (own->high - own->low)) < 1.0; /* else it depends on which it is */
    own->low = same ? low : bot->clock - period;
    own->high = same ? high : bot->clock + period;
  }
}

/* An entry with these sets, at which its host has looked. */
static void model_named(struct scene *scene, struct followed *bot, uint32_t due, bool woken) {
  bool any_due = false;
  for (uint32_t i = 0; i < SETS && !woken; i++) {
    double along = bot->clock + (double)periods_ns[i] / QUARTER;
    if (due >> i & 1)
      model_narrow(bot, i, -1e18, along);
    else
      model_narrow(bot, i, along, 1e18);
    any_due |= (due >> i & 1) && bot->sets[i].low <= bot->clock + bot->slack;
    scene->rode += (due >> i & 1) && bot->sets[i].low > bot->clock + bot->slack;
  }
  cr_assert(any_due || woken, "agent %u was planned, and no set is due", muster_agent_index(bot->agent));
  scene->named += (uint32_t)__builtin_popcount(due);
}

static void model_advance(struct scene *scene, struct followed *bot) {
  uint64_t period_ns = info_of(&scene->planned->little, bot->agent).period_ns;
  scene->stretched += period_ns > periods_ns[0] + 1;
  bot->clock += (double)FRAME_NS * (double)periods_ns[0] / (double)period_ns;
  if (period_ns != periods_ns[0]) bot->slack += 10.0; /* periods are told in whole ns */
}

/* -------------------------------------------------------------------------------------------------------- the host */

static struct scene *scene_create(uint64_t capacity_ns, uint32_t activation_delay) {
  struct scene *scene = calloc(1, sizeof *scene);
  scene->planned = rates_world(capacity_ns, CROWD, activation_delay);
  return scene;
}

static void scene_destroy(struct scene **scene) {
  planned_world_destroy((*scene)->planned);
  free(*scene);
}

/* The sets of each entry, which stand in its order; what each is told is exact. */
static void look_at_parts(struct scene *scene, const muster_plan_part *parts, uint32_t count, uint32_t *due) {
  planned_world *planned = scene->planned;
  memset(due, 0, planned->plan.count * sizeof *due);
  for (uint32_t i = 0; i < count; i++) {
    cr_assert_lt(parts[i].entry, planned->plan.count);
    cr_assert_lt(parts[i].set, SETS);
    if (i > 0)
      cr_assert(parts[i].entry > parts[i - 1].entry ||
                (parts[i].entry == parts[i - 1].entry && parts[i].set > parts[i - 1].set));
    const struct followed *bot = &scene->bots[muster_agent_index(planned->entries[parts[i].entry].agent)];
    uint64_t elapsed_ns = planned->little.now_ns - bot->sets[parts[i].set].last_ns;
    cr_assert_eq(parts[i].elapsed_ns, elapsed_ns, "set %u was told %lu, %lu passed", parts[i].set, parts[i].elapsed_ns,
                 elapsed_ns);
    due[parts[i].entry] |= 1u << parts[i].set;
  }
}

/* A frame whose host runs one entry of `runs_one_of` only, or all with 1. Agents that were `woken` are told so. */
static void scene_frame(struct scene *scene, uint32_t runs_one_of, muster_agent woken, bool unloaded) {
  static muster_plan_part parts[PARTS];
  planned_world *planned = scene->planned;
  uint32_t due[CROWD], done = 0, planned_now[CROWD] = {0};
  plan(planned);
  uint32_t count = parts_of_plan(planned, parts);
  for (uint32_t i = 0; i < CROWD; i++) {
    struct followed *bot = &scene->bots[i];
    if (!bot->known)
      model_begin(bot, muster_agent_next(planned->little.world, i ? bot[-1].agent : (muster_agent){0}),
                  planned->little.now_ns);
    else
      model_advance(scene, bot);
  }
  look_at_parts(scene, parts, count, due);
  for (uint32_t i = 0; i < planned->plan.count; i++) {
    const muster_plan_entry *entry = &planned->entries[i];
    struct followed *bot = &scene->bots[muster_agent_index(entry->agent)];
    bool is_woken = muster_agent_equal(entry->agent, woken);
    planned_now[muster_agent_index(entry->agent)] = 1;
    cr_assert_neq(due[i], 0);
    if (is_woken) cr_assert_eq(due[i], (1u << SETS) - 1, "a woken agent runs all");
    uint64_t cost_ns = 0; /* of what is due */
    for (uint32_t k = 0; k < SETS; k++) cost_ns += (due[i] >> k & 1) * costs_ns[k];
    cr_assert_eq(entry->slice_ns, cost_ns);
    cr_assert_eq(entry->part_first, 0);
    cr_assert_eq(entry->part_end, SETS);
    model_named(scene, bot, due[i], is_woken);
    if (i % runs_one_of) continue;
    model_ran(bot, due[i], planned->little.now_ns, is_woken);
    planned->results[done++] = result_as_planned(entry, SETS);
  }
  for (uint32_t i = 0; i < CROWD && unloaded; i++)
    for (uint32_t k = 0; k < SETS && !planned_now[i]; k++) model_narrow(&scene->bots[i], k, scene->bots[i].clock, 1e18);
  scene->carried += report(planned, done).carried;
}

/* How well the model knows when sets are due: to within a frame, or what it sees of a set is not one phase. */
static void look_at_phases(const struct scene *scene) {
  for (uint32_t i = 0; i < CROWD; i++)
    for (uint32_t k = 0; k < SETS; k++)
      cr_assert_leq(scene->bots[i].sets[k].high - scene->bots[i].sets[k].low, (double)periods_ns[0] + 2.0 * FRAME_NS,
                    "agent %u, set %u", i, k);
}

Test(planner_rates, without_load_each_set_keeps_its_phase_for_good_and_rides_along_within_a_quarter) {
  enum { FRAMES = 1200 };
  SCOPED(scene_destroy) struct scene *scene = scene_create(50u * MS, 0);
  for (uint32_t frame = 0; frame < FRAMES; frame++) scene_frame(scene, 1, (muster_agent){0}, true);
  cr_assert_eq(scene->stretched, 0);
  cr_assert_gt(scene->rode, 1000);
  look_at_phases(scene);
  for (uint32_t i = 0; i < CROWD; i++)
    for (uint32_t k = 0; k < SETS; k++) {
      uint64_t whole = (uint64_t)FRAMES * FRAME_NS / periods_ns[k];
      cr_assert_geq(scene->bots[i].sets[k].runs + 1, whole, "set %u ran %u times", k, scene->bots[i].sets[k].runs);
      cr_assert_leq(scene->bots[i].sets[k].runs, whole + 2, "set %u ran %u times", k, scene->bots[i].sets[k].runs);
    }
}

Test(planner_rates, under_load_all_sets_stretch_alike_and_what_they_are_told_adds_up) {
  enum { FRAMES = 1500 };
  SCOPED(scene_destroy) struct scene *scene = scene_create(30u * 1000u, 0);
  uint64_t runs[SETS] = {0};
  for (uint32_t frame = 0; frame < FRAMES; frame++) scene_frame(scene, 1, (muster_agent){0}, false);
  cr_assert_gt(scene->stretched, (uint64_t)FRAMES * CROWD / 2, "it is overloaded");
  cr_assert_lt(scene->carried, FRAMES * CROWD / 5, "%lu: periods make room for slower sets, too", scene->carried);
  for (uint32_t i = 0; i < CROWD; i++)
    for (uint32_t k = 0; k < SETS; k++) runs[k] += scene->bots[i].sets[k].runs;
  for (uint32_t k = 1; k < SETS; k++) {
    double expected = (double)runs[0] * (double)periods_ns[0] / (double)periods_ns[k];
    cr_assert(fabs((double)runs[k] - expected) < 0.1 * expected + CROWD, "set %u: %lu runs, %g expected", k, runs[k],
              expected);
  }
}

Test(planner_rates, what_the_host_leaves_out_stays_due_with_all_its_sets) {
  SCOPED(scene_destroy) struct scene *scene = scene_create(50u * MS, 0);
  for (uint32_t frame = 0; frame < 600; frame++) scene_frame(scene, 3, (muster_agent){0}, false);
  cr_assert_gt(scene->named, 5000);
}

Test(planner_rates, updates_that_were_put_off_by_plan_run_what_has_become_due_meanwhile) {
  SCOPED(scene_destroy) struct scene *scene = scene_create(50u * MS, 4);
  for (uint32_t frame = 0; frame < 600; frame++) scene_frame(scene, 1, (muster_agent){0}, false);
  cr_assert_eq(scene->stretched, 0);
  look_at_phases(scene);
}

Test(planner_rates, a_woken_agent_runs_all_its_sets_and_those_that_were_not_due_keep_their_times) {
  SCOPED(scene_destroy) struct scene *scene = scene_create(50u * MS, 0);
  muster_agent woken = {0};
  uint32_t wakes = 0;
  for (uint32_t frame = 0; frame < 900; frame++) {
    scene_frame(scene, 1, woken, true);
    woken = (muster_agent){0};
    if (frame % 7 || frame < 300) continue;
    woken = scene->bots[frame % CROWD].agent;
    cr_assert_eq(muster_agent_wake(scene->planned->little.world, woken), MUSTER_OK);
    wakes++;
  }
  cr_assert_gt(wakes, 50);
}

/* --------------------------------------------------------------------------------------------- what callers may do */

static uint64_t hash_after(uint32_t frames, uint32_t activation_delay, bool asks) {
  muster_plan_part parts[PARTS];
  SCOPED(planned_world_end) planned_world *planned = rates_world(30u * 1000u, CROWD, activation_delay);
  uint64_t hash = 0;
  for (uint32_t frame = 0; frame < frames; frame++) {
    uint32_t count = plan(planned);
    if (asks) parts_of_plan(planned, parts);
    for (uint32_t i = 0; i < count; i++) {
      const muster_plan_entry *entry = &planned->entries[i];
      hash = hash * 31 + muster_agent_index(entry->agent) + entry->elapsed_ns + entry->slice_ns;
    }
    run_entries(planned, count, SETS);
    report(planned, count);
  }
  return hash ^ muster_world_hash(planned->little.world);
}

Test(planner_rates, asking_for_parts_changes_nothing_and_the_same_reports_give_the_same_plans) {
  cr_assert_eq(hash_after(300, 0, true), hash_after(300, 0, false));
  cr_assert_eq(hash_after(300, 4, true), hash_after(300, 4, false));
}

Test(planner_rates, entries_of_types_without_sets_are_as_before_and_have_no_parts) {
  SCOPED(planned_world_end) planned_world *planned = rates_world(50u * MS, 3, 0);
  muster_type bots = planned->little.type;
  add_type(&planned->little, WITH(muster_type_def, it.parts.count = 2, it.period_ns = it.period_max_ns = 20u * MS));
  for (uint32_t i = 0; i < 3; i++) spawn_at(&planned->little, 50 + i);
  uint32_t both = 0;
  for (uint32_t frame = 0; frame < 100; frame++) {
    muster_plan_part parts[PARTS];
    uint32_t count = plan(planned), part_count = parts_of_plan(planned, parts), with = 0, without = 0;
    for (uint32_t i = 0; i < part_count; i++) cr_assert_eq(planned->entries[parts[i].entry].type.index, bots.index);
    for (uint32_t i = 0; i < count; i++) {
      bool plain_entry = planned->entries[i].type.index != bots.index;
      planned->results[i] = result_as_planned(&planned->entries[i], plain_entry ? 2 : SETS);
      if (plain_entry) cr_assert_eq(planned->entries[i].slice_ns, 2000);
      with += !plain_entry;
      without += plain_entry;
    }
    both += with && without;
    report(planned, count);
  }
  cr_assert_gt(both, 10);
}

Test(planner_rates, parts_are_refused_where_there_is_no_plan_no_room_or_no_such_agent) {
  SCOPED(planned_world_end) planned_world *planned = rates_world(50u * MS, 40, 0);
  muster_world *world = planned->little.world;
  muster_plan_part parts[PARTS], untouched[PARTS];
  uint32_t count = 77;
  assert_refused(muster_plan_parts(world, planned->entries, 0, parts, PARTS, &count), MUSTER_E_STATE, "no plan");
  while (plan(planned) < 3) report(planned, 0);
  memset(parts, 0x55, sizeof parts);
  memset(untouched, 0x55, sizeof untouched);
  cr_assert_eq(muster_plan_parts(world, planned->entries, planned->plan.count, parts, 2, &count), MUSTER_E_FULL);
  expect_error("capacity is 2");
  cr_assert_geq(count, 3);
  cr_assert(!memcmp(parts, untouched, sizeof parts), "nothing is written");
  uint32_t needed = count;
  cr_assert_eq(muster_plan_parts(world, planned->entries, planned->plan.count, parts, needed, &count), MUSTER_OK);
  cr_assert_eq(count, needed);
  muster_plan_entry turned[2] = {planned->entries[2], planned->entries[0]};
  cr_assert_eq(muster_plan_parts(world, turned, 2, parts, PARTS, &count), MUSTER_OK, "any of them, in any order");
  cr_assert(count >= 2 && parts[0].entry == 0 && parts[count - 1].entry == 1);
  turned[1].agent = muster_agent_make(muster_agent_index(turned[1].agent), 9);
  assert_refused(muster_plan_parts(world, turned, 2, parts, PARTS, &count), MUSTER_E_ARGUMENT, "entries[1].agent");
  cr_assert_eq(muster_plan_parts(world, NULL, 0, NULL, 0, &count), MUSTER_OK);
  cr_assert_eq(count, 0);
  cr_assert_eq(muster_plan_parts(world, NULL, 1, parts, PARTS, &count), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan_parts(world, turned, 1, NULL, 1, &count), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan_parts(world, turned, 1, parts, 1, NULL), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_plan_parts(NULL, turned, 1, parts, 1, &count), MUSTER_E_ARGUMENT);
  planned->results[0] = result_until(planned->entries[0].agent, 1, 1);
  expect_report_refused(planned, 1, "results[0].outcome");
  expect_error("'bot' has sets");
  report(planned, 0);
  cr_assert_eq(muster_plan_parts(world, turned, 1, parts, PARTS, &count), MUSTER_E_STATE);
}

/* One mistake in the definition of a type or of its second set, and what the refusal says of it. */
#define MISTAKE(words, statement)                                                                                      \
  do {                                                                                                                 \
    muster_set_def sets[MUSTER_SETS_MAX + 1];                                                                          \
    muster_type_def type = rates_type(sets, SETS);                                                                     \
    muster_set_def *set = &sets[1];                                                                                    \
    (void)set;                                                                                                         \
    statement;                                                                                                         \
    expect_type_refused(little, type, words);                                                                          \
    expect_error("'bot'");                                                                                             \
  } while (0)

Test(planner_rates, definitions_that_make_no_sense_are_refused_by_field) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  SCOPED(planned_world_end) planned_world *planned = rates_world(0, 0, 0);
  const little_world *little = &planned->little;
  MISTAKE("role must", set->role = MUSTER_ROLE_PERCEPTION);
  MISTAKE("mode must", set->mode = MUSTER_MODE_SLICEABLE);
  MISTAKE("atom_count must", set->atom_count = 1);
  MISTAKE("atoms must", set->atoms = &atom);
  MISTAKE("share must", set->share = 51);
  MISTAKE("levels must", set->levels = 1);
  MISTAKE("delay_ns must", set->delay_ns = 1);
  MISTAKE("delay_updates must", set->delay_updates = 1);
  MISTAKE("asks must", set->asks = 2);
  MISTAKE("period_updates 1 must be 0", set->period_updates = 1);
  MISTAKE("period_ns 0", set->period_ns = 0);
  MISTAKE("period_ns 49999999 the type's (50000000) .. 24 h", set->period_ns = 49999999);
  MISTAKE("period_ns 86400000000001", set->period_ns = 86400000000001u);
  MISTAKE("part_ns 0 must be 1..1000000000", set->part_ns = 0);
  MISTAKE("part_ns 1000000001", set->part_ns = 1000000001u);
  MISTAKE("set 1: muster_set_def was not set", set->size = 0);
  MISTAKE("period_ns 50000000 must be the shortest period_ns of its sets, 60000000", sets[0].period_ns = 60u * MS);
  MISTAKE("sets.count", type.sets.count = 0);
  MISTAKE("set_count", type.sets.list = NULL);
  MISTAKE("sets.count", type.sets.count = MUSTER_SETS_MAX + 1);
  MISTAKE("both", (type.atoms = &atom, type.atom_count = 1));
  MISTAKE("parts.count 2", type.parts.count = 2);
  MISTAKE("elapsed 3", type.elapsed.contract = MUSTER_ELAPSED_EVENTS);
  MISTAKE("elapsed 1",
          (type.elapsed.contract = MUSTER_ELAPSED_STEPS, type.elapsed.step_ns = MS, type.elapsed.steps_max = 2000));
  MISTAKE("sets.share 1", type.sets.share = 1);
  MISTAKE("sets.slice_ns 5000", type.sets.slice_ns = 5000);
  MISTAKE("sets.order 1", type.sets.order = MUSTER_SETS_AS_DEFINED);
}

/* ------------------------------------------------------------------------------------------------------- tuning */

static void count_runs(planned_world *planned, uint32_t frames, uint32_t *runs) {
  muster_plan_part parts[PARTS];
  memset(runs, 0, SETS * sizeof *runs);
  for (uint32_t frame = 0; frame < frames; frame++) {
    uint32_t count = plan(planned), part_count = parts_of_plan(planned, parts);
    for (uint32_t i = 0; i < part_count; i++) runs[parts[i].set]++;
    run_entries(planned, count, SETS);
    report(planned, count);
  }
}

static void ran(const uint32_t *runs, uint32_t set, uint32_t period_ms) {
  enum { SECONDS = 10 };
  int expected = SECONDS * 1000 / (int)period_ms;
  cr_assert(abs((int)runs[set] - expected) <= 2, "set %u ran %u times, not every %u ms", set, runs[set], period_ms);
}

Test(planner_rates, periods_can_be_changed_of_one_set_a_type_and_an_agent) {
  SCOPED(planned_world_end) planned_world *planned = rates_world(50u * MS, 1, 0);
  muster_world *world = planned->little.world;
  muster_type type = planned->little.type;
  muster_set_tuning tuning = WITH(muster_set_tuning, it.period_updates = 0, it.period_ns = 400u * MS);
  uint32_t runs[SETS];
  count_runs(planned, 1000, runs);
  for (uint32_t i = 0; i < SETS; i++) ran(runs, i, (uint32_t)(periods_ns[i] / MS));
  assert_ok(muster_set_tune(world, type, 3, &tuning));
  count_runs(planned, 1000, runs);
  ran(runs, 3, 400);
  ran(runs, 1, 200);
  assert_ok(muster_type_set_periods(world, type, 100u * MS, 0));
  count_runs(planned, 1000, runs);
  ran(runs, 0, 100);
  ran(runs, 1, 400);
  ran(runs, 2, 140);
  ran(runs, 3, 800);
  assert_ok(muster_agent_set_periods(world, muster_agent_next(world, (muster_agent){0}), 25u * MS, 0));
  count_runs(planned, 1000, runs);
  ran(runs, 1, 100);
  ran(runs, 2, 35);
  ran(runs, 3, 200);
  tuning.period_ns = periods_ns[0] - 1;
  assert_refused(muster_set_tune(world, type, 3, &tuning), MUSTER_E_ARGUMENT, "period_ns 49999999");
  tuning = (muster_set_tuning){.size = tuning.size, .share = 50, .period_ns = periods_ns[1], .mode = 1};
  cr_assert_eq(muster_set_tune(world, type, 3, &tuning), MUSTER_E_ARGUMENT);
  tuning = (muster_set_tuning){.size = tuning.size, .share = 50, .period_updates = 2};
  cr_assert_eq(muster_set_tune(world, type, 3, &tuning), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_share(world, type, 5), MUSTER_E_STATE);
}

Test(planner_rates, a_set_can_be_read) {
  SCOPED(planned_world_end) planned_world *planned = rates_world(50u * MS, 2, 0);
  uint32_t runs[SETS];
  count_runs(planned, 300, runs);
  muster_agent agent = muster_agent_next(planned->little.world, (muster_agent){0});
  for (uint32_t i = 0; i < SETS; i++) {
    muster_set_info info = muster_set_info_default();
    cr_assert_eq(muster_agent_set_read(planned->little.world, agent, i, &info), MUSTER_OK);
    cr_assert_eq(info.runs, runs[i]);
    cr_assert_gt(info.last_ns + periods_ns[i] + periods_ns[i] / QUARTER + FRAME_NS, planned->little.now_ns);
    cr_assert(!info.owed && info.atom_next == 0);
  }
}
