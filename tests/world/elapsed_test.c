/* Throttling must not change the world: a hen that lays an egg every ten minutes lays as many eggs when it is updated
 * four or twenty times less often than it wants, under each of the contracts that tell updates how much time passed. */
#include "world/fixture.h"

enum { HENS = 200, EGGS_EACH = 51, HEN_NS = 100000 };

static const uint64_t second_ns = 1000000000u, egg_ns = 600000000000u, period_ns = 10000000000u;

struct hen {
  uint64_t toward_ns; /* towards the next egg */
  uint64_t eggs;
};

static struct yard { uint64_t told_at_most_ns, caught_up, updates, without_time; } yard;

static struct hen *note(const muster_update *update) {
  yard.updates++;
  yard.without_time += update->elapsed_ns == 0;
  if (update->elapsed_ns > yard.told_at_most_ns) yard.told_at_most_ns = update->elapsed_ns;
  return update->state;
}

static muster_atom_result lay_over_time(muster_update *update) {
  struct hen *hen = note(update);
  for (hen->toward_ns += update->elapsed_ns; hen->toward_ns >= egg_ns; hen->toward_ns -= egg_ns) hen->eggs++;
  return MUSTER_ATOM_NEXT;
}

/* Lays by fixed steps only, at most one egg in a step. */
static muster_atom_result lay_in_steps(muster_update *update) {
  struct hen *hen = note(update);
  cr_assert_eq(update->elapsed_ns, update->steps * update->step_ns);
  for (uint32_t step = 0; step < update->steps; step++) {
    hen->toward_ns += update->step_ns;
    if (hen->toward_ns < egg_ns) continue;
    hen->toward_ns -= egg_ns;
    hen->eggs++;
  }
  return MUSTER_ATOM_NEXT;
}

static void lay_in_closed_form(muster_update *update) {
  struct hen *hen = update->state;
  yard.caught_up++;
  hen->eggs += (hen->toward_ns + update->elapsed_ns) / egg_ns;
  hen->toward_ns = (hen->toward_ns + update->elapsed_ns) % egg_ns;
}

static muster_atom_result lay_at_most_one(muster_update *update) {
  struct hen *hen = note(update);
  hen->toward_ns += update->elapsed_ns;
  if (hen->toward_ns < egg_ns) return MUSTER_ATOM_NEXT;
  hen->toward_ns -= egg_ns;
  hen->eggs++;
  return MUSTER_ATOM_NEXT;
}

/* For a type without a period: the update asks for the next one itself. */
static muster_atom_result lay_and_ask(muster_update *update) {
  lay_over_time(update);
  muster_update_wake_at(update, update->agent, update->now_ns + period_ns);
  return MUSTER_ATOM_NEXT;
}

/* Spreads the first updates over a period, as those of agents with a period are. */
static void ask_for_first(muster_update *update) {
  muster_update_wake_at(update, update->agent,
                        update->now_ns + (muster_agent_index(update->agent) % 10 + 1) * second_ns);
}

static const muster_atom by_contract[] = {[MUSTER_ELAPSED_DELTA] = {.run = lay_over_time, .model_ns = HEN_NS},
                                          [MUSTER_ELAPSED_STEPS] = {.run = lay_in_steps, .model_ns = HEN_NS},
                                          [MUSTER_ELAPSED_ANALYTIC] = {.run = lay_at_most_one, .model_ns = HEN_NS},
                                          [MUSTER_ELAPSED_EVENTS] = {.run = lay_and_ask, .model_ns = HEN_NS}};

static void run_seconds(little_world *little, uint32_t seconds, uint64_t capacity_ns) {
  for (uint32_t i = 0; i < seconds; i++) {
    little->now_ns += second_ns;
    cr_assert_eq(muster_frame_run(little->world, &(muster_frame){little->now_ns, capacity_ns}), MUSTER_OK);
  }
}

/* Returns the sum of all eggs. Each hen must have laid what is due up to its last update. */
static uint64_t count_eggs(const little_world *little) {
  uint64_t eggs = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));) {
    muster_agent_info info = info_of(little, agent);
    const struct hen *hen = info.state;
    cr_assert_eq(hen->eggs, (info.last_update_ns - second_ns) / egg_ns, "agent %u: %lu eggs up to %lu ns",
                 muster_agent_index(agent), hen->eggs, info.last_update_ns);
    eggs += hen->eggs;
  }
  return eggs;
}

