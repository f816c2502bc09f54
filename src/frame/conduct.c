/* conduct.c - runaways: judges what workers and the ranking noted, at the end of the commit; demotes, puts into
 * quarantine, pardons. Joins agents, plan and exec. */
#include "frame/conduct.h"

#include "base/assert.h"
#include "base/sized.h"
#include "frame/conduct_tell.h"
#include "record/recorder.h"
#include "world/guard.h"

#include <string.h>

enum { REGRADED_PER_FRAME = 16384, RISK_DECAY_SHIFT = 6 };

/* -------------------------------------------------------------------------------------------------------- penalties */

static void demote_agent(struct muster_world *world, const muster_offence *offence) {
  agent_row *row = &world->store.rows[offence->agent.index];
  type_conduct *type = &world->conduct.offenders.types[row->type];
  score_inputs inputs = world_score_inputs(world);
  if (!row->level_floor) {
    world->conduct.agents_demoted++;
    type->agents_demoted++;
  }
  row->level_floor = (row->level + 1u) & 3u;
  score_tuned_agent(&world->board, &inputs, offence->agent.index);
  world->statistics.demotions++;
  conduct_tell_demoted(world, offence);
}

/* Out of every list and out of its class, which asks no time for it any more. */
static void quarantine_agent(struct muster_world *world, const muster_offence *offence) {
  uint32_t index = offence->agent.index;
  agent_row *row = &world->store.rows[index];
  row->acts = row->status == AGENT_ACTING;
  intake_unschedule(world, index);
  row->status = AGENT_QUARANTINED;
  row->woken = 0;
  classes_leave(&world->classes, &world->classes.classes[row->class], row->importance);
  world->conduct.agents_quarantined++;
  world->conduct.offenders.types[row->type].agents_quarantined++;
  world->statistics.quarantines++;
  conduct_tell_quarantined(world, offence);
}

/* Each agent's level is to be looked at again: the floor of some type changed. A part of them in each frame. */
static void regrade(struct muster_world *world, uint32_t type) {
  grade_type *grade = &world->board.types[type];
  grade->level_floor = (uint8_t)world->conduct.offenders.types[type].level_floor;
  grade->checked = true;
  world->conduct.regrade_next = 0;
  world->conduct.regrade_left = world->store.high;
}

void conduct_weigh_anew(struct muster_world *world) {
  world->board.rule = grade_rule_of(&world->def);
  for (uint32_t type = 0; type < world->board.types_known; type++) {
    world->board.types[type] = grade_type_of(&world->types.types[type].def, &world->board.rule);
    regrade(world, type);
  }
}

static void go_on_regrading(struct muster_world *world) {
  conduct_state *conduct = &world->conduct;
  for (uint32_t i = 0; i < REGRADED_PER_FRAME && conduct->regrade_left > 0; i++, conduct->regrade_left--) {
    uint32_t index = conduct->regrade_next++;
    if (store_is_active(&world->store, index) && world->board.types[world->store.rows[index].type].checked)
      score_note(&world->board, index);
  }
}

static void demote_type(struct muster_world *world, uint32_t number) {
  type_conduct *type = &world->conduct.offenders.types[number];
  type->level_floor++;
  regrade(world, number);
  world->statistics.demotions++;
  conduct_tell_type_demoted(world, number);
}

/* Its classes stand still, and so do who waits in them; the ranking sends the others there. */
static void freeze_type(struct muster_world *world, uint32_t number) {
  batch *batch = &world->batch;
  uint32_t kept = 0;
  world->types.types[number].quarantined = true;
  classes_freeze(&world->classes, number, true);
  for (uint32_t i = 0; i < batch->held_count; i++) {
    if (world->store.rows[batch->held[i]].type == number)
      ready_put_back(&world->ready, &world->store, batch->held[i]);
    else
      batch->held[kept++] = batch->held[i];
  }
  batch->held_count = kept;
  world->conduct.types_quarantined++;
  world->statistics.quarantines++;
}

static void quarantine_type(struct muster_world *world, uint32_t number) {
  freeze_type(world, number);
  conduct_tell_type_quarantined(world, number);
}

/* ------------------------------------------------------------------------------------------------------ judgement */

