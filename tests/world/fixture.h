/* tests/world/fixture.h - what tests of worlds begin with: their headers, and worlds, types, agents and observers that
 * differ from the default in what a test is about. */
#ifndef WORLD_FIXTURE_H
#define WORLD_FIXTURE_H

#include "support/recording.h"
#include "support/sanitized.h"
#include "support/snapshots.h"
#include "support/with.h"
#include "world/world.h"

#include <muster/bulk.h>
#include <muster/explain.h>
#include <muster/herd.h>
#include <muster/jobs.h>
#include <muster/overruns.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <math.h>
#include <stdio.h>

/* The default with the virtual clock, for WITH(). */
typedef muster_world_def virtual_world_def;

static inline virtual_world_def virtual_world_def_default(void) {
  return WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL);
}

static inline little_world little_world_of(uint32_t workers, muster_world_def def) {
  return little_world_create(workers, &def);
}

static inline muster_set_def set_with(const muster_atom *atoms, uint32_t count) {
  return WITH(muster_set_def, it.atoms = atoms, it.atom_count = count);
}

/* The same type, with sets in place of its atoms. */
static inline muster_type_def with_sets(muster_type_def type, const muster_set_def *sets, uint32_t count) {
  return CHANGED(type, it.atoms = NULL, it.atom_count = 0, it.sets.list = sets, it.sets.count = count);
}

/* Agents that are spawned from now on are of this type. */
static inline muster_type add_type(little_world *little, muster_type_def def) {
  register_type(little, &def);
  return little->type;
}

/* A world that is destroyed when its block ends. */
#define SCOPED_WORLD SCOPED(little_world_destroy) little_world
#define SCOPED_HERDS SCOPED(herd_world_destroy) herd_world

/* On one worker, with the virtual clock, and with one type. */
static inline little_world world_of(muster_type_def def) {
  little_world little = little_world_create(1, NULL);
  register_type(&little, &def);
  return little;
}

/* The same world, in which so many agents of its last type stand in a line, a metre apart. */
static inline little_world peopled(little_world little, uint32_t agents) {
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, i);
  return little;
}

/* The same world, which provokes_idle. */
static inline little_world careless(little_world little) {
  little.provokes_idle = true;
  return little;
}

/* The same type with this period, which does not stretch. */
static inline muster_type_def due_every(uint64_t period_ns, muster_type_def type) {
  return CHANGED(type, it.period_ns = it.period_max_ns = period_ns);
}

#define DAY_NS 86400000000000u

