#include "run/runner.h"

#include "agents/elapsed.h"
#include "base/assert.h"
#include "pool/team.h"
#include "pool/ticket.h"
#include "run/callback.h"
#include "run/cycles.h"
#include "run/fetching.h"
#include "run/flight.h"
#include "run/overrun_check.h"
#include "run/passes.h"
#include "run/removals.h"
#include "run/slices.h"
#include "run/strands.h"
#include "run/taking.h"
#include "run/timeline.h"
#include "run/track.h"
#include "run/watchdog.h"

#include <muster/flight.h>
#include <muster/sets.h>

#include <math.h>
#include <string.h>
#include <xxhash.h>

void runner_create(struct runner *runner, uint32_t workers, uint32_t indices, uint32_t types_max, struct arena *arena) {
  runner->workers = workers;
  runner->state_count = indices;
  runner->limit_ns = UINT64_MAX;
  ARENA_ARRAY(arena, runner->states, indices);
  cost_sample *samples = arena_reserve(arena, (size_t)indices * SAMPLES_MAX, sizeof *samples);
  ARENA_ARRAY(arena, runner->heartbeats, indices);
  struct overrun *overruns = arena_reserve(arena, (size_t)indices * OVERRUNS_MAX, sizeof *overruns);
  uint32_t counts = overruns_counts(types_max);
  uint32_t *by_type = arena_reserve(arena, (size_t)indices * counts, sizeof *by_type);
  ring_create(&runner->rests, RESTS_MAX, sizeof(batch_claim), arena);
  ring_create(&runner->risks, RISKS_MAX, sizeof(batch_claim), arena);
  if (!arena->failed) runner_widen_logs(runner, RUNNER_LOG_MAX, arena);
  if (arena->failed) return;
  for (uint32_t i = 0; i < indices; i++) {
    runner->states[i].samples = samples + (size_t)i * SAMPLES_MAX;
    runner->states[i].heartbeat = &runner->heartbeats[i];
    runner->states[i].overruns.overruns = overruns + (size_t)i * OVERRUNS_MAX;
    runner->states[i].overruns.by_type = by_type + (size_t)i * counts;
  }
}

void runner_count_sets(struct runner *runner, uint32_t types_max, struct arena *arena) {
  if (runner->states[0].set_counts) return;
  size_t each = (size_t)types_max * MUSTER_SETS_MAX;
  struct set_counts *counts = arena_reserve(arena, runner->state_count * each, sizeof *counts);
  for (uint32_t i = 0; counts && i < runner->state_count; i++) runner->states[i].set_counts = counts + i * each;
}

void runner_open(struct runner *runner) {
  for (uint32_t i = 0; i < runner->state_count; i++) {
    worker_state *state = &runner->states[i];
    *state = (worker_state){.log = state->log,
                            .samples = state->samples,
                            .overruns = state->overruns,
                            .set_counts = state->set_counts,
                            .heartbeat = state->heartbeat,
                            .flight = state->flight,
                            .told = state->told,
                            .track = runner->tracks ? &runner->tracks[i] : NULL};
    state->context.public.world = runner->world;
    state->context.public.worker = i;
    state->context.public.now_ns = runner->now_ns;
    state->context.runner = runner;
    state->context.worker = state;
  }
  ticket_open(&runner->ticket, 0);
  runner->published = 0;
  runner->takes_risks = false;
  if (runner->strands) strands_open(runner);
  store_relaxed_u32(&runner->planning, 1);
  store_relaxed_u32(&runner->woken_count, 0);
}

void runner_publish(struct runner *runner, uint32_t claims) {
  ASSERT(claims >= runner->published && claims <= runner->batch->claim_count);
  if (runner->strands) strands_link(runner, runner->published, claims);
  ticket_grow(&runner->ticket, claims - runner->published);
  runner->published = claims;
}

void runner_publish_all(struct runner *runner) {
  runner_publish(runner, runner->batch->claim_count);
  store_relaxed_u32(&runner->planning, 0);
}

void runner_take_woken(struct runner *runner) {
  runner->batch->woken_count = load_relaxed_u32(&runner->woken_count);
  store_relaxed_u32(&runner->woken_count, 0);
}

