/* world/overruns_scene.h - what the tests of runaways share: a world under the virtual clock in which an overrun is
 * what the cost model says. */
#ifndef WORLD_OVERRUNS_SCENE_H
#define WORLD_OVERRUNS_SCENE_H
#include "support/little_world.h"

#include <muster/overruns.h>

enum { LIMIT_NS = 100000, HONEST_NS = 2000, OVER_NS = 150000, CROWD = 64 };

/* What the cost model asks: which agents cost too much, and at which levels. */
struct scene {
  little_world little;
  uint32_t guilty[CROWD]; /* by agent index: the agent costs too much at levels below this one; 0 = never */
  uint32_t lines;         /* warnings in the log */
  char last[512];
};

struct state {
  uint64_t elapsed_sum_ns;
  uint32_t runs, level;
};

static inline uint64_t cost_of(const muster_cost_query *query, void *user) {
  const struct scene *scene = user;
  bool over = query->atom == 0 && muster_agent_index(query->agent) < CROWD &&
              query->level < scene->guilty[muster_agent_index(query->agent)];
  return over ? OVER_NS : HONEST_NS;
}

static inline muster_atom_result live(muster_update *update) {
  struct state *state = update->state;
  state->elapsed_sum_ns += update->elapsed_ns;
  state->runs++;
  state->level = update->level;
  return MUSTER_ATOM_NEXT;
}

static inline muster_atom_result act(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_FINISH;
}

static const muster_atom scene_atoms[] = {{.run = live}, {.run = act, .role = MUSTER_ROLE_ACTION, .model_ns = 500}};

static inline void count_line(muster_log_level level, const char *message, void *user) {
  struct scene *scene = user;
  if (level != MUSTER_LOG_WARNING) return;
  scene->lines++;
  strncpy(scene->last, message, sizeof scene->last - 1);
}

static inline muster_type_def type_of(struct scene *scene, uint32_t levels) {
  muster_type_def type = muster_type_def_default();
  type.name = "suspect";
  type.atoms = scene_atoms;
  type.atom_count = 1;
  type.state_bytes = sizeof(struct state);
  type.period_ns = type.period_max_ns = FRAME_NS;
  type.limit_ns = LIMIT_NS;
  type.overruns.quarantine = 3; /* by default no agent is quarantined */
  type.levels.count = levels;
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) type.levels.importance[i] = 0.0f; /* level 0 unless demoted */
  type.models.cost_ns = cost_of;
  type.user = scene;
  return type;
}

static inline void open_scene(struct scene *scene, uint32_t workers) {
  muster_world_def def = muster_world_def_default();
  *scene = (struct scene){0};
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.log = (muster_log_sink){count_line, scene};
  scene->little = little_world_create(workers, &def);
}

static inline void open_scene_of(struct scene *scene, uint32_t levels) {
  open_scene(scene, 2);
  muster_type_def type = type_of(scene, levels);
  register_type(&scene->little, &type);
}

static inline void close_scene(struct scene *scene) {
  little_world_destroy(&scene->little);
}

static const struct state *state_of(const struct scene *scene, muster_agent agent) {
  return info_of(&scene->little, agent).state;
}

/* Runs frames until the agent has completed an update: its first period begins at a random phase. */
static inline void settle_in(struct scene *scene, muster_agent agent) {
  while (state_of(scene, agent)->runs == 0) run_frame(&scene->little);
}

static inline muster_overrun_counts counts_of(const struct scene *scene) {
  muster_overrun_counts counts = muster_overrun_counts_default();
  cr_assert_eq(muster_overrun_counts_read(scene->little.world, scene->little.type, &counts), MUSTER_OK);
  return counts;
}

static inline muster_statistics statistics_of(const struct scene *scene) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(scene->little.world, &statistics);
  return statistics;
}

#endif