/* Lets the hens live for EGGS_EACH eggs, with a capacity for one in `throttle` of the updates that they want. */
static struct yard lay(muster_elapsed contract, uint32_t throttle) {
  yard = (struct yard){0};
  muster_type_def hen = WITH(muster_type_def, it.name = "hen", it.atoms = &by_contract[contract], it.atom_count = 1,
                             it.state_bytes = sizeof(struct hen), it.period_ns = period_ns,
                             it.period_max_ns = 40 * period_ns, it.elapsed.contract = contract);
  if (contract == MUSTER_ELAPSED_STEPS) hen.elapsed.step_ns = 5 * second_ns, hen.elapsed.steps_max = 82;
  if (contract == MUSTER_ELAPSED_ANALYTIC)
    hen.elapsed.step_ns = 15 * second_ns, hen.elapsed.catch_up = lay_in_closed_form;
  if (contract == MUSTER_ELAPSED_EVENTS) hen.on_spawned = ask_for_first;
  SCOPED_WORLD little = peopled(typed_world(1, virtual_world_def_default(), hen), HENS);
  uint64_t wanted_ns = HENS * (uint64_t)HEN_NS / 10, capacity_ns = throttle == 1 ? 2 * wanted_ns : wanted_ns / throttle;
  run_seconds(&little, 1000, capacity_ns); /* spawned in the first second; then the fit settles */
  uint64_t before = statistics_of(&little).completed;
  const uint32_t seconds = EGGS_EACH * 600 - 1000;
  run_seconds(&little, seconds, capacity_ns);
  double interval_s = (double)HENS * seconds / (double)(statistics_of(&little).completed - before);
  cr_assert(interval_s > 9.7 * throttle && interval_s < 10.3 * throttle, "%g s under %u x", interval_s, throttle);
  count_eggs(&little);
  run_seconds(&little, 300, 10 * wanted_ns); /* the load falls: each hen is updated up to now */
  uint64_t eggs = count_eggs(&little);
  cr_assert_eq(eggs, HENS * EGGS_EACH, "contract %d under %u x: %lu eggs", (int)contract, throttle, eggs);
  cr_assert_eq(yard.without_time, 0, "contract %d under %u x: updates were told of no time", (int)contract, throttle);
  return yard;
}

static const uint32_t throttles[] = {1, 4, 20};

enum { FIRST = UNDER_SANITIZER ? 1 : 0 }; /* without throttling there are the most updates */

Test(elapsed, hens_lay_the_same_when_they_are_told_all_the_time_at_once) {
  for (uint32_t i = FIRST; i < 3; i++)
    cr_assert_geq(lay(MUSTER_ELAPSED_DELTA, throttles[i]).told_at_most_ns, throttles[i] * period_ns);
}
Test(elapsed, hens_lay_the_same_in_whole_steps) {
  for (uint32_t i = FIRST; i < 3; i++)
    cr_assert_leq(lay(MUSTER_ELAPSED_STEPS, throttles[i]).told_at_most_ns, 82 * 5 * second_ns);
}

Test(elapsed, hens_lay_the_same_when_a_closed_form_catches_up) {
  for (uint32_t i = FIRST; i < 3; i++) {
    struct yard seen = lay(MUSTER_ELAPSED_ANALYTIC, throttles[i]);
    cr_assert_leq(seen.told_at_most_ns, 15 * second_ns);
    if (throttles[i] == 20) cr_assert_gt(seen.caught_up, seen.updates / 2);
    if (throttles[i] == 1) cr_assert_lt(seen.caught_up, seen.updates / 10);
  }
}

Test(elapsed, hens_lay_the_same_when_they_ask_for_their_updates) {
  for (uint32_t i = FIRST; i < 3; i++) lay(MUSTER_ELAPSED_EVENTS, throttles[i]);
}

/* -------------------------------------------------------------------------- parts of one update are told the same */

typedef struct telling {
  uint64_t now_ns, elapsed_ns, began_at_ns;
  uint32_t steps, parts, whole, caught_up;
} telling;

enum { IN_PARTS = 12 };

/* What the cost model was asked for each agent and atom: the atom must be told the same. */
static muster_cost_query asked[IN_PARTS][3];

static uint64_t note_query(const muster_cost_query *query, void *user) {
  (void)user;
  asked[muster_agent_index(query->agent)][query->atom] = *query;
  return 400000;
}

static void compare(const muster_update *update, uint32_t atom) {
  const muster_cost_query *query = &asked[muster_agent_index(update->agent)][atom];
  cr_assert_eq(query->elapsed_ns, update->elapsed_ns);
  cr_assert_eq(query->steps, update->steps);
}

