#include "plan/rank.h"

#include "base/assert.h"
#include "plan/charge.h"
#include "plan/claim.h"
#include "plan/ready_walk.h"
#include "plan/strands.h"

#include <math.h>

/* How many agents that do not fit are passed over, in the hope that shorter ones after them do. */
enum { PASSED_OVER_MAX = 256 };

/* Whether the sum of what was admitted fills the capacity. On the wall clock it is a sum of means, and costs vary: it
 * is surely filled only some standard deviations beyond. The deviation of a sum of n costs grows with the root of n; a
 * margin for each of them would grow with n, and leave most of the capacity unused. What is not known well is the mean
 * of a type that has hardly run, and all its updates share that error: so a host, whose plan cannot grow, is told of
 * more, four times the capacity at most. */
static inline bool fills_capacity(const struct filling *filling) {
  static const double over_most = 3.0;
  const rank_limits *limits = filling->limits;
  uint64_t taken_ns = filling_taken_ns(filling);
  if (taken_ns < limits->capacity_ns) return false;
  double over_ns = (double)(taken_ns - limits->capacity_ns);
  double doubt_ns2 = filling->variance_ns2 + filling->unsure_ns * filling->unsure_ns;
  doubt_ns2 *= (double)limits->deviations * (double)limits->deviations;
  doubt_ns2 = fmin(doubt_ns2, over_most * over_most * (double)limits->capacity_ns * (double)limits->capacity_ns);
  return filling->batch->count >= limits->entries_least && over_ns * over_ns >= doubt_ns2;
}

static inline bool rank_is_full(const struct filling *filling) {
  const struct batch *batch = filling->batch;
  bool full = batch->count >= filling->limits->updates_max || fills_capacity(filling) ||
              filling->result.passed_over > PASSED_OVER_MAX;
  return full && batch->count > 0;
}

/* Wall clock: an update that was cut inside an atom may take its whole slice again; no update takes more of a frame. */
static void charge_of_slice(const agent_row *row, const agent_type *type, batch_entry *entry) {
  uint64_t slice_ns = type->def.slices.slice_ns;
  if (row->atom_next || slice_ns < entry->predicted_ns) entry->predicted_ns = (uint32_t)slice_ns;
}

/* Wall clock: charges what the agent is believed to cost by the mean of type and level and by its own factor, without
 * what a preempted update has behind it. */
static inline void charge_mean(const struct filling *filling, const cost_estimate *estimate, const agent_row *row,
                               const agent_type *type, batch_entry *entry) {
  entry->predicted_ns = costs_whole_ns((double)filling->entry_ns);
  entry->atom_end = type->parallel_atoms;
  if (__builtin_expect(type->sliced, false)) charge_of_slice(row, type, entry);
  if (!row->atom_next || type->sliced) return;
  double share = (double)(type->parallel_atoms - row->atom_next) / (double)(type->parallel_atoms + 1);
  entry->predicted_ns = costs_whole_ns(estimate->mean_ns * (double)filling->part * share);
}

/* Wall clock, where the host runs updates: its slice is the high percentile, and more for a dear agent. */
static inline void rank_set_slice(const struct filling *filling, const cost_estimate *estimate, const agent_row *row,
                                  const agent_type *type, batch_entry *entry) {
  double part = fmax((double)filling->part, 1.0);
  double slice_ns = fmax(estimate->high_ns, estimate->mean_ns) * part;
  if (row->atom_next) slice_ns *= (double)(type->parallel_atoms - row->atom_next) / (double)type->parallel_atoms;
  entry->model_ns = slice_ns < 1.0 ? 1 : (uint64_t)slice_ns;
}

/* Wall clock: charges a pass no more than its slice. */
static void charge_slice(const struct filling *filling, batch_entry *entry) {
  uint32_t slice_ns = filling->batch->passes[filling->batch->count].slice_ns;
  if (slice_ns && slice_ns < entry->predicted_ns) entry->predicted_ns = slice_ns;
}

/* Whether an update can be begun in the time that is left: one of several atoms or sets stops between them. */
static inline bool fits_in(const rank_limits *limits, const agent_type *type, const batch_entry *entry) {
  if (!limits->appends || type->has_sets) return true;
  uint32_t steps = type->parallel_atoms > 1 ? type->parallel_atoms : 1u;
  return (double)entry->predicted_ns * (double)limits->scale / steps <= (double)limits->longest_ns;
}

