/* planner.c - planner mode: a frame with a stage 7 that the host runs. muster_plan() hands the batch out,
 * muster_plan_report() takes the results in and commits them.
 *
 * A report is checked as a whole before anything changes. Its results are then put beside the entries of the batch,
 * where workers would have put them, so that the commit sees neither a difference nor the order in which they came. */
#include "api/planner.h"

#include "agents/elapsed.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fields.h"
#include "base/prefetch.h"
#include "base/sized.h"
#include "frame/frame.h"
#include "plan/periods.h"
#include "plan/rates.h"
#include "run/callback.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/guard.h"
#include "world/planner_state.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <muster/planner.h>

#include <math.h>
#include <string.h>

static const uint64_t cost_max_ns = 10000000000u;

_Static_assert(sizeof(muster_plan_entry) == 64 && sizeof(muster_plan_result) == 56 && sizeof(muster_plan_part) == 16,
               "other languages count on these");

void planner_create(struct muster_world *world) {
  if (world_is_planned(world)) ARENA_ARRAY(&world->arena, world->planner->numbers, world->def.limits.agents_max);
}

uint64_t muster_clock_ns(void) {
  return clock_system();
}

uint64_t muster_clock_thread_ns(void) {
  return clock_thread_cpu();
}

/* --------------------------------------------------------------------------------------------------------- the plan */

/* Whether a plan goes on with the frame of the last one. */
static bool goes_on_with(const struct muster_world *world, const muster_frame *frame) {
  return world->frames > 0 && frame->sim_now_ns == world->last_now_ns;
}

/* Whether what is left of the frame is too little to be planned. */
static bool is_rest(const struct muster_world *world, const muster_frame *frame) {
  return frame && frame->budget_ns < BUDGET_LEAST_NS && goes_on_with(world, frame);
}

static muster_result check_plan(struct muster_world *world, const muster_frame *frame, const muster_plan_entry *entries,
                                uint32_t capacity, const muster_plan_summary *summary) {
  if (!world || !entries || !summary || capacity == 0)
    return error_missing("plan", "world, the summary and room for an entry");
  muster_result result = sized_check(SIZED(plan_summary), summary);
  if (result) return result;
  if (!world_is_planned(world))
    return error_set(MUSTER_E_STATE,
                     "plan: this world was created without planner_workers: use muster_frame_run(), or give it some");
  if (occupancy_get(&world->occupancy) == OCCUPIED_BY_PLAN)
    return error_set(MUSTER_E_STATE, "plan: the last plan was not reported yet: call muster_plan_report() before, with "
                                     "what ran, or nothing");
  if (!is_rest(world, frame)) return frame_check(world, frame);
  return guard_frame(world, __builtin_frame_address(0), "frame");
}

/* A plan without entries, which no frame belongs to. */
static muster_result plan_nothing(struct muster_world *world, muster_plan_summary *summary) {
  muster_plan_summary whole = {0};
  ASSERT(!world->commit->open);
  world->planner->empty = true;
  world->batch->count = 0;
  occupancy_set(&world->occupancy, OCCUPIED_BY_PLAN);
  return sized_write(SIZED(plan_summary), &whole, summary);
}

/* Adds a further plan of a frame to the report of those before it. */
static void add_plan(muster_frame_report *sum, const muster_frame_report *more) {
  const muster_frame_report first = *sum;
  *sum = *more; /* what is as of now, and the overrun of the last rest, which is that of the frame */
  sum->budget_ns = first.budget_ns;
  sum->frame_period_ns = first.frame_period_ns;
  sum->pressure = first.pressure;
  sum->utilisation_desired = first.utilisation_desired;
  sum->utilisation_nominal = first.utilisation_nominal;
  sum->utilisation_fitted = first.utilisation_fitted;
  sum->period_deviation_ns = first.period_deviation_ns;
  sum->important_load = first.important_load;
  sum->held_load = first.held_load;
  sum->elapsed_load = first.elapsed_load;
  sum->elapsed_type = first.elapsed_type;
  sum->agents_put_off = first.agents_put_off;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) sum->stage_ns[i] += first.stage_ns[i];
  uint64_t *const times[] = {&sum->wall_ns,   &sum->update_cpu_ns, &sum->overhead_ns,
                             &sum->serial_ns, &sum->work_ns,       &sum->repaid_ns};
  const uint64_t before[] = {first.wall_ns,   first.update_cpu_ns, first.overhead_ns,
                             first.serial_ns, first.work_ns,       first.repaid_ns};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] += before[i];
  uint32_t *const counts[] = {&sum->released,    &sum->completed, &sum->preempted, &sum->woken,
                              &sum->rankings,    &sum->scored,    &sum->overruns,  &sum->sets_cut,
                              &sum->score_cells, &sum->cycles,    &sum->folds,     &sum->unfolds};
  const uint32_t counted[] = {first.released,    first.completed, first.preempted, first.woken,
                              first.rankings,    first.scored,    first.overruns,  first.sets_cut,
                              first.score_cells, first.cycles,    first.folds,     first.unfolds};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) *counts[i] += counted[i];
  if (first.longest_claim_ns > sum->longest_claim_ns) sum->longest_claim_ns = first.longest_claim_ns;
  if (first.longest_atom_ns > sum->longest_atom_ns) sum->longest_atom_ns = first.longest_atom_ns;
  if (first.longest_wait_ns > sum->longest_wait_ns) sum->longest_wait_ns = first.longest_wait_ns;
}