/* Measured updates of a type up to the end of the last frame, or up to now. */
static uint64_t samples_of(const struct muster_world *world, uint32_t type, bool now) {
  uint64_t samples = 0;
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    const cost_estimate *estimate = costs_of(&world->costs, type, level);
    samples += now ? estimate->samples : estimate->samples_before;
  }
  return samples;
}

static void watch_type_of(struct muster_world *world, uint32_t number) {
  agent_type *type = &world->types.types[number];
  world->conduct.types_watched += !type->watched;
  type->watched = true;
  world->conduct.offenders.types[number].watched_until = world->frames + OFFENDERS_WATCH_FRAMES;
}

/* Keeps an offence for those who ask. */
static void keep(struct muster_world *world, const muster_offence *offence) {
  conduct_state *conduct = &world->conduct;
  conduct->kept[conduct->kept_count++ % MUSTER_OFFENCES_KEPT] = *offence;
}

/* Field by field: it is saved as it stands. */
static void note_worst(worst_offence *worst, const muster_offence *offence) {
  if (offence->duration_ns <= worst->duration_ns) return;
  worst->duration_ns = offence->duration_ns;
  worst->agent = offence->agent.index;
  worst->generation = offence->agent.generation;
  worst->atom = offence->atom;
}

/* CPU time that an atom took over its limit. The end of a frame moves by the time for which an atom is blocked: so its
 * type is no risk to it. */
static void note_risk(struct muster_world *world, const muster_offence *offence) {
  uint32_t number = offence->type.index - 1, *risk_ns = &world->types.types[number].risk_ns;
  if (offence->duration_ns > *risk_ns)
    *risk_ns = offence->duration_ns < UINT32_MAX ? (uint32_t)offence->duration_ns : UINT32_MAX;
  note_worst(&world->conduct.offenders.types[number].worst, offence);
}

/* Whether the agent can be sentenced: it still exists and may run. */
static bool is_at_large(const struct muster_world *world, muster_agent agent) {
  if (!identity_is_live(&world->agent_ids, agent.index, agent.generation)) return false;
  const agent_row *row = &world->store.rows[agent.index];
  return store_is_active(&world->store, agent.index) && row->status != AGENT_QUARANTINED &&
         !world->types.types[row->type].quarantined;
}

/* A window of 64 updates, under the pressure of now. */
static uint64_t window_of(const struct muster_world *world, const agent_row *row) {
  const agent_class *class = &world->classes.classes[row->class];
  double updates_ns = (double)class->nominal_ns / class->rate * OFFENDERS_UPDATES;
  return updates_ns > OFFENDERS_WINDOW_NS ? (uint64_t)updates_ns : OFFENDERS_WINDOW_NS;
}

static void judge_offence(struct muster_world *world, const offence *noted) {
  const agent_type *type = &world->types.types[noted->type];
  muster_offence offence = {.agent = {noted->agent, noted->generation},
                            .type = {noted->type + 1u},
                            .level = noted->level,
                            .atom = noted->atom,
                            .kind = noted->kind == OFFENCE_BLOCKED ? MUSTER_OFFENCE_BLOCKED : MUSTER_OFFENCE_OVER,
                            .duration_ns = noted->duration_ns,
                            .limit_ns = type->def.limit_ns,
                            .frame = world->frames};
  keep(world, &offence);
  if (offence.kind == MUSTER_OFFENCE_BLOCKED) {
    note_worst(&world->conduct.offenders.types[noted->type].worst_blocked, &offence);
    conduct_tell_offence(world, &offence);
  } else {
    note_risk(world, &offence);
  }
  if (!is_at_large(world, offence.agent)) return;
  const agent_row *row = &world->store.rows[noted->agent];
  offender_terms terms = {type->def.strikes_demote, type->def.strikes_quarantine,
                          row->level + 1u >= type->def.level_count, window_of(world, row)};
  offender_verdict verdict =
      offenders_strike(&world->conduct.offenders, noted, &terms, world->frames, world->frame.now_ns);
  if (verdict == OFFENDER_DEMOTED) demote_agent(world, &offence);
  if (verdict == OFFENDER_QUARANTINED) quarantine_agent(world, &offence);
  if (verdict == OFFENDER_TOLD && offence.kind == MUSTER_OFFENCE_OVER) conduct_tell_offence(world, &offence);
}

