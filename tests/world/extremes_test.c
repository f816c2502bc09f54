/* Rates, times, places and numbers as hosts have them at the edge of what is sensible: nothing is lost, and every agent
 * is told the exact time that passed. */
#include "pool/atomics.h"
#include "world/fixture.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

typedef struct told_time {
  uint64_t runs, now_ns, sum_ns, gap_most_ns;
  bool wrong; /* it was told another time than passed since its last run */
} told_time;

static muster_atom_result keep_time(muster_update *update) {
  told_time *own = update->state;
  if (own->runs && update->now_ns - own->now_ns != update->elapsed_ns) own->wrong = true;
  if (own->runs && update->elapsed_ns > own->gap_most_ns) own->gap_most_ns = update->elapsed_ns;
  own->runs++;
  own->now_ns = update->now_ns;
  own->sum_ns += update->elapsed_ns;
  return MUSTER_ATOM_NEXT;
}

static little_world timed_world(uint32_t agents_max, uint64_t period_ns) {
  little_world little = little_world_of(2, WITH(virtual_world_def, it.limits.agents_max = agents_max));
  add_type(&little,
           CHANGED(type_running(keep_time, 1000), it.state_bytes = sizeof(told_time), it.period_ns = period_ns));
  return little;
}

static muster_agent agents[100000];

static void spawn_all(const little_world *little, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) agents[i] = spawn_at(little, i);
}

static const told_time *told_of(const little_world *little, muster_agent agent) {
  return info_of(little, agent).state;
}

static muster_frame_report run_to(little_world *little, uint64_t now_ns) {
  little->now_ns = now_ns - FRAME_NS;
  return run_frame(little);
}

/* ------------------------------------------------------------------------------------------------------------- time */

enum { FEW = 50 };

/* Sums of what all were told; each was told right. */
static uint64_t sum_of_runs(const little_world *little, uint32_t count, uint64_t *sum_ns) {
  uint64_t runs = 0;
  *sum_ns = 0;
  for (uint32_t i = 0; i < count; i++) {
    const told_time *own = told_of(little, agents[i]);
    cr_assert_not(own->wrong, "agent %u", i);
    runs += own->runs;
    *sum_ns += own->sum_ns;
  }
  return runs;
}

Test(extremes, frames_of_1_to_1000_a_second_tell_the_exact_time) {
  static const uint64_t rates[] = {20, 1, 144, 1000};
  const uint64_t period_ns = 250000000u;
  for (size_t k = 0; k < COUNT_OF(rates); k++) {
    uint64_t sum_ns, frame_ns = 1000000000u / rates[k], frames = rates[k] > 20 ? 4 * rates[k] : 20 * rates[k];
    SCOPED_WORLD little = timed_world(FEW, period_ns);
    spawn_all(&little, FEW);
    for (uint64_t i = 1; i <= frames; i++) run_to(&little, i * frame_ns);
    uint64_t runs = sum_of_runs(&little, FEW, &sum_ns);
    uint64_t each = frames * frame_ns / (frame_ns > period_ns ? frame_ns : period_ns);
    cr_expect(runs >= FEW * (each - each / 10 - 1) && runs <= FEW * (each + 1), "%lu Hz: %lu runs", rates[k], runs);
  }
}

/* As hosts begin that count from the start of the machine, or of an epoch. */
Test(extremes, where_time_begins_makes_no_difference) {
  const uint64_t year_ns = 365 * 86400 * 1000000000ull;
  const uint64_t begins[] = {0, (1ull << 32) - 3 * FRAME_NS, 1ull << 32, 1000000ull << 32, year_ns, 100 * year_ns};
  uint64_t runs[COUNT_OF(begins)], sums_ns[COUNT_OF(begins)];
  for (size_t k = 0; k < COUNT_OF(begins); k++) {
    SCOPED_WORLD little = timed_world(FEW, 30000000u);
    little.now_ns = begins[k];
    run_frame(&little);
    spawn_all(&little, FEW);
    run_frames(&little, 200);
    runs[k] = sum_of_runs(&little, FEW, &sums_ns[k]);
    cr_expect(runs[k] == runs[0] && sums_ns[k] == sums_ns[0], "from %lu ns on", begins[k]);
  }
}