static muster_plan_entry planner_describe(const struct muster_world *world, const batch_entry *entry) {
  const agent_row *row = world_row(world, entry->agent);
  uint64_t began_ns = row->atom_next ? world->agents.store.begun[entry->agent].started_ns : world->frame->now_ns;
  elapsed_told told = elapsed_tell(world_type(world, row->type), row->last_update_ns, began_ns);
  return (muster_plan_entry){.agent = muster_agent_make(entry->agent, row->generation),
                             .user = (uint64_t)(uintptr_t)row->user,
                             .now_ns = told.now_ns,
                             .elapsed_ns = told.elapsed_ns,
                             .slice_ns = entry->model_ns,
                             .type = {row->type + 1u},
                             .level = row->level,
                             .importance = share_value(row->importance),
                             .part_first = row->atom_next,
                             .part_end = entry->atom_end,
                             .delays = (uint8_t)(world->frames - row->released_frame)};
}

PREFETCH_FUNCTION prefetch_described(const struct muster_world *world, uint32_t number) {
  enum { AHEAD = 12 };
  const struct batch *batch = world->batch;
  if (number + AHEAD >= batch->count) return;
  __builtin_prefetch(world_row(world, batch->entries[number + AHEAD].agent));
  __builtin_prefetch(&world->planner->numbers[batch->entries[number + AHEAD].agent], 1);
}

/* Whether an agent of the plan was removed since the intake. Under the virtual clock that counts from the frame's end.
 */
static bool is_removed(const struct muster_world *world, uint32_t index) {
  return !world_is_virtual(world) && removals_waits(&world->agents.removals, index) &&
         !world_exists(world, world_agent(world, index));
}

static void planner_hand_out(struct muster_world *world, muster_plan_entry *entries, muster_plan_summary *summary) {
  const struct batch *batch = world->batch;
  for (uint32_t i = 0; i < batch->count; i++) {
    prefetch_described(world, i);
    world->planner->numbers[batch->entries[i].agent] = i;
    if (is_removed(world, batch->entries[i].agent)) continue;
    muster_plan_entry entry = planner_describe(world, &batch->entries[i]);
    entries[summary->count++] = entry;
    summary->slices_ns += entry.slice_ns;
  }
}

CALLS_OUT muster_result muster_plan(muster_world *world, const muster_frame *frame, muster_plan_entry *entries,
                                    uint32_t capacity, muster_plan_summary *summary) {
  MUST_RETURN(leaving_update);
  muster_result result = check_plan(world, frame, entries, capacity, summary);
  if (result) return result;
  if (is_rest(world, frame)) return plan_nothing(world, summary);
  world->planner->capacity = capacity;
  world->planner->goes_on = goes_on_with(world, frame);
  frame_begin(world, frame);
  frame_plan(world);
  muster_plan_summary whole = {0};
  planner_hand_out(world, entries, &whole);
  whole.fits = world->plan->ranked.fits < whole.count ? world->plan->ranked.fits : whole.count;
  whole.run_ns = world->planner->run_ns = frame_time_to_run(world);
  frame_leave(world, OCCUPIED_BY_PLAN);
  return sized_write(SIZED(plan_summary), &whole, summary);
}

/* -------------------------------------------------------------------------------------------------------- the parts */

/* The number of an agent's entry; the batch's count when it has none. */
static uint32_t planner_number_of(const struct muster_world *world, muster_agent agent) {
  const struct batch *batch = world->batch;
  if (muster_agent_index(agent) >= world->def.limits.agents_max) return batch->count;
  uint32_t number = world->planner->numbers[muster_agent_index(agent)];
  bool listed = number < batch->count && batch->entries[number].agent == muster_agent_index(agent);
  return listed && world_row(world, muster_agent_index(agent))->generation == muster_agent_generation(agent)
             ? number
             : batch->count;
}

