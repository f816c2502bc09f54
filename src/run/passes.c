#include "run/passes.h"

#include "agents/passes.h"
#include "run/callback.h"
#include "run/overrun_check.h"
#include "run/taking.h"
#include "run/watchdog.h"

#include <muster/flight.h>
#include <muster/sets.h>

/* A pass that a worker walks. */
struct walk {
  worker_state *state;
  const struct runner *runner;
  const agent_type *type;
  const set_table *table;
  set_state *states;
  set_pass *kept;
  struct set_counts *counts;
  const batch_step *step, *steps_end; /* virtual clock: what is left of the plan */
  uint64_t clock_ns, longest_ns;
  uint64_t looked_ns; /* what the atoms took after which the clock was read, */
  uint32_t looked;    /* and how many such atoms there were */
  uint32_t atoms;     /* run so far, by this worker or another */
  uint32_t slice_ns;
  bool timed;
  struct pass pass;
};

/* How a set's turn ended. */
enum turn { TURN_COMPLETE, TURN_CUT, TURN_PAUSED };

/* The counts of the type in the worker's context, by set. */
static struct set_counts *counts_of(worker_state *state) {
  return &state->set_counts[(state->context.public.type.index - 1) * MUSTER_SETS_MAX];
}

static void tell_set(update_context *context, const set_table *table, uint32_t number, set_state *own) {
  const type_set *set = &table->sets[number];
  context->set = own;
  context->public.set = number;
  context->public.now_ns = own->began_ns;
  context->public.elapsed_ns = own->began_ns - own->last_ns;
  context->yields = set->mode != MUSTER_MODE_RUN;
  context->asks = set->asks;
}

/* Sets the time from which the atoms of a set are told to yield. When the worker does not read the clock, the set's
 * share of the whole slice counts from its first question on. */
static void tell_share(struct walk *walk, const type_set *set) {
  update_context *context = &walk->state->context;
  const struct pass *pass = &walk->pass;
  if (!context->yields) return;
  context->yield_ns = 0;
  context->share_ns = UINT64_MAX / 4;
  if (walk->timed)
    context->yield_ns = pass->set_end_ns < pass->stop_ns ? pass->set_end_ns : pass->stop_ns;
  else if (walk->slice_ns)
    context->share_ns = (uint64_t)walk->slice_ns * set->share / (pass->weight + set->share);
}

/* Reads the clock after an atom: how long the atom took. */
static void look_at_clock(struct walk *walk, uint32_t atom) {
  uint64_t after_ns = clock_now(&walk->runner->clock), atom_ns = after_ns - walk->clock_ns;
  after_ns = overrun_check_atom(walk->state, walk->runner, atom, &atom_ns, after_ns);
  if (atom_ns > walk->longest_ns) walk->longest_ns = atom_ns;
  walk->looked_ns += atom_ns;
  walk->looked++;
  watch_enter(walk->state->heartbeat);
  walk->clock_ns = after_ns;
}

static bool gives_way(const struct walk *walk) {
  return !walk->runner->virtual && is_called_away(walk->state);
}

/* Runs the atoms of a set from *atom up to `end`. */
static enum turn passes_run_atoms(struct walk *walk, const type_set *set, uint32_t *atom, uint32_t end) {
  update_context *context = &walk->state->context;
  bool may_be_cut = set->mode != MUSTER_MODE_RUN, goes_on = true;
  for (;;) {
    context->asked = 0;
    muster_atom_result result = callback_atom(walk->state, walk->type->atoms, *atom, MUSTER_FLIGHT_ATOM);
    walk->atoms++;
    if (walk->timed) look_at_clock(walk, *atom);
    if (result == MUSTER_ATOM_MORE) {
      bool pauses = set->mode == MUSTER_MODE_SLICEABLE && gives_way(walk);
      if (pauses && walk->timed) pauses = pass_goes_on(&walk->pass, set, walk->clock_ns, 0);
      return pauses ? TURN_PAUSED : TURN_CUT;
    }
    ++*atom;
    if (result == MUSTER_ATOM_FINISH) return TURN_COMPLETE;
    if (__builtin_expect(result != MUSTER_ATOM_NEXT, false)) walk->state->results_refused++;
    if (*atom == end) return end == set->end_atom ? TURN_COMPLETE : TURN_CUT;
    if (!may_be_cut) continue;
    if (walk->timed) goes_on = pass_goes_on(&walk->pass, set, walk->clock_ns, walk->longest_ns);
    if (!goes_on) return TURN_CUT;
    if (gives_way(walk)) return TURN_PAUSED;
  }
}

