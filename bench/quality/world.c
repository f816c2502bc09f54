/* The crowd in a Muster world. */
#include "rules.h"
#include "varied_costs.h"

#include "scenarios/scaffold.h"

#include <math.h>

#define BUDGET_LEAST_NS 10000u

static muster_atom_result refresh(muster_update *update) {
  crowd_refresh(update->type_user, update->user);
  return MUSTER_ATOM_NEXT;
}

/* All atoms of an update but the last. */
static muster_atom_result go_on(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static bool register_types(muster_world *world, struct crowd *crowd, muster_type types[CROWD_TYPES_MAX]) {
  for (uint32_t i = 0; i < crowd->type_count; i++) {
    muster_atom atoms[CROWD_ATOMS_MAX];
    const crowd_type *of = &crowd->types[i];
    muster_type_def type = scaffold_type(NULL, atoms, of->atoms, 0, of->period_ns, of->period_max_ns);
    for (uint32_t atom = 0; atom < of->atoms; atom++)
      atoms[atom] =
          (muster_atom){atom + 1 < of->atoms ? go_on : refresh, MUSTER_ROLE_BEHAVIOUR, of->cost_ns / of->atoms};
    type.user = crowd;
    if (scaffold_register(world, &type, &types[i])) return false;
  }
  return true;
}

static bool populate(muster_world *world, struct crowd *crowd) {
  muster_type types[CROWD_TYPES_MAX];
  if (!register_types(world, crowd, types)) return false;
  for (uint32_t i = 0; i < crowd->observer_count; i++) {
    muster_observer_def def = muster_observer_def_default();
    def.position = crowd->observers[i].position;
    def.partition = crowd->observers[i].partition;
    if (muster_observer_is_null(muster_observer_add(world, &def))) return false;
  }
  for (uint32_t i = 0; i < crowd->count; i++) {
    crowd_member *member = &crowd->members[i];
    muster_agent_def def = scaffold_agent(types[member->type], member->place.position, NULL);
    def.partition = member->place.partition;
    def.user = member;
    if (scaffold_spawn(world, &def, NULL)) return false;
  }
  return true;
}

static bool run_frames(muster_world *world, struct crowd *crowd, uint64_t budget_ns, rule_span span) {
  muster_frame_report report = muster_frame_report_default();
  for (uint32_t frame = 0; frame < span.to; frame++) {
    rule_next_frame(crowd, frame, span);
    if (muster_frame_run(world, &(muster_frame){(uint64_t)(frame + 1) * CROWD_FRAME_NS, budget_ns})) return false;
    muster_frame_report_read(world, &report);
    crowd->spent_s += (double)report.update_cpu_ns * 1e-9;
  }
  return true;
}

bool rule_muster(struct crowd *crowd, const rule_muster_def *rule, double part, double cpu_s, rule_span span) {
  muster_world_def def = muster_world_def_default();
  uint64_t capacity_ns = (uint64_t)llround(cpu_s * 1e9);
  uint64_t budget_ns = capacity_ns > BUDGET_LEAST_NS ? capacity_ns : BUDGET_LEAST_NS; /* the capacity is what counts */
  def.limits.agents_max = crowd->count;
  def.limits.observers_max = crowd->observer_count;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = capacity_ns;
  def.elastic = rule->elastic;
  def.order = rule->order;
  def.importance.octaves = rule->octaves;
  def.importance.wish_part = (float)part;
  muster_world *world = muster_world_create(&def);
  struct varied_costs *varied = NULL;
  bool ran = world && populate(world, crowd);
  if (ran && crowd->sigma > 0) ran = (varied = varied_costs_begin(world, crowd->sigma)) != NULL;
  ran = ran && run_frames(world, crowd, budget_ns, span);
  muster_world_destroy(world);
  varied_costs_free(varied);
  return ran;
}