void runner_close(struct runner *runner) {
  batch_claim rest;
  while (ring_pop(&runner->rests, &rest) || ring_pop(&runner->risks, &rest)) continue;
  runner_take_woken(runner);
}

/* Tells an update about its type; most updates have the type of the one before. */
static inline void tell_type(update_context *context, const agent_type *type, uint32_t number) {
  if (context->type == type) return;
  context->type = type;
  watch_type(context->worker->heartbeat, number);
  context->public.type = (muster_type){number + 1u};
  context->public.type_user = type->user;
  context->public.step_ns = type->step_ns;
  context->public.steps = 0;
  context->public.set = 0;
}

/* For contracts that tell an update less than all the time that passed. Not for callbacks at the intake. */
static void tell_elapsed(update_context *context, const agent_type *type, const agent_row *row, uint64_t began_ns) {
  elapsed_told told = {began_ns, began_ns - row->last_update_ns, 0};
  if (context->phase != PHASE_INTAKE) told = elapsed_tell(type, row->last_update_ns, began_ns);
  context->public.now_ns = told.now_ns;
  context->public.elapsed_ns = told.elapsed_ns;
  context->public.steps = told.steps;
}

static inline void runner_tell(update_context *context, const struct runner *runner, uint32_t index,
                               uint64_t began_ns) {
  const agent_row *row = &runner->store->rows[index];
  const agent_type *type = &runner->types->types[row->type];
  muster_update *update = &context->public;
  tell_type(context, type, row->type);
  context->random_counter = (uint64_t)(row->atom_next << 4 | (uint32_t)context->phase) << 40;
  context->index = index;
  update->agent = store_id(runner->store, index);
  context->began_ns = began_ns;
  context->nearby_cut = false;
  update->now_ns = began_ns;
  update->elapsed_ns = began_ns - row->last_update_ns;
  update->wake_at_ns = row->timed ? runner->store->alarms[index].answered_ns : 0;
  if (type->elapsed) tell_elapsed(context, type, row, began_ns);
  update->position = space_position(runner->space, &runner->store->places[index]);
  update->state = type_state(type, row->state_slot);
  update->published = runner_back_buffer(type, row);
  update->user = row->user;
  update->importance = share_value(row->importance);
  update->level = row->level;
}

static void begin_published(const agent_type *type, const agent_row *row) {
  if (type->published_stride)
    memcpy(runner_back_buffer(type, row), type_published(type, row->state_slot, row->front), type->published_stride);
}

void runner_call(const worker_state *state) {
  const struct runner *runner = state->context.runner;
  team_call(state->early ? runner->early_team : runner->team, worker_slot_of(state), 1);
}

/* Whether an update is to stop before its next atom, and why. */
static enum interruption look_around(const worker_state *state, const struct runner *runner, uint64_t next_end_ns,
                                     bool timed) {
  if (timed && next_end_ns > runner_stop_ns(runner, state)) return INTERRUPTED_BY_TIME;
  return !runner->virtual && is_called_away(state) ? INTERRUPTED_BY_URGENCY : INTERRUPTED_NOT;
}

static inline batch_outcome outcome_after(const agent_type *type, uint32_t atom, bool finished) {
  if (finished || atom >= type->atom_count) return OUTCOME_FINISHED;
  return atom < type->parallel_atoms ? OUTCOME_PREEMPTED : OUTCOME_ACT;
}

/* Calls catch_up before the first atom of an update, for the time that its atoms are not told of. */
static void catch_up(worker_state *state) {
  update_context *context = &state->context;
  muster_update *update = &context->public;
  const agent_row *row = &context->runner->store->rows[context->index];
  uint64_t now_ns = update->now_ns, elapsed_ns = update->elapsed_ns;
  uint64_t before_ns = elapsed_caught_up(context->type, row->last_update_ns, context->began_ns);
  if (before_ns == 0) return;
  update->now_ns = row->last_update_ns + before_ns;
  update->elapsed_ns = before_ns;
  flight_enter(state->flight, MUSTER_FLIGHT_CATCH_UP, update->type.index, 0);
  callback_call(context, MUSTER_FLIGHT_CATCH_UP, context->type->def.elapsed.catch_up);
  update->now_ns = now_ns;
  update->elapsed_ns = elapsed_ns;
}

/* Runs the atoms of an entry from `first` up to `end`; with `timed`, reads the clock between atoms and stops when the
 * next is not expected to end in time. *clock_ns is the clock after the last atom when timed. */
