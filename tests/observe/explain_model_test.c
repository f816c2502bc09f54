/* Explanations of a world in which a host does everything at random, compared with what the host knows: each field by
 * the longest way round, each reason there where it holds and nowhere else. */
#include "world/fixture.h"

enum { MOST = 96, SEEING = 6, FRAMES = 120, TYPES = 4, ROUNDS = 2 };

/* What the host knows of an agent. */
typedef struct known {
  muster_agent agent;
  uint32_t type;
  float visibility, bulk, interactivity, floor, designer, role, elasticity;
  bool own_period, quarantined;
} known;

typedef struct random_host {
  little_world little;
  muster_type types[TYPES];
  muster_type_def defs[TYPES];
  bool quarantined[TYPES], factors, by_importance;
  known agents[MOST];
  muster_observer observers[SEEING];
  uint64_t random;
  uint32_t seen; /* reasons */
} random_host;

static uint32_t roll(random_host *model, uint32_t sides) {
  model->random = model->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(model->random >> 33) % sides;
}

/* A share that is kept as it is. */
static float roll_share(random_host *model) {
  return (float)roll(model, 256) / 255.0f;
}

static muster_position roll_place(random_host *model) {
  return (muster_position){roll(model, 400), roll(model, 400), roll(model, 300)};
}

static void three_quarters(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries, (void)user;
  for (uint32_t i = 0; i < count; i++) importances[i] = 0.75f;
}

static void register_types(random_host *model) {
  static const muster_atom atoms[] = {{.run = count_in_state, .model_ns = 200000}, {nothing, MUSTER_ROLE_ACTION, 1000}};
  static const char *const names[TYPES] = {"ant", "bee", "cat", "dog"};
  for (uint32_t i = 0; i < TYPES; i++) {
    muster_type_def def =
        CHANGED(type_with(atoms, 2), it.name = names[i], it.state_bytes = sizeof(uint64_t),
                it.period_ns = (3 + i) * (uint64_t)FRAME_NS, it.period_max_ns = (30 + i) * (uint64_t)FRAME_NS,
                it.importance = 1.0f - (float)i * 0.2f, it.elasticity = 1.0f + (float)i * 0.25f,
                it.levels.count = 1 + i, it.period_max_hard = i == 2);
    if (i == 1) def.models.importance = three_quarters;
    if (i == 3) def.elapsed.contract = MUSTER_ELAPSED_EVENTS;
    model->defs[i] = def;
    model->types[i] = add_type(&model->little, def);
  }
}

static void spawn(random_host *model, known *as) {
  *as = (known){.type = roll(model, TYPES), .role = -1.0f};
  muster_agent_def def =
      WITH(muster_agent_def, it.type = model->types[as->type], it.position = roll_place(model),
           it.partition = roll(model, 4), it.visibility = as->visibility = roll_share(model),
           it.bulk = as->bulk = roll_share(model), it.interactivity = as->interactivity = roll_share(model));
  def.designer = as->designer = model->factors ? roll_share(model) : 0.0f;
  if (roll(model, 4) == 0) def.importance_floor = as->floor = roll_share(model);
  def.elasticity = as->elasticity = roll(model, 3) ? -1.0f : roll(model, 3) ? 2.0f : 0.0f;
  as->agent = spawn_as(&model->little, def);
}

static void tune(random_host *model, known *as) {
  muster_agent_tuning tuning =
      WITH(muster_agent_tuning, it.importance_floor = as->floor = roll_share(model),
           it.bulk = as->bulk = roll_share(model), it.interactivity = as->interactivity = roll_share(model));
  if (model->factors) tuning.role = as->role = roll_share(model);
  assert_ok(tune_agent(&model->little, as->agent, tuning));
}

