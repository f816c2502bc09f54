/* On the wall clock, where several workers run and settle at a time: whatever the load and whichever worker is faster,
 * the time that updates are told adds up to the time that passed, under each contract; and times that were asked for
 * are kept. */
#include "world/fixture.h"

/* A frame ends when nobody waits, so a large budget takes no time; planning under a sanitizer, beside other programs,
 * takes more than 20 ms. */
enum { EACH = 1000, FRAMES_MAX = 3000, BUDGET_NS = UNDER_SANITIZER ? 400000000 : 20000000 };

typedef struct life {
  uint64_t spawned_ns, told_ns, steps, early, next_ns, halfway;
} life;

static uint64_t removed;

static void begin(muster_update *update) {
  life *own = update->state;
  own->spawned_ns = update->now_ns;
  if (muster_agent_index(update->agent) < EACH) return; /* an agent that is told the whole time asks in its updates */
  own->next_ns = update->now_ns + (muster_agent_index(update->agent) % 20 + 1) * 1000000ull;
  muster_update_wake_at(update, update->agent, own->next_ns);
}

static void end(muster_update *update) {
  life *own = update->state;
  own->told_ns += update->elapsed_ns;
  if (!own->halfway) cr_assert_eq(own->told_ns, update->now_ns - own->spawned_ns);
  removed++;
}

static muster_atom_result live(muster_update *update) {
  life *own = update->state;
  own->told_ns += update->elapsed_ns;
  own->steps += update->steps;
  own->halfway = true;
  cr_assert_eq(own->told_ns, update->now_ns - own->spawned_ns);
  return MUSTER_ATOM_NEXT;
}

static void live_before(muster_update *update) {
  live(update);
}

static muster_atom_result live_and_ask(muster_update *update) {
  life *own = update->state;
  live(update);
  if (update->wake_at_ns) {
    own->early += update->now_ns < own->next_ns;
    cr_assert_eq(update->wake_at_ns, own->next_ns);
    own->next_ns = update->now_ns + 13000000;
    muster_update_wake_at(update, update->agent, own->next_ns);
  }
  return MUSTER_ATOM_NEXT;
}

/* Asks in each update, whatever released it. */
static muster_atom_result live_and_ask_always(muster_update *update) {
  live(update);
  muster_update_wake_at(update, update->agent, update->now_ns + 45000000);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result wake_another(muster_update *update) {
  muster_neighbour neighbour;
  ((life *)update->state)->halfway = false;
  if (muster_agent_index(update->agent) % 16 == 0 &&
      muster_update_nearby(update, 5.0f, (muster_type){0}, &neighbour, 1))
    muster_update_wake(update, neighbour.agent);
  return MUSTER_ATOM_NEXT;
}

static const muster_atom atoms[][2] = {[MUSTER_ELAPSED_DELTA] = {{.run = live_and_ask_always}, {.run = wake_another}},
                                       [MUSTER_ELAPSED_STEPS] = {{.run = live}, {.run = wake_another}},
                                       [MUSTER_ELAPSED_ANALYTIC] = {{.run = live}, {.run = wake_another}},
                                       [MUSTER_ELAPSED_EVENTS] = {{.run = live_and_ask}, {.run = wake_another}}};

Test(elapsed_threads, what_updates_are_told_adds_up_whoever_settles_it) {
  little_world little = little_world_of(2, muster_world_def_default());
  for (uint32_t contract = 0; contract <= MUSTER_ELAPSED_EVENTS; contract++) {
    muster_type_def type =
        CHANGED(type_with(atoms[contract], 2), it.elapsed.contract = (muster_elapsed)contract,
                it.state_bytes = sizeof(life), it.period_ns = FRAME_NS, it.on_spawned = begin, it.on_removed = end);
    if (contract == MUSTER_ELAPSED_STEPS) type.elapsed.step_ns = 3333333, type.elapsed.steps_max = 310;
    if (contract == MUSTER_ELAPSED_ANALYTIC) type.elapsed.step_ns = 5000000, type.elapsed.catch_up = live_before;
    if (contract != MUSTER_ELAPSED_EVENTS) type.wake_gap_ns = 25000000;
    add_type(&little, type);
    for (uint32_t i = 0; i < EACH; i++) spawn_at(&little, i);
  }
  muster_statistics statistics = muster_statistics_default();
  for (uint32_t i = 0; i < FRAMES_MAX; i++) { /* as many as a slow machine needs */
    if (statistics.completed > 8 * EACH && statistics.wakes_timed > 2 * EACH && statistics.wakes_delayed > 0) break;
    run_frame_with(&little, i % 10 ? BUDGET_NS : 60000);
    muster_statistics_read(little.world, &statistics);
  }
  cr_assert_gt(statistics.completed, 8 * EACH);
  cr_assert_gt(statistics.wakes_timed, 2 * EACH);
  cr_assert_gt(statistics.wakes_delayed, 0);
  uint64_t steps = 0, asked = 0;
  muster_agents_move(little.world, NULL, NULL, 0); /* settles what a late frame left over */
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    muster_agent_info info = info_of(&little, agent);
    const life *own = info.state;
    steps += own->steps;
    /* An agent that was released may be in the middle of an update, or not settled yet. */
    if (info.delays == 0) cr_assert_eq(own->told_ns, info.last_update_ns - own->spawned_ns);
    cr_assert_eq(own->early, 0);
    bool has_run = info.last_update_ns > own->spawned_ns, is_released = info.delays > 0;
    if (muster_agent_index(agent) < EACH && has_run && !is_released) cr_assert_neq(info.wake_at_ns, 0);
    if (muster_agent_index(agent) % 3) continue;
    muster_result result = muster_agent_remove(little.world, agent); /* full: of wakes that updates left */
    cr_assert(result == MUSTER_OK || result == MUSTER_E_FULL);
    asked += result == MUSTER_OK;
  }
  cr_assert_gt(steps, EACH);
  for (uint32_t i = 0; i < 20; i++) run_frame_with(&little, BUDGET_NS);
  cr_assert_gt(asked, 0);
  cr_assert_eq(removed, asked);
  little_world_destroy(&little); /* the others are told the rest of their time */
  cr_assert_eq(removed, 4 * EACH);
}