/* Charges an agent what its update costs; false when it does not fit. */
static inline bool rank_charge(struct filling *filling, const cost_estimate *estimate, const agent_type *type,
                               batch_entry *entry) {
  const agent_row *row = &filling->store->rows[entry->agent];
  bool passes = type->has_sets && !type->rated;
  if (passes) charge_begin_pass(filling, type, entry);
  if (filling->limits->virtual) {
    if (passes) return charge_model_pass(filling, type, entry);
    return type->rated ? charge_model_sets(filling, type, entry) : charge_model(filling, type, entry);
  }
  charge_mean(filling, estimate, row, type, entry);
  if (filling->limits->planned) rank_set_slice(filling, estimate, row, type, entry);
  if (passes) charge_slice(filling, entry);
  return fits_in(filling->limits, type, entry);
}

/* Sets aside ids for an entry's spawns and places for its messages. */
static void rank_set_aside(struct filling *filling, const agent_type *type, batch_entry *entry) {
  struct batch *batch = filling->batch;
  uint32_t ids_left = filling->limits->spawn_ids - filling->result.spawn_ids;
  entry->spawn_base = filling->result.spawn_ids;
  entry->spawn_limit = (uint16_t)(type->spawns_max < ids_left ? type->spawns_max : ids_left);
  filling->result.spawn_ids += entry->spawn_limit;
  uint32_t places_left = batch->places_max - batch->places;
  entry->send_base = places_left ? batch->places : NO_PLACES;
  entry->send_limit = (uint16_t)(type->sends_max < places_left ? type->sends_max : places_left);
  batch->places += entry->send_limit;
}

/* Appends the entry to the batch. */
static inline void append(struct filling *filling, const cost_estimate *estimate, const agent_type *type,
                          batch_entry *entry) {
  struct batch *batch = filling->batch;
  if (type->spawns_max | type->sends_max) rank_set_aside(filling, type, entry);
  filling->result.predicted_ns += filling->limits->virtual ? entry->model_ns : entry->predicted_ns;
  filling->variance_ns2 += (double)filling->entry_ns2;
  if (filling->limits->planned && __builtin_expect(estimate->samples < LEARNING_SAMPLES, false))
    filling->unsure_ns += sqrt((double)estimate->variance_ns2 / (double)(estimate->samples + 1));
  claim_for(filling, estimate, type, entry);
  if (__builtin_expect(batch->strands != NULL, false)) strands_note(filling, type, entry);
  batch->outcomes[batch->count++] = OUTCOME_NOT_RUN;
  if (filling_taken_ns(filling) <= filling->limits->capacity_ns) filling->result.fits = batch->count;
}

/* Prepares the entry behind the last one. */
static inline batch_entry *rank_begin_entry(const struct batch *batch, uint32_t index) {
  batch_entry *entry = &batch->entries[batch->count];
  entry->model_ns = 0;
  entry->agent = index;
  entry->spawn_base = 0;
  entry->spawn_limit = 0;
  entry->send_limit = 0;
  entry->cycles = 0;
  entry->overran = false;
  entry->send_base = batch->places_max > batch->places ? batch->places : NO_PLACES;
  return entry;
}

/* Hands on claims while others are cut; the last one may still grow. */
static inline void rank_publish(struct filling *filling) {
  enum { TOGETHER = 4 };
  const rank_limits *limits = filling->limits;
  uint32_t cut = filling->batch->claim_count - 1;
  if (!limits->publish || cut < filling->published + TOGETHER) return;
  filling->published = cut;
  limits->publish(limits->owner, cut, filling->result.predicted_ns);
}

/* An agent of a type in quarantine waits in a frozen class, where no time passes. */
static void divert(const struct filling *filling, uint32_t index) {
  class_table *classes = filling->limits->classes;
  ASSERT(classes);
  ready_admit(filling->ready, filling->store, index);
  ready_forget(filling->ready, filling->store, index);
  due_insert(classes, &classes->classes[filling->store->rows[index].class], filling->store, index);
}

