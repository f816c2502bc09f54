/* world/overruns_scene.h - what the tests of runaways share: a world under the virtual clock in which an overrun is
 * what the cost model says. */
#ifndef WORLD_OVERRUNS_SCENE_H
#define WORLD_OVERRUNS_SCENE_H

#include "world/fixture.h"

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
  muster_type_def type =
      WITH(muster_type_def, it.name = "suspect", it.atoms = scene_atoms, it.atom_count = 1,
           it.state_bytes = sizeof(struct state), it.period_ns = it.period_max_ns = FRAME_NS, it.limit_ns = LIMIT_NS,
           it.levels.count = levels, it.models.cost_ns = cost_of, it.user = scene);
  type.overruns.quarantine = 3; /* by default no agent is quarantined */
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) type.levels.importance[i] = 0.0f; /* level 0 unless demoted */
  return type;
}

static inline void open_scene(struct scene *scene, uint32_t workers) {
  *scene = (struct scene){0};
  scene->little = little_world_of(workers, WITH(virtual_world_def, it.log = (muster_log_sink){count_line, scene}));
}

static inline void open_scene_of(struct scene *scene, uint32_t levels) {
  open_scene(scene, 2);
  add_type(&scene->little, type_of(scene, levels));
}

static inline void close_scene(struct scene *scene) {
  little_world_destroy(&scene->little);
}

#define SCOPED_SCENE SCOPED(close_scene) struct scene

static inline const struct state *state_of(const struct scene *scene, muster_agent agent) {
  return info_of(&scene->little, agent).state;
}

static inline uint32_t runs_of(const struct scene *scene, const muster_agent *agents, uint32_t count) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < count; i++) runs += state_of(scene, agents[i])->runs;
  return runs;
}

/* Runs frames until the agent has completed an update: its first period begins at a random phase. */
static inline void settle_in(struct scene *scene, muster_agent agent) {
  while (state_of(scene, agent)->runs == 0) run_frame(&scene->little);
}

/* Opens a scene of so many levels, and spawns an agent that settles in. */
static inline muster_agent open_scene_of_one(struct scene *scene, uint32_t levels) {
  open_scene_of(scene, levels);
  muster_agent agent = spawn_at(&scene->little, 0);
  settle_in(scene, agent);
  return agent;
}

static inline void spawn_all(const struct scene *scene, muster_agent *agents, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) agents[i] = spawn_at(&scene->little, i);
}

/* The agent costs too much at levels below this one; 0: never. */
static inline void convict(struct scene *scene, muster_agent agent, uint32_t below) {
  scene->guilty[muster_agent_index(agent)] = below;
}

static inline muster_overrun_counts counts_of(const struct scene *scene) {
  return overrun_counts_of(&scene->little);
}

#endif
