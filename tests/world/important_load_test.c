/* The load that important agents alone would cause: the frame's report against a sum over the agents. */
#include "world/fixture.h"

enum { AGENTS = 2000, OBSERVERS = 12, PLAIN = 0, EXEMPT, CALLED, KINDS };

#define SHORT_NS 500000u /* so little that levels fall */

static const uint32_t cost_ns[KINDS] = {20000, 50000, 30000};
static const uint64_t period_ns[KINDS] = {50000000u, 100000000u, 100000000u};

struct theatre {
  little_world little;
  muster_type types[KINDS];
  muster_observer observers[OBSERVERS];
  uint32_t random;
};

static void close_theatre(struct theatre *theatre) {
  little_world_destroy(&theatre->little);
}

#define SCOPED_THEATRE SCOPED(close_theatre) struct theatre

static muster_position somewhere(struct theatre *theatre) {
  double x = 1200.0 * draw_share(&theatre->random);
  return (muster_position){x, 1200.0 * draw_share(&theatre->random), 0};
}

static void register_kinds(struct theatre *theatre) {
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, cost_ns[kind]};
    muster_type_def def = CHANGED(type_with(&atom, 1), it.period_ns = period_ns[kind], it.levels.count = 3);
    if (kind == EXEMPT) def.elasticity = 0.0f;
    if (kind == CALLED) def.elapsed.contract = MUSTER_ELAPSED_EVENTS;
    theatre->types[kind] = add_type(&theatre->little, def);
  }
}

static struct theatre open_theatre(void) {
  struct theatre theatre = {.random = 5};
  theatre.little = little_world_of(1, WITH(virtual_world_def, it.levels.pressure = 0.5f));
  register_kinds(&theatre);
  for (uint32_t i = 0; i < AGENTS; i++) {
    theatre.little.type = theatre.types[i % 10 == 9 ? EXEMPT : i % 10 == 8 ? CALLED : PLAIN];
    spawn_in(&theatre.little, somewhere(&theatre), 0);
  }
  for (uint32_t i = 0; i < OBSERVERS; i++) {
    theatre.observers[i] = observe_as(&theatre.little, WITH(muster_observer_def, it.position = somewhere(&theatre)));
  }
  return theatre;
}

static uint32_t kind_of(const struct theatre *theatre, muster_type type) {
  uint32_t kind = 0;
  while (theatre->types[kind].index != type.index) kind++;
  return kind;
}

/* Sums up, agent by agent, how many processors the important agents want; *count is their number. */
static double wanted_by_important(const struct theatre *theatre, uint32_t *count) {
  const muster_world *world = theatre->little.world;
  double sum = 0;
  *count = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(world, agent));) {
    muster_agent_info info = info_of(&theatre->little, agent);
    uint32_t kind = kind_of(theatre, info.type);
    if (info.importance <= 0.75f || kind == CALLED) continue;
    sum += (double)cost_ns[kind] / (double)period_ns[kind];
    ++*count;
  }
  return sum;
}

static void expect_right(const struct theatre *theatre, const muster_frame_report *report) {
  uint32_t count;
  double wanted = wanted_by_important(theatre, &count);
  cr_assert(count > 20 && count < AGENTS / 2, "%u are important", count);
  cr_assert_float_eq((double)report->important_load * (double)report->utilisation_desired, wanted, 1e-5 * wanted,
                     "frame %lu", report->frame);
}

/* Makes agents important, or no longer important, in each possible way. */
static void stir(struct theatre *theatre) {
  const muster_world *world = theatre->little.world;
  muster_agent_tuning tuning = muster_agent_tuning_default();
  for (uint32_t i = 0; i < OBSERVERS; i += 3)
    muster_observer_move(theatre->little.world, theatre->observers[i], somewhere(theatre));
  muster_agent agent = {0};
  for (uint32_t i = 0; i < 40; i++) {
    agent = muster_agent_next(world, agent);
    if (i < 5) muster_agent_remove(theatre->little.world, agent);
    if (i < 5) spawn_in(&theatre->little, somewhere(theatre), 0);
    if (i > 30) muster_agent_move(theatre->little.world, agent, somewhere(theatre));
    tuning.importance_floor = (float)draw_share(&theatre->random);
    if (i > 20 && i <= 30) muster_agent_tune(theatre->little.world, agent, &tuning);
  }
}

Test(important_load, is_the_sum_over_those_who_are_important_now) {
  SCOPED_THEATRE theatre = open_theatre();
  uint32_t shed = 0;
  for (uint32_t i = 0; i < 400; i++) {
    muster_frame_report report = run_frame_with(&theatre.little, SHORT_NS);
    if (i > 3) expect_right(&theatre, &report);
    shed += report.agents_shed > 0;
    if (i % 4 == 0) stir(&theatre);
  }
  cr_assert_gt(shed, 100, "levels fall, too");
}

/* In the next frame. */
static void expect_agents(little_world *little, double agents) {
  muster_frame_report report = run_frame(little);
  double wanted = agents * 20000 / 1e8 / (double)report.utilisation_desired;
  cr_assert_float_eq((double)report.important_load, wanted, 1e-5 * wanted, "%g agents", agents);
}

/* An agent with an overrun is quarantined at once, and asks for nothing until it is reinstated. */
Test(important_load, leaves_out_who_is_in_quarantine) {
  enum { ALL = 8 };
  SCOPED_WORLD little = world_of(CHANGED(type_running(nothing, 20000), it.limit_ns = 1000, it.overruns.quarantine = 1));
  muster_agent agents[ALL];
  const muster_agent_def important = WITH(muster_agent_def, it.importance_floor = 1.0f);
  for (uint32_t i = 0; i + 1 < ALL; i++) agents[i] = spawn_as(&little, important);
  expect_agents(&little, ALL - 1);
  while (run_frame(&little).agents_quarantined < ALL - 1) continue;
  agents[ALL - 1] = spawn_as(&little, important);
  expect_agents(&little, 1);
  for (uint32_t i = 0; i < ALL; i++) muster_agent_reinstate(little.world, agents[i]);
  expect_agents(&little, ALL);
}

/* The sum is not part of a snapshot: it follows from what is. */
Test(important_load, is_the_same_after_a_snapshot) {
  SCOPED_THEATRE theatre = open_theatre(), other = {.random = 5, .little = little_world_create(1, NULL)};
  run_frames(&theatre.little, 30);
  register_kinds(&other);
  copy_world(&theatre.little, &other.little);
  muster_frame_report report = run_frame(&other.little);
  expect_right(&other, &report);
  cr_assert_eq(report.important_load, run_frame(&theatre.little).important_load);
}