static inline void admit(struct filling *filling, uint32_t index) {
  const agent_row *row = &filling->store->rows[index];
  const agent_type *type = &filling->types->types[row->type];
  const cost_estimate *estimate = costs_of(filling->costs, row->type, row->level);
  if (__builtin_expect(type->quarantined, false)) {
    divert(filling, index);
    return;
  }
  batch_entry *entry = rank_begin_entry(filling->batch, index);
  filling_begin(filling, estimate, row);
  if (!rank_charge(filling, estimate, type, entry)) {
    filling->result.passed_over++;
    return;
  }
  if (__builtin_expect(filling->limits->cycles_max > 1, false)) charge_cycles(filling, type, entry);
  ready_admit(filling->ready, filling->store, index);
  filling->weight -= type->def.sets.share;
  append(filling, estimate, type, entry);
  rank_publish(filling);
}

/* The next agent in the queue by release that waits to be admitted and has waited `least_ns` or longer. */
static uint32_t next_waiting(const struct filling *filling, uint32_t *place, double least_ns) {
  uint32_t index;
  while ((index = ready_next_waiting(filling->ready, place)) != UINT32_MAX) {
    const agent_row *row = &filling->store->rows[index];
    if ((double)(filling->limits->now_ns - row->first_due_ns) < least_ns) return UINT32_MAX;
    if (row->status == AGENT_READY) return index;
  }
  return UINT32_MAX;
}

/* Admits an agent so that it runs whatever it costs. Else an update longer than the capacity would never run. */
static void admit_surely(struct filling *filling, uint32_t index) {
  uint32_t before = filling->batch->count;
  filling->closed = true;
  admit(filling, index);
  if (filling->batch->count == before) return;
  filling->batch->claims[filling->batch->claim_count - 1].sure = true;
  filling->closed = true; /* no other entry joins its claim */
}

/* An overdue agent comes before even the woken ones. One in a frame, so that the woken lose no more than that. */
static void admit_overdue(struct filling *filling) {
  uint32_t place = filling->ready->waiting.head, index;
  if (filling->limits->appends || rank_is_full(filling)) return;
  index = next_waiting(filling, &place, 2.0 * filling->ready->weights.guarantee_ns + 1.0); /* more than twice S */
  if (index != UINT32_MAX) admit_surely(filling, index);
}

static void admit_woken(struct filling *filling) {
  uint32_t place = filling->ready->woken.head, index;
  while (!rank_is_full(filling) && (index = ready_next_woken(filling->ready, &place)) != UINT32_MAX)
    admit(filling, index);
}

/* The next agent in the queue by release that has waited longer than the guarantee. */
static uint32_t next_guaranteed(const struct filling *filling, uint32_t *place) {
  return next_waiting(filling, place, filling->ready->weights.guarantee_ns);
}

static void admit_guaranteed(struct filling *filling) {
  uint32_t place = filling->ready->waiting.head, index;
  while (!rank_is_full(filling) && (index = next_guaranteed(filling, &place)) != UINT32_MAX) admit(filling, index);
}

/* Admits woken and guaranteed agents in turn, each with half of the time and of the updates until one kind has no more.
 * So each has half of what runs even when less runs than was admitted. */
static void admit_in_turn(struct filling *filling) {
  enum { GUARANTEED, WOKEN, BOTH };
  uint32_t places[BOTH] = {filling->ready->waiting.head, filling->ready->woken.head}, counts[BOTH] = {0};
  uint64_t took_ns[BOTH] = {0};
  while (!rank_is_full(filling)) {
    uint32_t before = filling->batch->count;
    uint64_t before_ns = filling_taken_ns(filling);
    int turn = took_ns[WOKEN] <= took_ns[GUARANTEED] && counts[WOKEN] <= counts[GUARANTEED] ? WOKEN : GUARANTEED;
    uint32_t index = turn == WOKEN ? ready_next_woken(filling->ready, &places[WOKEN])
                                   : next_guaranteed(filling, &places[GUARANTEED]);
    if (index == UINT32_MAX) break;
    admit(filling, index);
    counts[turn] += filling->batch->count - before;
    took_ns[turn] += filling_taken_ns(filling) - before_ns;
  }
  filling->result.woken_ns = took_ns[WOKEN];
}

