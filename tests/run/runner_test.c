/* What atoms are told and what running them costs, through a world in virtual time. */
#include "base/clock.h"
#include "support/arenas.h"
#include "support/little_world.h"

enum { AGENTS = 300 };

/* What an agent writes down about itself. */
struct diary {
  uint64_t updates, steps, elapsed_ns, last_now_ns;
  uint32_t wrong;
};

static muster_atom_result first_step(muster_update *update) {
  struct diary *diary = update->state;
  diary->wrong += diary->steps++ % 3 != 0;
  diary->wrong += update->now_ns < diary->last_now_ns || update->now_ns - diary->last_now_ns != update->elapsed_ns;
  diary->wrong += update->worker >= 16;
  diary->elapsed_ns += update->elapsed_ns;
  diary->last_now_ns = update->now_ns;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result second_step(muster_update *update) {
  struct diary *diary = update->state;
  diary->wrong += diary->steps++ % 3 != 1;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result last_step(muster_update *update) {
  struct diary *diary = update->state;
  diary->wrong += diary->steps++ % 3 != 2;
  diary->updates++;
  return MUSTER_ATOM_NEXT;
}

static little_world world_of(uint32_t workers, muster_type_def type) {
  return typed_world(workers, WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL), type);
}

static muster_type_def diarist(const muster_atom *atoms, uint32_t count) {
  return WITH(muster_type_def, it.name = "diarist", it.atoms = atoms, it.atom_count = count,
              it.state_bytes = sizeof(struct diary), it.period_ns = it.period_max_ns = 20000000);
}

/* Half of the work fits: updates are carried and cut between any two atoms. */
static uint64_t check_diaries(uint32_t workers, bool acts) {
  const muster_atom atoms[] = {{first_step, MUSTER_ROLE_PERCEPTION, 40000},
                               {second_step, MUSTER_ROLE_BEHAVIOUR, 23000},
                               {last_step, acts ? MUSTER_ROLE_ACTION : MUSTER_ROLE_BEHAVIOUR, 3000}};
  SCOPED(little_world_destroy) little_world little = world_of(workers, diarist(atoms, 3));
  muster_agent agents[AGENTS];
  const struct diary empty = {.last_now_ns = FRAME_NS}; /* the first frame, at which their time begins */
  muster_agent_def def = WITH(muster_agent_def, it.type = little.type, it.state = &empty);
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = muster_agent_spawn(little.world, &def);
  run_frames(&little, 200);
  uint64_t updates = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    const struct diary *diary = info_of(&little, agents[i]).state;
    cr_assert_eq(diary->wrong, 0, "agent %u was told wrong times or ran its atoms out of order", i);
    cr_assert_gt(diary->updates, 0, "agent %u never ran", i);
    cr_assert_eq(diary->elapsed_ns, diary->last_now_ns - FRAME_NS);
    updates += diary->updates;
  }
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(little.world, &statistics);
  cr_assert_eq(updates, statistics.completed);
  cr_assert_gt(statistics.preempted, 0);
  cr_assert_gt(statistics.carried, 0);
  return muster_world_hash(little.world);
}

Test(runner, runs_every_admitted_update_once_atom_by_atom_in_order_on_any_number_of_workers) {
  for (uint32_t acts = 0; acts < 2; acts++) {
    uint64_t alone = check_diaries(1, acts);
    for (uint32_t workers = 2; workers <= 16; workers *= 2) cr_assert_eq(check_diaries(workers, acts), alone);
  }
}

struct touch {
  uint32_t count;
  uint64_t now_ns, elapsed_ns;
};

static void note_touch(muster_update *update) {
  struct touch *touch = update->user;
  touch->count++;
  touch->now_ns = update->now_ns;
  touch->elapsed_ns = update->elapsed_ns;
}