/* The sets that an agent of the plan is to run. */
static uint16_t planner_due(const struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const class_table *classes = &world->queues->classes;
  return rates_due(world_type(world, row->type), &classes->classes[row->class], row,
                   periods_ahead_ns(classes, &world->agents.store, index));
}

/* Writes the parts of an entry, as far as there is room. Returns how many it has. */
static uint32_t planner_write_parts(const struct muster_world *world, uint32_t index, uint32_t entry,
                                    muster_plan_part *parts, uint32_t room) {
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  uint32_t written = 0;
  if (!type->rated) return 0;
  for (uint32_t rest = planner_due(world, index); rest; rest &= rest - 1, written++) {
    uint32_t set = (uint32_t)__builtin_ctz(rest);
    uint64_t last_ns = sets_states_of(&type->sets, row->state_slot)[set].last_ns;
    if (written < room) parts[written] = (muster_plan_part){entry, set, world->frame->now_ns - last_ns};
  }
  return written;
}

static muster_result check_parts(const struct muster_world *world, const muster_plan_entry *entries,
                                 uint32_t entry_count) {
  if (occupancy_get(&world->occupancy) != OCCUPIED_BY_PLAN)
    return error_set(MUSTER_E_STATE, "parts: there is no plan whose parts they are: call muster_plan() before");
  for (uint32_t i = 0; i < entry_count; i++)
    if (planner_number_of(world, entries[i].agent) == world->batch->count)
      return error_set(MUSTER_E_ARGUMENT,
                       "parts: entries[%u].agent %u (generation %u) is not in the plan: give entries of the open one",
                       i, muster_agent_index(entries[i].agent), muster_agent_generation(entries[i].agent));
  return MUSTER_OK;
}

muster_result muster_plan_parts(const muster_world *world, const muster_plan_entry *entries, uint32_t entry_count,
                                muster_plan_part *parts, uint32_t capacity, uint32_t *count) {
  if (!world || !count || (entry_count && !entries) || (capacity && !parts))
    return error_missing("parts", "world, the entries, room for parts and the count");
  muster_result result = check_parts(world, entries, entry_count);
  if (result) return result;
  uint32_t needed = 0;
  for (uint32_t i = 0; i < entry_count; i++)
    needed += planner_write_parts(world, muster_agent_index(entries[i].agent), i, NULL, 0);
  *count = needed;
  if (needed > capacity)
    return error_set(MUSTER_E_FULL, "parts: %u parts need room, and capacity is %u", needed, capacity);
  for (uint32_t i = 0, written = 0; i < entry_count; i++)
    written += planner_write_parts(world, muster_agent_index(entries[i].agent), i, parts + written, needed - written);
  return MUSTER_OK;
}

/* ------------------------------------------------------------------------------------------------------- the report */

static muster_result check_part(const struct muster_world *world, const muster_plan_result *result, uint32_t place) {
  const agent_row *row = world_row(world, muster_agent_index(result->agent));
  uint32_t parts = world_type(world, row->type)->parallel_atoms, first = row->atom_next ? row->atom_next : 1;
  if (world_type(world, row->type)->rated)
    return error_set(MUSTER_E_ARGUMENT,
                     "report: results[%u].outcome: type '%s' has sets: all that are due run, or none, and none is "
                     "continued",
                     place, world_type(world, row->type)->name);
  if (parts < 2)
    return error_set(MUSTER_E_ARGUMENT, "report: results[%u].outcome: type '%s' has one part: it cannot be continued",
                     place, world_type(world, row->type)->name);
  if (result->part_next < first || result->part_next >= parts)
    return error_set(MUSTER_E_ARGUMENT, "report: results[%u].part_next %u must be %u..%u", place, result->part_next,
                     first, parts - 1);
  return MUSTER_OK;
}

