/* snapshot_learnt.c - what a snapshot says of penalties, of what frames have taught about their own cost, and of what
 * is reserved for future frames. */
#include "base/assert.h"
#include "plan/offenders.h"
#include "snapshot/snapshot.h"
#include "world/conduct_state.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- conduct
 */

static void exchange_offenders(struct snapshot *snapshot) {
  struct offenders *offenders = &snapshot->world->conduct->offenders;
  uint32_t count = snapshot_count(snapshot, offenders->count, OFFENDERS_MAX, "offenders");
  uint32_t hand = snapshot_count(snapshot, offenders->hand, OFFENDERS_MAX, "offenders");
  if (snapshot_loads(snapshot)) offenders->hand = hand;
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    struct offender entry;
    memset(&entry, 0, sizeof entry);
    if (snapshot_saves(snapshot)) entry = offenders->entries[i];
    snapshot_exchange(snapshot, &entry, sizeof entry);
    if (!snapshot_expect_agent(snapshot, entry.agent)) return;
    snapshot_expect(snapshot,
                    entry.type < snapshot->world->agents.types.count && entry.last_ns <= snapshot->info.sim_now_ns &&
                        (!snapshot_checks(snapshot) || snapshot->rows[entry.agent].status > AGENT_PENDING),
                    "agent %u offended as none can", entry.agent);
    if (snapshot_checks(snapshot))
      for (uint32_t k = 0; k < i; k++)
        snapshot_expect(snapshot, snapshot->offenders[k] != entry.agent, "agent %u offends twice", entry.agent);
    if (snapshot_checks(snapshot)) snapshot->offenders[i] = entry.agent;
    if (!snapshot_loads(snapshot)) continue;
    offenders->entries[offenders->count++] = entry;
    offenders->places[entry.agent] = (uint16_t)offenders->count;
  }
}

/* Agents in quarantine or with a demotion were counted as they were read. */
static void exchange_conduct_of_type(struct snapshot *snapshot, uint32_t number) {
  ASSERT(number < snapshot->world->agents.types.count);
  type_conduct *own = &snapshot->world->conduct->offenders.types[number], saved = *own;
  snapshot_exchange(snapshot, &saved, sizeof saved);
  snapshot_expect(snapshot, saved.level_floor < MUSTER_LEVELS, "type %u is demoted by %u levels", number + 1,
                  saved.level_floor);
  if (!snapshot_loads(snapshot)) return;
  saved.agents_demoted = own->agents_demoted;
  saved.agents_quarantined = own->agents_quarantined;
  *own = saved;
}

typedef struct saved_conduct {
  uint32_t regrade_next, regrade_left, log_lines, log_left_out;
  uint64_t log_begin_ns;
} saved_conduct;

void snapshot_conduct(struct snapshot *snapshot) {
  conduct_state *conduct = snapshot->world->conduct;
  saved_conduct saved = {conduct->regrade_next, conduct->regrade_left, conduct->log_lines, conduct->log_left_out,
                         conduct->log_begin_ns};
  snapshot_exchange(snapshot, &saved, sizeof saved);
  snapshot_expect(snapshot, (uint64_t)saved.regrade_next + saved.regrade_left <= snapshot->high,
                  "%u agents are to be graded", saved.regrade_left);
  if (snapshot_loads(snapshot)) {
    conduct->regrade_next = saved.regrade_next;
    conduct->regrade_left = saved.regrade_left;
    conduct->log_lines = saved.log_lines;
    conduct->log_left_out = saved.log_left_out;
    conduct->log_begin_ns = saved.log_begin_ns;
  }
  exchange_offenders(snapshot);
  for (uint32_t i = 0; i < snapshot->world->agents.types.count && !snapshot->failed; i++)
    exchange_conduct_of_type(snapshot, i);
}

/* ----------------------------------------------------------------------------------------------------------- learnt
 */

static bool is_estimate(const cost_estimate *estimate) {
  return snapshot_is_duration(estimate->mean_ns) && snapshot_is_duration(estimate->high_ns) &&
         snapshot_is_duration(estimate->usual_ns) && snapshot_is_duration(estimate->late_ns) &&
         estimate->limit_ns >= 0.0;
}

static bool is_experience(const frame_experience *experience) {
  const struct controller *controller = &experience->controller;
  for (uint32_t i = 0; i < ACT_KINDS; i++)
    if (!is_estimate(&experience->act_each[i])) return false;
  return is_estimate(&experience->plan) && is_estimate(&experience->prepare) && is_estimate(&experience->rank) &&
         is_estimate(&experience->settle) && is_estimate(&experience->act) && is_estimate(&experience->act_settle) &&
         snapshot_is_duration(experience->acts_left_ns) && snapshot_is_duration(experience->each_ns) &&
         experience->holding >= 0.0 && experience->holding <= 1.0 && snapshot_is_duration(experience->reserve_ns) &&
         controller->share > 0.0 && controller->share < 2.0 && snapshot_is_duration(controller->backlog_ns) &&
         snapshot_is_duration(controller->stood_ns) && controller->debt_budgets >= 0.0 &&
         controller->debt_budgets <= 8.0 && controller->debt_ns < 1000000000000u;
}