static inline enum interruption runner_run_atoms(worker_state *state, const struct runner *runner, uint32_t entry_index,
                                                 uint32_t first, uint32_t end, uint64_t *clock_ns, bool timed) {
  batch_result *result = state->context.result;
  const agent_type *type = state->context.type;
  enum interruption interruption = INTERRUPTED_NOT;
  uint32_t atom = first;
  uint64_t longest_ns = 0;
  bool finished = false, cut = false;
  if (type->elapsed == MUSTER_ELAPSED_ANALYTIC && first == 0) catch_up(state);
  for (; atom < end && !finished && !cut; atom++) {
    if (atom > first && (interruption = look_around(state, runner, *clock_ns + longest_ns, timed))) break;
    state->context.asked = 0;
    if (__builtin_expect(runner->replays, false)) state->context.asks = slices_asks(result, atom + 1 == end);
    muster_atom_result answer = callback_atom(state, type->atoms, atom, MUSTER_FLIGHT_ATOM);
    finished = answer == MUSTER_ATOM_FINISH;
    if (__builtin_expect((unsigned)answer > MUSTER_ATOM_FINISH, false)) cut = slices_cut(state, atom, answer);
    if (!timed) continue;
    uint64_t after_ns = clock_now(&runner->clock), atom_ns = after_ns - *clock_ns;
    after_ns = overrun_check_atom(state, runner, atom, &atom_ns, after_ns);
    if (atom_ns > longest_ns) longest_ns = atom_ns;
    watch_enter(state->heartbeat);
    *clock_ns = after_ns;
  }
  if (cut) {
    interruption = INTERRUPTED_BY_TIME;
    atom--; /* with which the update goes on */
  }
  runner->batch->outcomes[entry_index] = (uint8_t)outcome_after(type, atom, finished);
  result->atom_next = (uint16_t)atom;
  result->random_count = (uint32_t)state->context.random_counter;
  return interruption;
}

/* The state is in the cache now; when the frame ends it may not be. */
static void keep_state_hash(const worker_state *state) {
  const muster_update *update = &state->context.public;
  uint32_t bytes = state->context.type->def.state_bytes;
  state->context.result->state_hash = (uint32_t)XXH3_64bits_withSeed(update->state ? update->state : "",
                                                                     update->state ? bytes : 0, state->context.index);
}

/* Runs the update of an entry of any type. */
static inline enum interruption run_update(worker_state *state, const struct runner *runner, uint32_t entry_index,
                                           uint32_t first, uint64_t *clock_ns, bool timed) {
  enum interruption interruption =
      state->context.type->has_sets ? passes_run(state, runner, entry_index, clock_ns, timed)
                                    : runner_run_atoms(state, runner, entry_index, first,
                                                       runner->batch->entries[entry_index].atom_end, clock_ns, timed);
  if (__builtin_expect(runner->sums, false)) keep_state_hash(state);
  return interruption;
}

/* Prepares the context for an entry; returns the atom with which it goes on. */
static inline uint32_t runner_begin_entry(worker_state *state, const struct runner *runner, uint32_t entry_index) {
  const batch_entry *entry = &runner->batch->entries[entry_index];
  const agent_row *row = &runner->store->rows[entry->agent];
  update_context *context = &state->context;
  batch_result *result = &runner->batch->results[entry_index];
  uint32_t next = row->atom_next;
  context->entry = entry_index;
  context->result = result;
  state->away_ns = 0;
  state->overran = false;
  context->spawn_base = entry->spawn_base;
  context->spawn_limit = entry->spawn_limit;
  watch_agent(state->heartbeat, store_id(runner->store, entry->agent));
  flight_agent(state->flight, store_id(runner->store, entry->agent));
  runner_tell(context, runner, entry->agent, next ? runner->store->begun[entry->agent].started_ns : runner->now_ns);
  if (__builtin_expect(context->type->sliced, false)) slices_tell(context, runner);
  if (runner->batch->outcomes[entry_index] == OUTCOME_PREEMPTED) {
    context->random_counter |= result->random_count; /* interrupted in this frame: goes on */
    return result->atom_next;
  }
  memset(result, 0, offsetof(batch_result, moved_to));
  if (next == 0) begin_published(context->type, row);
  state->updates++;
  state->believed_ns += entry->predicted_ns;
  return next;
}

