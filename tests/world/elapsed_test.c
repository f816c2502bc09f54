/* Throttling must not change the world: a hen that lays an egg every ten minutes lays as many eggs when it is updated
 * four or twenty times less often than it wants, under each of the contracts that tell updates how much time passed. */
#include "support/little_world.h"
#include "support/sanitized.h"

enum { HENS = 200, EGGS_EACH = 51, HEN_NS = 100000 };

static const uint64_t second_ns = 1000000000u, egg_ns = 600000000000u, period_ns = 10000000000u;

struct hen {
  uint64_t toward_ns; /* towards the next egg */
  uint64_t eggs;
};

struct yard {
  uint64_t told_at_most_ns, caught_up, updates, without_time, late;
};

static void note(muster_update *update) {
  struct yard *yard = update->type_user;
  yard->updates++;
  yard->without_time += update->elapsed_ns == 0;
  if (update->elapsed_ns > yard->told_at_most_ns) yard->told_at_most_ns = update->elapsed_ns;
}

static muster_atom_result lay_over_time(muster_update *update) {
  struct hen *hen = update->state;
  note(update);
  for (hen->toward_ns += update->elapsed_ns; hen->toward_ns >= egg_ns; hen->toward_ns -= egg_ns) hen->eggs++;
  return MUSTER_ATOM_NEXT;
}

/* Lays by fixed steps only, at most one egg in a step. */
static muster_atom_result lay_in_steps(muster_update *update) {
  struct hen *hen = update->state;
  note(update);
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
  ((struct yard *)update->type_user)->caught_up++;
  hen->eggs += (hen->toward_ns + update->elapsed_ns) / egg_ns;
  hen->toward_ns = (hen->toward_ns + update->elapsed_ns) % egg_ns;
}

static muster_atom_result lay_at_most_one(muster_update *update) {
  struct hen *hen = update->state;
  note(update);
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

static muster_type_def hen_type(muster_elapsed contract, struct yard *yard) {
  muster_type_def def = muster_type_def_default();
  def.name = "hen";
  def.atoms = &by_contract[contract];
  def.atom_count = 1;
  def.state_bytes = sizeof(struct hen);
  def.period_ns = period_ns;
  def.period_max_ns = 40 * period_ns;
  def.elapsed.contract = contract;
  def.user = yard;
  if (contract == MUSTER_ELAPSED_STEPS) {
    def.elapsed.step_ns = 5 * second_ns;
    def.elapsed.steps_max = 82;
  }
  if (contract == MUSTER_ELAPSED_ANALYTIC) {
    def.elapsed.step_ns = 15 * second_ns;
    def.elapsed.catch_up = lay_in_closed_form;
  }
  if (contract == MUSTER_ELAPSED_EVENTS) def.on_spawned = ask_for_first;
  return def;
}

static void run_seconds(little_world *little, uint32_t seconds, uint64_t capacity_ns) {
  for (uint32_t i = 0; i < seconds; i++) {
    little->now_ns += second_ns;
    cr_assert_eq(muster_frame_run(little->world, &(muster_frame){little->now_ns, capacity_ns}), MUSTER_OK);
  }
}

static uint64_t completed(const little_world *little) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(little->world, &statistics);
  return statistics.completed;
}

/* Returns the sum of all eggs. Each hen must have laid what is due up to its last update. */
static uint64_t count_eggs(const little_world *little) {
  uint64_t eggs = 0;
  muster_agent agent = {0};
  while (!muster_agent_is_null(agent = muster_agent_next(little->world, agent))) {
    muster_agent_info info = info_of(little, agent);
    const struct hen *hen = info.state;
    cr_assert_eq(hen->eggs, (info.last_update_ns - second_ns) / egg_ns, "agent %u: %llu eggs up to %llu ns",
                 muster_agent_index(agent), (unsigned long long)hen->eggs, (unsigned long long)info.last_update_ns);
    eggs += hen->eggs;
  }
  return eggs;
}

/* Lets the hens live for EGGS_EACH eggs, with a capacity for one in `throttle` of the updates that they want. */
static uint64_t eggs_under(muster_elapsed contract, uint32_t throttle, struct yard *yard) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  little_world little = little_world_create(1, &def);
  muster_type_def type = hen_type(contract, yard);
  register_type(&little, &type);
  for (uint32_t i = 0; i < HENS; i++) spawn_at(&little, i);
  uint64_t wanted_ns = HENS * (uint64_t)HEN_NS / 10, capacity_ns = throttle == 1 ? 2 * wanted_ns : wanted_ns / throttle;
  run_seconds(&little, 1000, capacity_ns); /* spawned in the first second; then the fit settles */
  uint64_t before = completed(&little);
  const uint32_t seconds = EGGS_EACH * 600 - 1000;
  run_seconds(&little, seconds, capacity_ns);
  double interval_s = (double)HENS * seconds / (double)(completed(&little) - before);
  cr_assert(interval_s > 9.7 * throttle && interval_s < 10.3 * throttle, "a mean interval of %g s under %u x",
            interval_s, throttle);
  count_eggs(&little);
  run_seconds(&little, 300, 10 * wanted_ns); /* the load falls: each hen is updated up to now */
  uint64_t eggs = count_eggs(&little);
  little_world_destroy(&little);
  return eggs;
}

