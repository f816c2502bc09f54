/* runaways.c - stage 8, at its end: enforces the limits, by what workers, the ranking and the watchdog noted of atoms
 * that take too long.
 */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/frame_record.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "run/watchdog.h"
#include "world/conduct.h"
#include "world/conduct_state.h"
#include "world/conduct_tell.h"
#include "world/frame_state.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <muster/conduct.h>

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
  world->conduct->types_watched += !type->watched;
  type->watched = true;
  world->conduct->offenders.types[number].watched_until = world->frames + OFFENDERS_WATCH_FRAMES;
}

/* Keeps an offence for calls that ask about offences. */
static void keep(struct muster_world *world, const muster_offence *offence) {
  conduct_state *conduct = world->conduct;
  conduct->kept[conduct->kept_count++ % MUSTER_OFFENCES_KEPT] = *offence;
}

/* Field by field: the struct is saved as it lies in memory. */
static void note_worst(worst_offence *worst, const muster_offence *offence) {
  if (offence->duration_ns <= worst->duration_ns) return;
  worst->duration_ns = offence->duration_ns;
  worst->agent = muster_agent_index(offence->agent);
  worst->generation = muster_agent_generation(offence->agent);
  worst->atom = offence->atom;
}

/* Notes CPU time that an atom took over its limit. The end of a frame moves by the time for which an atom is blocked,
 * so a blocked atom puts no frame at risk. */
static void note_risk(struct muster_world *world, const muster_offence *offence) {
  uint32_t number = offence->type.index - 1, *risk_ns = &world_type(world, number)->risk_ns;
  if (offence->duration_ns > *risk_ns)
    *risk_ns = offence->duration_ns < UINT32_MAX ? (uint32_t)offence->duration_ns : UINT32_MAX;
  note_worst(&world->conduct->offenders.types[number].worst, offence);
}

/* Whether the agent can be punished: it still exists and may run. */
static bool is_at_large(const struct muster_world *world, muster_agent agent) {
  if (!world_is_live(world, agent)) return false;
  const agent_row *row = world_row(world, muster_agent_index(agent));
  return world_is_active(world, muster_agent_index(agent)) && row->status != AGENT_QUARANTINED &&
         !world_type(world, row->type)->quarantined;
}

/* A window of 64 updates, under the current pressure. */
static uint64_t window_of(const struct muster_world *world, const agent_row *row) {
  const agent_class *class = &world->queues->classes.classes[row->class];
  ASSERT(class->type == row->type && class->rate > 0.0);
  double updates_ns = (double)class->nominal_ns / class->rate * OFFENDERS_UPDATES;
  return updates_ns > OFFENDERS_WINDOW_NS ? (uint64_t)updates_ns : OFFENDERS_WINDOW_NS;
}

static void enforce_offence(struct muster_world *world, const struct offence *noted) {
  const agent_type *type = world_type(world, noted->type);
  ASSERT(noted->type < world->agents.types.count && noted->agent < world->def.limits.agents_max);
  muster_offence offence = {.agent = muster_agent_make(noted->agent, noted->generation),
                            .type = {noted->type + 1u},
                            .level = noted->level,
                            .atom = noted->atom,
                            .kind = noted->kind == OFFENCE_BLOCKED ? MUSTER_OFFENCE_BLOCKED : MUSTER_OFFENCE_OVER,
                            .duration_ns = noted->duration_ns,
                            .limit_ns = type->def.limit_ns,
                            .frame = world->frames};
  keep(world, &offence);
  if (offence.kind == MUSTER_OFFENCE_BLOCKED) {
    note_worst(&world->conduct->offenders.types[noted->type].worst_blocked, &offence);
    conduct_tell_offence(world, &offence);
  } else {
    note_risk(world, &offence);
  }
  if (!is_at_large(world, offence.agent)) return;
  const agent_row *row = world_row(world, noted->agent);
  offender_terms terms = {type->def.overruns.demote, type->def.overruns.quarantine,
                          row->level + 1u >= type->def.levels.count, window_of(world, row)};
  offender_verdict verdict =
      offenders_strike(&world->conduct->offenders, noted, &terms, world->frames, world->frame->now_ns);
  if (verdict == OFFENDER_DEMOTED) conduct_demote_agent(world, &offence);
  if (verdict == OFFENDER_QUARANTINED) conduct_quarantine_agent(world, &offence);
  if (verdict == OFFENDER_TOLD && offence.kind == MUSTER_OFFENCE_OVER) conduct_tell_offence(world, &offence);
}

