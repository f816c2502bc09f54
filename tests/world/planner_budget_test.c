/* What a planner's host may run of a frame: how many entries a plan names, and what more plans at the same time do. */
#include "support/planned_world.h"
#include "world/told_clock.h"

#include <muster/random.h>

/* Runs all that is planned, 40 frames of 5 s, and plans once more. Agents that do not stretch wait in each frame. */
static planned_world *plan_uneven(uint32_t workers, bool by_clock) {
  muster_world_def def = CHANGED(papers_world_def(), it.planner_workers = workers, it.planner.by_clock = by_clock);
  planned_world *planned = planned_world_of(&def, rigid_type(1), 40000); /* none runs twice: nothing is learnt of any */
  uint64_t number = 0, budget_ns = 5000000000u;
  for (uint32_t frame = 0; frame < 40; frame++) {
    uint32_t count = plan_with(planned, budget_ns, ENTRIES_MAX);
    cr_assert_leq(planned->plan.run_ns, budget_ns);
    for (uint32_t i = 0; i < count; i++) {
      if (frame > 20) cr_assert_gt(planned->entries[i].slice_ns, 60000000u, "with room");
      planned->results[i] = result_as_planned(&planned->entries[i], 1);
      /* The mean is 18 ms, the high percentile 90, the deviation 24. */
      planned->results[i].cost_ns = number++ % 10 ? 10000000u : 90000000u;
    }
    report(planned, count);
  }
  muster_type_cost cost = planned_cost(planned);
  cr_assert_eq(cost.samples, number);
  cr_assert(cost.mean_ns > 12000000 && cost.mean_ns < 25000000, "%lu", cost.mean_ns);
  plan_with(planned, budget_ns, ENTRIES_MAX);
  return planned;
}

/* The sum of 95th percentiles is five times as much as updates take. */
Test(planner_budget, on_the_wall_clock_the_means_of_a_plan_fill_the_hosts_workers) {
  for (uint32_t workers = 1; workers <= 3; workers += 2) {
    SCOPED(planned_world_end) planned_world *planned = plan_uneven(workers, false);
    muster_type_cost cost = planned_cost(planned);
    double taking_ns = (double)planned->plan.count * (double)cost.mean_ns, there_ns = (double)planned->plan.run_ns;
    cr_assert_geq(taking_ns, 0.95 * there_ns * workers, "%u of %g ns in %g", planned->plan.count, taking_ns, there_ns);
    cr_assert_leq(taking_ns, 1.05 * there_ns * workers, "%u of %g ns in %g", planned->plan.count, taking_ns, there_ns);
    cr_assert(planned->plan.fits + 1 >= planned->plan.count && planned->plan.fits <= planned->plan.count);
  }
}

Test(planner_budget, a_host_that_stops_by_the_clock_gets_more_than_fits_and_is_told_how_much_does) {
  SCOPED(planned_world_end) planned_world *planned = plan_uneven(1, true);
  muster_type_cost cost = planned_cost(planned);
  double fit_ns = (double)planned->plan.fits * (double)cost.mean_ns, there_ns = (double)planned->plan.run_ns;
  cr_assert(fit_ns >= 0.95 * there_ns && fit_ns <= 1.05 * there_ns, "%u/%u", planned->plan.fits, planned->plan.count);
  /* 24 ms times the root of some 320, three times: some 70 updates of 18 ms */
  cr_assert(planned->plan.count > planned->plan.fits + 30 && planned->plan.count < planned->plan.fits + 150, "%u of %u",
            planned->plan.fits, planned->plan.count);
}

/* 10 us of each frame for so many agents, each of which takes 1 us and does not stretch. */
static planned_world *crowded_world(uint32_t agents) {
  muster_world_def def =
      CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.clock.capacity_ns = 10000);
  return planned_world_of(&def, rigid_type(1), agents);
}

