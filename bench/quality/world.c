/* The crowd in a Muster world. */
#include "rules.h"

static muster_atom_result refresh(muster_update *update) {
  crowd_update(update->type_user, update->user);
  return MUSTER_ATOM_NEXT;
}

static bool register_types(muster_world *world, crowd *crowd, muster_type types[CROWD_TYPES_MAX]) {
  for (uint32_t i = 0; i < crowd->def->type_count; i++) {
    muster_atom atom = {refresh, MUSTER_ROLE_BEHAVIOUR, crowd->def->cost_ns[i]};
    muster_type_def type = muster_default_type_def();
    type.atoms = &atom;
    type.atom_count = 1;
    type.period_ns = crowd->def->period_ns;
    type.period_max_ns = crowd->def->period_max_ns;
    type.user = crowd;
    types[i] = muster_type_register(world, &type);
    if (types[i].index == 0) return false;
  }
  return true;
}

static bool populate(muster_world *world, crowd *crowd) {
  muster_type types[CROWD_TYPES_MAX];
  if (!register_types(world, crowd, types)) return false;
  for (uint32_t i = 0; i < crowd->observer_count; i++) {
    muster_observer_def def = muster_default_observer_def();
    def.position = (muster_position){crowd->observers[i].x, crowd->observers[i].y, 0};
    if (muster_observer_add(world, &def).generation == 0) return false;
  }
  for (uint32_t i = 0; i < crowd->count; i++) {
    muster_agent_def def = muster_default_agent_def();
    def.type = types[crowd->members[i].type];
    def.position = (muster_position){crowd->members[i].x, crowd->members[i].y, 0};
    def.elasticity = crowd->members[i].elasticity;
    def.user = &crowd->members[i];
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  }
  return true;
}

static bool run_frames(muster_world *world, crowd *crowd, uint64_t budget_ns, rule_span span) {
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    if (muster_frame_run(world, &(muster_frame){(uint64_t)(frame + 1) * CROWD_FRAME_NS, budget_ns})) return false;
  }
  return true;
}

bool rule_muster(crowd *crowd, muster_elastic elastic, double cpu_s, rule_span span) {
  muster_world_def def = muster_default_world_def();
  uint64_t capacity_ns = (uint64_t)(cpu_s * 1e9);
  def.agents_max = crowd->count;
  def.observers_max = crowd->observer_count;
  def.clock = MUSTER_CLOCK_VIRTUAL;
  def.capacity_ns = capacity_ns;
  def.elastic = elastic;
  muster_world *world = muster_world_create(&def);
  bool ran = world && populate(world, crowd) && run_frames(world, crowd, capacity_ns, span);
  muster_world_destroy(world);
  return ran;
}