/* Woken agents come first, but leave half to agents that have waited longer than the guarantee. */
static void admit_first(struct filling *filling) {
  uint32_t place = filling->ready->waiting.head;
  filling->result.guarded = next_guaranteed(filling, &place) != UINT32_MAX;
  if (filling->result.guarded) {
    admit_in_turn(filling);
    admit_guaranteed(filling);
  }
  admit_woken(filling);
}

static void admit_ranked(struct filling *filling) {
  uint32_t index;
  ready_begin_walk(filling->ready, filling->limits->parts);
  while (!rank_is_full(filling) && (index = ready_next(filling->ready, filling->store)) != UINT32_MAX)
    admit(filling, index);
  ready_end_walk(filling->ready, filling->store);
}

/* ------------------------------------------------------------------------------------------- the order of deadlines */

/* Most were released in this frame, and are not late yet. */
static inline bool is_late(const struct filling *filling, uint32_t index) {
  const agent_row *row = &filling->store->rows[index];
  if (row->first_due_ns == filling->limits->now_ns && !row->reacts) return false;
  return ready_deadline(filling->ready, row) < (int64_t)filling->limits->now_ns;
}

/* Late agents come first by their keys, whether they were woken or ranked. */
static void admit_by_deadline(struct filling *filling) {
  bool first = !filling->limits->appends;
  uint32_t index;
  ready_begin_walk(filling->ready, filling->limits->parts);
  while (!rank_is_full(filling) && (index = ready_next(filling->ready, filling->store)) != UINT32_MAX) {
    bool woken = filling->store->rows[index].woken;
    bool late = (first || !(woken || filling->result.guarded)) && is_late(filling, index); /* else nothing asks */
    uint64_t before_ns = filling_taken_ns(filling);
    (first && late ? admit_surely : admit)(filling, index);
    if (woken) filling->result.woken_ns += filling_taken_ns(filling) - before_ns;
    filling->result.guarded |= late && !woken;
    first = false;
  }
  ready_end_walk(filling->ready, filling->store);
}

/* ------------------------------------------------------------------------------------------------------------- both */

rank_result rank_held(agent_store *store, const type_table *types, const cost_table *costs, const rank_limits *limits,
                      struct batch *batch) {
  struct filling filling = {
      .store = store, .types = types, .costs = costs, .limits = limits, .batch = batch, .closed = true};
  ASSERT(!limits->virtual || batch->held_count == 0);
  batch->count = batch->claim_count = batch->places = batch->step_count = 0;
  batch->now_ns = limits->now_ns;
  for (uint32_t i = 0; i < batch->held_count; i++) {
    const agent_row *row = &store->rows[batch->held[i]];
    const agent_type *type = &types->types[row->type];
    const cost_estimate *estimate = costs_of(costs, row->type, row->level);
    batch_entry *entry = rank_begin_entry(batch, batch->held[i]);
    filling_begin(&filling, estimate, row);
    charge_mean(&filling, estimate, row, type, entry);
    if (type->has_sets) charge_begin_pass(&filling, type, entry);
    if (type->has_sets) charge_slice(&filling, entry);
    append(&filling, estimate, type, entry);
  }
  batch->held_count = 0;
  batch->held_ns = 0;
  if (batch->strands) strands_gather(&filling, 0, 0);
  return filling.result;
}

rank_result rank_fill(ready_set *ready, agent_store *store, const type_table *types, const cost_table *costs,
                      const rank_limits *limits, rank_result held, struct batch *batch) {
  struct filling filling = {.ready = ready,
                            .store = store,
                            .types = types,
                            .costs = costs,
                            .limits = limits,
                            .batch = batch,
                            .result = held,
                            .published = batch->claim_count,
                            .closed = true};
  uint32_t first_entry = batch->count, first_claim = batch->claim_count;
  charge_weigh(&filling);
  if (ready_by_deadline(ready)) {
    admit_by_deadline(&filling);
  } else {
    admit_overdue(&filling);
    admit_first(&filling);
    admit_ranked(&filling);
  }
  ready_keep_fresh(ready, store);
  if (batch->strands) strands_gather(&filling, first_entry, first_claim);
  return filling.result;
}
