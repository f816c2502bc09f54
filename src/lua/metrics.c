#include "lua/metrics.h"

#include "lua/snapshot.h"

enum {
  STATES = 0,
  BYTES,
  LARGEST,
  ERRORS,
  CUTS,
  CUT_NOW,
  QUARANTINES,
  ALLOCATED,
  BEHIND,
  COLLECTIONS,
  RELOADS,
  RELOADS_REFUSED,
  LEFT_OUT,
  METRICS
};

const muster_module_metric metrics_table[METRICS + 1] = {
    [STATES] = {"scripts_states", MUSTER_MODULE_GAUGE, "Lua states of strands that have had agents."},
    [BYTES] = {"scripts_bytes", MUSTER_MODULE_GAUGE, "Memory of all Lua states."},
    [LARGEST] = {"scripts_largest_state_bytes", MUSTER_MODULE_GAUGE,
                 "Memory of the largest Lua state, which may have state_mb."},
    [ERRORS] = {"scripts_errors_total", MUSTER_MODULE_COUNTER, "Methods, and functions of the world, that failed."},
    [CUTS] = {"scripts_cuts_total", MUSTER_MODULE_COUNTER, "How often an update was cut, to go on in a later frame."},
    [CUT_NOW] = {"scripts_cut_updates", MUSTER_MODULE_GAUGE, "Updates that were cut and have not ended."},
    [QUARANTINES] = {"scripts_quarantines_total", MUSTER_MODULE_COUNTER, "Agents whose update did not end."},
    [ALLOCATED] = {"scripts_allocated_bytes_total", MUSTER_MODULE_COUNTER, "Memory that scripts have asked for."},
    [BEHIND] = {"scripts_collectors_behind_bytes", MUSTER_MODULE_GAUGE,
                "Memory that scripts have asked for since the collectors did their last steps."},
    [COLLECTIONS] = {"scripts_collections_total", MUSTER_MODULE_COUNTER, "Whole collections of a state's garbage."},
    [RELOADS] = {"scripts_reloads_total", MUSTER_MODULE_COUNTER, "Reloads of the scripts."},
    [RELOADS_REFUSED] = {"scripts_reloads_refused_total", MUSTER_MODULE_COUNTER,
                         "Reloads that changed nothing, since a script did not compile or run."},
    [LEFT_OUT] = {"scripts_lines_left_out_total", MUSTER_MODULE_COUNTER,
                  "Lines of print that were more than the log gets in a second."}};

static void metrics_add(const script_state *state, double *values) {
  double bytes = (double)state->memory.bytes;
  values[BYTES] += bytes;
  if (bytes > values[LARGEST]) values[LARGEST] = bytes;
  values[ERRORS] += (double)state->errors;
  values[CUTS] += (double)state->cuts;
  values[CUT_NOW] += state->suspended_count;
  values[ALLOCATED] += (double)state->memory.allocated_bytes;
  values[COLLECTIONS] += (double)state->collections;
  values[LEFT_OUT] += (double)state->of_print.left_out_ever;
}

void metrics_read(void *instance, const muster_world *world, double *values) {
  const script_world *scripts = instance;
  (void)world;
  for (uint32_t i = 0; i < METRICS; i++) values[i] = 0;
  for (uint32_t i = 0; i < scripts->strands; i++) {
    const script_state *state = scripts->states[i];
    if (!state) continue;
    metrics_add(state, values);
    values[STATES]++;
    values[BEHIND] += (double)(state->memory.allocated_bytes - state->collected_bytes);
  }
  metrics_add(scripts->host, values);
  values[QUARANTINES] = (double)scripts->quarantines;
  values[RELOADS] = (double)scripts->reloads;
  values[RELOADS_REFUSED] = (double)scripts->reloads_refused;
}

void metrics_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user) {
  double values[METRICS];
  metrics_read(instance, world, values);
  for (uint32_t i = 0; i < METRICS; i++) emit(metrics_table[i].name, values[i], emit_user);
  emit("scripts_hash", (double)(snapshot_hash(instance, world) >> 11), emit_user);
}