/* Whether a timed update is learnt from: of many short ones some are enough, and those in doubt. */
static inline bool is_learnt_from(const struct runner *runner, const batch_claim *claim, uint32_t entry_index) {
  enum { LEARNT_MOST = 16 };
  uint32_t one_in = 1 + (claim->end - claim->first - 1) / LEARNT_MOST;
  return entry_index % one_in == 0 || runner->store->rows[runner->batch->entries[entry_index].agent].doubted;
}

/* Takes as a sample what an update cost its worker: fetching the agent as well as its atoms, less two clock reads and
 * the time away from the processor. */
static void take_sample(worker_state *state, const struct runner *runner, const batch_claim *claim,
                        uint32_t entry_index, uint64_t cost_ns) {
  uint32_t agent = runner->batch->entries[entry_index].agent;
  const agent_row *row = &runner->store->rows[agent];
  batch_result *result = &runner->batch->results[entry_index];
  uint64_t reads_ns = 2 * runner->clock.read_ns + state->away_ns;
  uint64_t own_ns = (cost_ns > reads_ns ? cost_ns - reads_ns : 1) + result->cost_ns;
  result->cost_ns = own_ns < UINT32_MAX ? (uint32_t)own_ns : UINT32_MAX;
  if (runner->batch->outcomes[entry_index] == OUTCOME_PREEMPTED || state->sample_count == SAMPLES_MAX) return;
  if (!is_learnt_from(runner, claim, entry_index)) return;
  if (row->atom_next) own_ns += runner->store->begun[agent].spent_ns;
  state->samples[state->sample_count++] = (cost_sample){.agent = agent,
                                                        .cost_ns = own_ns < UINT32_MAX ? (uint32_t)own_ns : UINT32_MAX,
                                                        .elapsed_ns = state->context.began_ns - row->last_update_ns,
                                                        .type = row->type,
                                                        .level = row->level,
                                                        .how = state->overran ? SAMPLE_OVERRAN : SAMPLE_TIMED};
}

/* A claim that was not timed took another time than was believed of its updates, by more than a quarter and two
 * standard deviations. Whose fault it is it does not say: all of its agents are in doubt. */
static void doubt_claim(worker_state *state, const struct runner *runner, const batch_claim *claim, uint64_t took_ns,
                        uint64_t believed_ns) {
  double off_ns = fabs((double)took_ns - (double)believed_ns);
  uint32_t count = claim->end - claim->first;
  if (off_ns <= (double)DOUBTED_NS || off_ns <= 0.25 * (double)believed_ns) return;
  if (off_ns * off_ns <= 4.0 * (double)claim->variance_ns2) return;
  if (count > SAMPLES_MAX / 2 - state->doubted_count || count > SAMPLES_MAX - state->sample_count) return;
  state->doubted_count += count;
  for (uint32_t i = claim->first; i < claim->end; i++) {
    uint32_t agent = runner->batch->entries[i].agent;
    const agent_row *row = &runner->store->rows[agent];
    state->samples[state->sample_count++] =
        (cost_sample){.agent = agent, .type = row->type, .level = row->level, .how = SAMPLE_DOUBTED};
  }
}

/* Leaves the entries from `first` on to a worker that has time. */
static void leave_rest(worker_state *state, struct runner *runner, const batch_claim *claim, uint32_t first) {
  batch_claim rest = *claim;
  rest.first = first;
  rest.predicted_ns = claim->predicted_ns / (claim->end - claim->first) * (claim->end - first);
  ring_push_sure(&runner->rests, &rest);
  runner_call(state);
}

/* Leaves a claim after an entry; an interrupted entry belongs to the rest that is left. */
static void turn_away(worker_state *state, struct runner *runner, const batch_claim *claim, uint32_t entry_index,
                      enum interruption interruption) {
  bool interrupted = interruption == INTERRUPTED_BY_URGENCY;
  if (interrupted) state->interrupted++;
  leave_rest(state, runner, claim, interrupted ? entry_index : entry_index + 1);
}