/* Adds or removes an observer, or moves it: away, or by a step so small that importance does not notice it. */
static void do_to_observer(random_host *model) {
  muster_world *world = model->little.world;
  muster_observer *observer = &model->observers[roll(model, SEEING)];
  muster_observer_def eyes = muster_observer_def_default();
  if (muster_observer_is_null(*observer)) {
    *observer = observe_as(&model->little, CHANGED(eyes, it.position = roll_place(model), it.partition = roll(model, 3),
                                                   it.near_m = 5.0f + (float)roll(model, 20),
                                                   it.far_m = 60.0f + (float)roll(model, 100)));
  } else if (roll(model, 12) == 0) {
    muster_observer_remove(world, *observer);
    *observer = (muster_observer){0};
  } else if (roll(model, 2)) {
    muster_observer_move(world, *observer, roll_place(model));
  } else if (muster_observer_read(world, *observer, &eyes) == MUSTER_OK) {
    eyes.position.x += 0.4;
    eyes.position.y += 0.4;
    muster_observer_move(world, *observer, eyes.position);
  }
}

static void do_something(random_host *model) {
  muster_world *world = model->little.world;
  known *as = &model->agents[roll(model, MOST)];
  uint32_t type = roll(model, 2);
  switch (roll(model, 15)) {
  case 0:
    muster_agent_remove(world, as->agent);
    spawn(model, as);
    break;
  case 1:
  case 2:
    tune(model, as);
    break;
  case 3:
    muster_agent_move(world, as->agent, roll_place(model));
    break;
  case 4:
    muster_agent_wake(world, as->agent);
    break;
  case 5:
    muster_agent_wake_at(world, as->agent, model->little.now_ns + (2 + roll(model, 9)) * (uint64_t)FRAME_NS);
    break;
  case 6:
    if (as->type == 3) break;
    as->own_period = !as->own_period;
    muster_agent_set_periods(world, as->agent, as->own_period ? 7 * FRAME_NS : 0, as->own_period ? 9 * FRAME_NS : 0);
    break;
  case 7:
  case 8:
  case 9:
  case 12:
    do_to_observer(model);
    break;
  case 13:
    if (model->factors) muster_agent_link(world, as->agent, model->agents[roll(model, MOST)].agent);
    break;
  case 10:
    if (roll(model, 2)) break;
    model->quarantined[type] = !model->quarantined[type];
    (model->quarantined[type] ? muster_type_quarantine : muster_type_reinstate)(world, model->types[type]);
    break;
  case 11:
    as->quarantined = !as->quarantined;
    (as->quarantined ? muster_agent_quarantine : muster_agent_reinstate)(world, as->agent);
    break;
  default:
    break;
  }
}

/* --------------------------------------------------------------------------------------------------------- checks */

static void expect_near(float is, float expected, float within, const char *name, const known *as) {
  cr_assert(fabsf(is - expected) <= within, "%s of agent %u is %g, and not %g", name, muster_agent_index(as->agent),
            (double)is, (double)expected);
}

static void expect_reason(random_host *model, const muster_agent_explanation *why, uint32_t reason, bool holds,
                          const char *name) {
  cr_assert_eq((why->reasons & reason) != 0, holds, "%s of agent %u, %s, in frame %lu: %#x", name,
               muster_agent_index(why->agent), why->type_name, why->frame, why->reasons);
  model->seen |= why->reasons;
}

static double distance_of(const muster_observer_def *eyes, muster_position at) {
  double x = eyes->position.x - at.x, y = eyes->position.y - at.y, z = eyes->position.z - at.z;
  return sqrt(x * x + y * y + z * z);
}