Test(runner, the_first_touch_of_an_agent_is_told_the_time_of_its_frame_and_that_none_has_passed) {
  muster_type_def type = CHANGED(diarist(atom_of(last_step, 1000), 1), it.on_spawned = note_touch);
  SCOPED(little_world_destroy) little_world little = world_of(1, type);
  for (uint32_t i = 0; i < 5; i++) {
    struct touch touch = {0};
    muster_agent_def agent = WITH(muster_agent_def, it.type = little.type, it.user = &touch);
    cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &agent)));
    run_frame(&little);
    cr_assert_eq(touch.count, 1);
    cr_assert_eq(touch.elapsed_ns, 0, "elapsed_ns is %lu", touch.elapsed_ns);
    cr_assert_eq(touch.now_ns, little.now_ns);
  }
}

Test(runner, the_last_touch_of_an_agent_is_told_the_time_of_its_frame) {
  muster_type_def type = CHANGED(diarist(atom_of(last_step, 1000), 1), it.on_removed = note_touch,
                                 it.period_ns = it.period_max_ns = 1000000000);
  SCOPED(little_world_destroy) little_world little = world_of(1, type);
  struct touch touch = {0};
  muster_agent_def agent_def = WITH(muster_agent_def, it.type = little.type, it.user = &touch);
  muster_agent agent = muster_agent_spawn(little.world, &agent_def);
  run_frames(&little, 3);
  uint64_t last_update_ns = info_of(&little, agent).last_update_ns;
  cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(touch.count, 1);
  cr_assert_eq(touch.now_ns, little.now_ns);
  cr_assert_eq(touch.elapsed_ns, little.now_ns - last_update_ns);
}

/* ----------------------------------------------------------------------------------------------------------- costs */

/* Due in every frame. */
static muster_type_def tireless(const muster_atom *atoms, uint32_t count) {
  return CHANGED(type_with(atoms, count), it.limit_ns = 1000000000u, it.period_ns = it.period_max_ns = FRAME_NS);
}

static little_world papers_world_of(muster_type_def type) {
  return typed_world(1, WITH(papers_world_rules, it.clock.kind = MUSTER_CLOCK_VIRTUAL), type);
}

/* Three agents whose updates take 6 s each share 10 s a frame: 16 and two thirds of them in ten frames. */
Test(runner, charges_updates_of_several_seconds_in_full) {
  enum { ATOMS = 6 };
  const uint64_t second_ns = 1000000000;
  muster_atom atoms[ATOMS];
  for (uint32_t i = 0; i < ATOMS; i++) atoms[i] = (muster_atom){nothing, MUSTER_ROLE_BEHAVIOUR, (uint32_t)second_ns};
  SCOPED(little_world_destroy) little_world little = papers_world_of(tireless(atoms, ATOMS));
  muster_agent agent = {0};
  for (uint32_t i = 0; i < 3; i++) agent = spawn_at(&little, i);
  run_frame_with(&little, 10 * second_ns);
  uint64_t completed = 0;
  for (uint32_t i = 0; i < 10; i++) {
    muster_frame_report report = run_frame_with(&little, 10 * second_ns);
    cr_assert_eq(report.update_cpu_ns, 10 * second_ns);
    completed += report.completed;
  }
  cr_assert(completed >= 14 && completed <= 16, "%u completed", (unsigned)completed);
  cr_assert_eq(info_of(&little, agent).expected_cost_ns, 6 * second_ns);
}

Test(runner, actions_dearer_than_the_whole_budget_do_not_stop_the_world) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {nothing, MUSTER_ROLE_ACTION, 50000000}};
  SCOPED(little_world_destroy) little_world little = papers_world_of(tireless(atoms, 2));
  for (uint32_t i = 0; i < 2; i++) spawn_at(&little, i);
  uint64_t completed_early = 0, completed_late = 0;
  for (uint32_t i = 0; i < 200; i++) completed_early += run_frame(&little).completed;
  for (uint32_t i = 0; i < 200; i++) completed_late += run_frame(&little).completed;
  cr_assert_gt(completed_early, 1);
  cr_assert_gt(completed_late, 20, "%u updates in the last 200 frames", (unsigned)completed_late);
}