/* Whether the worker leaves the claim after this entry. */
static inline bool ends_early(const worker_state *state, const struct runner *runner, const batch_claim *claim,
                              uint32_t entry_index, enum interruption interruption) {
  if (interruption == INTERRUPTED_BY_URGENCY) return true;
  return !runner->virtual && entry_index + 1 < claim->end && is_called_away(state);
}

/* Whether the frame has time for an entry of a claim that was begun; an entry without time is carried. */
static inline bool has_time_for(const worker_state *state, const struct runner *runner, uint32_t entry_index,
                                uint64_t clock_ns) {
  return clock_ns + runner->batch->entries[entry_index].predicted_ns <= runner_stop_ns(runner, state);
}

/* Whether a host has removed the agent of an entry: its update is not started. One that was interrupted in this frame
 * goes on. Under the virtual clock what other threads remove counts from the frame's end. */
static inline bool is_removed(const struct runner *runner, uint32_t entry_index) {
  if (runner->virtual || !removals_waits(runner->removals, runner->batch->entries[entry_index].agent)) return false;
  return runner->batch->outcomes[entry_index] != OUTCOME_PREEMPTED;
}

/* Runs a claim and times each of its updates on its own. Returns the clock at its end. */
static uint64_t run_timed(worker_state *state, struct runner *runner, const batch_claim *claim, uint64_t clock_ns) {
  struct fetching fetching = fetching_for(state, runner, claim);
  prefetch_claim(state, runner, claim);
  for (uint32_t i = claim->first; i < claim->end; i++) {
    if (i > claim->first && !claim->sure && !has_time_for(state, runner, i, clock_ns)) break;
    prefetch_entries(runner, &fetching, i);
    if (__builtin_expect(is_removed(runner, i), false)) {
      state->context.entry = i;
      continue;
    }
    uint32_t next = runner_begin_entry(state, runner, i);
    if (overrun_check_suspects(state->context.type, state->context.index))
      overrun_check_begin_suspect(state, runner, state->context.index);
    uint64_t begin_ns = clock_now(&runner->clock), end_ns = begin_ns, reads_ns = runner->clock.read_ns;
    enum interruption interruption = run_update(state, runner, i, next, &end_ns, true);
    state->sampled_overhead_ns += begin_ns - clock_ns > reads_ns ? begin_ns - clock_ns - reads_ns : 0;
    state->sampled_updates++;
    take_sample(state, runner, claim, i, end_ns - clock_ns);
    if (cycles_are_left(runner, i)) cycles_run(state, runner, i, &end_ns);
    clock_ns = end_ns;
    if (!ends_early(state, runner, claim, i, interruption)) continue;
    turn_away(state, runner, claim, i, interruption);
    break;
  }
  return clock_ns;
}

/* In a claim that is not timed, an interrupted update is taken to have cost its part of what was predicted. */
static void guess_cost(const struct runner *runner, uint32_t entry_index) {
  const batch_entry *entry = &runner->batch->entries[entry_index];
  batch_result *result = &runner->batch->results[entry_index];
  result->cost_ns = (uint32_t)((uint64_t)entry->predicted_ns * result->atom_next / entry->atom_end);
}

static uint64_t runner_run_claim(worker_state *state, struct runner *runner, const batch_claim *claim,
                                 uint64_t clock_ns) {
  state->context.phase = PHASE_PARALLEL;
  if (!runner->virtual && claim->timed) return run_timed(state, runner, claim, clock_ns);
  struct fetching fetching = fetching_for(state, runner, claim);
  uint64_t begin_ns = clock_ns, believed_ns = state->believed_ns;
  bool whole = true; /* every update ran, once, and by nothing but atoms */
  prefetch_claim(state, runner, claim);
  for (uint32_t i = claim->first; i < claim->end; i++) {
    prefetch_entries(runner, &fetching, i);
    if (__builtin_expect(is_removed(runner, i), false)) {
      state->context.entry = i;
      whole = false;
      continue;
    }
    uint32_t next = runner_begin_entry(state, runner, i);
    enum interruption interruption = run_update(state, runner, i, next, &clock_ns, false);
    if (interruption) guess_cost(runner, i);
    whole &= !interruption && !next;
    if (cycles_are_left(runner, i)) cycles_run(state, runner, i, &clock_ns);
    if (!ends_early(state, runner, claim, i, interruption)) continue;
    turn_away(state, runner, claim, i, interruption);
    whole = false;
    break;
  }
  uint64_t end_ns = runner_clock(runner);
  if (whole && !runner->virtual) doubt_claim(state, runner, claim, end_ns - begin_ns, state->believed_ns - believed_ns);
  return end_ns;
}