Test(extremes, a_jump_of_two_hours_is_told_once_and_costs_no_frame_more_than_usual) {
  const uint64_t jump_ns = 7200 * 1000000000ull;
  uint64_t before_ns, after_ns;
  SCOPED_WORLD little = timed_world(FEW, 50000000u);
  spawn_all(&little, FEW);
  run_frames(&little, 100);
  uint64_t before = sum_of_runs(&little, FEW, &before_ns);
  little.now_ns += jump_ns;
  run_frames(&little, 100);
  uint64_t runs = sum_of_runs(&little, FEW, &after_ns) - before;
  cr_expect_leq(runs, before + FEW, "time that was missed is not run after");
  for (uint32_t i = 0; i < FEW; i++) {
    const told_time *own = told_of(&little, agents[i]);
    cr_expect(own->gap_most_ns >= jump_ns && own->gap_most_ns < jump_ns + 200000000u);
  }
  cr_expect(after_ns - before_ns > FEW * jump_ns && after_ns - before_ns < FEW * (jump_ns + 2000000000u));
}

/* ---------------------------------------------------------------------------------------------------------- places */

Test(extremes, positions_that_are_none_move_nobody) {
  static const double refused[] = {NAN, INFINITY, -INFINITY, 1.1e9, -1.1e9};
  SCOPED_WORLD little = timed_world(8, 50000000u);
  muster_agent agent = spawn_at(&little, 5);
  run_frame(&little);
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    const muster_position wrong[] = {{refused[i], 0, 0}, {0, refused[i], 0}, {0, 0, refused[i]}};
    for (size_t k = 0; k < 3; k++) {
      cr_expect_neq(muster_agent_move(little.world, agent, wrong[k]), MUSTER_OK, "%g in %zu", refused[i], k);
      muster_agent_def def = WITH(muster_agent_def, it.type = little.type, it.position = wrong[k]);
      cr_expect(muster_agent_is_null(muster_agent_spawn(little.world, &def)), "%g in %zu", refused[i], k);
    }
  }
  run_frame(&little);
  cr_expect_eq(info_of(&little, agent).position.x, 5.0);
}

Test(extremes, steps_of_a_millimetre_add_up_a_million_kilometres_away) {
  enum { STEPS = 1000 };
  const double begin_m = 999000000;
  SCOPED_WORLD little = timed_world(8, 50000000u);
  muster_agent agent = spawn_at(&little, begin_m);
  run_frame(&little);
  for (uint32_t i = 1; i <= STEPS; i++) {
    cr_assert_eq(muster_agent_move(little.world, agent, (muster_position){begin_m + 0.001 * i, 0, 0}), MUSTER_OK);
    run_frame(&little);
    cr_assert_float_eq(info_of(&little, agent).position.x, begin_m + 0.001 * i, 0.00051, "step %u", i);
  }
}

/* --------------------------------------------------------------------------------------------------------- numbers */

Test(extremes, fifty_thousand_come_at_once_and_go_at_once) {
  enum { MANY = 50000 };
  SCOPED_WORLD little = timed_world(MANY, 1000000000u);
  for (uint32_t round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < MANY; i++) agents[i] = spawn_at(&little, i % 1000);
    while (run_frame(&little).agents < MANY) continue;
    for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
    for (uint32_t i = 0; i < MANY; i++) cr_assert_not(muster_agent_exists(little.world, agents[i]));
    cr_assert_eq(run_frame(&little).agents, 0);
  }
}

