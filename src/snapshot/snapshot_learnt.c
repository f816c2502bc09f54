/* snapshot_learnt.c - what a snapshot says of penalties, of what frames have taught about their own cost, and of what
 * is reserved for future frames. */
#include "base/assert.h"
#include "plan/overrun_table.h"
#include "snapshot/snapshot.h"
#include "world/overruns_state.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- overruns */

static void check_overrun_entry(struct snapshot *snapshot, const struct overrun_entry *entry) {
  snapshot_mark(snapshot, entry->agent, SNAPSHOT_OVERRUNS, "the overrun counts");
  snapshot_expect(snapshot,
                  entry->type < snapshot->world->agents.types.count && entry->last_ns <= snapshot->info.sim_now_ns &&
                      snapshot_is_active(&snapshot->rows[entry->agent]),
                  "agent %u has overruns as none can", entry->agent);
}

static void exchange_overrun_entries(struct snapshot *snapshot) {
  struct overrun_table *table = &snapshot->world->overruns->table;
  uint32_t count = snapshot_count(snapshot, table->count, OVERRUN_ENTRIES_MAX, "overrun counts");
  snapshot_count_own(snapshot, &table->hand, OVERRUN_ENTRIES_MAX, "overrun counts");
  for (uint32_t i = 0; i < count; i++) {
    struct overrun_entry checked, *entry = snapshot_object(snapshot, &table->entries[i], &checked);
    snapshot_exchange(snapshot, entry, sizeof *entry);
    if (snapshot_checks(snapshot)) check_overrun_entry(snapshot, entry);
    if (!snapshot_loads(snapshot)) continue;
    table->count = i + 1;
    table->places[entry->agent] = (uint16_t)table->count;
  }
}

/* Agents in quarantine or with a demotion were counted as they were read. */
static void exchange_type_overruns(struct snapshot *snapshot, uint32_t number) {
  static const snapshot_column columns[] = {SPAN(type_overruns, overruns, untold),
                                            COUNT(type_overruns, level_floor, MUSTER_LEVELS - 1),
                                            SPAN(type_overruns, watched_until, bad_end_ns), COLUMNS_END};
  ASSERT(number < snapshot->world->agents.types.count);
  type_overruns *own = &snapshot->world->overruns->table.types[number], checked;
  snapshot_columns(snapshot, columns, snapshot_object(snapshot, own, &checked));
  snapshot_expect_columns(snapshot, "type %u is demoted as none can be", number + 1);
}

void snapshot_overruns(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {INDEX(overruns_state, regrade_next), INDEX(overruns_state, regrade_left),
                                            ANY(overruns_state, log_begin_ns),
                                            COUNT(overruns_state, log_lines, OVERRUNS_LINES_PER_SECOND),
                                            ANY(overruns_state, log_left_out), COLUMNS_END};
  overruns_state checked, *overruns = snapshot_object(snapshot, snapshot->world->overruns, &checked);
  snapshot_columns(snapshot, columns, overruns);
  snapshot_expect_columns(snapshot, "overruns as none can be");
  snapshot_expect(snapshot, overruns->regrade_next + overruns->regrade_left <= snapshot->high,
                  "%u agents are to be graded", overruns->regrade_left);
  exchange_overrun_entries(snapshot);
  for (uint32_t i = 0; i < snapshot->world->agents.types.count; i++) exchange_type_overruns(snapshot, i);
}

/* ----------------------------------------------------------------------------------------------------------- learnt */

/* How much debt may grow is the world's own. */
static void exchange_experience(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {
      DOUBLE(struct periods, lambda, 0.0, INFINITY), DOUBLE(struct periods, desired_mean, 0.0, 1e15),
      DOUBLE(struct periods, price_most, 0.0, INFINITY), INDEX(struct periods, next), COLUMNS_END};
  struct muster_world *world = snapshot->world;
  frame_experience saved = world->learnt->experience;
  struct periods checked, *periods = snapshot_object(snapshot, &world->plan->periods, &checked);
  snapshot_exchange(snapshot, &saved, sizeof saved);
  snapshot_expect(snapshot, experience_is_possible(&saved), "measured times that cannot be");
  snapshot_columns(snapshot, columns, periods);
  snapshot_expect_columns(snapshot, "periods that cannot be");
  if (!snapshot_loads(snapshot)) return;
  saved.controller.debt_budgets = world->learnt->experience.controller.debt_budgets;
  world->learnt->experience = saved;
}

/* Forgets reservations that lie further ahead than the book reaches: no world makes such a reservation, and it could
 * not be taken back. */
static void forget_beyond(struct snapshot *snapshot) {
  ASSERT(snapshot_loads(snapshot) && snapshot->world->queues->classes.activation.delay_max > 0);
  activation_book *book = &snapshot->world->queues->classes.activation;
  for (uint32_t i = 0; i < snapshot->high; i++)
    if ((int32_t)(book->reservations[i].beat - book->beat) >= ACTIVATION_BEATS) book->reservations[i].cost_ns = 0;
}

/* Reservations for future beats. */
static void exchange_book(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {ANY(activation_book, beat),
                                            COUNT(activation_book, sharers, ACTIVATION_SHARES),
                                            SPAN(activation_book, pace, mean_ns), COLUMNS_END};
  activation_book *own = &snapshot->world->queues->classes.activation, checked;
  if (!own->delay_max) return;
  activation_book *book = snapshot_object(snapshot, own, &checked);
  snapshot_columns(snapshot, columns, book);
  snapshot_expect(snapshot, activation_pace_is_possible(&book->pace), "a book that cannot be");
  snapshot_exchange_own(snapshot, own->reserved_ns, ACTIVATION_BEATS * sizeof *own->reserved_ns);
  for (uint32_t i = 0; i < ACTIVATION_SHARES; i++) {
    activation_share substitute, *share = snapshot_object(snapshot, &own->shares[i], &substitute);
    snapshot_exchange(snapshot, share, sizeof *share);
    snapshot_expect(snapshot, share->first <= ACTIVATION_BEATS && share->end <= ACTIVATION_BEATS,
                    "share %u of the book ends at %u", i, share->end);
  }
  if (snapshot_loads(snapshot)) forget_beyond(snapshot);
}

/* For types with planned sets: what their agents' updates cost, by time. */
static void exchange_phases(struct snapshot *snapshot) {
  phase_table *table = &snapshot->world->plan->phases;
  for (uint32_t i = 0; table->delay_max && i < snapshot->world->agents.types.count; i++) {
    struct type_phases *phases = &table->types[i];
    ASSERT(phases->cycle <= PHASE_CYCLE_MAX);
    uint32_t cycle = snapshot_number(snapshot, phases->cycle);
    snapshot_expect(snapshot, cycle == 0 || cycle == phases->cycle, "type %u repeats after %u updates", i + 1, cycle);
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

/* Updates that were completed after the last report: the next one counts them. */
static void exchange_unreported(struct snapshot *snapshot) {
  settle_part *parts = snapshot->world->sums->parts;
  uint64_t completed = 0;
  for (uint32_t i = 0; snapshot_saves(snapshot) && i < snapshot->world->sums->part_count; i++)
    completed += parts[i].completed;
  completed = snapshot_number(snapshot, (uint32_t)completed);
  if (snapshot_loads(snapshot)) parts[0].completed = completed;
}

void snapshot_learnt(struct snapshot *snapshot) {
  exchange_experience(snapshot);
  exchange_book(snapshot);
  exchange_phases(snapshot);
  exchange_slices(snapshot);
  exchange_unreported(snapshot);
}