/* Checks a result. The agents of the results checked before are marked as seen. */
static muster_result check_result(struct muster_world *world, const muster_plan_result *result, uint32_t place) {
  muster_agent agent = result->agent;
  if (planner_number_of(world, agent) == world->batch->count)
    return error_set(MUSTER_E_ARGUMENT,
                     "report: results[%u].agent %u (generation %u) is not in the plan: report entries of the open one",
                     place, muster_agent_index(agent), muster_agent_generation(agent));
  if (bits_has(world->agents.seen, muster_agent_index(agent)))
    return error_set(MUSTER_E_ARGUMENT,
                     "report: results[%u].agent %u (generation %u) comes for the second time: report it once", place,
                     muster_agent_index(agent), muster_agent_generation(agent));
  if (result->outcome > MUSTER_PLAN_CONTINUED)
    return error_set(MUSTER_E_ARGUMENT, "report: results[%u].outcome %u is unknown: must be 0..%u", place,
                     result->outcome, MUSTER_PLAN_CONTINUED);
  if (result->outcome == MUSTER_PLAN_NOT_RUN) return MUSTER_OK;
  if (result->cost_ns > cost_max_ns)
    return error_set(MUSTER_E_ARGUMENT, "report: results[%u].cost_ns %llu must be at most 10 s", place,
                     (unsigned long long)result->cost_ns);
  if (result->moved && !space_accepts(result->position))
    return error_set(MUSTER_E_ARGUMENT,
                     "report: results[%u].position (%.17g, %.17g, %.17g) must be finite and within +-1e9 m", place,
                     result->position.x, result->position.y, result->position.z);
  return result->outcome == MUSTER_PLAN_CONTINUED ? check_part(world, result, place) : MUSTER_OK;
}

static muster_result check_results(struct muster_world *world, const muster_plan_result *results, uint32_t count) {
  muster_result found = MUSTER_OK;
  uint32_t checked = 0;
  for (; checked < count; checked++) {
    if ((found = check_result(world, &results[checked], checked))) break;
    bits_set(world->agents.seen, muster_agent_index(results[checked].agent));
  }
  while (checked-- > 0) world->agents.seen[muster_agent_index(results[checked].agent) / 64] = 0;
  return found;
}

static muster_result check_report(struct muster_world *world, const muster_plan_result *results, uint32_t count) {
  if (!world || (count && !results)) return error_missing("report", "world and the results");
  if (occupancy_get(&world->occupancy) != OCCUPIED_BY_PLAN)
    return error_set(MUSTER_E_STATE, "report: there is no plan to report about: call muster_plan() before, and report "
                                     "each plan once");
  return check_results(world, results, count);
}

/* What the host ran of an update at once counts as an atom for the frame. */
static void note_longest(muster_frame_report *report, const muster_plan_result *result) {
  if (result->cost_ns <= report->longest_claim_ns) return;
  report->longest_claim_ns = report->longest_atom_ns = result->cost_ns;
}

/* What an update took by itself: of a host that measures by the wall, no more than eight times what was believed, since
 * the kernel may have run another thread meanwhile. But where one in twenty takes long, its slice says so: then twice
 * that. */
static uint64_t planner_own_ns(const struct muster_world *world, const muster_plan_result *result,
                               const batch_entry *entry) {
  enum { OVER_BELIEF = 8, OVER_SLICE = 2 };
  uint64_t most_ns = OVER_BELIEF * (uint64_t)entry->predicted_ns, slices_ns = OVER_SLICE * entry->model_ns;
  if (most_ns < slices_ns) most_ns = slices_ns;
  return world->def.planner.by_wall && result->cost_ns > most_ns ? most_ns : result->cost_ns;
}

/* Counts the runs of an agent's sets; and updates without any of the sets by whose period the agent is expected to run:
 * these are more than the fit of periods counts on, as those of woken agents are. */
static void planner_count_sets(struct muster_world *world, uint32_t index) {
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  struct set_counts *counts = &runner_caller(world->runner)->set_counts[row->type * MUSTER_SETS_MAX];
  uint16_t due = planner_due(world, index);
  if (!(due & rates_fastest(&type->sets))) world->queues->classes.classes[row->class].events++;
  for (uint32_t rest = due; rest; rest &= rest - 1) counts[__builtin_ctz(rest)].runs++;
}

/* ---------------------------------------------------------------------------------- what hosts seem to have forgotten
 */

/* Notes which of a world's first results give another place than the agent's without `moved`, until one has it. */
static void watch_place(struct muster_world *world, const muster_plan_result *result) {
  enum { FIRST = 4096 };
  planner_state *planner = world->planner;
  muster_position given = result->position;
  if (planner->places_looked == FIRST) return;
  planner->places_looked = result->moved ? FIRST : planner->places_looked + 1;
  if (result->moved) planner->unmoved = 0;
  if (result->moved || (fpclassify(given.x) == FP_ZERO && fpclassify(given.y) == FP_ZERO)) return;
  muster_position at = world_position(world, muster_agent_index(result->agent));
  planner->unmoved += hypot(given.x - at.x, given.y - at.y) > 1.0;
}

/* How many plans in a row something holds of. */
static uint32_t in_a_row(uint32_t before, bool holds) {
  return holds ? before + 1 : 0;
}

/* Whether something has been so for long, and was not told yet. */
static bool is_news(uint32_t times, bool *told) {
  enum { OFTEN = 128 };
  if (times < OFTEN || *told) return false;
  return *told = true;
}