/* Takes the offences of a list. Sums of types first: the window of a type begins before the strikes in it. */
static void enforce_list(struct muster_world *world, offence_list *list) {
  ASSERT(list->count <= OFFENCES_MAX);
  if (list->count == 0) return;
  for (uint32_t type = 0; type < world->agents.types.count; type++) {
    uint32_t *over = offences_of(list, type, OFFENCE_OVER), *blocked = offences_of(list, type, OFFENCE_BLOCKED);
    if (!(*over | *blocked)) continue;
    if (*over)
      offenders_count(&world->conduct->offenders, type, *over, samples_of(world, type, false), world->frame->now_ns);
    world->conduct->offenders.types[type].blocked += *blocked;
    world->sums->statistics.atoms_over_limit += *over;
    world->sums->statistics.atoms_blocked += *blocked;
    world->sums->report.offences += *over;
    world->sums->report.atoms_blocked += *blocked;
    watch_type_of(world, type);
    *over = *blocked = 0;
  }
  for (uint32_t i = 0; i < list->count; i++) enforce_offence(world, &list->offences[i]);
  list->count = list->left_out = 0;
}

static bool next_incident(struct muster_world *world, watch_incident *incident) {
  bool any = world->watchdog && watchdog_take(world->watchdog, incident);
  return frame_record_incident(world, any, incident);
}

/* An atom that computed for so long counts as an offence at once; it need not do so again. */
static void punish_stuck(struct muster_world *world, const muster_offence *offence) {
  ASSERT(world_is_active(world, muster_agent_index(offence->agent)));
  const agent_row *row = world_row(world, muster_agent_index(offence->agent));
  const muster_type_def *def = &world_type(world, row->type)->def;
  if (def->overruns.quarantine)
    conduct_quarantine_agent(world, offence);
  else if (def->overruns.demote && row->level + 1u < def->levels.count)
    conduct_demote_agent(world, offence);
}

/* The watchdog tells of each incident once when it is noticed, and once when the CPU clock of its thread confirms that
 * it computes: maybe at the same time. */
static void enforce_incident(struct muster_world *world, const watch_incident *incident) {
  muster_offence offence = {.agent = muster_agent_make(incident->agent, incident->generation),
                            .type = {incident->type + 1u},
                            .atom = MUSTER_ATOM_UNKNOWN,
                            .kind = MUSTER_OFFENCE_STUCK,
                            .duration_ns = incident->duration_ns,
                            .limit_ns = world->def.watch.stuck_ns,
                            .frame = world->frames};
  bool at_large = is_at_large(world, offence.agent);
  if (at_large) offence.level = world_row(world, incident->agent)->level;
  if (incident->noticed) {
    world->conduct->offenders.types[incident->type].stuck++;
    world->sums->statistics.stuck++;
    keep(world, &offence);
  }
  if (!incident->computes) return;
  note_risk(world, &offence);
  if (at_large && !world_is_virtual(world)) punish_stuck(world, &offence);
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

/* The next list of offences that a worker noted; enforce_list() empties it. Null when there is none any more. */
static offence_list *next_offences(struct muster_world *world) {
  worker_state *states = world->runner->states;
  uint32_t i = 0;
  while (i < world->runner->state_count && !states[i].offences.count) i++;
  bool any = i < world->runner->state_count;
  offence_list *list = &states[any ? i : 0].offences;
  return frame_record_offences(world, any, list) ? list : NULL;
}

static void enforce_workers(struct muster_world *world) {
  for (offence_list *list; (list = next_offences(world));) enforce_list(world, list);
}

/* Judges types with an open window, and types that were watched long enough. */
static void enforce_types(struct muster_world *world) {
  struct offenders *offenders = &world->conduct->offenders;
  for (uint32_t number = 0; number < world->agents.types.count; number++) {
    type_conduct *conduct = &offenders->types[number];
    agent_type *type = world_type(world, number);
    type->risk_ns -= type->risk_ns >> RISK_DECAY_SHIFT;
    if (type->watched && world->frames > conduct->watched_until && !conduct->window_begin_ns) {
      ASSERT(world->conduct->types_watched > 0);
      type->watched = false;
      type->risk_ns = type->suspect = 0;
      world->conduct->types_watched--;
    }
    if (!conduct->window_begin_ns || type->quarantined) continue;
    offender_terms terms = {type->def.overruns.demote, type->def.overruns.quarantine,
                            conduct->level_floor + 1 >= type->def.levels.count, OFFENDERS_WINDOW_NS};
    offender_verdict verdict =
        offenders_type_verdict(offenders, number, &terms, samples_of(world, number, true), world->frame->now_ns);
    if (verdict == OFFENDER_DEMOTED) conduct_demote_type(world, number);
    if (verdict == OFFENDER_QUARANTINED) conduct_quarantine_type(world, number, false);
  }
}

void runaways_enforce(struct muster_world *world) {
  conduct_tell_turn(world);
  enforce_list(world, &world->batch->offences);
  enforce_workers(world);
  if (world->watchdog || world->recorder) enforce_incidents(world);
  if (!world_is_virtual(world)) enforce_suspects(world);
  if (world->conduct->types_watched) enforce_types(world);
  if (world->conduct->regrade_left) conduct_go_on_regrading(world);
}