/* Without periods, so that they run for nothing else. */
Test(extremes, a_hundred_thousand_times_in_one_instant_are_all_kept) {
  enum { MANY = 100000 };
  const uint64_t at_ns = 5000000000u;
  SCOPED_WORLD little =
      little_world_of(2, WITH(virtual_world_def, it.limits.agents_max = MANY, it.limits.commands_max = MANY));
  add_type(&little, CHANGED(type_running(keep_time, 1000), it.state_bytes = sizeof(told_time),
                            it.elapsed.contract = MUSTER_ELAPSED_EVENTS));
  spawn_all(&little, MANY);
  while (run_frame(&little).agents < MANY) continue;
  cr_assert_lt(little.now_ns, at_ns);
  for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(muster_agent_wake_at(little.world, agents[i], at_ns), MUSTER_OK);
  run_frame(&little);
  uint64_t sum_ns, before = sum_of_runs(&little, MANY, &sum_ns), runs = before;
  run_to(&little, at_ns);
  for (uint32_t frame = 0; frame < 1000 && runs < before + MANY; frame++) {
    run_frames(&little, 5);
    runs = sum_of_runs(&little, MANY, &sum_ns);
  }
  run_frames(&little, 20);
  cr_expect_eq(sum_of_runs(&little, MANY, &sum_ns), before + MANY, "%lu before", before);
  for (uint32_t i = 0; i < MANY; i++) cr_assert_geq(told_of(&little, agents[i])->now_ns, at_ns);
}

static muster_atom_result look_about(muster_update *update) {
  muster_neighbour near[8];
  told_time *own = update->state;
  own->runs++;
  own->sum_ns += muster_update_nearby(update, 1, (muster_type){0}, near, 8);
  return MUSTER_ATOM_NEXT;
}

Test(extremes, five_thousand_on_one_spot_all_run_and_see_as_many_as_they_ask_for) {
  enum { MANY = 5000 };
  static const muster_atom looks = {look_about, MUSTER_ROLE_PERCEPTION, 1000};
  SCOPED_WORLD little = timed_world(MANY, 100000000u);
  add_type(&little, CHANGED(type_with(&looks, 1), it.state_bytes = sizeof(told_time), it.period_ns = 100000000u));
  for (uint32_t i = 0; i < MANY; i++) agents[i] = spawn_at(&little, 7);
  while (run_frame(&little).agents < MANY) continue;
  run_frames(&little, 60);
  for (uint32_t i = 0; i < MANY; i++) {
    const told_time *own = told_of(&little, agents[i]);
    cr_assert_gt(own->runs, 0, "agent %u", i);
    cr_assert_geq(own->sum_ns, 7 * (own->runs - 1), "agent %u", i);
  }
}

/* They all stand in one town, are all elsewhere, and back again. What a frame looks at is bounded. */
Test(extremes, ten_thousand_players_in_one_town_come_and_go_together) {
  enum { PLAYERS = 10000, PEOPLE = 200, JUMPS = 4, SEEN_WITHIN = 500 /* frames */ };
  static muster_observer players[PLAYERS];
  SCOPED_WORLD little =
      little_world_of(2, WITH(virtual_world_def, it.limits.agents_max = PEOPLE, it.limits.observers_max = PLAYERS,
                              it.limits.commands_max = 2 * PLAYERS));
  add_type(&little,
           CHANGED(type_running(keep_time, 1000), it.state_bytes = sizeof(told_time), it.period_ns = 50000000u));
  for (uint32_t i = 0; i < PEOPLE; i++) agents[i] = spawn_at(&little, i % 50);
  for (uint32_t i = 0; i < PLAYERS; i++) {
    muster_observer_def player = WITH(muster_observer_def, it.position = (muster_position){i % 50, i % 7, 0});
    players[i] = muster_observer_add(little.world, &player);
  }
  run_frames(&little, 2);
  for (uint32_t jump = 0; jump < JUMPS; jump++) {
    bool here = jump % 2;
    for (uint32_t i = 0; i < PLAYERS; i++)
      cr_assert_eq(muster_observer_move(little.world, players[i],
                                        (muster_position){(double)(i % 50) + (here ? 0.0 : 10000.0), i % 7, 0}),
                   MUSTER_OK, "%s", muster_last_error());
    run_frames(&little, SEEN_WITHIN);
    for (uint32_t i = 0; i < PEOPLE; i++)
      cr_assert_eq(info_of(&little, agents[i]).importance, here ? 1.0f : 0.0f, "agent %u, jump %u: %g", i, jump,
                   (double)info_of(&little, agents[i]).importance);
  }
}

