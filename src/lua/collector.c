/* collector.c - Lua's own collector is stopped; steps of it are work like any other.
 *
 * A collector does a step for each STEP_BYTES that its state has allocated, and a cycle is over when as much was
 * allocated as lives. Between two steps it asks whether its slice is used up: what is left then is done in
 * its next update. How much there is to do follows from what was allocated and changes nothing else, so that a world
 * that was loaded, and has no garbage yet, goes on like the one that was saved. */
#include "lua/collector.h"

#include <stdio.h>

enum { COLLECTOR_PERIOD_NS = 33333333, STEP_BYTES = 16384, COLLECTOR_PARTITION = 65535 };

/* The private state of a collector. */
struct collector_agent {
  uint32_t strand;
  uint32_t unused;
};

static uint32_t collector_strand(muster_agent agent, const void *state, void *user) {
  (void)agent;
  (void)user;
  return ((const struct collector_agent *)state)->strand;
}

static muster_atom_result collector_begin(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result collect(muster_update *update) {
  const struct collector_agent *own = update->state;
  const script_world *scripts = update->type_user;
  script_state *state = scripts->states[own->strand];
  if (!state) return MUSTER_ATOM_NEXT;
  while (state->memory.allocated_bytes - state->collected_bytes >= STEP_BYTES) {
    state->collected_bytes += STEP_BYTES;
    state->collections += lua_gc(state->L, LUA_GCSTEP, 0) != 0;
    if (muster_update_should_yield(update)) break;
  }
  return MUSTER_ATOM_NEXT;
}

muster_result collector_register(script_world *scripts) {
  static const muster_atom atoms[] = {{.run = collector_begin, .model_ns = 1}, {.run = collect, .model_ns = 5000}};
  char name[96];
  muster_type_def def = muster_type_def_default();
  snprintf(name, sizeof name, "%s%slua collector", scripts->name, *scripts->name ? " " : "");
  def.name = name;
  def.atoms = atoms;
  def.atom_count = 2;
  def.user = scripts;
  def.state_bytes = sizeof(struct collector_agent);
  def.period_ns = def.period_max_ns = COLLECTOR_PERIOD_NS;
  def.elasticity = 0.0f;
  def.limit_ns = 5000000;
  def.slices.slice_ns = 1000000;
  def.slices.asks = 64;
  def.strands.count = scripts->strands;
  def.strands.of = collector_strand;
  scripts->collector = muster_type_register(scripts->world, &def);
  return scripts->collector.index ? MUSTER_OK : muster_last_result();
}

muster_result collector_spawn(script_world *scripts) {
  for (uint32_t i = 0; i < scripts->strands; i++) {
    struct collector_agent own = {.strand = i};
    muster_agent_def def = muster_agent_def_default();
    def.type = scripts->collector;
    def.state = &own;
    def.elasticity = 0.0f;
    def.partition = COLLECTOR_PARTITION; /* so that no agent meets it */
    if (muster_agent_is_null(muster_agent_spawn(scripts->world, &def))) return muster_last_result();
  }
  return MUSTER_OK;
}
