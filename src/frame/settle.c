/* settle.c - stage 8: what became of each entry of the batch, and what follows from it for its agent. */
#include "frame/settle.h"

#include "agents/passes.h"
#include "base/assert.h"
#include "base/error.h"
#include "frame/complete.h"
#include "frame/forecast.h"
#include "frame/frame_record.h"
#include "frame/settle_fetching.h"
#include "record/recorder.h"
#include "run/runner.h"
#include "world/cost_learning.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/section.h"
#include "world/serial.h"
#include "world/timing.h"
#include "world/world_commands.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

#include <muster/sets.h>

#include <stdlib.h>
#include <string.h>

/* Learns what a model or the host says that an update cost, with the parts that ran in earlier frames. A host measures.
 */
static void learn_told_cost(struct muster_world *world, const batch_entry *entry, batch_outcome outcome) {
  const agent_row *row = world_row(world, entry->agent);
  const agent_begun *begun = &world->agents.store.begun[entry->agent];
  uint64_t earlier_ns = row->atom_next ? begun->spent_ns : 0;
  uint64_t began_ns = row->atom_next ? begun->started_ns : world->batch->now_ns;
  ASSERT(began_ns >= row->last_update_ns);
  cost_source source = entry->overran ? COST_OVERRAN : world_is_virtual(world) ? COST_MODELLED : COST_MEASURED;
  cost_sample cost = {.agent = entry->agent,
                      .cost_ns = earlier_ns + entry->model_ns,
                      .elapsed_ns = began_ns - row->last_update_ns,
                      .type = row->type,
                      .level = row->level};
  if (outcome != OUTCOME_PREEMPTED) cost_learning_take(world, &cost, source);
}

/* Keeps an agent that did not run at the head of the next batch: as many agents as the other workers can run while the
 * caller plans. False when there are enough already. */
static bool hold(struct muster_world *world, const batch_entry *entry) {
  struct batch *batch = world->batch;
  const agent_type *type = world_type_of(world, entry->agent);
  double idle_ns = world->frame->forecast.gap_ns;
  /* Members and blocks of herds are never held: they are looked at, and come and go, while early workers run. */
  if (world->costs_told || type->quarantined) return false;
  if (batch->held_count == HELD_MAX || (double)batch->held_ns >= idle_ns) return false;
  if (type->herded) {
    world->commit->unheld_ns += entry->predicted_ns;
    return false;
  }
  batch->held[batch->held_count++] = entry->agent;
  ASSERT(world_row(world, entry->agent)->status == AGENT_ADMITTED);
  batch->held_ns += entry->predicted_ns;
  ready_queue(&world->queues->ready, &world->agents.store, entry->agent);
  return true;
}

/* An entry of a type with sets was run: how its pass ended. A pass that gave way, and that no worker went on with, is
 * cut. */
static batch_outcome settle_sets(struct muster_world *world, const batch_entry *entry, const batch_result *result,
                                 batch_outcome outcome) {
  const agent_row *row = world_row(world, entry->agent);
  const agent_type *type = world_type(world, row->type);
  set_pass *kept = &type->sets.passes[row->state_slot];
  if (outcome != OUTCOME_PREEMPTED) {
    world->sums->report.preempted += result->owes == OWES_BY_FRAME;
    return outcome;
  }
  uint32_t current = kept->current;
  ASSERT(current <= type->sets.count);
  if (pass_abandon(&type->sets, sets_states_of(&type->sets, row->state_slot), kept, row->level)) {
    worker_state *state = runner_caller(world->runner);
    state->set_counts[row->type * MUSTER_SETS_MAX + current - 1].cuts++;
    state->sets_cut++;
  }
  world->sums->report.preempted++;
  return kept->left ? OUTCOME_ACT : OUTCOME_FINISHED;
}

/* An update that did not run: its agent is held for the next batch, or waits among the others again. */
static void settle_not_run(struct muster_world *world, const batch_entry *entry) {
  if (!hold(world, entry)) ready_put_back(&world->queues->ready, &world->agents.store, entry->agent);
}

/* The first part of an update ran: notes how long its agent had waited. When the update goes on later, the messages
 * that it was given are remembered until then. */