/* Takes the offences of a list. Sums of types first: the window of a type begins before the strikes in it. */
static void judge_list(struct muster_world *world, offence_list *list) {
  if (list->count == 0) return;
  for (uint32_t type = 0; type < world->types.count; type++) {
    uint32_t *over = offences_of(list, type, OFFENCE_OVER), *blocked = offences_of(list, type, OFFENCE_BLOCKED);
    if (!(*over | *blocked)) continue;
    if (*over)
      offenders_count(&world->conduct.offenders, type, *over, samples_of(world, type, false), world->frame.now_ns);
    world->conduct.offenders.types[type].blocked += *blocked;
    world->statistics.atoms_over_limit += *over;
    world->statistics.atoms_blocked += *blocked;
    world->report.offences += *over;
    world->report.atoms_blocked += *blocked;
    watch_type_of(world, type);
    *over = *blocked = 0;
  }
  for (uint32_t i = 0; i < list->count; i++) judge_offence(world, &list->offences[i]);
  list->count = list->left_out = 0;
}

/* The next incident of the watchdog, or of the record. */
static bool next_incident(struct muster_world *world, watch_incident *incident) {
  bool any = !recorder_replays(world) && world->watchdog && watchdog_take(world->watchdog, incident);
  return world->recorder ? recorder_exchange_incident(world, any, incident) : any;
}

/* An atom that computed for so long need not do it again to be an offence that counts. */
static void punish_stuck(struct muster_world *world, const muster_offence *offence) {
  const agent_row *row = &world->store.rows[offence->agent.index];
  const muster_type_def *def = &world->types.types[row->type].def;
  if (def->strikes_quarantine)
    quarantine_agent(world, offence);
  else if (def->strikes_demote && row->level + 1u < def->level_count)
    demote_agent(world, offence);
}

/* The watchdog tells of each once when it is noticed, and once when the CPU clock of its thread confirms that it
 * computes: maybe at the same time. */
static void judge_incident(struct muster_world *world, const watch_incident *incident) {
  muster_offence offence = {.agent = {incident->agent, incident->generation},
                            .type = {incident->type + 1u},
                            .atom = MUSTER_ATOM_UNKNOWN,
                            .kind = MUSTER_OFFENCE_STUCK,
                            .duration_ns = incident->duration_ns,
                            .limit_ns = world->def.stuck_ns,
                            .frame = world->frames};
  bool at_large = is_at_large(world, offence.agent);
  if (at_large) offence.level = world->store.rows[incident->agent].level;
  if (incident->noticed) {
    world->conduct.offenders.types[incident->type].stuck++;
    world->statistics.stuck++;
    keep(world, &offence);
  }
  if (!incident->computes) return;
  note_risk(world, &offence);
  if (at_large && !world->runner.virtual) punish_stuck(world, &offence);
}

static void judge_incidents(struct muster_world *world) {
  watch_incident incident = {0};
  while (next_incident(world, &incident)) judge_incident(world, &incident);
}

static void judge_suspects(struct muster_world *world) {
  uint32_t type = 0;
  for (uint32_t i = 0; i < world->runner.state_count; i++) {
    worker_state *state = &world->runner.states[i];
    for (uint32_t k = 0; k < state->suspect_count && !recorder_replays(world); k++) {
      type = state->suspects[k].type;
      if (state->suspects[k].agent) world->types.types[type].suspect = state->suspects[k].agent;
      if (world->recorder) recorder_exchange_suspect(world, true, &type);
      watch_type_of(world, type);
    }
    state->suspect_count = 0;
  }
  while (world->recorder && recorder_exchange_suspect(world, false, &type)) watch_type_of(world, type);
}

