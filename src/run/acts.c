#include "run/acts.h"

#include "agents/space.h"
#include "pool/ticket.h"
#include "run/callback.h"
#include "run/flight.h"
#include "run/overrun_check.h"
#include "run/passes.h"
#include "run/timeline.h"
#include "run/watchdog.h"

#include <string.h>

void acts_create(struct acts *acts, struct runner *runner, uint32_t agents_max, struct arena *arena) {
  struct acts fresh = {.runner = runner};
  ARENA_ARRAY(arena, fresh.entries, agents_max);
  ARENA_ARRAY(arena, fresh.results, agents_max);
  ARENA_ARRAY(arena, fresh.removed, agents_max);
  ARENA_ARRAY(arena, fresh.chains, ACT_CHAINS_MAX);
  ARENA_ARRAY(arena, fresh.last_of_chain, ACT_CHAINS_MAX);
  ARENA_ARRAY(arena, fresh.lengths, ACT_CHAINS_MAX);
  ARENA_ARRAY(arena, fresh.parts, runner->state_count);
  if (!arena->failed) *acts = fresh;
}

/* How many workers may share the list: all that there can be, where a timeline is to tell what many would take. */
static uint32_t acts_sharers(const struct acts *acts) {
  return acts->runner->timeline ? MUSTER_WORKERS_MAX : acts->runner->workers;
}

/* Puts long chains first: a long chain that is taken last would keep the other workers waiting. */
static void put_long_first(struct acts *acts) {
  enum { PARTS_EACH = 4 };
  uint32_t least = acts->count / (acts_sharers(acts) * PARTS_EACH) + 2, front = 0;
  for (uint32_t i = 0; i < acts->claim_count; i++) {
    if (acts->lengths[i] < least) continue;
    uint32_t first = acts->chains[front];
    acts->chains[front++] = acts->chains[i];
    acts->chains[i] = first;
  }
}

/* A power of two: few enough that the chains' ends are in the caches, and more than the workers need. */
static uint32_t chains_for(uint32_t workers) {
  uint32_t count = ACT_CHAINS_EACH;
  while (count < ACT_CHAINS_MAX && count < workers * ACT_CHAINS_EACH) count *= 2;
  return count;
}

/* Forms the chains. The entries are in agent order, and so are those of each chain. A region's number is a hash. */
static void chain(struct acts *acts) {
  enum { AHEAD = 16 };
  const agent_place *places = acts->runner->store->places;
  uint32_t count = chains_for(acts_sharers(acts));
  memset(acts->lengths, 0, count * sizeof *acts->lengths);
  for (uint32_t i = 0; i < acts->count; i++) {
    if (i + AHEAD < acts->count) __builtin_prefetch(&places[acts->entries[i + AHEAD].agent]);
    uint32_t chain = (uint32_t)space_region(&places[acts->entries[i].agent]) & (count - 1);
    if (acts->lengths[chain]++ == 0)
      acts->chains[chain] = i;
    else
      acts->entries[acts->last_of_chain[chain]].next = i;
    acts->last_of_chain[chain] = i;
  }
  acts->claim_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (acts->lengths[i] == 0) continue;
    acts->chains[acts->claim_count] = acts->chains[i];
    acts->lengths[acts->claim_count++] = acts->lengths[i];
  }
  put_long_first(acts);
}

/* Chooses claims small enough that the workers end together, and large enough that few tickets are taken. */
static void acts_cut(struct acts *acts) {
  enum { CLAIMS_EACH = 16, ENTRIES_MOST = 64 };
  uint32_t entries = acts->count / (acts_sharers(acts) * CLAIMS_EACH) + 1;
  acts->claim_entries = entries < ENTRIES_MOST ? entries : ENTRIES_MOST;
  acts->claim_count = (acts->count + acts->claim_entries - 1) / acts->claim_entries;
}

void acts_open(struct acts *acts) {
  for (uint32_t i = 0; i < acts->runner->state_count; i++) {
    acts->parts[i] = (act_part){0};
    acts->runner->states[i].log_count = 0; /* the batch's are merged */
  }
  if (acts->kind == MUSTER_ACT_REGION)
    chain(acts);
  else
    acts_cut(acts);
  ticket_open(&acts->ticket, acts->claim_count);
}

static void run_actions(worker_state *state) {
  const muster_update *update = &state->context.public;
  watch_agent(state->heartbeat, update->agent);
  flight_begin(state->flight, state->context.runner->frame);
  flight_agent(state->flight, update->agent);
  if (overrun_check_suspects(state->context.type, state->context.index) && !state->context.runner->virtual)
    overrun_check_begin_suspect(state, state->context.runner, state->context.index);
  callback_enter(&state->context);
  if (state->context.type->has_sets)
    passes_act(state, state->context.runner);
  else
    callback_actions(state, state->context.type->parallel_atoms, state->context.type->atom_count);
  callback_leave(&state->context);
  watch_leave(state->heartbeat);
  flight_leave(state->flight);
  state->context.phase = PHASE_OUTSIDE;
}