static void settle_start(struct muster_world *world, uint32_t index, batch_outcome outcome) {
  const agent_row *row = world_row(world, index);
  if (row->atom_next) return;
  if (!row->owes) settle_note_wait(world, row->first_due_ns);
  if (outcome != OUTCOME_FINISHED) messages_begin(world, index);
}

/* An update that was stopped between two atoms: it goes on in a later frame, and its agent keeps its turn. */
static void settle_preempted(struct muster_world *world, const batch_entry *entry, const batch_result *result) {
  agent_row *row = world_row(world, entry->agent);
  agent_begun *begun = &world->agents.store.begun[entry->agent];
  if (!row->atom_next) begun->spent_ns = 0;
  begun->spent_ns += world->costs_told ? entry->model_ns : result->cost_ns;
  row->atom_next = result->atom_next & (MUSTER_ATOMS_MAX - 1);
  ready_put_back(&world->queues->ready, &world->agents.store, entry->agent);
  world->sums->report.preempted++;
}

/* An update with actions left: act.c runs them, and completes it. */
static void settle_acting(struct muster_world *world, uint32_t index) {
  agent_row *row = world_row(world, index);
  row->status = AGENT_ACTING;
  ASSERT(!row->scheduled && !bits_has(world->queues->acting, index));
  world->learnt->costs.actions[row->type].begun++;
  bits_set(world->queues->acting, index);
  world->queues->acting_count++;
}

/* Settles an entry of any kind: first what its update did, then how it ended. */
static void settle_entry(struct muster_world *world, const batch_entry *entry, const batch_result *result,
                         batch_outcome outcome) {
  uint32_t index = entry->agent;
  const agent_row *row = world_row(world, index);
  agent_begun *begun = &world->agents.store.begun[index];
  uint64_t began_ns = row->atom_next ? begun->started_ns : world->batch->now_ns;
  ASSERT(row->status == AGENT_ADMITTED && world_is_active(world, index));
  if (outcome == OUTCOME_NOT_RUN) {
    settle_not_run(world, entry);
    return;
  }
  const agent_type *type = world_type(world, row->type);
  if (type->has_sets && !type->rated) outcome = settle_sets(world, entry, result, outcome);
  settle_start(world, index, outcome);
  settle_effects(world, index, result);
  if (world->costs_told) learn_told_cost(world, entry, outcome);
  if (outcome != OUTCOME_FINISHED) begun->started_ns = began_ns;
  if (outcome == OUTCOME_FINISHED) update_complete(world, world->sums->parts, 0, index, began_ns);
  if (outcome == OUTCOME_PREEMPTED) settle_preempted(world, entry, result);
  if (outcome == OUTCOME_ACT) settle_acting(world, index);
}

void settle_spawned(struct muster_world *world, spawn_ids *ids, uint32_t first, uint32_t count) {
  uint32_t *all = world->commands->spawn_ids, unused = first - ids->seen;
  ASSERT(ids->seen <= first && first + count <= world->commands->spawn_id_count);
  if (ids->seen > ids->kept) memmove(all + ids->kept, all + ids->seen, unused * sizeof *all);
  for (uint32_t i = first; i < first + count; i++) spawn_queue_add(&world->commands->queues.spawns, all[i]);
  ids->kept += unused;
  ids->seen = first + count;
}

/* The last ids fill the gap: there may be half as many ids as agents, and few of them were used. */
void settle_close_ids(struct muster_world *world, const spawn_ids *ids) {
  uint32_t *all = world->commands->spawn_ids, left = world->commands->spawn_id_count - ids->seen;
  uint32_t gap = ids->seen - ids->kept, moved = gap < left ? gap : left;
  ASSERT(ids->kept <= ids->seen && ids->seen <= world->commands->spawn_id_count);
  if (moved) memcpy(all + ids->kept, all + world->commands->spawn_id_count - moved, moved * sizeof *all);
  world->commands->spawn_id_count = ids->kept + left;
}

