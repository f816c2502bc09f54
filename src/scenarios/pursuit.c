#include "scenarios/pursuit.h"

#include "scenarios/kept.h"

#include <stdlib.h>

enum { AGENTS_DEFAULT = 1000, AGENTS_MAX = 1000000, OBSERVERS_MAX = 65536, VERSION = 1 /* of the snapshot's data */ };

static muster_result pursuit_check_options(const muster_module_options *options) {
  if (!options || options->size == 0)
    return muster_module_fail(MUSTER_E_NOT_INITIALISED,
                              "pursuit: the options were not set by muster_default_module_options()");
  if (options->path)
    return muster_module_fail(MUSTER_E_ARGUMENT, "pursuit takes no file (%s); use 'population' for one", options->path);
  if (options->agents > AGENTS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "pursuit: %u agents are more than %d", options->agents, AGENTS_MAX);
  if (options->observers > OBSERVERS_MAX)
    return muster_module_fail(MUSTER_E_ARGUMENT, "pursuit: %u observers are more than %d", options->observers,
                              OBSERVERS_MAX);
  return MUSTER_OK;
}

static muster_result open_torus(const muster_module_options *options, void **instance, muster_module_needs *needs) {
  muster_result result = pursuit_check_options(options);
  if (result) return result;
  pursuit *self = calloc(1, sizeof *self);
  if (!self) return muster_module_fail(MUSTER_E_MEMORY, "pursuit: no memory");
  self->seed = options->seed;
  self->agents = options->agents ? options->agents : AGENTS_DEFAULT;
  self->observers = options->observers;
  self->side_m = pursuit_side_m(self->agents);
  self->ids = calloc(self->agents, sizeof *self->ids);
  if (!self->ids) {
    free(self);
    return muster_module_fail(MUSTER_E_MEMORY, "pursuit: no memory for %u agents", options->agents);
  }
  self->version = (pursuit_version){.elastic = true, .priority = 50};
  *instance = self;
  *needs = (muster_module_needs){.size = (uint32_t)sizeof *needs,
                                 .agents = self->agents,
                                 .agents_max = self->agents,
                                 .observers = self->observers,
                                 .cell_m = pursuit_sight_m};
  return MUSTER_OK;
}

static void close_torus(void *instance) {
  pursuit *self = instance;
  free(self->ids);
  free(self);
}

void pursuit_choose(void *instance, const pursuit_version *version) {
  ((pursuit *)instance)->version = *version;
}

/* Targets are set once all agents have their ids: at the intake. */
static muster_result pursuit_spawn_all(const pursuit *self, muster_world *world, muster_type type) {
  for (uint32_t i = 0; i < self->agents; i++) {
    pursuit_face face = pursuit_first_face(self->seed, i);
    pursuit_body body = {.number = i};
    muster_agent_def def = muster_default_agent_def();
    def.type = type;
    def.position = pursuit_first_place(self->seed, i, self->side_m);
    def.published = &face;
    def.state = &body;
    self->ids[i] = muster_agent_spawn(world, &def);
    if (muster_agent_is_null(self->ids[i])) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

/* Places the observers, which stand still. */
static muster_result pursuit_add_observers(const pursuit *self, muster_world *world) {
  for (uint32_t i = 0; i < self->observers; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = pursuit_first_place(self->seed + 1, i, self->side_m);
    if (muster_observer_add(world, &def).generation == 0) return MUSTER_E_FULL;
  }
  return MUSTER_OK;
}

static muster_result pursuit_populate(void *instance, muster_world *world) {
  pursuit *self = instance;
  muster_type type = pursuit_register(self, world);
  if (!type.index) return MUSTER_E_ARGUMENT;
  muster_result result = pursuit_spawn_all(self, world, type);
  return result ? result : pursuit_add_observers(self, world);
}

static void pursuit_before_frame(void *instance, muster_world *world, uint64_t sim_now_ns) {
  pursuit *self = instance;
  (void)world;
  if (!self->begun) self->begin_ns = sim_now_ns;
  self->begun = true;
  self->frame_ns = sim_now_ns;
}

/* What a snapshot keeps besides the agents; their ids follow. */
typedef struct kept_torus {
  uint32_t version, agents, observers, begun;
  uint64_t seed, begin_ns, frame_ns;
} kept_torus;

static muster_result pursuit_save(void *instance, const muster_world *world, muster_module_write write,
                                  void *write_user) {
  const pursuit *self = instance;
  kept_torus kept = {.version = VERSION,
                     .agents = self->agents,
                     .observers = self->observers,
                     .begun = self->begun,
                     .seed = self->seed,
                     .begin_ns = self->begin_ns,
                     .frame_ns = self->frame_ns};
  (void)world;
  bool written =
      write(&kept, sizeof kept, write_user) && write(self->ids, self->agents * sizeof *self->ids, write_user);
  return written ? MUSTER_OK : kept_unwritten("pursuit");
}

static muster_result pursuit_resume(void *instance, muster_world *world, const void *bytes, size_t count) {
  pursuit *self = instance;
  kept_bytes left = {.bytes = bytes, .count = count};
  kept_torus kept;
  if (!pursuit_register(self, world).index) return MUSTER_E_ARGUMENT;
  kept_take(&left, &kept, sizeof kept);
  if (kept.version != VERSION || kept.agents != self->agents || kept.observers != self->observers || kept.begun > 1 ||
      kept.seed != self->seed)
    return kept_refused("pursuit");
  kept_take(&left, self->ids, self->agents * sizeof *self->ids);
  if (!kept_is_read(&left)) return kept_refused("pursuit");
  self->begun = kept.begun;
  self->begin_ns = kept.begin_ns;
  self->frame_ns = kept.frame_ns;
  return MUSTER_OK;
}

const muster_module *muster_module_pursuit(void) {
  static const muster_module module = {
      .size = sizeof module,
      .abi = MUSTER_MODULE_ABI,
      .name = "pursuit",
      .summary =
          "Wright & Marshall's testbed: agents on a torus follow one another and avoid collisions, 60 times a second",
      .open = open_torus,
      .populate = pursuit_populate,
      .before_frame = pursuit_before_frame,
      .report = pursuit_report,
      .close = close_torus,
      .save = pursuit_save,
      .resume = pursuit_resume,
  };
  return &module;
}