Test(planner_budget, a_second_plan_at_the_same_time_has_those_who_did_not_fit) {
  static uint64_t ran_ns[200];
  SCOPED(planned_world_end) planned_world *planned = crowded_world(200);
  uint32_t seconds = 0;
  for (uint32_t frame = 0; frame < 50; frame++) {
    for (uint32_t turn = 0; turn < 3; turn++) {
      uint32_t count = plan(planned);
      for (uint32_t i = 0; i < count; i++) {
        uint32_t agent = muster_agent_index(planned->entries[i].agent);
        cr_assert_neq(ran_ns[agent], planned->little.now_ns, "twice");
        cr_assert_eq(planned->entries[i].elapsed_ns,
                     ran_ns[agent] ? planned->little.now_ns - ran_ns[agent] : planned->little.now_ns - FRAME_NS);
        ran_ns[agent] = planned->little.now_ns;
        planned->results[i] = result_as_planned(&planned->entries[i], 1);
      }
      seconds += turn ? count : 0;
      report(planned, count);
      planned->little.now_ns -= turn < 2 ? FRAME_NS : 0; /* the next turn is at the same time */
    }
  }
  cr_assert_gt(seconds, 300, "%u would have waited", seconds);
  cr_assert_eq(plan(planned), 10);
}

Test(planner_budget, an_update_longer_than_the_budget_is_handed_out_alone) {
  muster_world_def def = CHANGED(papers_world_def(), it.planner_workers = 1);
  muster_type_def type = WITH(muster_type_def, it.parts.count = 1, it.parts.part_ns = 1000000000u,
                              it.period_ns = it.period_max_ns = 2 * FRAME_NS);
  SCOPED(planned_world_end) planned_world *planned = planned_world_of(&def, type, 10);
  uint32_t completed = 0;
  for (uint32_t frame = 0; frame < 200; frame++) {
    uint32_t count = plan_with(planned, 10000000, ENTRIES_MAX);
    cr_assert_leq(count, 1);
    if (count) planned->results[0] = result_as_planned(&planned->entries[0], 1);
    completed += report(planned, count).completed;
  }
  cr_assert_gt(completed, 100);
}

/* Three plans of one time, and a rest that is too little for a fourth. */
Test(planner_budget, the_report_is_of_all_plans_of_a_frame_and_a_small_rest_plans_nothing) {
  SCOPED(planned_world_end) planned_world *planned = crowded_world(500);
  for (uint32_t frame = 0; frame < 20; frame++) run_plan(planned);
  uint32_t completed = 0, released = 0;
  float pressure = 0;
  for (uint32_t turn = 0; turn < 3; turn++) {
    uint32_t count = plan(planned);
    run_entries(planned, count, 1);
    muster_frame_report frame = report(planned, count);
    completed += count;
    cr_assert_eq(frame.completed, completed);
    cr_assert_eq(frame.rankings, turn + 1);
    cr_assert_eq(frame.update_cpu_ns, completed * 1000u);
    if (turn == 0) released = frame.released, pressure = frame.pressure;
    cr_assert_eq(frame.released, released, "nobody is due a second time");
    cr_assert(frame.pressure == pressure && pressure > 0);
    planned->little.now_ns -= FRAME_NS; /* the next turn is at the same time */
  }
  cr_assert_gt(completed, 20);
  muster_world *world = planned->little.world;
  muster_frame rest = {planned->little.now_ns + FRAME_NS, 5000};
  cr_assert_eq(muster_plan(world, &rest, planned->entries, ENTRIES_MAX, &planned->plan), MUSTER_OK);
  cr_assert(planned->plan.count == 0 && planned->plan.run_ns == 0);
  cr_assert_eq(muster_plan(world, &rest, planned->entries, ENTRIES_MAX, &planned->plan), MUSTER_E_STATE);
  cr_assert_eq(muster_plan_report(world, planned->results, 1), MUSTER_E_ARGUMENT, "nobody was planned");
  cr_assert_eq(report(planned, 0).completed, completed, "of the frame still");
  rest.sim_now_ns += FRAME_NS;
  cr_assert_eq(muster_plan(world, &rest, planned->entries, ENTRIES_MAX, &planned->plan), MUSTER_E_ARGUMENT,
               "a frame of so little is a mistake");
  planned->little.now_ns += FRAME_NS;
  cr_assert_gt(plan(planned), 0);
}