Test(runner, one_dear_action_is_forgotten_when_no_more_follow) {
  const muster_atom dear[] = {{nothing, MUSTER_ROLE_ACTION, 50000000}};
  SCOPED(little_world_destroy) little_world little = world_of(1, tireless(dear, 1));
  muster_agent actor = spawn_at(&little, 0);
  run_frames(&little, 2);
  cr_assert_eq(muster_agent_remove(little.world, actor), MUSTER_OK);
  muster_type_def def = CHANGED(type_running(nothing, 100000), it.period_ns = it.period_max_ns = FRAME_NS);
  register_type(&little, &def);
  for (uint32_t i = 0; i < 40; i++) spawn_at(&little, i);
  run_frames(&little, 1000);
  cr_assert_eq(run_frame(&little).completed, 40, "4 ms of work do not fit 5 ms a thousand frames after the action");
}

/* ------------------------------------------------------------------------------------------------------ wall time */

static void dawdle(const clock_source *clock, uint64_t duration_ns) {
  uint64_t end = clock_now(clock) + duration_ns;
  while (clock_now(clock) < end) {
  }
}

static muster_atom_result dawdle_and_finish(muster_update *update) {
  dawdle(update->type_user, 20000);
  return MUSTER_ATOM_FINISH;
}

Test(runner, counts_an_atom_over_its_limit_also_when_it_finishes_the_update) {
  clock_source clock = clock_calibrate();
  const muster_atom atoms[] = {{dawdle_and_finish, MUSTER_ROLE_BEHAVIOUR, 20000}, {nothing, MUSTER_ROLE_BEHAVIOUR, 0}};
  muster_type_def type = CHANGED(tireless(atoms, 2), it.limit_ns = 1000,
                                 it.overruns.demote = it.overruns.quarantine = 0, it.user = &clock);
  SCOPED(little_world_destroy) little_world little = typed_world(1, muster_world_def_default(), type);
  spawn_at(&little, 0);
  uint64_t completed = 0;
  for (uint32_t i = 0; i < 20; i++) completed += run_frame_with(&little, 1000000000).completed;
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(little.world, &statistics);
  cr_assert(completed > 10 && statistics.atoms_over_limit <= completed, "the first 64 updates are measured, and...");
  cr_assert_gt(statistics.atoms_over_limit, completed / 2, "...of few can it be said that it was the kernel");
}

/* Twenty agents whose updates take a thousand times what is predicted, so that a frame ends long after its deadline. */
enum { DAWDLERS = 20 };

struct dawdler {
  bool removed;
  uint32_t acted_after;
};

struct dawdlers {
  clock_source clock;
  little_world little;
  struct dawdler all[DAWDLERS];
  muster_agent agents[DAWDLERS];
};