void settle_count_refused(struct muster_world *world) {
  muster_statistics *sums = &world->sums->statistics;
  uint64_t dropped = 0;
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    worker_state *state = &world->runner->states[i];
    sums->positions_refused += state->positions_refused;
    sums->spawns_refused += state->spawns_refused;
    sums->commands_dropped += state->commands_dropped;
    sums->nearby_cut += state->nearby_cut;
    world->sums->report.nearby_cut += state->nearby_cut;
    dropped += state->commands_dropped;
    state->positions_refused = state->spawns_refused = state->commands_dropped = state->nearby_cut = 0;
  }
  if (!dropped) return;
  recorder_cannot(world->recorder, "a worker had no room for what its updates asked of others");
  log_write(&world->def.log, MUSTER_LOG_WARNING, "frame %llu: %llu commands of updates were dropped; a worker takes %d",
            (unsigned long long)world->frames, (unsigned long long)dropped, RUNNER_LOG_MAX);
}

/* Whether an entry can be settled beside others: it touches nothing of other shards, but maybe lists of the grid. */
static inline bool is_plain(const struct muster_world *world, const batch_entry *entry, const batch_result *result) {
  const agent_row *row = world_row(world, entry->agent);
  return !(row->atom_next || row->owes || row->reacts || result->asks || result->owes || result->spawned ||
           messages_are_owed(world, entry->agent));
}

/* Notes how long an agent waited; it leaves the line, if it is there. */
static inline void leave_queue(struct muster_world *world, settle_part *part, uint32_t index) {
  const agent_row *row = world_row(world, index);
  uint64_t waited_ns = world->batch->now_ns - row->first_due_ns;
  ASSERT(row->first_due_ns <= world->batch->now_ns);
  if (waited_ns > part->longest_wait_ns) part->longest_wait_ns = waited_ns;
  settle_forget_queued(world, part, index);
}

void settle_close_queue(struct muster_world *world, uint32_t workers) {
  uint32_t forgotten = 0;
  for (uint32_t i = 0; i < workers; i++) {
    settle_part *part = &world->sums->parts[i];
    if (part->longest_wait_ns > world->sums->report.longest_wait_ns)
      world->sums->report.longest_wait_ns = part->longest_wait_ns;
    forgotten += part->forgotten;
    part->longest_wait_ns = part->forgotten = 0;
  }
  ASSERT(forgotten <= world->queues->ready.waiting.standing);
  ready_forgot(&world->queues->ready, forgotten);
}

/* Moves the agent of an entry beside others: its place alone, where it comes to another list. Returns what is left to
 * settle_rest(). */
static inline uint32_t settle_move(struct muster_world *world, uint32_t index, space_spot to) {
  const agent_place *place = &world->agents.store.places[index];
  bool noticed = score_notices(&world->score->board, place, to) && score_mark(&world->score->board, index);
  bool crosses = !space_stays(&world->agents.space, place, to);
  if (crosses)
    space_set_place(&world->agents.store, index, to);
  else
    space_move(&world->agents.space, &world->agents.store, index, to);
  return (noticed ? LEFT_NOTICE : 0) | (crosses ? LEFT_LISTS : 0);
}

/* Settles an entry, if it is plain, into the sums of a worker and a share of the book; settle_close_queue() comes
 * afterwards, and settle_rest() when it was done beside others. */
static inline bool settle_plain(struct muster_world *world, uint32_t i, settle_part *part, uint32_t share,
                                bool beside) {
  struct batch *batch = world->batch;
  const batch_entry *entry = &batch->entries[i];
  const batch_result *result = &batch->results[i];
  if (batch->outcomes[i] != OUTCOME_FINISHED || !is_plain(world, entry, result)) return false;
  ASSERT(world_row(world, entry->agent)->status == AGENT_ADMITTED);
  uint32_t left = result->sends ? LEFT_SENDER : 0;
  if (result->moved && beside)
    left |= settle_move(world, entry->agent, result->moved_to);
  else if (result->moved)
    lifecycle_move(world, entry->agent, result->moved_to);
  leave_queue(world, part, entry->agent);
  update_complete(world, part, share, entry->agent, batch->now_ns);
  batch->outcomes[i] = (uint8_t)(OUTCOME_SETTLED | left);
  return true;
}

