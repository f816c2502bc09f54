/* runaways.c - stage 8, at its end: enforces the limits, by what workers, the ranking and the watchdog noted of atoms
 * that take too long.
 */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "run/watchdog.h"
#include "world/frame_state.h"
#include "world/overruns_log.h"
#include "world/overruns_state.h"
#include "world/penalties.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <muster/overruns.h>

enum { RISK_DECAY_SHIFT = 6 };

/* Measured updates of a type up to the end of the last frame, or up to now. */
static uint64_t samples_of(const struct muster_world *world, uint32_t type, bool now) {
  uint64_t samples = 0;
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    const cost_estimate *estimate = costs_of(&world->learnt->costs, type, level);
    samples += now ? estimate->samples : estimate->samples_before;
  }
  return samples;
}

static void watch_type_of(struct muster_world *world, uint32_t number) {
  agent_type *type = world_type(world, number);
  world->overruns->types_watched += !type->watched;
  type->watched = true;
  world->overruns->table.types[number].watched_until = world->frames + OVERRUN_WATCH_FRAMES;
}

/* Keeps an overrun for muster_overruns_read(). */
static void keep(struct muster_world *world, const muster_overrun *overrun) {
  overruns_state *overruns = world->overruns;
  overruns->kept[overruns->kept_count++ % MUSTER_OVERRUNS_KEPT] = *overrun;
}

/* Field by field: the struct is saved as it lies in memory. */
static void note_worst(worst_overrun *worst, const muster_overrun *overrun) {
  if (overrun->duration_ns <= worst->duration_ns) return;
  worst->duration_ns = overrun->duration_ns;
  worst->agent = muster_agent_index(overrun->agent);
  worst->generation = muster_agent_generation(overrun->agent);
  worst->atom = overrun->atom;
}

/* Notes CPU time that an atom took over its limit. The end of a frame moves by the time for which an atom is blocked,
 * so a blocked atom puts no frame at risk. */
static void note_risk(struct muster_world *world, uint32_t type, const muster_overrun *overrun) {
  uint32_t *risk_ns = &world_type(world, type)->risk_ns;
  if (overrun->duration_ns > *risk_ns)
    *risk_ns = overrun->duration_ns < UINT32_MAX ? (uint32_t)overrun->duration_ns : UINT32_MAX;
  note_worst(&world->overruns->table.types[type].worst, overrun);
}

/* Whether the agent of a handle can be penalised: it still exists and may run. */
static bool can_be_penalised(const struct muster_world *world, muster_agent agent) {
  if (!world_is_live(world, agent)) return false;
  const agent_row *row = world_row(world, muster_agent_index(agent));
  return world_is_active(world, muster_agent_index(agent)) && row->status != AGENT_QUARANTINED &&
         !world_type(world, row->type)->quarantined;
}

/* The id of a handle; null in a zone where its agent is gone. */
static muster_agent runaways_id(const struct muster_world *world, muster_agent agent) {
  if (!world->zone) return agent;
  return world_is_live(world, agent) ? world_id(world, muster_agent_index(agent)) : (muster_agent){0};
}

/* A window of 64 updates, under the current pressure. */
static uint64_t window_of(const struct muster_world *world, const agent_row *row) {
  const agent_class *class = &world->queues->classes.classes[row->class];
  ASSERT(class->type == row->type && class->rate > 0.0);
  double updates_ns = (double)class->nominal_ns / class->rate * OVERRUN_WINDOW_UPDATES;
  return updates_ns > OVERRUN_WINDOW_NS ? (uint64_t)updates_ns : OVERRUN_WINDOW_NS;
}