/* On the wall clock a replay takes what was noted then. */
static void judge_workers(struct muster_world *world) {
  worker_state *states = world->runner.states;
  bool timed = !world->runner.virtual, replays = timed && recorder_replays(world);
  for (uint32_t i = 0; i < world->runner.state_count; i++) {
    if (replays) offences_clear(&states[i].offences, world->types.count);
    if (timed && recorder_records(world) && states[i].offences.count)
      recorder_exchange_offences(world, &states[i].offences);
    judge_list(world, &states[i].offences);
  }
  while (replays && recorder_next_offences(world, &states[0].offences)) judge_list(world, &states[0].offences);
  if (timed && recorder_records(world)) recorder_exchange_offences(world, NULL);
}

/* Types with an open window, and those that were watched long enough. */
static void judge_types(struct muster_world *world) {
  offenders *offenders = &world->conduct.offenders;
  for (uint32_t number = 0; number < world->types.count; number++) {
    type_conduct *conduct = &offenders->types[number];
    agent_type *type = &world->types.types[number];
    type->risk_ns -= type->risk_ns >> RISK_DECAY_SHIFT;
    if (type->watched && world->frames > conduct->watched_until && !conduct->window_begin_ns) {
      type->watched = false;
      type->risk_ns = type->suspect = 0;
      world->conduct.types_watched--;
    }
    if (!conduct->window_begin_ns || type->quarantined) continue;
    offender_terms terms = {type->def.strikes_demote, type->def.strikes_quarantine,
                            conduct->level_floor + 1 >= type->def.level_count, OFFENDERS_WINDOW_NS};
    offender_verdict verdict =
        offenders_judge_type(offenders, number, &terms, samples_of(world, number, true), world->frame.now_ns);
    if (verdict == OFFENDER_DEMOTED) demote_type(world, number);
    if (verdict == OFFENDER_QUARANTINED) quarantine_type(world, number);
  }
}

void conduct_judge(struct muster_world *world) {
  conduct_tell_turn(world);
  judge_list(world, &world->batch.offences);
  judge_workers(world);
  if (world->watchdog || world->recorder) judge_incidents(world);
  if (!world->runner.virtual) judge_suspects(world);
  if (world->conduct.types_watched) judge_types(world);
  if (world->conduct.regrade_left) go_on_regrading(world);
}

void conduct_forget(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  type_conduct *type = &world->conduct.offenders.types[row->type];
  offenders_forget(&world->conduct.offenders, index);
  if (row->level_floor) {
    world->conduct.agents_demoted--;
    type->agents_demoted--;
  }
  if (row->status != AGENT_QUARANTINED) return;
  classes_join(&world->classes, &world->classes.classes[row->class], row->importance);
  world->conduct.agents_quarantined--;
  type->agents_quarantined--;
}

/* --------------------------------------------------------------------------------------------------------- pardons */

/* Back into its class and a list: the wheel, due at once, or those who are ready, or whose action atoms wait. */
static void release_from_quarantine(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  agent_class *class = &world->classes.classes[row->class];
  if (row->acts) {
    row->acts = 0;
    row->status = AGENT_ACTING;
    world->acting[index / 64] |= 1ull << (index % 64);
    world->acting_count++;
    return;
  }
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) {
    row->status = AGENT_WAITING;
    /* Without a period nobody else would ask for what it had begun. */
    if (row->atom_next | row->owes)
      periods_release_early(&world->classes, &world->store, &world->ready, index, world->frame.now_ns,
                            world->frame.number);
    return;
  }
  row->virtual_due_ns = class->clock_ns;
  wheel_insert(&world->classes, class, 0, &world->store, index);
}

void conduct_pardon(struct muster_world *world, uint32_t index) {
  if (!store_is_active(&world->store, index)) return;
  agent_row *row = &world->store.rows[index];
  bool demoted = row->level_floor > 0, quarantined = row->status == AGENT_QUARANTINED;
  conduct_forget(world, index);
  world->statistics.pardons += demoted || quarantined;
  if (quarantined) release_from_quarantine(world, index);
  if (!demoted) return;
  score_inputs inputs = world_score_inputs(world);
  row->level_floor = 0;
  score_tuned_agent(&world->board, &inputs, index);
}