/* ------------------------------------------------------------------------------------------------------------- lots */

/* How many lots there are: one for each shard. Where activation is planned, as many as can book beside each other, and
 * which agents these are does not depend on how many shards there are: a record is replayed in others. */
static uint32_t lots_of(const struct muster_world *world) {
  const class_table *classes = &world->queues->classes;
  return classes->activation.delay_max ? (uint32_t)ACTIVATION_SHARES : classes->looks.map.count;
}

/* Whether lots may be settled beside each other: no two of them have agents of the same shard. */
static bool lots_are_apart(const struct muster_world *world, const struct settle_lots *lots) {
  return lots->count > 1 && lots->count <= world->queues->classes.looks.map.count;
}

static inline uint32_t lot_of(const uint32_t *agents, size_t apart, uint32_t i, uint32_t count) {
  return *(const uint32_t *)(const void *)((const char *)agents + i * apart) / 64 & (count - 1);
}

void settle_cut(struct muster_world *world, const uint32_t *agents, size_t apart, uint32_t number) {
  struct settle_lots *lots = &world->teams->lots;
  uint32_t count = lots_of(world), sum = 0;
  memset(lots->ends, 0, count * sizeof *lots->ends);
  for (uint32_t i = 0; i < number; i++) lots->ends[lot_of(agents, apart, i, count)]++;
  for (uint32_t lot = 0; lot < count; lot++) {
    uint32_t entries = lots->ends[lot];
    lots->ends[lot] = sum;
    sum += entries;
  }
  for (uint32_t i = 0; i < number; i++) lots->entries[lots->ends[lot_of(agents, apart, i, count)]++] = i;
  lots->count = count;
  ASSERT(sum == number && count <= SETTLE_LOTS_MAX);
}

void settle_cut_lots(struct muster_world *world) {
  settle_cut(world, &world->batch->entries->agent, sizeof *world->batch->entries, world->batch->count);
}

/* Settles a lot's plain entries, as long as there is time. */
static void settle_lot(struct muster_world *world, uint32_t lot, uint32_t worker) {
  enum { BETWEEN_LOOKS = 256 };
  struct settle_lots *lots = &world->teams->lots;
  const uint32_t *entries = lots->entries + settle_lot_begin(lots, lot);
  uint32_t count = lots->ends[lot] - settle_lot_begin(lots, lot), i = 0;
  for (; i < count && (i % BETWEEN_LOOKS || clock_now(world->clock) < lots->end_ns); i++) {
    prefetch_settled(world, entries, i, count);
    settle_plain(world, entries[i], &world->sums->parts[worker], lot % ACTIVATION_SHARES, true);
  }
  lots->done[lot] = i;
}

static void settle_some_lots(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  struct muster_world *world = argument;
  for (uint32_t lot = first; lot < end; lot++) settle_lot(world, lot, worker);
}

/* Those who book at the same time are told how many they are. */
static void settle_share_out(struct muster_world *world) {
  static const uint32_t wanted[ACTIVATION_SHARES] = {1, 1, 1, 1};
  activation_share_out(&world->queues->classes.activation, wanted);
}

static int by_entry(const void *one, const void *other) {
  uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
  return (a > b) - (a < b);
}

/* Lists the entries for which there was no time: seldom any. */
static void list_left(struct settle_lots *lots) {
  lots->left = 0;
  for (uint32_t lot = 0; lot < lots->count; lot++)
    for (uint32_t i = settle_lot_begin(lots, lot) + lots->done[lot]; i < lots->ends[lot]; i++)
      lots->left_entries[lots->left++] = lots->entries[i];
  if (lots->left > 1) qsort(lots->left_entries, lots->left, sizeof *lots->left_entries, by_entry);
}

/* Settles the same entries as in the recorded run. */
static void settle_as_recorded(struct muster_world *world) {
  struct settle_lots *lots = &world->teams->lots;
  settle_cut_lots(world);
  settle_share_out(world);
  for (uint32_t lot = 0; lot < lots->count; lot++)
    for (uint32_t i = settle_lot_begin(lots, lot); i < lots->ends[lot]; i++) {
      uint32_t entry = lots->entries[i];
      if (bsearch(&entry, lots->left_entries, lots->left, sizeof entry, by_entry)) continue;
      settle_plain(world, entry, world->sums->parts, lot % ACTIVATION_SHARES, true);
    }
}

