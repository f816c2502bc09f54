/* explain.c - why an agent runs when and how it does: what every stage knows of the agent, put together. The words are
 * in explain_words.c. */
#include "base/sized.h"
#include "observe/report.h"
#include "plan/due.h"
#include "plan/importance.h"
#include "world/guard.h"
#include "world/observer_ids.h"
#include "world/world_commands.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"

#include <muster/bulk.h>
#include <muster/explain.h>
#include <muster/herd.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static void name_observer(const muster_world *world, uint32_t index, muster_agent_explanation *whole) {
  const observer_source *source = &world->observers->table.sources[index];
  const observer_row *row = &world->observers->table.rows[index];
  muster_position at = whole->observed ? source->position : row->position;
  double x = at.x - whole->position.x, y = at.y - whole->position.y, z = at.z - whole->position.z;
  whole->observer = observer_ids_at(world, index);
  whole->near_m = whole->observed ? source->near_m : row->near_m;
  whole->far_m = whole->observed ? source->far_m : row->far_m;
  whole->distance_m = (float)sqrt(x * x + y * y + z * z);
}

/* What the definition and the host say of the agent, and its type. */
static void describe_given(const muster_world *world, uint32_t index, muster_agent_explanation *whole) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_type *type = &world->agents.types.types[row->type];
  float factors[MUSTER_FACTORS];
  for (uint32_t i = 0; i < MUSTER_FACTORS; i++) factors[i] = (float)row->factors[i] / 255.0f;
  snprintf(whole->type_name, sizeof whole->type_name, "%s", type->name);
  whole->visibility = factors[MUSTER_FACTOR_VISIBILITY];
  whole->bulk = factors[MUSTER_FACTOR_BULK];
  whole->interactivity = factors[MUSTER_FACTOR_INTERACTIVITY];
  whole->of_type = type->def.importance;
  whole->modelled = type->def.models.importance != NULL;
  whole->floor = share_value(row->floor);
  whole->elasticity_of_type = type->def.elasticity;
  whole->elasticity_derived = row->elasticity_step == ELASTICITY_DERIVED;
  whole->level_count = type->def.levels.count;
  class_periods periods = classes_periods_of(&world->queues->classes, &type->def, row->type);
  whole->nominal_ns = periods.nominal_ns;
  whole->longest_ns = periods.longest_ns;
  whole->by_importance = world->def.elastic == MUSTER_ELASTIC_IMPORTANCE;
  whole->longest_is_wish = whole->by_importance && !type->def.period_max_hard;
  whole->atoms = type->parallel_atoms;
}

static void explain_importance(const muster_world *world, uint32_t index, muster_agent_explanation *whole) {
  struct importance_steps steps = importance_explain(&world->score->board.inputs, index);
  whole->by_observer = steps.by_distance;
  whole->by_model = steps.by_model;
  whole->observed = steps.observer != OBSERVER_NONE;
  whole->distance_m = INFINITY;
  uint32_t observer = whole->observed
                          ? steps.observer
                          : observers_nearest(&world->observers->table, whole->position, (uint16_t)whole->partition);
  if (observer != OBSERVER_NONE) name_observer(world, observer, whole);
  if (!whole->observed) whole->reasons |= MUSTER_REASON_NO_OBSERVER_NEAR;
  if (whole->observed && !world->score->factors && steps.product < steps.by_distance)
    whole->reasons |= MUSTER_REASON_LOWERED;
  if (fabsf(steps.by_model - steps.product) > 1.0f / 65535.0f) whole->reasons |= MUSTER_REASON_MODELLED;
  if (whole->floor > steps.by_model) whole->reasons |= MUSTER_REASON_FLOOR;
}

/* What is said about the agent where importance is made of factors. */
static void describe_factors(const muster_world *world, uint32_t index, muster_agent_explanation *whole) {
  agent_ratings ratings = world->agents.store.ratings[index];
  whole->designer = rating_value(ratings.designer);
  whole->role = ratings.role == RATING_OF_TYPE ? whole->of_type : rating_value(ratings.role);
  whole->company = share_value(world->agents.store.inherited_importance[index]);
  if (world->agents.store.inherited_importance[index]) whole->reasons |= MUSTER_REASON_COMPANY;
}