/* Runs a set in its turn. `resumes`: it was interrupted in this frame, and goes on whatever its mode. */
static enum turn run_set(struct walk *walk, uint32_t number, uint32_t end, bool resumes) {
  const type_set *set = &walk->table->sets[number];
  set_state *own = &walk->states[number];
  if (!resumes) pass_begin_set(set, own, walk->runner->now_ns);
  uint32_t atom = own->goes_on ? own->goes_on - 1u : set->first_atom;
  tell_set(&walk->state->context, walk->table, number, own);
  tell_share(walk, set);
  enum turn turn = passes_run_atoms(walk, set, &atom, end);
  if (turn == TURN_PAUSED) {
    pass_pause(own, atom);
    return turn;
  }
  pass_leave(set, walk->kept, number);
  if (turn == TURN_COMPLETE) {
    pass_complete(own, walk->runner->now_ns);
    walk->counts[number].runs++;
    return turn;
  }
  pass_cut(set, own, atom);
  walk->kept->cut |= (uint16_t)(1u << number);
  walk->counts[number].cuts++;
  walk->state->sets_cut++;
  return turn;
}

/* What the next set is expected to take before it can be cut. */
static uint64_t expected_ns(struct walk *walk) {
  uint32_t number = pass_peek(&walk->pass);
  if (number == MUSTER_SETS_MAX || walk->looked == 0) return 0;
  uint64_t whole_ns = walk->looked_ns * sets_whole(&walk->table->sets[number]) / walk->looked;
  return whole_ns > walk->longest_ns ? whole_ns : walk->longest_ns;
}

/* Takes the next set and the atom before which it ends; false when no set is left that has time. */
static bool next_set(struct walk *walk, uint32_t *number, uint32_t *end) {
  if (!walk->runner->virtual) {
    *number = pass_next(&walk->pass, walk->clock_ns, expected_ns(walk));
    if (*number == MUSTER_SETS_MAX) return false;
    *end = walk->table->sets[*number].end_atom;
    return true;
  }
  if (walk->step == walk->steps_end) return false;
  *number = walk->step->set;
  *end = walk->step->atom_end;
  walk->pass.left &= (uint16_t) ~(1u << *number);
  walk->step++;
  return true;
}

/* Gives way before the atoms of a set, or between two sets: the worker that goes on finds here what is left. */
static enum interruption pause_pass(struct walk *walk, uint32_t paused) {
  uint16_t left = walk->pass.left;
  walk->kept->current = (uint8_t)(paused < MUSTER_SETS_MAX ? paused + 1 : 0);
  if (paused < MUSTER_SETS_MAX) left |= (uint16_t)(1u << paused);
  walk->kept->left = left;
  return INTERRUPTED_BY_URGENCY;
}

static enum interruption run_sets(struct walk *walk, uint32_t resumed) {
  uint32_t number, end;
  if (resumed) {
    number = resumed - 1;
    if (run_set(walk, number, walk->table->sets[number].end_atom, true) == TURN_PAUSED) return pause_pass(walk, number);
  }
  for (bool first = !resumed;; first = false) {
    bool more = walk->runner->virtual ? walk->step < walk->steps_end : pass_peek(&walk->pass) < MUSTER_SETS_MAX;
    if (!first && more && gives_way(walk)) return pause_pass(walk, MUSTER_SETS_MAX);
    if (!next_set(walk, &number, &end)) return INTERRUPTED_NOT;
    if (run_set(walk, number, end, false) == TURN_PAUSED) return pause_pass(walk, number);
  }
}

/* Opens the pass of an entry, or the rest of one that gave way in this frame. Returns 1 + the set that goes on. */
static uint32_t open_pass(struct walk *walk, const batch_pass *planned, const agent_row *row, bool resumes) {
  const struct runner *runner = walk->runner;
  const batch_result *result = walk->state->context.result;
  uint64_t end_ns = UINT64_MAX, stop_ns = UINT64_MAX;
  uint16_t active = walk->kept->left;
  uint32_t resumed = resumes ? walk->kept->current : 0;
  if (walk->timed) {
    uint64_t spent_ns = resumes ? result->cost_ns : 0,
             slice_ns = planned->slice_ns ? planned->slice_ns : UINT64_MAX / 2;
    stop_ns = runner_stop_ns(runner, walk->state);
    end_ns = walk->clock_ns + (slice_ns > spent_ns ? slice_ns - spent_ns : 0);
    if (end_ns > stop_ns) end_ns = stop_ns;
  }
  if (!resumes) {
    active = pass_active(walk->table, walk->states, walk->kept, row->level, runner->now_ns, planned->continues);
    pass_begin(walk->table, walk->states, walk->kept, active, runner->now_ns, planned->continues);
  }
  pass_open(&walk->pass, walk->table, walk->kept, active, end_ns, stop_ns);
  if (resumed) pass_take(&walk->pass, resumed - 1, walk->clock_ns); /* with its share of what is left */
  if (!runner->virtual) return resumed;
  walk->step = runner->batch->steps + planned->step;
  walk->steps_end = walk->step + planned->step_count;
  return 0;
}