static uint32_t stretch_begin(const struct batch *batch, uint32_t stretch) {
  return (uint32_t)((uint64_t)stretch * batch->count / SETTLE_STRETCHES);
}

/* Lists the entries of stretches of the batch that leave something. A stretch has room for all its entries. */
static void settle_find_rest(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  struct muster_world *world = argument;
  const struct batch *batch = world->batch;
  struct settle_lots *lots = &world->teams->lots;
  (void)worker;
  for (uint32_t stretch = first; stretch < end; stretch++) {
    uint32_t begin = stretch_begin(batch, stretch), count = begin;
    for (uint32_t i = begin; i < stretch_begin(batch, stretch + 1); i++) {
      lots->left_entries[count] = i;
      count += batch->outcomes[i] > OUTCOME_SETTLED;
    }
    lots->rests[stretch] = count - begin;
  }
}

static uint32_t settle_rest_of(struct muster_world *world, const uint32_t *entries, uint32_t count, uint32_t crossing) {
  enum { AHEAD = 8 };
  struct batch *batch = world->batch;
  uint32_t *crossed = world->teams->lots.entries;
  for (uint32_t k = 0; k < count; k++) {
    if (k + AHEAD < count) __builtin_prefetch(&batch->entries[entries[k + AHEAD]]);
    uint32_t i = entries[k], outcome = batch->outcomes[i], agent = batch->entries[i].agent;
    if (outcome & LEFT_NOTICE) score_note_marked(&world->score->board, agent);
    if (outcome & LEFT_LISTS) crossed[crossing++] = agent;
    if (outcome & LEFT_SENDER) messages_note_sender(world, i);
    batch->outcomes[i] = OUTCOME_SETTLED;
  }
  return crossing;
}

/* What agents that were settled beside others leave to be done in the order of the batch: the score is told of moves,
 * and senders are noted. Agents that have come to another cell go from list to list, whatever the lots. */
static void settle_rest(struct muster_world *world) {
  enum { LOOK_NS = 1 };
  const struct batch *batch = world->batch;
  struct settle_lots *lots = &world->teams->lots;
  struct parts parts = section_parts(world);
  uint32_t crossing = 0;
  section_run(world, settle_find_rest, SETTLE_STRETCHES, (uint64_t)batch->count * LOOK_NS);
  for (uint32_t i = 0; i < SETTLE_STRETCHES; i++)
    crossing = settle_rest_of(world, lots->left_entries + stretch_begin(batch, i), lots->rests[i], crossing);
  ASSERT(crossing <= batch->count);
  space_moves_run(&world->agents.moves, lots->entries, crossing, &parts);
}

/* Lots end early enough for what they leave, with half of the time that is left at most. */
static uint64_t end_of_lots(const struct muster_world *world) {
  double rest_ns = world->learnt->experience.settle_rest.mean_ns * world->batch->count;
  uint64_t end_ns = forecast_end_ns(world), now_ns = clock_now(world->clock);
  uint64_t most_ns = end_ns > now_ns ? (end_ns - now_ns) / 2 : 0;
  return end_ns - (rest_ns < (double)most_ns ? (uint64_t)rest_ns : most_ns);
}

static void settle_lots(struct muster_world *world) {
  enum { SETTLE_NS = 40 };
  struct settle_lots *lots = &world->teams->lots;
  lots->end_ns = end_of_lots(world);
  settle_share_out(world);
  section_run(world, settle_some_lots, lots->count, (uint64_t)world->batch->count * SETTLE_NS);
  list_left(lots);
}