static void explain_grade(const muster_world *world, const agent_row *row, muster_agent_explanation *whole) {
  const agent_class *class = &world->queues->classes.classes[row->class];
  const cost_estimate *cost = costs_of(&world->learnt->costs, row->type, row->level);
  const double nearly = 1.0 - 1e-6;
  grade_level_bounds(&world->score->board.types[row->type], row->level, &whole->level_low, &whole->level_high);
  whole->class_members = class->members;
  whole->cost_mean_ns = (uint64_t)cost->mean_ns;
  whole->cost_high_ns = (uint64_t)cost->high_ns;
  whole->cost_samples = cost->samples;
  if (row->level > 0) whole->reasons |= MUSTER_REASON_CHEAPER_LEVEL;
  uint32_t floor = world->score->board.types[row->type].level_floor;
  if (row->level_floor || floor) whole->reasons |= MUSTER_REASON_PENALTY;
  bool follows = whole->elasticity_derived || (world->score->board.rule.weighs_set && row->elasticity_step != 0);
  if (!follows) whole->reasons |= MUSTER_REASON_ELASTICITY_SET;
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) whole->reasons |= MUSTER_REASON_NO_PERIOD;
  if (class->own) whole->reasons |= MUSTER_REASON_OWN_PERIOD;
  whole->nominal_ns = class->nominal_ns;
  whole->longest_ns = class->longest_ns;
  if (class->step == 0) whole->reasons |= MUSTER_REASON_EXEMPT;
  if (class->rate >= nearly) return;
  whole->reasons |= MUSTER_REASON_PERIOD_STRETCHED;
  if ((double)whole->period_ns >= (double)class->longest_ns * nearly) whole->reasons |= MUSTER_REASON_PERIOD_LONGEST;
  if ((double)whole->period_ns > (double)class->longest_ns / nearly) whole->reasons |= MUSTER_REASON_BEYOND_WISH;
}

static void explain_sets(const muster_world *world, const agent_row *row, muster_agent_explanation *whole) {
  const agent_type *type = &world->agents.types.types[row->type];
  uint32_t owed = type->has_sets ? type->sets.passes[row->state_slot].owed : 0;
  if (!owed) return;
  whole->reasons |= MUSTER_REASON_OWED;
  snprintf(whole->set_owed, sizeof whole->set_owed, "%s", type->sets.sets[__builtin_ctz(owed)].name);
}

static uint32_t reasons_of_due(const muster_world *world, const agent_row *row) {
  uint32_t reasons = row->atom_next ? MUSTER_REASON_PREEMPTED : MUSTER_REASON_CARRIED;
  double waited_ns = (double)(world->last_now_ns - row->first_due_ns);
  if (row->woken) reasons |= MUSTER_REASON_WOKEN;
  if (row->status == AGENT_ADMITTED) reasons |= MUSTER_REASON_HELD;
  bool guaranteed = waited_ns >= world->queues->ready.weights.guarantee_ns && !ready_by_deadline(&world->queues->ready);
  if (guaranteed) reasons |= MUSTER_REASON_GUARANTEED;
  return reasons;
}

static void explain_turn(const muster_world *world, uint32_t index, muster_agent_explanation *whole) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_class *class = &world->queues->classes.classes[row->class];
  if (wakes_is_woken(&world->commands->wakes, index)) whole->reasons |= MUSTER_REASON_WOKEN;
  if (row->status == AGENT_QUARANTINED || world->agents.types.types[row->type].quarantined) {
    whole->reasons |= MUSTER_REASON_QUARANTINED;
    return;
  }
  if (row->status == AGENT_WAITING) {
    whole->reasons |= MUSTER_REASON_ASLEEP;
    if (class->elapsed != MUSTER_ELAPSED_EVENTS)
      whole->due_ns = world->last_now_ns + classes_real_ns(class, due_remaining_ns(class, row));
    uint64_t asked_ns = whole->wake_at_ns;
    if (asked_ns && (!whole->due_ns || asked_ns < whole->due_ns)) whole->due_ns = asked_ns;
    return;
  }
  whole->due_ns = row->first_due_ns;
  whole->waited_ns = world->last_now_ns - row->first_due_ns;
  if (row->status == AGENT_ACTING) {
    whole->reasons |= MUSTER_REASON_WAITS_FOR_ACTION;
    return;
  }
  whole->reasons |= reasons_of_due(world, row);
  if (ready_by_deadline(&world->queues->ready)) whole->deadline_ns = ready_deadline(&world->queues->ready, row);
  ready_terms terms = ready_explain(&world->queues->ready, row);
  whole->priority_ns = terms.priority_ns;
  whole->priority_wait_ns = terms.wait_ns;
  whole->priority_importance_ns = terms.importance_ns;
  whole->priority_progress_ns = terms.progress_ns;
  whole->priority_runs_ns = terms.runs_ns;
  whole->priority_reduction_ns = terms.reduction_ns;
  whole->priority_reaction_ns = terms.reaction_ns;
}