static struct yard lay(muster_elapsed contract, uint32_t throttle) {
  struct yard yard = {0};
  uint64_t eggs = eggs_under(contract, throttle, &yard);
  cr_assert_eq(eggs, HENS * EGGS_EACH, "contract %d under %u x: %llu eggs", (int)contract, throttle,
               (unsigned long long)eggs);
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
    struct yard yard = lay(MUSTER_ELAPSED_ANALYTIC, throttles[i]);
    cr_assert_leq(yard.told_at_most_ns, 15 * second_ns);
    if (throttles[i] == 20) cr_assert_gt(yard.caught_up, yard.updates / 2);
    if (throttles[i] == 1) cr_assert_lt(yard.caught_up, yard.updates / 10);
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
struct queries {
  muster_cost_query of[IN_PARTS][3];
};

static uint64_t note_query(const muster_cost_query *query, void *user) {
  struct queries *queries = user;
  queries->of[muster_agent_index(query->agent)][query->atom] = *query;
  return 400000;
}

static void compare(const muster_update *update, uint32_t atom) {
  const muster_cost_query *query =
      &((const struct queries *)update->type_user)->of[muster_agent_index(update->agent)][atom];
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
  cr_assert_eq(((const struct queries *)update->type_user)->of[muster_agent_index(update->agent)][0].catch_up_ns,
               update->elapsed_ns);
  own->caught_up++;
}

static const muster_atom parts[] = {{.run = first_part, .model_ns = 400000},
                                    {.run = another_part, .model_ns = 400000},
                                    {.run = another_part, .model_ns = 400000},
                                    {.run = last_part, .role = MUSTER_ROLE_ACTION, .model_ns = 400000}};

static void run_in_parts(muster_type_def *type) {
  struct queries queries = {0};
  little_world little = little_world_create(1, NULL);
  type->atoms = parts;
  type->atom_count = 4;
  type->state_bytes = sizeof(telling);
  type->models.cost_ns = note_query;
  type->user = &queries;
  type->period_ns = 3 * FRAME_NS;
  type->period_max_ns = 40 * FRAME_NS;
  register_type(&little, type);
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
    if (type->elapsed.catch_up) cr_assert_leq(own->caught_up, own->whole + 1);
    if (type->elapsed.catch_up) cr_assert_gt(own->caught_up, 10);
  }
  little_world_destroy(&little);
}

Test(elapsed, a_preempted_update_in_steps_keeps_what_it_was_told) {
  muster_type_def type = muster_type_def_default();
  type.elapsed.contract = MUSTER_ELAPSED_STEPS;
  type.elapsed.step_ns = 2000001;
  type.elapsed.steps_max = 200;
  run_in_parts(&type);
}

Test(elapsed, a_preempted_update_catches_up_once) {
  muster_type_def type = muster_type_def_default();
  type.elapsed.contract = MUSTER_ELAPSED_ANALYTIC;
  type.elapsed.step_ns = 5000000;
  type.elapsed.catch_up = count_catching_up;
  run_in_parts(&type);
}

/* ------------------------------------------------------------------------------------------ what a type may ask for */

static void refused(little_world *little, muster_type_def def, const char *field) {
  def.atoms = by_contract;
  def.atom_count = 1;
  cr_assert_eq(muster_type_register(little->world, &def).index, 0, "%s", field);
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' should name %s", muster_last_error(), field);
}

Test(elapsed, a_contract_that_cannot_be_kept_is_refused_with_the_name_of_the_field) {
  little_world little = little_world_create(1, NULL);
  const muster_type_def plain = muster_type_def_default();
  muster_type_def steps = plain, analytic = plain, def;
  steps.elapsed.contract = MUSTER_ELAPSED_STEPS, steps.elapsed.step_ns = plain.period_ns, steps.elapsed.steps_max = 10;
  analytic.elapsed.contract = MUSTER_ELAPSED_ANALYTIC, analytic.elapsed.step_ns = 1,
  analytic.elapsed.catch_up = lay_in_closed_form;
  def = plain, def.elapsed.contract = (muster_elapsed)4, refused(&little, def, "elapsed");
  def = plain, def.elapsed.step_ns = 1, refused(&little, def, "step_ns");
  def = plain, def.elapsed.steps_max = 1, refused(&little, def, "steps_max");
  def = plain, def.elapsed.catch_up = lay_in_closed_form, refused(&little, def, "catch_up");
  def = plain, def.wake_gap_ns = 86400000000001u, refused(&little, def, "wake_gap_ns");
  def = steps, def.elapsed.step_ns = 0, refused(&little, def, "step_ns");
  def = steps, def.elapsed.step_ns = def.period_ns + 1, refused(&little, def, "step_ns");
  def = steps, def.elapsed.steps_max = 0, refused(&little, def, "steps_max");
  def = steps, def.elapsed.steps_max = 65537, refused(&little, def, "steps_max");
  def = steps, def.elapsed.steps_max = 9, refused(&little, def, "period_max_ns");
  def = steps, def.elapsed.steps_max = 1, def.period_max_ns = def.period_ns, refused(&little, def, "period_ns");
  def = steps, def.elapsed.catch_up = lay_in_closed_form, refused(&little, def, "catch_up");
  def = analytic, def.elapsed.catch_up = NULL, refused(&little, def, "catch_up");
  def = analytic, def.elapsed.step_ns = 0, refused(&little, def, "step_ns");
  def = analytic, def.elapsed.step_ns = 86400000000001u, refused(&little, def, "step_ns");
  def = analytic, def.elapsed.steps_max = 1, refused(&little, def, "steps_max");
  def = plain, def.elapsed.contract = MUSTER_ELAPSED_EVENTS, def.elapsed.step_ns = 5, refused(&little, def, "step_ns");
  steps.atoms = analytic.atoms = by_contract;
  steps.atom_count = analytic.atom_count = 1;
  register_type(&little, &steps);
  register_type(&little, &analytic);
  little_world_destroy(&little);
}