/* Of the last type, unless the definition has another. */
static inline muster_agent spawn_as(const little_world *little, muster_agent_def def) {
  if (!def.type.index) def.type = little->type;
  muster_agent agent = muster_agent_spawn(little->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

/* The agent of the update goes so far along the axis. */
static inline muster_result step_by(muster_update *update, double x_m) {
  return muster_update_move(update, CHANGED(update->position, it.x += x_m));
}

/* An agent that is spawned there, and so many frames of its life. */
static inline muster_agent spawn_and_run(little_world *little, double x, uint32_t frames) {
  muster_agent agent = spawn_at(little, x);
  run_frames(little, frames);
  return agent;
}

static inline muster_observer observe_as(const little_world *little, muster_observer_def def) {
  return muster_observer_add(little->world, &def);
}

static inline muster_observer observe_at(const little_world *little, double x) {
  return observe_as(little, WITH(muster_observer_def, it.position.x = x));
}

static inline muster_observer_def observer_of(const little_world *little, muster_observer observer) {
  muster_observer_def def = muster_observer_def_default();
  assert_ok(muster_observer_read(little->world, observer, &def));
  return def;
}

static inline muster_result tune_agent(const little_world *little, muster_agent agent, muster_agent_tuning tuning) {
  return muster_agent_tune(little->world, agent, &tuning);
}

static inline muster_result tune_world(const little_world *little, muster_world_tuning tuning) {
  return muster_world_tune(little->world, &tuning);
}

static inline muster_frame_report report_of(const little_world *little) {
  muster_frame_report report = muster_frame_report_default();
  cr_assert_eq(muster_frame_report_read(little->world, &report), MUSTER_OK, "%s", muster_last_error());
  return report;
}

static inline muster_statistics statistics_of(const little_world *little) {
  muster_statistics statistics = muster_statistics_default();
  cr_assert_eq(muster_statistics_read(little->world, &statistics), MUSTER_OK, "%s", muster_last_error());
  return statistics;
}

/* Of the last type: what its atom costs. */
static inline muster_type_cost type_cost_of(const little_world *little) {
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(little->world, little->type, 0, &cost), MUSTER_OK, "%s", muster_last_error());
  return cost;
}

static inline muster_overrun_counts overrun_counts_of(const little_world *little) {
  muster_overrun_counts counts = muster_overrun_counts_default();
  cr_assert_eq(muster_overrun_counts_read(little->world, little->type, &counts), MUSTER_OK, "%s", muster_last_error());
  return counts;
}

static inline muster_agent_explanation explain(const little_world *little, muster_agent agent) {
  muster_agent_explanation explanation = muster_agent_explanation_default();
  assert_ok(muster_agent_explain(little->world, agent, &explanation));
  return explanation;
}

/* The next share, from 0 to 1, of a row of random ones. */
static inline double draw_share(uint32_t *random) {
  *random = *random * 1664525u + 1013904223u;
  return (double)(*random >> 8) / 0x1p24;
}

/* ------------------------------------------------------------------------------------------------- what is counted */

/* An atom that counts its runs in its state, of 64 bits. */
static inline muster_atom_result count_in_state(muster_update *update) {
  ++*(uint64_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

/* Those that count in 32 bits of their type's user. */
static inline void count_event(muster_update *update) {
  ++*(uint32_t *)update->type_user;
}

static inline muster_atom_result count_in_user(muster_update *update) {
  count_event(update);
  return MUSTER_ATOM_NEXT;
}

/* The warnings of a world's log in which these words are. */
struct said {
  const char *about; /* null: all */
  uint32_t lines;
  char last[512];
};

static inline void note_warning(muster_log_level level, const char *message, void *user) {
  struct said *said = user;
  if (level < MUSTER_LOG_WARNING || (said->about && !strstr(message, said->about))) return;
  said->lines++;
  snprintf(said->last, sizeof said->last, "%s", message);
}

static inline muster_log_sink log_to(struct said *said) {
  return (muster_log_sink){note_warning, said};
}

static inline void say_nothing(muster_log_level level, const char *message, void *user) {
  (void)level, (void)message, (void)user;
}

static inline void expect_explained(const muster_agent_explanation *explanation, const char *words) {
  char text[4096];
  cr_assert_gt(muster_explanation_print(explanation, text, sizeof text), 0);
  cr_assert_not_null(strstr(text, words), "%s", text);
}

/* ------------------------------------------------------------------------------------------------- what is refused */

static inline void expect_error(const char *words) {
  cr_assert_not_null(strstr(muster_last_error(), words), "'%s' should name '%s'", muster_last_error(), words);
}

/* A call that is refused with this result, and says why. */
#define assert_refused(CALL, RESULT, WORDS)                                                                            \
  do {                                                                                                                 \
    cr_assert_eq(CALL, RESULT);                                                                                        \
    expect_error(WORDS);                                                                                               \
  } while (0)

static inline void expect_world_refused(muster_world_def def, const char *words) {
  cr_assert_null(muster_world_create(&def), "%s", words);
  expect_error(words);
}

static inline void expect_type_refused(const little_world *little, muster_type_def def, const char *words) {
  cr_assert_eq(muster_type_register(little->world, &def).index, 0, "%s", words);
  expect_error(words);
}

static inline void expect_spawn_refused(const little_world *little, muster_agent_def def, const char *words) {
  def.type = little->type;
  cr_assert(muster_agent_is_null(muster_agent_spawn(little->world, &def)), "%s", words);
  expect_error(words);
}

/* --------------------------------------------------------------------------------------------------- the same again */

/* Replays the frames of a record, which has begun: each of them comes to what it came to. */
static inline void replay_alike(const struct recorded *run, const little_world *little) {
  for (uint32_t i = 0; i < run->frames; i++) {
    cr_assert_eq(muster_replay_frame(little->world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(muster_world_hash(little->world), run->hashes[i], "frame %u on %u workers", i + 1,
                 muster_pool_workers(little->pool));
  }
}

/* Saves a world, and loads that in another. */
static inline void copy_world(const little_world *from, little_world *to) {
  saved_world saved = save_world(from->world);
  to->now_ns = from->now_ns;
  cr_assert_eq(load_world(to->world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  free(saved.bytes);
}

#endif