/* Notes a claim that was run. Another worker may already run an update that was interrupted. */
static void track_claim(worker_state *state, const struct runner *runner, const batch_claim *claim, uint64_t begin_ns,
                        uint64_t end_ns) {
  struct track *track = state->track;
  bool interrupted = state->interrupted > track->interrupted_before;
  uint64_t begun = state->updates - track->updates_before;
  uint32_t last = state->context.entry;
  track->interrupted_before = state->interrupted;
  track->updates_before = state->updates;
  struct span *span = track_add(track, begin_ns, end_ns);
  if (!span) return;
  track_describe(span, runner->store, runner->batch, claim->first, last + 1);
  span->preempted = track_preempted(runner->batch, claim->first, interrupted ? last : last + 1);
  if (!state->early && claim->first >= runner->batch->count) span->woken = 1;
  if (begun < span->updates) span->flags |= SPAN_RESUMED;
  if (interrupted) span->flags |= SPAN_INTERRUPTED;
  span->updates = (uint16_t)begun;
}

/* Whether less than two standard deviations lie between the end that is predicted and the time to stop. A claim that
 * may not be over by then is stopped between two atoms. */
static inline bool may_be_late(const worker_state *state, const struct runner *runner, const batch_claim *claim,
                               uint64_t clock_ns) {
  double spare_ns = (double)runner_stop_ns(runner, state) - (double)clock_ns - (double)claim->predicted_ns;
  return spare_ns < 0.0 || spare_ns * spare_ns < 4.0 * (double)claim->variance_ns2;
}

/* Runs what is more urgent than any update. Returns the clock after it. */
static uint64_t run_urgent(worker_state *state, struct runner *runner, uint64_t clock_ns, uint64_t *cpu_ns) {
  if (!queue_may_have(&runner->pool->queue, URGENT_LANES) || !worker_yield_to(worker_slot_of(state), URGENT_LANES))
    return clock_ns;
  uint64_t end_ns = runner_clock(runner);
  state->jobs_ns += end_ns - clock_ns;
  if (state->track) track_jobs(state->track, clock_ns, end_ns);
  if (runner->audit) runner_audit_claim(state, runner, cpu_ns, end_ns);
  if (!runner->virtual) overrun_check_begin(state, end_ns); /* jobs may wait for something */
  return end_ns;
}

/* Limits woken agents, so that agents that wake each other leave time to agents that wait. */
static void ration_woken(worker_state *state, const struct runner *runner, const batch_claim *claim, uint64_t took_ns) {
  *(claim->first < runner->batch->count ? &state->others_ns : &state->woken_ns) += took_ns;
  state->takes_woken =
      state->log_count < runner->log_max && (double)state->woken_ns < runner->woken_part * (double)state->others_ns;
}

/* The worker has left the batch at `end_ns`. The clock of its own time is read once before its first claim, and here
 * when that was late: what the kernel took is no debt of the frame's. */
static void note_late(worker_state *state, const struct runner *runner, uint64_t begin_ns, uint64_t begin_own_ns,
                      uint64_t end_ns) {
  uint64_t stop_ns = runner_stop_ns(runner, state);
  state->beyond_ns = state->taken_ns = 0;
  if (end_ns <= stop_ns) return;
  uint64_t wall_ns = end_ns - begin_ns, own_ns = clock_thread_cpu() - begin_own_ns;
  state->beyond_ns = end_ns - stop_ns;
  state->taken_ns = wall_ns > own_ns ? wall_ns - own_ns : 0;
}

/* A worker that comes again, since more was ranked, counts from when it left last. */
static void note_left(worker_state *state, const struct runner *runner, uint64_t end_ns) {
  uint64_t stop_ns = runner_stop_ns(runner, state);
  state->left_ns = stop_ns > end_ns ? stop_ns - end_ns : 0;
}