static void end_pass(struct walk *walk, const batch_pass *planned, const agent_row *row) {
  batch_result *result = walk->state->context.result;
  bool stopped = walk->runner->virtual ? planned->stopped : walk->pass.stopped;
  bool owes = pass_end(walk->table, walk->states, walk->kept, walk->pass.left, row->level);
  result->owes = !owes ? OWES_NOTHING : stopped ? OWES_BY_FRAME : OWES_BY_SHARE;
}

enum interruption passes_run(worker_state *state, const struct runner *runner, uint32_t entry_index, uint64_t *clock_ns,
                             bool timed) {
  update_context *context = &state->context;
  batch_result *result = context->result;
  const batch_pass *planned = &runner->batch->passes[entry_index];
  const agent_row *row = &runner->store->rows[context->index];
  const set_table *table = &context->type->sets;
  bool resumes = runner->batch->outcomes[entry_index] == OUTCOME_PREEMPTED;
  struct walk walk; /* the pass is opened below */
  walk.state = state;
  walk.runner = runner;
  walk.type = context->type;
  walk.table = table;
  walk.states = sets_states_of(table, row->state_slot);
  walk.kept = &table->passes[row->state_slot];
  walk.counts = counts_of(state);
  walk.clock_ns = *clock_ns;
  walk.longest_ns = walk.looked_ns = 0;
  walk.looked = 0;
  walk.atoms = resumes ? result->atom_next : 0;
  walk.slice_ns = planned->slice_ns;
  walk.timed = timed;
  uint32_t resumed = open_pass(&walk, planned, row, resumes);
  enum interruption interruption = run_sets(&walk, resumed);
  batch_outcome outcome = OUTCOME_PREEMPTED;
  if (!interruption) {
    end_pass(&walk, planned, row);
    outcome = walk.kept->left ? OUTCOME_ACT : OUTCOME_FINISHED;
  }
  context->set = NULL;
  result->atom_next = (uint16_t)walk.atoms;
  result->random_count = (uint32_t)context->random_counter;
  runner->batch->outcomes[entry_index] = (uint8_t)outcome;
  if (timed) *clock_ns = walk.clock_ns;
  return interruption;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

static void act_set(worker_state *state, const struct runner *runner, const agent_type *type, uint32_t number) {
  const type_set *set = &type->sets.sets[number];
  update_context *context = &state->context;
  set_state *own = &sets_states_of(&type->sets, runner->store->rows[context->index].state_slot)[number];
  pass_begin_set(set, own, context->began_ns);
  tell_set(context, &type->sets, number, own);
  callback_actions(state, set->first_atom, set->end_atom);
  pass_complete(own, context->began_ns);
  context->set = NULL;
  counts_of(state)[number].runs++;
}

void passes_act(worker_state *state, const struct runner *runner) {
  const agent_type *type = state->context.type;
  set_pass *kept = &type->sets.passes[runner->store->rows[state->context.index].state_slot];
  for (uint32_t i = 0; i < type->sets.count && kept->left; i++) {
    uint32_t number = type->sets.sequence[i];
    if (!(kept->left >> number & 1)) continue;
    act_set(state, runner, type, number);
    kept->left &= (uint16_t) ~(1u << number);
  }
}

uint64_t passes_act_cost(const agent_type *type, const agent_row *row) {
  uint64_t cost_ns = 0;
  for (uint32_t rest = type->sets.passes[row->state_slot].left; rest; rest &= rest - 1) {
    const type_set *set = &type->sets.sets[__builtin_ctz(rest)];
    cost_ns += type_model_ns(type, set->first_atom, set->end_atom);
  }
  return cost_ns;
}

/* -------------------------------------------------------------------------------------------------------- questions */

bool passes_should_yield(update_context *context) {
  const struct runner *runner = context->runner;
  if (!(context->set || context->type->sliced) || !context->yields || context->phase != PHASE_PARALLEL) return false;
  ++context->asked;
  if (runner->virtual) return context->asked >= context->asks;
  if (is_called_away(context->worker)) return true;
  uint64_t now_ns = clock_now(&runner->clock), end_ns = now_ns + context->share_ns;
  uint64_t stop_ns = runner_stop_ns(runner, context->worker);
  if (!context->yield_ns) context->yield_ns = end_ns < stop_ns ? end_ns : stop_ns;
  return now_ns >= context->yield_ns;
}