static void explain_active(const muster_world *world, const muster_agent_info *info, muster_agent_explanation *whole) {
  uint32_t index = muster_agent_index(world_find(world, whole->agent));
  const agent_store *store = &world->agents.store;
  const agent_row *row = &store->rows[index];
  whole->importance = info->importance;
  whole->level = info->level;
  whole->elasticity = info->elasticity;
  whole->period_ns = info->period_ns;
  whole->last_update_ns = info->last_update_ns;
  whole->delays = info->delays;
  whole->atoms_done = info->atoms_done;
  whole->age_ns = world->last_now_ns - info->last_update_ns;
  whole->has_run = row->runs > 0;
  whole->band_interval_ns = world_band_interval(world, band_of(row->importance));
  whole->wake_at_ns = info->wake_at_ns;
  if (info->wake_at_ns) whole->reasons |= MUSTER_REASON_TIME_ASKED;
  if (row->delayed) whole->reasons |= MUSTER_REASON_WAKE_DELAYED;
  explain_importance(world, index, whole);
  explain_grade(world, row, whole);
  if (world->score->factors) describe_factors(world, index, whole);
  whole->shed = store->shed[index] < info->level ? store->shed[index] : info->level;
  if (whole->shed) whole->reasons |= MUSTER_REASON_SHED;
  if (row->reacts) {
    whole->react_by_ns = store->alarms[index].react_by_ns;
    whole->reasons |= MUSTER_REASON_REACTION;
  }
  explain_turn(world, index, whole);
  explain_sets(world, row, whole);
}

static void explain_herd(const muster_world *world, muster_agent_explanation *whole) {
  const herd_link *link = &world->herds->table.links[muster_agent_index(world_find(world, whole->agent))];
  const struct herd_type *type = &world->herds->table.types[link->type];
  whole->herd = muster_herd_of(world, whole->agent);
  if (link->tie == HERD_TIE_LEAF) whole->herd_members = herds_lanes(type, link->entry).members[link->lane];
  if (link->tie == HERD_TIE_BLOCK) whole->block_herds = type->blocks[link->entry].live;
}

muster_result muster_agent_explain(const muster_world *world, muster_agent agent,
                                   muster_agent_explanation *explanation) {
  muster_agent_info info = muster_agent_info_default();
  muster_result result = guard_between(world, "explain");
  if (!result) result = sized_check(SIZED(agent_explanation), explanation);
  if (!result) result = muster_agent_read(world, agent, &info);
  if (result) return result;
  muster_agent_explanation whole = {.agent = agent,
                                    .type = info.type,
                                    .partition = info.partition,
                                    .position = info.position,
                                    .sim_now_ns = world->last_now_ns,
                                    .frame = world->frames,
                                    .pressure = world->sums->report.pressure};
  uint32_t index = muster_agent_index(world_find(world, agent));
  describe_given(world, index, &whole);
  if (world->sums->report.pressure > 1.0f) whole.reasons |= MUSTER_REASON_OVERLOAD;
  if (world->agents.store.rows[index].removal_pending) whole.reasons |= MUSTER_REASON_REMOVAL_WAITING;
  if (world->herds->table.count) explain_herd(world, &whole);
  enum occupation before = guard_hold(world);
  if (info.active)
    explain_active(world, &info, &whole);
  else
    whole.reasons |= MUSTER_REASON_SPAWN_WAITING;
  guard_release(world, before);
  return sized_write(SIZED(agent_explanation), &whole, explanation);
}
