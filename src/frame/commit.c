/* commit.c - stage 8: settling, messages, actions, measured costs, statistics, in this order.
 *
 * Order: what updates asked of others, entry by entry whatever worker was faster; then every entry's outcome
 * (settle.c), which publishes; then messages, in order of their senders; then action atoms (act.c), those that wait
 * since earlier frames first, as long as there is time; then what was learnt. Stage 7 leaves time for all of this; when
 * something outside took that time away, the commit stops just before the deadline and the next frame begins with the
 * rest of it.
 */
#include "agents/batch.h"
#include "base/assert.h"
#include "base/error.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/settle.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "run/timeline.h"
#include "world/cost_learning.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/world_learnt.h"
#include "world/world_links.h"
#include "world/world_queues.h"
#include "world/world_record.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

enum { ENTRIES_TO_LEARN_FROM = 64 };

/* Wakes that found their agent busy come last: which wakes these are is a matter of time. */
static bool is_late_wake(const logged_command *logged) {
  return logged && logged->entry == UINT32_MAX;
}

/* Merges what the updates of all workers asked of other agents into the list for the next intake, in the order of
 * entries, whatever worker was faster. */
static void merge_logs(struct muster_world *world) {
  log_merge merge;
  const logged_command *logged;
  runner_merge_logs(world->runner, &merge);
  while ((logged = runner_merge_next(&merge)) && !is_late_wake(logged)) lifecycle_defer(world, &logged->command);
  for (struct command wake;; logged = runner_merge_next(&merge)) {
    if (logged) wake = logged->command;
    if (!world_record_command(world, logged != NULL, &wake)) return;
    lifecycle_defer(world, &wake);
  }
}

static void count_update_time(muster_statistics *sums, uint64_t cost_ns) {
  uint32_t bucket = 0;
  while (cost_ns > muster_update_time_bound(bucket)) bucket++;
  ASSERT(bucket < sizeof sums->update_times / sizeof *sums->update_times);
  sums->update_times[bucket]++;
  sums->update_times_ns += cost_ns;
}

static void learn_sample(struct muster_world *world, const cost_sample *sample) {
  cost_learning_take_sample(world, sample);
  if (sample->how != SAMPLE_DOUBTED) count_update_time(&world->sums->statistics, sample->cost_ns);
}

/* Learns from samples of a worker until the clock passes `end_ns`, and forgets the rest: what costs are is known from
 * fewer as well, a little later. */
static void learn_samples(struct muster_world *world, worker_state *state, uint64_t end_ns) {
  enum { BETWEEN_LOOKS = 32, AHEAD = 8 };
  uint32_t taken = 0;
  for (; taken < state->sample_count; taken++) {
    if (taken % BETWEEN_LOOKS == 0 && taken && clock_now(world->clock) >= end_ns) break;
    if (taken + AHEAD < state->sample_count)
      __builtin_prefetch(world_row(world, state->samples[taken + AHEAD].agent), 1);
    learn_sample(world, &state->samples[taken]);
  }
  state->sample_count = taken;
}

static void learn(struct muster_world *world, uint64_t end_ns) {
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    worker_state *state = runner_state_in_turn(world->runner, i);
    learn_samples(world, state, end_ns);
    world->sums->statistics.interrupted += state->interrupted;
    world->sums->report.cycles += (uint32_t)state->cycles;
  }
  frame_record_costs(world);
  settle_count_refused(world);
}

/* Settles the batch and then delivers what it sent; goes on where it stopped before. */
static void settle_batch(struct muster_world *world, uint64_t end_ns) {
  commit_progress *progress = world->commit;
  ASSERT(progress->open && progress->begun);
  if (!progress->all_settled && settle_entries(world, end_ns)) {
    learn(world, end_ns);
    progress->all_settled = true;
  }
  if (progress->all_settled) progress->open = !messages_deliver(world, end_ns);
}

/* Notes how long agents wait that have not started. Each place of a queue that is looked at may be a cache miss, and
 * the deadline may be past: when many places at the head have been left, the search goes on in later frames. */