static void check_observer(const random_host *model, const muster_agent_explanation *why, const known *as) {
  double nearest_m = INFINITY, best = 0;
  for (muster_observer next = {0}; !muster_observer_is_null(next = muster_observer_next(model->little.world, next));) {
    muster_observer_def eyes = observer_of(&model->little, next);
    if (eyes.partition != why->partition) continue;
    double at_m = distance_of(&eyes, why->position);
    double share = fmin(fmax(((double)eyes.far_m - at_m) / ((double)eyes.far_m - (double)eyes.near_m), 0), 1);
    nearest_m = fmin(nearest_m, at_m);
    best = fmax(best, share);
    if (!muster_observer_equal(next, why->observer)) continue;
    cr_assert_eq(why->near_m, eyes.near_m);
    cr_assert_eq(why->far_m, eyes.far_m);
    share = ((double)eyes.far_m - (double)why->distance_m) / ((double)eyes.far_m - (double)eyes.near_m);
    expect_near(why->distance_m, (float)at_m, why->observed ? 6.0f : 0.1f, "distance_m", as);
    if (why->observed) expect_near(why->by_observer, (float)fmin(fmax(share, 0), 1), 0.001f, "by_observer", as);
  }
  cr_assert_eq(muster_observer_is_null(why->observer), isinf(nearest_m), "agent %u", muster_agent_index(as->agent));
  if (!why->observed) cr_assert_eq(why->by_observer, 0.0f);
  expect_near(why->by_observer, (float)best, 0.05f, "the best observer", as);
  if (best > 0.05 || best <= 0) cr_assert(why->observed == (best > 0) || why->by_observer < 0.05f);
  if (!why->observed && !isinf(nearest_m)) expect_near(why->distance_m, (float)nearest_m, 0.1f, "the nearest", as);
  if (isinf(nearest_m)) cr_assert(isinf(why->distance_m));
}

static void check_importance(random_host *model, const muster_agent_explanation *why, const known *as) {
  const muster_type_def *type = &model->defs[as->type];
  float product = why->by_observer * as->visibility * as->bulk * as->interactivity * type->importance;
  expect_near(why->visibility, as->visibility, 0.001f, "visibility", as);
  expect_near(why->bulk, as->bulk, 0.001f, "bulk", as);
  expect_near(why->interactivity, as->interactivity, 0.001f, "interactivity", as);
  expect_near(why->floor, as->floor, 0.001f, "floor", as);
  cr_assert_eq(why->of_type, type->importance);
  cr_assert_eq(why->modelled, type->models.importance != NULL);
  if (why->modelled) cr_assert_eq(why->by_model, 0.75f);
  if (!why->modelled && !model->factors) expect_near(why->by_model, product, 0.001f, "by_model", as);
  expect_near(why->designer, as->designer, 0.003f, "designer", as);
  if (model->factors) expect_near(why->role, as->role < 0 ? type->importance : as->role, 0.003f, "role", as);
  if (!model->factors) cr_assert(why->role == 0.0f && why->company == 0.0f);
  expect_reason(model, why, MUSTER_REASON_NO_OBSERVER_NEAR, !why->observed, "no_observer_near");
  expect_reason(model, why, MUSTER_REASON_FLOOR, why->floor > why->by_model, "floor");
  expect_reason(model, why, MUSTER_REASON_COMPANY, why->company > 0.0f, "company");
  if (model->factors) expect_reason(model, why, MUSTER_REASON_LOWERED, false, "lowered");
  if (!model->factors && (!why->observed || fabsf(product - why->by_observer) > 0.001f))
    expect_reason(model, why, MUSTER_REASON_LOWERED, why->observed, "lowered");
}