void acts_run_one(worker_state *state, uint32_t index, batch_result *result) {
  runner_begin_outside(state, index, PHASE_ACT, result);
  run_actions(state);
}

/* Whether an agent was removed by an earlier entry; then it does not act any more. */
static bool is_out(const struct acts *acts, uint32_t agent) {
  return acts->runner->store->rows[agent].removal_pending || acts->removed[agent];
}

/* Runs an entry; false when there is no time for it. */
static bool run_entry(struct acts *acts, worker_state *state, uint32_t number, uint64_t *clock_ns) {
  act_entry *entry = &acts->entries[number];
  batch_result *result = &acts->results[number];
  if (acts->timed && !entry->sure && *clock_ns + acts->each_ns > acts->stop_ns + state->blocked_ns) return false;
  *result = (batch_result){0};
  entry->ran = true;
  if (!is_out(acts, entry->agent)) {
    runner_begin_outside(state, entry->agent, PHASE_ACT, result);
    state->context.entry = number;
    state->context.spawn_base = entry->spawn_base;
    state->context.spawn_limit = entry->spawn_limit;
    state->context.late_atoms = acts->runner->virtual ? &entry->late_atoms : NULL;
    run_actions(state);
    state->context.late_atoms = NULL;
  }
  act_part *part = &acts->parts[state->context.public.worker];
  part->acted++;
  part->spawned += result->spawned;
  if (acts->timed) *clock_ns = clock_now(&acts->runner->clock);
  return true;
}

static bool acts_run_claim(struct acts *acts, worker_state *state, uint32_t claim, uint64_t *clock_ns) {
  bool sure = acts->sure && claim == 0;
  if (acts->kind == MUSTER_ACT_REGION) {
    uint32_t entry = acts->chains[claim];
    acts->entries[entry].sure = sure;
    do {
      if (!run_entry(acts, state, entry, clock_ns)) return false;
    } while ((entry = acts->entries[entry].next));
    return true;
  }
  uint32_t first = claim * acts->claim_entries, end = first + acts->claim_entries;
  acts->entries[first].sure = sure;
  for (uint32_t i = first; i < end && i < acts->count; i++)
    if (!run_entry(acts, state, i, clock_ns)) return false;
  return true;
}

static void run_claims(struct acts *acts, worker_state *state, uint64_t *clock_ns) {
  uint32_t claim;
  while ((claim = ticket_take(&acts->ticket)) != TICKET_NONE) {
    if (!acts_run_claim(acts, state, claim, clock_ns)) return;
    timeline_claim(acts->runner->timeline);
  }
  timeline_place(acts->runner->timeline, false);
}

/* One worker's part from its beginning to its end; `run` is what it does in between. */
static CALLS_OUT void take_part(struct acts *acts, uint32_t worker,
                                void (*run)(struct acts *, worker_state *, uint64_t *)) {
  MUST_RETURN(leaving_update);
  struct runner *runner = acts->runner;
  worker_state *state = &runner->states[worker];
  if (state->inside) return; /* it came here to help from inside an action, which goes on first */
  bool wall = !runner->virtual, helper = worker != runner->caller, audited = runner->audit && helper;
  uint64_t begin_ns = runner_clock(runner), clock_ns = begin_ns;
  uint64_t begin_cpu_ns = audited ? clock_thread_cpu() : 0; /* the caller's is the commit's, and measured there */
  state->inside = true;
  watch_begin(state->heartbeat);
  state->context.act = acts->kind;
  if (wall) overrun_check_begin(state, begin_ns);
  const update_context *outer = callback_begin(&state->context);
  run(acts, state, &clock_ns);
  callback_end(outer);
  state->context.act = MUSTER_ACT_SERIAL;
  state->inside = false;
  acts->parts[worker].spent_ns += clock_ns - begin_ns - state->blocked_ns;
  if (audited) runner_audit_settling(runner, worker, clock_thread_cpu() - begin_cpu_ns);
}

void acts_work(void *argument, uint32_t worker) {
  take_part(argument, worker, run_claims);
}

static void run_in_order(struct acts *acts, worker_state *state, uint64_t *clock_ns) {
  if (acts->count) acts->entries[0].sure = acts->sure;
  for (uint32_t i = 0; i < acts->count; i++)
    if (!acts->entries[i].left_out && !run_entry(acts, state, i, clock_ns)) return;
}

void acts_run_in_order(struct acts *acts) {
  take_part(acts, acts->runner->caller, run_in_order);
}
