#include "scenarios/pursuit.h"

static muster_result pursuit_prepare(void *instance, const muster_module_options *options) {
  pursuit *self = instance;
  (void)options;
  self->side_m = pursuit_side_m(self->base.agents);
  self->version = (pursuit_version){.elastic = true, .priority = 50};
  self->base.needs.cell_m = pursuit_sight_m;
  return MUSTER_OK;
}

void pursuit_choose(void *instance, const pursuit_version *version) {
  ((pursuit *)instance)->version = *version;
}

/* Targets are set once all agents have their ids: at the intake. */
static muster_result pursuit_spawn(void *instance, muster_world *world, uint32_t i) {
  const pursuit *self = instance;
  pursuit_face face = pursuit_first_face(self->base.seed, i);
  pursuit_body body = {.number = i};
  muster_agent_def def = scaffold_agent(self->type, pursuit_first_place(self->base.seed, i, self->side_m), &body);
  def.published = &face;
  return scaffold_spawn(world, &def, &self->ids[i]);
}

static muster_position pursuit_place(void *instance, uint32_t observer, double seconds) {
  const pursuit *self = instance;
  (void)seconds;
  return pursuit_first_place(self->base.seed + 1, observer, self->side_m);
}

/* What a snapshot keeps besides the agents; their ids follow. */
static const scaffold_field kept[] = {SCAFFOLD_SAME_WORLD,
                                      SCAFFOLD_FLAG(scaffold, begun),
                                      SCAFFOLD_SAME(scaffold, seed),
                                      SCAFFOLD_KEPT(scaffold, begin_ns),
                                      SCAFFOLD_KEPT(scaffold, now_ns),
                                      {0}};

static const scaffold_array arrays[] = {SCAFFOLD_KEPT_ARRAY(pursuit, ids, base.agents), {0}};

static const scaffold_plan plan = {.name = "pursuit",
                                   .bytes = sizeof(pursuit),
                                   .agents_default = 1000,
                                   .agents_max = 1000000,
                                   .observers_max = 65536,
                                   .still = true,
                                   .arrays = arrays,
                                   .kept = kept,
                                   .lines = pursuit_lines,
                                   .prepare = pursuit_prepare,
                                   .join = pursuit_register,
                                   .spawn_one = pursuit_spawn,
                                   .place = pursuit_place,
                                   .count = pursuit_count,
                                   .conclude = pursuit_conclude};

SCAFFOLD_MODULE(pursuit, plan, "pursuit",
                "Wright & Marshall's testbed: agents on a torus follow one another and avoid collisions, 60 times a "
                "second",
                SCAFFOLD_FRAMES, SCAFFOLD_SAVES)