/* What the other readers of the agent say. */
static void check_info(random_host *model, const muster_agent_explanation *why, const muster_agent_info *info) {
  uint64_t now_ns = model->little.now_ns;
  const uint64_t *runs = info->state;
  cr_assert_eq(why->type.index, info->type.index);
  cr_assert_eq(why->partition, info->partition);
  cr_assert_eq(memcmp(&why->position, &info->position, sizeof info->position), 0);
  cr_assert_eq(why->importance, info->importance);
  cr_assert_eq(why->level, info->level);
  cr_assert_eq(why->elasticity, info->elasticity);
  cr_assert_eq(why->period_ns, info->period_ns);
  cr_assert_eq(why->last_update_ns, info->last_update_ns);
  cr_assert_eq(why->delays, info->delays);
  cr_assert_eq(why->atoms_done, info->atoms_done);
  cr_assert_eq(why->wake_at_ns, info->wake_at_ns);
  cr_assert_eq(why->age_ns, now_ns - info->last_update_ns);
  cr_assert_eq(why->has_run, *runs > 0);
  cr_assert_eq(why->sim_now_ns, now_ns);
  expect_reason(model, why, MUSTER_REASON_TIME_ASKED, info->wake_at_ns > 0, "time_asked");
  expect_reason(model, why, MUSTER_REASON_CHEAPER_LEVEL, info->level > 0, "cheaper_level");
  expect_reason(model, why, MUSTER_REASON_QUARANTINED, info->quarantined, "quarantined");
  expect_reason(model, why, MUSTER_REASON_PENALTY, info->penalty > 0, "penalty");
  expect_reason(model, why, MUSTER_REASON_PREEMPTED, info->atoms_done && info->delays && !info->quarantined,
                "preempted");
}

static void check_period(random_host *model, const muster_agent_explanation *why, const known *as) {
  const muster_type_def *type = &model->defs[as->type];
  bool derived = as->elasticity < 0, events = type->elapsed.contract == MUSTER_ELAPSED_EVENTS;
  cr_assert_str_eq(why->type_name, type->name);
  cr_assert_eq(why->level_count, type->levels.count);
  cr_assert_eq(why->elasticity_of_type, type->elasticity);
  cr_assert_eq(why->elasticity_derived, derived);
  cr_assert_eq(why->by_importance, model->by_importance);
  cr_assert_eq(why->longest_is_wish, model->by_importance && !type->period_max_hard);
  cr_assert_eq(why->atoms, 1, "the action is none of them");
  expect_reason(model, why, MUSTER_REASON_OWN_PERIOD, as->own_period, "own_period");
  expect_reason(model, why, MUSTER_REASON_NO_PERIOD, events, "no_period");
  expect_reason(model, why, MUSTER_REASON_ELASTICITY_SET, !derived && !(model->by_importance && as->elasticity > 0),
                "elasticity_set");
  if (events) return;
  cr_assert_eq(why->nominal_ns, as->own_period ? 7 * FRAME_NS : type->period_ns, "agent %u",
               muster_agent_index(as->agent));
  cr_assert_eq(why->longest_ns, as->own_period ? 9 * FRAME_NS : type->period_max_ns);
}

static void check_turn(random_host *model, const muster_agent_explanation *why, const muster_agent_info *info) {
  uint64_t now_ns = model->little.now_ns;
  bool asleep = why->reasons & MUSTER_REASON_ASLEEP, due = info->delays > 0;
  expect_reason(model, why, MUSTER_REASON_ASLEEP, !due && !info->quarantined, "asleep");
  if (info->quarantined) {
    cr_assert_eq(why->reasons & (MUSTER_REASON_ASLEEP | MUSTER_REASON_CARRIED | MUSTER_REASON_GUARANTEED), 0);
    cr_assert(!why->waited_ns && !why->priority_ns && !why->due_ns);
  }
  if (asleep && info->wake_at_ns) cr_assert_leq(why->due_ns, info->wake_at_ns);
  if (asleep && !info->wake_at_ns && !info->period_ns) cr_assert_eq(why->due_ns, 0);
  if (asleep && !info->wake_at_ns && info->period_ns) {
    cr_assert_geq(why->due_ns, now_ns);
    cr_assert_leq(why->due_ns, now_ns + 2 * info->period_ns + FRAME_NS);
  }
  if (!due || info->quarantined) return;
  cr_assert_eq(why->waited_ns, now_ns - why->due_ns);
  cr_assert_eq(why->deadline_ns != 0, model->by_importance, "the order is that of deadlines with this rule");
  expect_reason(model, why, MUSTER_REASON_GUARANTEED, !model->by_importance && why->waited_ns >= 10000000u,
                "guaranteed");
  cr_assert_eq(why->priority_ns, why->priority_wait_ns + why->priority_importance_ns + why->priority_progress_ns +
                                     why->priority_runs_ns + why->priority_reduction_ns + why->priority_reaction_ns);
}