#ifdef NDEBUG
enum { BIRTHS = 3000000 };
#else
enum { BIRTHS = 600000 }; /* assertions look at each */
#endif

Test(extremes, three_million_births_in_a_small_world_find_an_id) {
  enum { SMALL = 1024 };
  SCOPED_WORLD little = timed_world(SMALL, 1000000000u);
  for (uint32_t born = 0; born < BIRTHS; born += SMALL) {
    spawn_all(&little, SMALL);
    for (uint32_t i = 0; i < SMALL; i++) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
    run_frame(&little);
  }
  cr_expect_eq(run_frame(&little).agents, 0);
  spawn_at(&little, 1);
  cr_expect_eq(run_frame(&little).agents, 1);
}

/* --------------------------------------------------------------------------------------------------------- process */

static volatile sig_atomic_t interrupts;

static void be_profiled(int number) {
  (void)number;
  interrupts++;
}

static uint64_t hash_of_life(int interrupts_least) {
  SCOPED_WORLD little = timed_world(1000, 20000000u);
  for (uint32_t i = 0; i < 1000; i++) spawn_at(&little, i);
  run_frames(&little, 300);
  uint64_t hash = muster_world_hash(little.world);
  while (interrupts < interrupts_least) run_frame(&little);
  return hash;
}

Test(extremes, a_profiler_that_interrupts_a_thousand_times_a_second_changes_nothing) {
  const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  uint64_t quiet = hash_of_life(0);
  signal(SIGPROF, be_profiled);
  cr_assert_eq(setitimer(ITIMER_PROF, &often, NULL), 0);
  uint64_t profiled = hash_of_life(50);
  setitimer(ITIMER_PROF, &never, NULL);
  cr_expect_eq(profiled, quiet);
}

static shared_u64 loaded;

/* A library that comes and goes while others run: nothing of it is Muster's, and no worker stands in it. */
static muster_atom_result load_and_unload(muster_update *update) {
  void *library = dlopen("libanl.so.1", RTLD_NOW | RTLD_LOCAL);
  (void)update;
  if (library && dlclose(library) == 0) fetch_add_relaxed_u64(&loaded, 1);
  return MUSTER_ATOM_NEXT;
}

Test(extremes, atoms_may_load_and_unload_libraries) {
  SCOPED_WORLD little = peopled(typed_world(2, virtual_world_def_default(), type_running(load_and_unload, 1000)), 20);
  uint64_t completed = 0;
  for (int i = 0; i < 50; i++) completed += run_frame(&little).completed;
  cr_expect_eq(load_relaxed_u64(&loaded), completed);
  cr_expect_gt(completed, 0);
}

static muster_atom_result leave_all(muster_update *update) {
  (void)update;
  exit(3);
}

/* LeakSanitizer, at the exit, wants to stop threads that are ending. */
Test(extremes, a_process_may_exit_in_a_frame, .timeout = 60, .disabled = UNDER_SANITIZER) {
  int status = 0;
  fflush(NULL);
  pid_t process = fork();
  cr_assert_geq(process, 0);
  if (process == 0) {
    little_world little = peopled(typed_world(2, virtual_world_def_default(), type_running(leave_all, 1000)), 100);
    run_frames(&little, 100);
    _exit(9);
  }
  cr_assert_eq(waitpid(process, &status, 0), process);
  cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 3, "%x", (unsigned)status);
}