Test(planner_budget, hosts_have_clocks) {
  uint64_t wall_ns = muster_clock_ns(), cpu_ns = muster_clock_thread_ns();
  for (volatile uint32_t i = 0; i < 1000000; i++) continue;
  cr_assert_gt(muster_clock_ns(), wall_ns);
  cr_assert_gt(muster_clock_thread_ns(), cpu_ns);
}

/* A host whose clock is told, with 2 of 50 ms for 4,000 agents that want twenty times as much. */
static planned_world *plan_by_told_clock(bool by_wall) {
  muster_world_def def =
      WITH(muster_world_def, it.planner_workers = 1, it.planner.by_clock = true, it.planner.by_wall = by_wall);
  planned_world *planned = planned_world_create(&def);
  told_ns = 1000000000u;
  tell_clock(&planned->little);
  add_type(&planned->little, parts_type(1));
  for (uint32_t i = 0; i < 4000; i++)
    spawn_as(&planned->little, WITH(muster_agent_def, it.importance_floor = (float)(i % 16) / 16.0f));
  return planned;
}

/* Runs a frame of it, whose updates take so long each. True: the list was over while there was time. */
static bool run_by_told_clock(planned_world *planned, uint64_t (*cost)(uint64_t number)) {
  static uint64_t number;
  planned->little.now_ns += 40000000;
  uint32_t count = plan_with(planned, 2000000, ENTRIES_MAX), done = 0;
  uint64_t end_ns = told_ns + planned->plan.run_ns;
  for (; done < count && told_ns < end_ns; done++) {
    planned->results[done] = result_as_planned(&planned->entries[done], 1);
    planned->results[done].cost_ns = cost(number++);
    told_ns += planned->results[done].cost_ns;
  }
  report(planned, done);
  return told_ns + 100000 < end_ns;
}

static uint64_t cost_by_chance(uint64_t number) {
  return muster_random_mix(number) % 10 ? 5000 : 155000;
}

/* Some wait for the next frame, so that there are enough for one whose updates happen to be cheap; also when those who
 * were spawned together wait no longer. */
Test(planner_budget, a_plan_is_not_over_before_its_time_where_costs_vary) {
  enum { FRAMES = 2500, SETTLED = 2000 };
  SCOPED(planned_world_end) planned_world *planned = plan_by_told_clock(false);
  uint32_t over = 0;
  for (uint32_t i = 0; i < FRAMES; i++) over += run_by_told_clock(planned, cost_by_chance) && i >= SETTLED;
  cr_assert_leq(over, (FRAMES - SETTLED) / 50, "%u frames", over);
}

/* The kernel takes 4.4 ms, more than a frame has, in one update of 50. */
static uint64_t cost_with_kernel(uint64_t number) {
  return number % 50 ? 20000 : 4420000;
}

Test(planner_budget, what_the_kernel_took_of_an_update_is_not_believed_to_be_its_cost) {
  for (uint32_t by_wall = 0; by_wall < 2; by_wall++) {
    SCOPED(planned_world_end) planned_world *planned = plan_by_told_clock(by_wall);
    planned->little.provokes_idle = !by_wall; /* it takes the kernel's time for its updates' */
    for (uint32_t i = 0; i < 400; i++) run_by_told_clock(planned, cost_with_kernel);
    muster_type_cost cost = planned_cost(planned);
    cr_assert_eq(cost.mean_ns < 40000, by_wall, "%lu ns", cost.mean_ns);
  }
}