static muster_atom_result first_part(muster_update *update) {
  telling *own = update->state;
  cr_assert_eq(own->parts, 0);
  own->now_ns = update->now_ns, own->elapsed_ns = update->elapsed_ns, own->steps = update->steps;
  compare(update, 0);
  own->parts = 1;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result another_part(muster_update *update) {
  telling *own = update->state;
  cr_assert_eq(own->now_ns, update->now_ns);
  cr_assert_eq(own->elapsed_ns, update->elapsed_ns);
  cr_assert_eq(own->steps, update->steps);
  if (own->parts < 3) compare(update, own->parts);
  own->parts++;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result last_part(muster_update *update) {
  telling *own = update->state;
  another_part(update);
  own->whole += own->parts == 4;
  own->parts = 0;
  return MUSTER_ATOM_NEXT;
}

static void count_catching_up(muster_update *update) {
  telling *own = update->state;
  cr_assert_eq(own->parts, 0);
  cr_assert_eq(asked[muster_agent_index(update->agent)][0].catch_up_ns, update->elapsed_ns);
  own->caught_up++;
}

static const muster_atom parts[] = {{.run = first_part, .model_ns = 400000},
                                    {.run = another_part, .model_ns = 400000},
                                    {.run = another_part, .model_ns = 400000},
                                    {.run = last_part, .role = MUSTER_ROLE_ACTION, .model_ns = 400000}};

static void run_in_parts(muster_type_def type) {
  SCOPED_WORLD little =
      world_of(CHANGED(type, it.atoms = parts, it.atom_count = 4, it.state_bytes = sizeof(telling),
                       it.models.cost_ns = note_query, it.period_ns = 3 * FRAME_NS, it.period_max_ns = 40 * FRAME_NS));
  muster_agent agents[IN_PARTS];
  for (uint32_t i = 0; i < IN_PARTS; i++) agents[i] = spawn_at(&little, i);
  uint32_t preempted = 0, waiting = 0;
  for (uint32_t i = 0; i < 2000; i++) {
    muster_frame_report report = run_frame_with(&little, i % 50 ? 1000000 : 6000000);
    preempted += report.preempted;
    waiting += report.actions_waiting;
  }
  cr_assert_gt(preempted, 100);
  cr_assert_gt(waiting, 10);
  for (uint32_t i = 0; i < IN_PARTS; i++) {
    const telling *own = info_of(&little, agents[i]).state;
    cr_assert_gt(own->whole, 10);
    if (type.elapsed.catch_up) cr_assert_leq(own->caught_up, own->whole + 1);
    if (type.elapsed.catch_up) cr_assert_gt(own->caught_up, 10);
  }
}

Test(elapsed, a_preempted_update_in_steps_keeps_what_it_was_told) {
  run_in_parts(WITH(muster_type_def, it.elapsed.contract = MUSTER_ELAPSED_STEPS, it.elapsed.step_ns = 2000001,
                    it.elapsed.steps_max = 200));
}
Test(elapsed, a_preempted_update_catches_up_once) {
  run_in_parts(WITH(muster_type_def, it.elapsed.contract = MUSTER_ELAPSED_ANALYTIC, it.elapsed.step_ns = 5000000,
                    it.elapsed.catch_up = count_catching_up));
}

/* ------------------------------------------------------------------------------------------ what a type may ask for */

static void refused(const little_world *little, muster_type_def def, const char *field) {
  expect_type_refused(little, CHANGED(def, it.atoms = by_contract, it.atom_count = 1), field);
}

Test(elapsed, a_contract_that_cannot_be_kept_is_refused_with_the_name_of_the_field) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  const muster_type_def plain = muster_type_def_default();
  const muster_type_def steps = CHANGED(plain, it.elapsed.contract = MUSTER_ELAPSED_STEPS,
                                        it.elapsed.step_ns = it.period_ns, it.elapsed.steps_max = 10);
  const muster_type_def analytic = CHANGED(plain, it.elapsed.contract = MUSTER_ELAPSED_ANALYTIC, it.elapsed.step_ns = 1,
                                           it.elapsed.catch_up = lay_in_closed_form);
  refused(&little, CHANGED(plain, it.elapsed.contract = (muster_elapsed)4), "elapsed");
  refused(&little, CHANGED(plain, it.elapsed.step_ns = 1), "step_ns");
  refused(&little, CHANGED(plain, it.elapsed.steps_max = 1), "steps_max");
  refused(&little, CHANGED(plain, it.elapsed.catch_up = lay_in_closed_form), "catch_up");
  refused(&little, CHANGED(plain, it.wake_gap_ns = 86400000000001u), "wake_gap_ns");
  refused(&little, CHANGED(steps, it.elapsed.step_ns = 0), "step_ns");
  refused(&little, CHANGED(steps, it.elapsed.step_ns = it.period_ns + 1), "step_ns");
  refused(&little, CHANGED(steps, it.elapsed.steps_max = 0), "steps_max");
  refused(&little, CHANGED(steps, it.elapsed.steps_max = 65537), "steps_max");
  refused(&little, CHANGED(steps, it.elapsed.steps_max = 9), "period_max_ns");
  refused(&little, CHANGED(steps, it.elapsed.steps_max = 1, it.period_max_ns = it.period_ns), "period_ns");
  refused(&little, CHANGED(steps, it.elapsed.catch_up = lay_in_closed_form), "catch_up");
  refused(&little, CHANGED(analytic, it.elapsed.catch_up = NULL), "catch_up");
  refused(&little, CHANGED(analytic, it.elapsed.step_ns = 0), "step_ns");
  refused(&little, CHANGED(analytic, it.elapsed.step_ns = 86400000000001u), "step_ns");
  refused(&little, CHANGED(analytic, it.elapsed.steps_max = 1), "steps_max");
  refused(&little, CHANGED(plain, it.elapsed.contract = MUSTER_ELAPSED_EVENTS, it.elapsed.step_ns = 5), "step_ns");
  add_type(&little, CHANGED(steps, it.atoms = by_contract, it.atom_count = 1));
  add_type(&little, CHANGED(analytic, it.atoms = by_contract, it.atom_count = 1));
}