/* A plan was reported: says once, in the log, what looks like a mistake though nothing of it is wrong by itself. */
static void watch_report(struct muster_world *world) {
  planner_state *planner = world->planner;
  const muster_frame_report *report = &world->sums->report;
  uint32_t entries = world->batch->count;
  bool all_ran = entries == planner->capacity && report->completed == entries;
  planner->crowded = in_a_row(planner->crowded, all_ran && report->carried > 0 && planner->ran_ns < planner->run_ns);
  planner->unrun = in_a_row(planner->unrun, entries > 0 && report->completed + report->preempted == 0);
  if (is_news(planner->unmoved, &planner->told_moves))
    log_write(
        &world->def.log, MUSTER_LOG_WARNING,
        "report: %u results gave a position more than 1 m from the agent's, and none has `moved`: set it to 1, or "
        "agents stay where they are",
        planner->unmoved);
  if (is_news(planner->crowded, &planner->told_room))
    log_write(
        &world->def.log, MUSTER_LOG_WARNING,
        "plan: in each of the last %u plans agents waited, and there was time for them, but no more room than for "
        "%u %s: give a larger array",
        planner->crowded, planner->capacity, planner->capacity == 1 ? "entry" : "entries");
  if (is_news(planner->unrun, &planner->told_unrun))
    log_write(
        &world->def.log, MUSTER_LOG_WARNING,
        "report: nothing ran of the last %u plans, though they had entries: report those that ran, as finished, or "
        "their agents stay due",
        planner->unrun);
}

/* ------------------------------------------------------------------------------------------------- taking results in
 */

/* Puts a result where a worker would have put it. Of an agent that was removed meanwhile only the cost counts: it waits
 * for the next intake. */
static void take_result(struct muster_world *world, const muster_plan_result *result) {
  struct batch *batch = world->batch;
  uint32_t number = planner_number_of(world, result->agent);
  batch_result *taken = &batch->results[number];
  bool continued = result->outcome == MUSTER_PLAN_CONTINUED;
  if (result->outcome == MUSTER_PLAN_NOT_RUN) return;
  world->frame->spent_ns += result->cost_ns;
  world->sums->report.update_cpu_ns += result->cost_ns;
  world->frame->believed_ns += batch->entries[number].predicted_ns;
  uint64_t own_ns = planner_own_ns(world, result, &batch->entries[number]);
  world->frame->own_ns += own_ns;
  note_longest(&world->sums->report, result);
  if (is_removed(world, muster_agent_index(result->agent))) return;
  watch_place(world, result);
  *taken = (batch_result){.moved = result->moved != 0, .atom_next = continued ? (uint16_t)result->part_next : 0};
  if (taken->moved) taken->moved_to = space_spot_of(&world->agents.space, result->position);
  if (world_type_of(world, batch->entries[number].agent)->rated)
    planner_count_sets(world, batch->entries[number].agent);
  batch->entries[number].model_ns = own_ns;
  batch->outcomes[number] = continued ? OUTCOME_PREEMPTED : OUTCOME_FINISHED;
}

static CALLS_OUT void end_plan(struct muster_world *world, const muster_plan_result *results, uint32_t count) {
  MUST_RETURN(leaving_update);
  frame_resume(world);
  world->frame->spent_ns = 0; /* until here, what was planned */
  world->sums->report.longest_claim_ns = world->sums->report.longest_atom_ns = 0;
  for (uint32_t i = 0; i < count; i++) take_result(world, &results[i]);
  world->planner->ran_ns = world->frame->spent_ns;
  if (!world_is_virtual(world)) frame_note_idle(world);
  frame_commit(world);
  frame_end(world);
  watch_report(world);
  muster_frame_report *whole = &world->planner->report, *last = &world->sums->report;
  if (world->planner->goes_on)
    add_plan(whole, last);
  else
    *whole = *last;
  HAS_RETURNED();
}

/* The end of a plan without entries. */
static void end_nothing(struct muster_world *world) {
  world->planner->empty = false;
  occupancy_set(&world->occupancy, OCCUPIED_NOT);
}

muster_result muster_plan_report(muster_world *world, const muster_plan_result *results, uint32_t count) {
  muster_result found = check_report(world, results, count);
  if (found) return found;
  if (world->planner->empty)
    end_nothing(world);
  else
    end_plan(world, results, count);
  return MUSTER_OK;
}

void planner_abandon(struct muster_world *world) {
  if (occupancy_get(&world->occupancy) != OCCUPIED_BY_PLAN) return;
  if (world->planner->empty)
    end_nothing(world);
  else
    end_plan(world, NULL, 0);
}