static muster_atom_result dawdle_for_long(muster_update *update) {
  dawdle(update->type_user, 1000000);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result act_unless_removed(muster_update *update) {
  struct dawdler *dawdler = update->user;
  dawdler->acted_after += dawdler->removed;
  return MUSTER_ATOM_NEXT;
}

static void note_removal(muster_update *update) {
  struct dawdler *dawdler = update->user;
  dawdler->removed = true;
}

static struct dawdlers *create_dawdlers(muster_role second_role) {
  struct dawdlers *dawdlers = calloc(1, sizeof *dawdlers);
  const muster_atom atoms[] = {
      {dawdle_for_long, MUSTER_ROLE_BEHAVIOUR, 100},
      {second_role == MUSTER_ROLE_ACTION ? act_unless_removed : dawdle_for_long, second_role, 100}};
  dawdlers->clock = clock_calibrate();
  muster_type_def type =
      CHANGED(tireless(atoms, 2), it.limit_ns = 100000000u, it.on_removed = note_removal, it.user = &dawdlers->clock);
  dawdlers->little = typed_world(1, muster_world_def_default(), type);
  for (uint32_t i = 0; i < DAWDLERS; i++) {
    muster_agent_def agent = WITH(muster_agent_def, it.type = dawdlers->little.type, it.user = &dawdlers->all[i]);
    dawdlers->agents[i] = muster_agent_spawn(dawdlers->little.world, &agent);
    cr_assert(!muster_agent_is_null(dawdlers->agents[i]));
  }
  return dawdlers;
}

static void destroy_dawdlers(struct dawdlers **dawdlers) {
  little_world_destroy(&(*dawdlers)->little);
  free(*dawdlers);
}

static void check_removal_after(uint32_t frames) {
  SCOPED(destroy_dawdlers) struct dawdlers *dawdlers = create_dawdlers(MUSTER_ROLE_ACTION);
  for (uint32_t i = 0; i < frames; i++) run_frame_with(&dawdlers->little, 1500000);
  for (uint32_t i = 0; i < DAWDLERS; i += 2)
    cr_assert_eq(muster_agent_remove(dawdlers->little.world, dawdlers->agents[i]), MUSTER_OK);
  for (uint32_t i = 0; i < 4; i++) run_frame_with(&dawdlers->little, 1500000);
  for (uint32_t i = 0; i < DAWDLERS; i++) {
    cr_assert_eq(dawdlers->all[i].removed, i % 2 == 0);
    cr_assert_eq(dawdlers->all[i].acted_after, 0, "agent %u acted after its removal", i);
  }
}

Test(runner, an_agent_removed_while_its_actions_wait_is_never_touched_again) {
  for (uint32_t frames = 1; frames < 6; frames++) check_removal_after(frames);
}

Test(runner, a_frame_never_reports_more_carried_agents_than_there_are) {
  SCOPED(destroy_dawdlers) struct dawdlers *dawdlers = create_dawdlers(MUSTER_ROLE_BEHAVIOUR);
  for (uint32_t i = 0; i < 12; i++) {
    muster_frame_report report = run_frame_with(&dawdlers->little, i % 2 ? 1500000 : 1000000000);
    cr_assert_leq(report.carried, DAWDLERS, "%u carried", report.carried);
  }
}

/* --------------------------------------------------------------------------------------------------- what atoms ask */

enum { DRAWS = 5000 };

struct draws {
  uint32_t count;
  uint64_t numbers[2 * DRAWS];
};

static muster_atom_result draw_many(muster_update *update) {
  struct draws *draws = update->user;
  for (uint32_t i = 0; i < DRAWS && draws->count < 2 * DRAWS; i++)
    draws->numbers[draws->count++] = muster_update_random(update);
  return MUSTER_ATOM_NEXT;
}

static void check_draws(muster_role second_role) {
  const muster_atom atoms[] = {{draw_many, MUSTER_ROLE_BEHAVIOUR, 1000}, {draw_many, second_role, 1000}};
  SCOPED(little_world_destroy) little_world little = world_of(1, tireless(atoms, 2));
  SCOPED(free_memory) struct draws *draws = calloc(1, sizeof *draws);
  muster_agent_def def = WITH(muster_agent_def, it.type = little.type, it.user = draws);
  cr_assert(!muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  run_frames(&little, 4);
  cr_assert_eq(draws->count, 2 * DRAWS);
  qsort(draws->numbers, draws->count, sizeof *draws->numbers, compare_numbers);
  uint32_t equal = 0;
  for (uint32_t i = 1; i < draws->count; i++) equal += draws->numbers[i] == draws->numbers[i - 1];
  cr_assert_eq(equal, 0, "%u of the random numbers of one update came twice", equal);
}

Test(runner, an_update_never_draws_the_same_random_number_twice) {
  check_draws(MUSTER_ROLE_BEHAVIOUR);
  check_draws(MUSTER_ROLE_ACTION);
}

struct breeder {
  muster_agent_def child;
  uint32_t asked, granted;
};

static muster_atom_result breed(muster_update *update) {
  struct breeder *breeder = update->type_user;
  for (uint32_t i = 0; i < 3; i++) {
    breeder->asked++;
    breeder->granted += !muster_agent_is_null(muster_update_spawn(update, &breeder->child));
  }
  return MUSTER_ATOM_NEXT;
}

Test(runner, an_update_spawns_no_more_than_its_type_may_in_its_parallel_atoms_and_as_many_in_its_actions) {
  const muster_atom atoms[] = {{breed, MUSTER_ROLE_BEHAVIOUR, 1000}, {breed, MUSTER_ROLE_ACTION, 1000}};
  SCOPED(little_world_destroy) little_world little = world_of(1, tireless(atom_of(nothing, 1000), 1));
  struct breeder breeder = {.child = WITH(muster_agent_def, it.type = little.type)};
  muster_type_def def =
      WITH(muster_type_def, it.atoms = atoms, it.atom_count = 2, it.spawns_max = 2, it.user = &breeder);
  register_type(&little, &def);
  spawn_at(&little, 0);
  while (breeder.asked < 6) run_frame(&little);
  cr_assert_eq(breeder.asked, 6);
  cr_assert_eq(breeder.granted, 4);
}

enum { PREY = 40 };

struct hunt {
  muster_agent prey[PREY];
  uint32_t results[MUSTER_E_INPUT + 1];
};

static muster_atom_result eat_everybody(muster_update *update) {
  struct hunt *hunt = update->type_user;
  memset(hunt->results, 0, sizeof hunt->results);
  for (uint32_t i = 0; i < PREY; i++)
    if (!muster_agent_is_null(hunt->prey[i])) hunt->results[muster_update_remove(update, hunt->prey[i])]++;
  return MUSTER_ATOM_NEXT;
}

Test(runner, who_could_not_be_eaten_for_want_of_room_is_eaten_later) {
  const muster_atom hunter_atoms[] = {{eat_everybody, MUSTER_ROLE_ACTION, 1000}};
  muster_world_def world = WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.commands_max = 16);
  SCOPED(little_world_destroy) little_world little = typed_world(1, world, type_running(nothing, 1000));
  static struct hunt hunt;
  for (uint32_t i = 0; i < PREY; i++) hunt.prey[i] = spawn_at(&little, i);
  muster_type_def hunts = CHANGED(type_with(hunter_atoms, 1), it.user = &hunt);
  register_type(&little, &hunts);
  muster_agent hunter = spawn_at(&little, 0);
  run_frame(&little);
  for (uint32_t i = 0; i < 20; i++) {
    muster_agent_wake(little.world, hunter);
    run_frame(&little);
  }
  for (uint32_t i = 0; i < PREY; i++)
    cr_assert_not(muster_agent_exists(little.world, hunt.prey[i]), "prey %u lives on, and nobody can eat it", i);
}

struct spawner {
  little_world little;
  pthread_barrier_t start;
};

static void *spawn_a_thousand(void *argument) {
  struct spawner *spawner = argument;
  const little_world *little = &spawner->little;
  muster_agent_def def = WITH(muster_agent_def, it.type = little->type);
  uintptr_t refused = 0;
  pthread_barrier_wait(&spawner->start);
  for (uint32_t i = 0; i < 1000; i++) refused += muster_agent_is_null(muster_agent_spawn(little->world, &def));
  return (void *)refused;
}

Test(runner, other_threads_may_spawn_while_further_types_are_registered) {
  SCOPED(little_world_destroy) little_world little = world_of(1, tireless(atom_of(nothing, 1000), 1));
  struct spawner spawner = {.little = little};
  pthread_t thread;
  void *refused;
  pthread_barrier_init(&spawner.start, NULL, 2);
  cr_assert_eq(pthread_create(&thread, NULL, spawn_a_thousand, &spawner), 0);
  muster_type_def def = type_running(nothing, 1000);
  pthread_barrier_wait(&spawner.start);
  for (uint32_t i = 0; i < 50; i++) register_type(&little, &def);
  pthread_join(thread, &refused);
  cr_assert_null(refused);
  pthread_barrier_destroy(&spawner.start);
}