static void check_all(random_host *model, const muster_frame_report *report) {
  for (uint32_t i = 0; i < MOST; i++) {
    known *as = &model->agents[i];
    muster_agent_explanation why = explain(&model->little, as->agent);
    muster_agent_info info = info_of(&model->little, as->agent);
    if (!info.active) continue;
    cr_assert(muster_agent_equal(why.agent, as->agent));
    cr_assert_eq(why.frame, report->frame);
    cr_assert_eq(why.pressure, report->pressure);
    expect_reason(model, &why, MUSTER_REASON_OVERLOAD, report->pressure > 1.0f, "overload");
    expect_reason(model, &why, MUSTER_REASON_SPAWN_WAITING | MUSTER_REASON_REMOVAL_WAITING, false, "waiting");
    check_info(model, &why, &info);
    check_observer(model, &why, as);
    check_importance(model, &why, as);
    check_period(model, &why, as);
    check_turn(model, &why, &info);
  }
}

static uint32_t run_model(bool by_importance, bool factors, uint64_t seed) {
  static random_host model;
  model = (random_host){.random = seed, .factors = factors, .by_importance = by_importance};
  model.little = careless(little_world_of(
      1, WITH(virtual_world_def, it.elastic = by_importance ? MUSTER_ELASTIC_IMPORTANCE : MUSTER_ELASTIC_RATE,
              it.order = by_importance ? MUSTER_ORDER_DEADLINE : MUSTER_ORDER_PRIORITY,
              it.importance_model = factors ? MUSTER_IMPORTANCE_FACTORS : MUSTER_IMPORTANCE_PRODUCT,
              it.priority.guarantee_ns = 10000000u, it.limits.observers_max = 8)));
  register_types(&model);
  for (uint32_t i = 0; i < MOST; i++) spawn(&model, &model.agents[i]);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    for (uint32_t i = roll(&model, 8); i > 0; i--) do_something(&model);
    muster_frame_report report = run_frame_with(&model.little, frame / 20 % 2 ? 8000000u : 1500000u);
    if (!report.score_waiting && !report.commands_waiting && frame > 3) check_all(&model, &report);
  }
  little_world_destroy(&model.little);
  return model.seen;
}

static const uint32_t usual = MUSTER_REASON_ASLEEP | MUSTER_REASON_CARRIED | MUSTER_REASON_NO_OBSERVER_NEAR |
                              MUSTER_REASON_FLOOR | MUSTER_REASON_CHEAPER_LEVEL | MUSTER_REASON_EXEMPT |
                              MUSTER_REASON_ELASTICITY_SET | MUSTER_REASON_NO_PERIOD | MUSTER_REASON_TIME_ASKED |
                              MUSTER_REASON_QUARANTINED | MUSTER_REASON_OWN_PERIOD;

/* Each of these reasons is given in some of the rounds. */
static void expect_reasons(bool by_importance, bool factors, uint64_t seed, uint32_t wanted) {
  uint32_t seen = 0;
  for (uint64_t round = 1; round <= ROUNDS; round++) seen |= run_model(by_importance, factors, seed + round);
  cr_assert_eq(seen & wanted, wanted, "these reasons were never given: %#x", wanted & ~seen);
}

Test(explain_model, by_importance_and_deadlines) {
  expect_reasons(true, false, 0, usual | MUSTER_REASON_LOWERED);
}

Test(explain_model, by_rates_and_priorities) {
  expect_reasons(false, false, 10, usual | MUSTER_REASON_LOWERED | MUSTER_REASON_GUARANTEED);
}

Test(explain_model, by_factors) {
  expect_reasons(true, true, 20, usual | MUSTER_REASON_COMPANY);
}