static void enforce_overrun(struct muster_world *world, const struct overrun *noted) {
  const agent_type *type = world_type(world, noted->type);
  ASSERT(noted->type < world->agents.types.count && noted->agent < world->def.limits.agents_max);
  const muster_agent agent = muster_agent_make(noted->agent, noted->generation);
  muster_overrun overrun = {.agent = runaways_id(world, agent),
                            .type = {noted->type + 1u},
                            .level = noted->level,
                            .atom = noted->atom,
                            .kind = noted->kind == OVERRUN_BLOCKED ? MUSTER_OVERRUN_BLOCKED : MUSTER_OVERRUN_CPU,
                            .duration_ns = noted->duration_ns,
                            .limit_ns = type->def.limit_ns,
                            .frame = world->frames};
  keep(world, &overrun);
  if (overrun.kind == MUSTER_OVERRUN_BLOCKED) {
    note_worst(&world->overruns->table.types[noted->type].worst_blocked, &overrun);
    overruns_log_overrun(world, &overrun);
  } else {
    note_risk(world, noted->type, &overrun);
  }
  if (!can_be_penalised(world, agent)) return;
  const agent_row *row = world_row(world, noted->agent);
  overrun_terms terms = {type->def.overruns.demote, type->def.overruns.quarantine,
                         row->level + 1u >= type->def.levels.count, window_of(world, row)};
  overrun_penalty penalty =
      overrun_table_count_agent(&world->overruns->table, noted, &terms, world->frames, world->frame->now_ns);
  if (penalty == OVERRUN_DEMOTED) penalties_demote_agent(world, noted->agent, &overrun);
  if (penalty == OVERRUN_QUARANTINED) penalties_quarantine_agent(world, noted->agent, &overrun);
  if (penalty == OVERRUN_WARNED && overrun.kind == MUSTER_OVERRUN_CPU) overruns_log_overrun(world, &overrun);
}

/* Takes the overruns of a list. Sums of types first: the window of a type begins before the overruns that its agents
 * are counted for. */
static void enforce_list(struct muster_world *world, overrun_list *list) {
  ASSERT(list->count <= OVERRUNS_MAX);
  if (list->count == 0) return;
  for (uint32_t type = 0; type < world->agents.types.count; type++) {
    uint32_t *over = overruns_of(list, type, OVERRUN_CPU), *blocked = overruns_of(list, type, OVERRUN_BLOCKED);
    if (!(*over | *blocked)) continue;
    if (*over)
      overrun_table_count_type(&world->overruns->table, type, *over, samples_of(world, type, false),
                               world->frame->now_ns);
    world->overruns->table.types[type].blocked += *blocked;
    world->sums->statistics.atoms_over_limit += *over;
    world->sums->statistics.atoms_blocked += *blocked;
    world->sums->report.overruns += *over;
    world->sums->report.atoms_blocked += *blocked;
    watch_type_of(world, type);
    *over = *blocked = 0;
  }
  for (uint32_t i = 0; i < list->count; i++) enforce_overrun(world, &list->overruns[i]);
  list->count = list->left_out = 0;
}

static bool next_incident(struct muster_world *world, watch_incident *incident) {
  bool any = world->watchdog && watchdog_take(world->watchdog, incident);
  return frame_record_incident(world, any, incident);
}

/* An atom that computed for so long counts as an overrun at once; it need not do so again. */
static void penalise_stuck(struct muster_world *world, uint32_t index, const muster_overrun *overrun) {
  ASSERT(world_is_active(world, index));
  const agent_row *row = world_row(world, index);
  const muster_type_def *def = &world_type(world, row->type)->def;
  if (def->overruns.quarantine)
    penalties_quarantine_agent(world, index, overrun);
  else if (def->overruns.demote && row->level + 1u < def->levels.count)
    penalties_demote_agent(world, index, overrun);
}

/* The watchdog tells of each incident once when it is noticed, and once when the CPU clock of its thread confirms that
 * it computes: maybe at the same time. */
