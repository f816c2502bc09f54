/* The load that important agents alone would cause: the frame's report against a sum over the agents. */
#include "support/little_world.h"
#include "support/snapshots.h"

#include <muster/overruns.h>

#include <math.h>

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

static double draw(struct theatre *theatre) {
  theatre->random = theatre->random * 1664525u + 1013904223u;
  return (double)(theatre->random >> 8) / 0x1p24;
}

static muster_position somewhere(struct theatre *theatre) {
  double x = 1200.0 * draw(theatre);
  return (muster_position){x, 1200.0 * draw(theatre), 0};
}

static void register_kinds(struct theatre *theatre) {
  for (uint32_t kind = 0; kind < KINDS; kind++) {
    muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, cost_ns[kind]};
    muster_type_def def = type_with(&atom, 1);
    def.period_ns = period_ns[kind];
    def.levels.count = 3;
    if (kind == EXEMPT) def.elasticity = 0.0f;
    if (kind == CALLED) def.elapsed.contract = MUSTER_ELAPSED_EVENTS;
    register_type(&theatre->little, &def);
    theatre->types[kind] = theatre->little.type;
  }
}

static struct theatre open_theatre(void) {
  struct theatre theatre = {.random = 5};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.levels.pressure = 0.5f;
  theatre.little = little_world_create(1, &world);
  register_kinds(&theatre);
  for (uint32_t i = 0; i < AGENTS; i++) {
    theatre.little.type = theatre.types[i % 10 == 9 ? EXEMPT : i % 10 == 8 ? CALLED : PLAIN];
    spawn_in(&theatre.little, somewhere(&theatre), 0);
  }
  for (uint32_t i = 0; i < OBSERVERS; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = somewhere(&theatre);
    theatre.observers[i] = muster_observer_add(theatre.little.world, &def);
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
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
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
                     "frame %llu", (unsigned long long)report->frame);
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
    tuning.importance_floor = (float)draw(theatre);
    if (i > 20 && i <= 30) muster_agent_tune(theatre->little.world, agent, &tuning);
  }
}

Test(important_load, is_the_sum_over_those_who_are_important_now) {
  struct theatre theatre = open_theatre();
  uint32_t shed = 0;
  for (uint32_t i = 0; i < 400; i++) {
    muster_frame_report report = run_frame_with(&theatre.little, SHORT_NS);
    if (i > 3) expect_right(&theatre, &report);
    shed += report.agents_shed > 0;
    if (i % 4 == 0) stir(&theatre);
  }
  cr_assert_gt(shed, 100, "levels fall, too");
  little_world_destroy(&theatre.little);
}

static muster_agent spawn_important(const little_world *little) {
  muster_agent_def def = muster_agent_def_default();
  def.type = little->type;
  def.importance_floor = 1.0f;
  return muster_agent_spawn(little->world, &def);
}

static void expect_agents(const muster_frame_report *report, double agents) {
  double wanted = agents * 20000 / 1e8 / (double)report->utilisation_desired;
  cr_assert_float_eq((double)report->important_load, wanted, 1e-5 * wanted, "%g agents", agents);
}

/* An agent with an overrun is quarantined at once, and asks for nothing until it is reinstated. */
Test(important_load, leaves_out_who_is_in_quarantine) {
  enum { ALL = 8 };
  little_world little = little_world_create(1, NULL);
  muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 20000};
  muster_type_def def = muster_type_def_default();
  muster_agent agents[ALL];
  muster_frame_report report;
  def.atoms = &atom;
  def.atom_count = 1;
  def.limit_ns = 1000;
  def.overruns.quarantine = 1;
  register_type(&little, &def);
  for (uint32_t i = 0; i + 1 < ALL; i++) agents[i] = spawn_important(&little);
  report = run_frame(&little);
  expect_agents(&report, ALL - 1);
  while (report.agents_quarantined < ALL - 1) report = run_frame(&little);
  agents[ALL - 1] = spawn_important(&little);
  report = run_frame(&little);
  expect_agents(&report, 1);
  for (uint32_t i = 0; i < ALL; i++) muster_agent_reinstate(little.world, agents[i]);
  report = run_frame(&little);
  expect_agents(&report, ALL);
  little_world_destroy(&little);
}

/* The sum is not part of a snapshot: it follows from what is. */
Test(important_load, is_the_same_after_a_snapshot) {
  struct theatre theatre = open_theatre(), other = {.random = 5};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  run_frames(&theatre.little, 30);
  saved_world saved = save_world(theatre.little.world);
  other.little = little_world_create(1, &world);
  register_kinds(&other);
  cr_assert_eq(load_world(other.little.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  other.little.now_ns = theatre.little.now_ns;
  muster_frame_report report = run_frame(&other.little);
  expect_right(&other, &report);
  cr_assert_eq(report.important_load, run_frame(&theatre.little).important_load);
  free(saved.bytes);
  little_world_destroy(&other.little);
  little_world_destroy(&theatre.little);
}