void settle_beside(struct muster_world *world) {
  struct settle_lots *lots = &world->teams->lots;
  bool settles = lots_are_apart(world, lots);
  ASSERT(world->commit->open && world->commit->settled == 0);
  if (settles) settle_lots(world);
  uint64_t begin_ns = world->timed ? clock_now(world->clock) : 0;
  bool settled = frame_record_lots(world, settles);
  if (settled && !settles) settle_as_recorded(world);
  if (settled) settle_rest(world);
  if (settled) settle_close_queue(world, world->sums->part_count);
  if (settled && world->timed && world->batch->count)
    estimate_add_clipped(&world->learnt->experience.settle_rest,
                         (double)(clock_now(world->clock) - begin_ns) / world->batch->count, 100.0);
  lots->count = 0;
}

/* How many entries from `first` on are settled already. */
static uint32_t count_settled(const struct batch *batch, uint32_t first) {
  const uint64_t all_settled = 0x0101010101010101u * OUTCOME_SETTLED;
  uint32_t i = first;
  for (uint64_t eight; i + sizeof eight <= batch->count; i += (uint32_t)sizeof eight) {
    memcpy(&eight, batch->outcomes + i, sizeof eight);
    if (eight != all_settled) break;
  }
  return i - first;
}

/* Settles an entry that was not settled beside others. */
static void settle_whole(struct muster_world *world, uint32_t i) {
  struct batch *batch = world->batch;
  const batch_entry *entry = &batch->entries[i];
  const batch_result *result = &batch->results[i];
  batch_outcome outcome = (batch_outcome)batch->outcomes[i];
  ASSERT(i < batch->count && outcome < OUTCOME_SETTLED);
  if (outcome != OUTCOME_NOT_RUN && result->spawned)
    settle_spawned(world, &world->commit->ids, entry->spawn_base, result->spawned);
  if (outcome != OUTCOME_NOT_RUN && result->sends) messages_note_sender(world, i);
  if (world->costs_told || !settle_plain(world, i, world->sums->parts, 0, false))
    settle_entry(world, entry, result, outcome);
}

void settle_adopt_woken(struct muster_world *world, uint32_t most) {
  struct batch *batch = world->batch;
  for (uint32_t i = 0; i < batch->woken_count && i < most; i++)
    __builtin_prefetch(world_row(world, batch->entries[batch->count + i].agent), 1);
  for (; batch->woken_count > 0 && most > 0; batch->woken_count--, most--) {
    uint32_t index = batch->entries[batch->count++].agent;
    agent_row *row = world_row(world, index);
    if (row->status == AGENT_WAITING)
      periods_release_early(&world->queues->classes, &world->agents.store, &world->queues->ready, index, batch->now_ns,
                            world->frame->number);
    ready_admit(&world->queues->ready, &world->agents.store, index);
    row->woken = 1;
    row->called = world_type(world, row->type)->gapped;
    /* Woken again while it ran: the hint is left to the next intake. */
    if (world->timed && wakes_end(&world->commands->wakes, index) && !wakes_push(&world->commands->wakes, index))
      world->sums->statistics.commands_dropped++;
  }
}

bool settle_entries(struct muster_world *world, uint64_t end_ns) {
  struct batch *batch = world->batch;
  commit_progress *progress = world->commit;
  ASSERT(progress->open && progress->settled <= batch->count);
  while (progress->settled < batch->count || batch->woken_count > 0) {
    if (progress->settled == batch->count) settle_adopt_woken(world, SETTLE_BETWEEN_LOOKS);
    progress->settled += count_settled(batch, progress->settled);
    uint32_t end = progress->settled + SETTLE_BETWEEN_LOOKS < batch->count ? progress->settled + SETTLE_BETWEEN_LOOKS
                                                                           : batch->count;
    for (; progress->settled < end; progress->settled++) {
      prefetch_settled(world, NULL, progress->settled, batch->count);
      if (batch->outcomes[progress->settled] != OUTCOME_SETTLED) settle_whole(world, progress->settled);
    }
    settle_close_queue(world, 1);
    /* Here, little by little, rather than after the deadline, when the report looks for the agent that waits
     * longest. */
    ready_pass_over(&world->queues->ready, 4 * SETTLE_BETWEEN_LOOKS);
    if (serial_is_over(world, end_ns)) break;
  }
  if (progress->settled < batch->count || batch->woken_count > 0) return false;
  settle_close_ids(world, &progress->ids);
  return true;
}