static void enforce_incident(struct muster_world *world, const watch_incident *incident) {
  muster_overrun overrun = {.agent = muster_agent_make(incident->agent, incident->generation),
                            .type = {incident->type + 1u},
                            .atom = MUSTER_ATOM_UNKNOWN,
                            .kind = MUSTER_OVERRUN_STUCK,
                            .duration_ns = incident->duration_ns,
                            .limit_ns = world->def.watch.stuck_ns,
                            .frame = world->frames};
  const muster_agent agent = world_find(world, overrun.agent);
  bool penalisable = can_be_penalised(world, agent);
  if (penalisable) overrun.level = world_row(world, muster_agent_index(agent))->level;
  if (incident->noticed) {
    world->overruns->table.types[incident->type].stuck++;
    world->sums->statistics.stuck++;
    keep(world, &overrun);
  }
  if (!incident->computes) return;
  note_risk(world, incident->type, &overrun);
  if (penalisable && !world_is_virtual(world)) penalise_stuck(world, muster_agent_index(agent), &overrun);
}

static void enforce_incidents(struct muster_world *world) {
  watch_incident incident = {0};
  while (next_incident(world, &incident)) enforce_incident(world, &incident);
}

/* The next type that a worker suspects. */
static bool next_suspect(struct muster_world *world, uint32_t *type) {
  worker_state *state = world->runner->states, *end = state + world->runner->state_count;
  while (state < end && !state->suspect_count) state++;
  if (state < end) {
    const struct suspicion *suspicion = &state->suspects[--state->suspect_count];
    *type = suspicion->type;
    if (suspicion->agent && world->timed) world_type(world, *type)->suspect = suspicion->agent;
  }
  return frame_record_suspect(world, state < end, type);
}

static void enforce_suspects(struct muster_world *world) {
  uint32_t type = 0;
  while (next_suspect(world, &type)) watch_type_of(world, type);
}

/* The next list of overruns that a worker noted; enforce_list() empties it. Null when there is none any more. */
static overrun_list *next_overruns(struct muster_world *world) {
  worker_state *states = world->runner->states;
  uint32_t i = 0;
  while (i < world->runner->state_count && !states[i].overruns.count) i++;
  bool any = i < world->runner->state_count;
  overrun_list *list = &states[any ? i : 0].overruns;
  return frame_record_overruns(world, any, list) ? list : NULL;
}

static void enforce_workers(struct muster_world *world) {
  for (overrun_list *list; (list = next_overruns(world));) enforce_list(world, list);
}

/* Enforces the limit of types with an open window, and types that were watched long enough. */
static void enforce_types(struct muster_world *world) {
  struct overrun_table *table = &world->overruns->table;
  for (uint32_t number = 0; number < world->agents.types.count; number++) {
    type_overruns *overruns = &table->types[number];
    agent_type *type = world_type(world, number);
    type->risk_ns -= type->risk_ns >> RISK_DECAY_SHIFT;
    if (type->watched && world->frames > overruns->watched_until && !overruns->window_begin_ns) {
      ASSERT(world->overruns->types_watched > 0);
      type->watched = false;
      type->risk_ns = type->suspect = 0;
      world->overruns->types_watched--;
    }
    if (!overruns->window_begin_ns || type->quarantined) continue;
    overrun_terms terms = {type->def.overruns.demote, type->def.overruns.quarantine,
                           overruns->level_floor + 1 >= type->def.levels.count, OVERRUN_WINDOW_NS};
    overrun_penalty penalty =
        overrun_table_type_penalty(table, number, &terms, samples_of(world, number, true), world->frame->now_ns);
    if (penalty == OVERRUN_DEMOTED) penalties_demote_type(world, number);
    if (penalty == OVERRUN_QUARANTINED) penalties_quarantine_type(world, number, false);
  }
}

void runaways_enforce(struct muster_world *world) {
  overruns_log_turn(world);
  enforce_list(world, &world->batch->overruns);
  enforce_workers(world);
  if (world->watchdog || world->recorder) enforce_incidents(world);
  if (!world_is_virtual(world)) enforce_suspects(world);
  if (world->overruns->types_watched) enforce_types(world);
  if (world->overruns->regrade_left) penalties_go_on_regrading(world);
}