void conduct_pardon_type(struct muster_world *world, uint32_t number) {
  agent_type *type = &world->types.types[number];
  type_conduct *conduct = &world->conduct.offenders.types[number];
  world->statistics.pardons += type->quarantined || conduct->level_floor;
  world->conduct.types_quarantined -= type->quarantined;
  type->quarantined = false;
  classes_freeze(&world->classes, number, false);
  offenders_forget_type(&world->conduct.offenders, number);
  if (conduct->level_floor) {
    conduct->level_floor = 0;
    regrade(world, number);
  }
  if (conduct->agents_demoted + conduct->agents_quarantined == 0) return;
  for (uint32_t i = 0; (i = store_next_active(&world->store, i)) != UINT32_MAX; i++)
    if (world->store.rows[i].type == number) conduct_pardon(world, i);
}

void conduct_quarantine_type(struct muster_world *world, uint32_t number) {
  if (world->types.types[number].quarantined) return;
  freeze_type(world, number);
  conduct_tell_type_set_aside(world, number);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

muster_result muster_agent_pardon(muster_world *world, muster_agent agent) {
  if (guard_any(world, "pardon")) return MUSTER_E_ARGUMENT;
  if (!identity_is_live(&world->agent_ids, agent.index, agent.generation))
    return error_set(MUSTER_E_STALE, "agent %u (generation %u) is gone", agent.index, agent.generation);
  command command = {.kind = COMMAND_PARDON, .index = agent.index, .generation = agent.generation};
  if (!ring_push(&world->inbox.commands, &command))
    return error_set(MUSTER_E_FULL, "commands_max = %u commands wait for the next frame", world->def.commands_max);
  return MUSTER_OK;
}

static muster_result check_type(const muster_world *world, muster_type type) {
  uint32_t types = inbox_types(&world->inbox);
  if (type.index && type.index <= types) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "type %u is none of the %u that are registered", type.index, types);
}

static muster_result command_type(muster_world *world, muster_type type, command_kind kind) {
  muster_result result = guard_any(world, "type");
  if (!result) result = check_type(world, type);
  if (result) return result;
  command command = {.kind = kind, .index = type.index - 1};
  if (!ring_push(&world->inbox.commands, &command))
    return error_set(MUSTER_E_FULL, "commands_max = %u commands wait for the next frame", world->def.commands_max);
  return MUSTER_OK;
}

muster_result muster_type_pardon(muster_world *world, muster_type type) {
  return command_type(world, type, COMMAND_PARDON_TYPE);
}

muster_result muster_type_quarantine(muster_world *world, muster_type type) {
  return command_type(world, type, COMMAND_QUARANTINE_TYPE);
}

muster_result muster_conduct_read(const muster_world *world, muster_type type, muster_conduct *conduct) {
  muster_result result = guard_read(world, "conduct");
  if (!result) result = check_type(world, type);
  if (result) return result;
  const type_conduct *known = &world->conduct.offenders.types[type.index - 1];
  muster_conduct whole = {.offences = known->offences,
                          .worst_ns = known->worst.duration_ns,
                          .worst_agent = {known->worst.agent, known->worst.generation},
                          .worst_atom = known->worst.atom,
                          .agents_demoted = known->agents_demoted,
                          .agents_quarantined = known->agents_quarantined,
                          .level_floor = known->level_floor,
                          .quarantined = world->types.types[type.index - 1].quarantined,
                          .stuck = known->stuck,
                          .blocked = known->blocked,
                          .worst_blocked_ns = known->worst_blocked.duration_ns,
                          .worst_blocked_agent = {known->worst_blocked.agent, known->worst_blocked.generation},
                          .worst_blocked_atom = known->worst_blocked.atom};
  return sized_write(SIZED(conduct), &whole, conduct);
}

uint32_t muster_offences_read(const muster_world *world, muster_offence *out, uint32_t capacity) {
  if (guard_read(world, "offences") || (capacity && !out && error_missing("offences", "array"))) return 0;
  const conduct_state *conduct = &world->conduct;
  uint64_t count = conduct->kept_count < MUSTER_OFFENCES_KEPT ? conduct->kept_count : MUSTER_OFFENCES_KEPT;
  if (count > capacity) count = capacity;
  for (uint64_t i = 0; i < count; i++) out[i] = conduct->kept[(conduct->kept_count - 1 - i) % MUSTER_OFFENCES_KEPT];
  return (uint32_t)count;
}