static void note_waiting(struct muster_world *world) {
  enum { PLACES_MOST = 32 };
  ready_set *ready = &world->queues->ready;
  uint32_t most = world_is_virtual(world) ? UINT32_MAX : PLACES_MOST;
  ready_pass_over(ready, most);
  uint64_t oldest_ns = ready_oldest_ns(ready, &world->agents.store, most);
  if (oldest_ns != UINT64_MAX) settle_note_wait(world, oldest_ns);
  for (uint32_t i = 0; i < world->batch->held_count; i++) {
    const agent_row *row = world_row(world, world->batch->held[i]);
    if (!(row->atom_next | row->owes)) settle_note_wait(world, row->first_due_ns);
  }
  world->sums->report.carried = ready->count - ready->begun + world->batch->held_count;
  ASSERT(ready->begun <= ready->count && world->batch->held_count <= HELD_MAX);
}

/* Counts what workers did with sets, and what atoms answered, since the last time. */
static void count_sets(struct muster_world *world) {
  uint64_t refused = 0;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    worker_state *state = &world->runner->states[i];
    world->sums->report.sets_cut += (uint32_t)state->sets_cut;
    world->sums->statistics.sets_cut += state->sets_cut;
    world->sums->statistics.results_refused += state->results_refused;
    refused += state->results_refused;
    state->sets_cut = state->results_refused = 0;
  }
  if (!refused || world->sums->results_told) return;
  world->sums->results_told = true;
  log_write(
      &world->def.log, MUSTER_LOG_WARNING,
      "frame %llu: atoms returned what is no muster_atom_result, or MUSTER_ATOM_MORE outside of sets (%llu times): "
      "it counts as MUSTER_ATOM_NEXT; muster_statistics.results_refused counts on",
      (unsigned long long)world->frames, (unsigned long long)refused);
}

void frame_settle(struct muster_world *world) {
  if (!world->commit->open) return;
  if (!world->commit->begun) merge_logs(world);
  world->commit->begun = true;
  world->frame->forecast.gap_ns = forecast_gap_ns(world); /* the last frame has learnt since the forecast */
  settle_batch(world, UINT64_MAX);
  ASSERT(!world->commit->open && world->links->mailbox.sender_count == 0);
  forecast_learn_holding(world);
  runaways_enforce(world);
  count_sets(world);
}

void frame_settle_between(struct muster_world *world) {
  if (!world->commit->open) return;
  struct pool_entry entered;
  world->runner->caller = pool_index_of(pool_enter(&entered, world->pool));
  frame_settle(world);
  pool_leave(&entered);
}

/* Adds up what the workers completed, into the report. */
static void gather_parts(struct muster_world *world) {
  for (uint32_t i = 0; i < world->sums->part_count; i++) {
    world->sums->report.completed += (uint32_t)world->sums->parts[i].completed;
    world->sums->parts[i].completed = 0;
  }
}

static void begin_settling(struct muster_world *world, uint64_t end_ns) {
  ASSERT(world->commit->open && !world->commit->begun && world->commit->settled == 0);
  world->commit->begun = true;
  merge_logs(world);
  timeline_alone(world->runner->timeline, "merge_logs");
  settle_beside(world);
  timeline_alone(world->runner->timeline, "settle_beside");
  settle_batch(world, end_ns);
  timeline_alone(world->runner->timeline, "settle_batch");
}

void commit_run(struct muster_world *world) {
  ASSERT(!world->commit->open && world->links->mailbox.sender_count == 0);
  bool wall = !world_is_virtual(world);
  uint64_t begin_ns = wall ? clock_now(world->clock) : 0;
  /* Where costs are told the commit has no end, even when a host was late: its report is complete when the call
   * returns. */
  uint64_t end_ns = world->costs_told ? UINT64_MAX : forecast_end_ns(world);
  world->sums->report.woken += world->batch->woken_count;
  *world->commit = (commit_progress){.open = true};
  bool late = world->batch->count + world->batch->woken_count > SETTLE_BETWEEN_LOOKS && begin_ns >= end_ns;
  if (!recorder_choose(world->recorder, late)) begin_settling(world, end_ns);
  if (world->commit->settled >= ENTRIES_TO_LEARN_FROM && wall)
    estimate_add_clipped(&world->learnt->experience.settle,
                         (double)(clock_now(world->clock) - begin_ns) / world->commit->settled, 100.0);
  if (!world->commit->open) act_run(world);
  timeline_alone(world->runner->timeline, "act_run");
  if (!world->commit->open) runaways_enforce(world);
  note_waiting(world);
  gather_parts(world);
  count_sets(world);
}