static void exchange_experience(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  frame_experience experience = world->learnt->experience;
  double lambda = world->plan->periods.lambda, filed = world->queues->ready.filed_lambda;
  snapshot_exchange(snapshot, &experience, sizeof experience);
  snapshot_expect(snapshot, is_experience(&experience), "measured times that cannot be");
  snapshot_exchange(snapshot, &lambda, sizeof lambda);
  snapshot_exchange(snapshot, &filed, sizeof filed);
  snapshot_expect(snapshot, lambda >= 0.0 && filed >= 0.0, "lambdas of %g and %g", lambda, filed);
  uint32_t next = snapshot_number(snapshot, world->plan->periods.next);
  if (!snapshot_loads(snapshot)) return;
  experience.controller.debt_budgets = world->learnt->experience.controller.debt_budgets;
  world->learnt->experience = experience;
  world->plan->periods.lambda = lambda;
  world->queues->ready.filed_lambda = filed;
  world->plan->periods.next = next;
}

/* Forgets reservations that lie further ahead than the book reaches: no world makes such a reservation, and it could
 * not be taken back. */
static void forget_beyond(struct snapshot *snapshot) {
  ASSERT(snapshot_loads(snapshot) && snapshot->world->queues->classes.activation.delay_max > 0);
  activation_book *book = &snapshot->world->queues->classes.activation;
  for (uint32_t i = 0; i < snapshot->high; i++)
    if ((int32_t)(book->reservations[i].beat - book->beat) >= ACTIVATION_BEATS) book->reservations[i].cost_ns = 0;
}

/* Bookings for future beats. */
static void exchange_book(struct snapshot *snapshot) {
  activation_book *book = &snapshot->world->queues->classes.activation;
  activation_book head = *book;
  activation_share share;
  if (!book->delay_max) return;
  snapshot_exchange(snapshot, &head.beat, sizeof head.beat);
  snapshot_exchange(snapshot, &head.sharers, sizeof head.sharers);
  snapshot_exchange(snapshot, &head.pace, sizeof head.pace);
  snapshot_exchange(snapshot, &head.mean_ns, sizeof head.mean_ns);
  snapshot_expect(snapshot,
                  head.sharers <= ACTIVATION_SHARDS && snapshot_is_duration(head.pace.beat_ns) &&
                      head.pace.beats_per_ns >= 0.0 && head.pace.beats_per_ns <= 1e9 && head.pace.late >= -0.5 &&
                      head.pace.late <= 0.5,
                  "a book that cannot be");
  snapshot_exchange_own(snapshot, book->reserved_ns, ACTIVATION_BEATS * sizeof *book->reserved_ns);
  for (uint32_t i = 0; i < ACTIVATION_SHARDS; i++) {
    share = book->shares[i];
    snapshot_exchange(snapshot, &share, sizeof share);
    snapshot_expect(snapshot, share.first <= ACTIVATION_BEATS && share.end <= ACTIVATION_BEATS,
                    "share %u of the book ends at %u", i, share.end);
    if (snapshot_loads(snapshot)) book->shares[i] = share;
  }
  if (!snapshot_loads(snapshot)) return;
  book->beat = head.beat;
  book->sharers = head.sharers;
  book->pace = head.pace;
  book->mean_ns = head.mean_ns;
  forget_beyond(snapshot);
}

/* For types with planned sets: what their agents' updates cost, by time. */
static void exchange_phases(struct snapshot *snapshot) {
  phase_table *table = &snapshot->world->plan->phases;
  for (uint32_t i = 0; table->delay_max && i < snapshot->world->agents.types.count && !snapshot->failed; i++) {
    struct type_phases *phases = &table->types[i];
    ASSERT(phases->cycle <= PHASE_CYCLE_MAX);
    uint32_t cycle = snapshot_number(snapshot, phases->cycle);
    snapshot_expect(snapshot, cycle == 0 || cycle == phases->cycle, "type %u repeats after %u updates", i + 1, cycle);
    if (snapshot->failed) return;
    if (cycle) snapshot_exchange_own(snapshot, phases->load_ns, cycle * sizeof *phases->load_ns);
    if (snapshot_loads(snapshot)) phases->cycle = cycle;
  }
}

/* The slices of types with sets. */
static void exchange_slices(struct snapshot *snapshot) {
  struct batch *batch = snapshot->world->batch;
  if (batch->shares)
    snapshot_exchange_own(snapshot, batch->shares, snapshot->world->agents.types.count * sizeof *batch->shares);
}

void snapshot_learnt(struct snapshot *snapshot) {
  exchange_experience(snapshot);
  exchange_book(snapshot);
  exchange_phases(snapshot);
  exchange_slices(snapshot);
}