static void runner_work_off(worker_state *state, struct runner *runner, bool early_only) {
  bool wall = !runner->virtual;
  uint64_t clock_ns = runner_clock(runner), begin_ns = clock_ns, claims_ns = 0;
  uint64_t first_ns = 0, first_own_ns = 0; /* both clocks before the first claim */
  uint64_t cpu_ns = runner->audit ? clock_thread_cpu() : 0, begin_cpu_ns = cpu_ns, jobs_ns = state->jobs_ns;
  uint64_t blocked_before_ns = state->blocked_ns;
  batch_claim claim;
  if (wall) overrun_check_begin(state, clock_ns);
  flight_begin(state->flight, runner->frame);
  for (;;) {
    clock_ns = run_urgent(state, runner, clock_ns, &cpu_ns);
    if (!taking_next(state, runner, early_only, clock_ns, &claim)) break;
    if (wall && !first_ns) first_ns = state->own_ns, first_own_ns = state->own_cpu_ns;
    state->on_strand = claim.strand != 0;
    watch_enter(state->heartbeat);
    callback_enter(&state->context);
    claim.timed |= wall && may_be_late(state, runner, &claim, clock_ns);
    uint64_t blocked_ns = state->blocked_ns, end_ns = runner_run_claim(state, runner, &claim, clock_ns);
    callback_leave(&state->context);
    watch_leave(state->heartbeat);
    flight_leave(state->flight);
    if (end_ns - clock_ns > runner->limit_ns)
      overrun_check_long_claim(state, runner, &claim, end_ns - clock_ns, end_ns);
    uint64_t took_ns = end_ns - clock_ns - (state->blocked_ns - blocked_ns);
    claims_ns += took_ns;
    if (wall && !early_only && runner->rations_woken) ration_woken(state, runner, &claim, took_ns);
    if (state->track) track_claim(state, runner, &claim, clock_ns, end_ns);
    timeline_claim(runner->timeline);
    if (runner->audit) runner_audit_claim(state, runner, &cpu_ns, end_ns);
    clock_ns = runner_clock(runner);
    if (wall && clock_ns >= runner_stop_ns(runner, state)) break;
  }
  timeline_place(runner->timeline, false);
  uint64_t waited_ns = state->blocked_ns - blocked_before_ns;
  if (wall && !early_only) note_left(state, runner, clock_ns);
  if (first_ns) note_late(state, runner, first_ns + waited_ns, first_own_ns, clock_ns);
  uint64_t wall_ns = clock_ns - begin_ns - waited_ns;
  uint64_t spent_cpu_ns = cpu_ns - begin_cpu_ns;
  state->claim_ns += claims_ns;
  claims_ns += state->jobs_ns - jobs_ns;
  state->loop_ns += wall_ns > claims_ns ? wall_ns - claims_ns : 0;
  state->audit.cpu_ns += spent_cpu_ns;
  state->audit.stolen_ns += wall_ns > spent_cpu_ns ? wall_ns - spent_cpu_ns : 0;
  state->audit.end_ns = clock_ns;
  state->audit.end_cpu_ns = cpu_ns;
  if (early_only) state->early_end_ns = clock_ns;
}

static CALLS_OUT void run_runner_work(struct runner *runner, uint32_t worker, bool early_only) {
  MUST_RETURN(leaving_update);
  worker_state *state = &runner->states[worker];
  if (state->inside) return;
  state->inside = true;
  state->early = early_only;
  watch_begin(state->heartbeat);
  state->takes_woken = !early_only && !runner->virtual && !runner->rations_woken;
  const update_context *outer = callback_begin(&state->context);
  runner_work_off(state, runner, early_only);
  callback_end(outer);
  state->context.phase = PHASE_OUTSIDE;
  state->inside = false;
}

void runner_work_early(void *argument, uint32_t worker) {
  run_runner_work(argument, worker, true);
}

void runner_work(void *argument, uint32_t worker) {
  run_runner_work(argument, worker, false);
}

muster_update *runner_begin_outside(worker_state *state, uint32_t index, update_phase phase, batch_result *result) {
  update_context *context = &state->context;
  const struct runner *runner = context->runner;
  context->phase = phase;
  context->result = result;
  context->spawn_base = 0;
  bool begun = phase == PHASE_ACT || runner->store->rows[index].atom_next;
  context->public.set = 0;
  runner_tell(context, runner, index, begun ? runner->store->begun[index].started_ns : runner->now_ns);
  context->spawn_limit = context->type->def.spawns_max;
  return &context->public;
}
