/* The updates and the frames of a run. */
#include "budget_run.h"
#include "varied_costs.h"

#include "scenarios/busy_work.h"

#include <math.h>
#include <stdio.h>

const struct way run_ways[BUDGET_CONTENDERS] = {
    {world_open, world_come, world_plan_frame, world_close},
    {world_open, world_come, world_plan_frame, world_close},
    {world_open, world_come, world_run_frame, world_close},
    {world_open, world_come, world_run_frame, world_close},
    {sorted_open, NULL, sorted_frame, sorted_close},
    {sorted_open, NULL, sorted_frame, sorted_close},
    {robin_open, NULL, robin_frame, robin_close},
};

/* ------------------------------------------------------------------------------------------------------ the updates */

static double cost_of(const struct run *run, uint32_t agent, uint64_t elapsed_ns) {
  static const double sigma = 1.3;
  const struct shape *shape = run->shape;
  uint64_t random = crowd_random(run->setup->seed, 3 + run->members[agent].updates, agent);
  switch (shape->cost) {
  case COST_CHANCE:
    return random % shape->every == 0 ? shape->dear_ns : shape->cost_ns;
  case COST_MEMBERS:
    return run_is_dear(shape, agent) ? shape->dear_ns : shape->cost_ns;
  case COST_LOG:
    return shape->cost_ns * varied_factor(random, sigma);
  case COST_KINDS:
    return run->crowd.members[agent].cost_s * 1e9 * varied_factor(random, 1.0);
  case COST_ELAPSED:
    return shape->cost_ns + shape->dear_ns * (double)elapsed_ns * 1e-9;
  default:
    return shape->cost_ns;
  }
}

/* The first update of all, or the first at level 0 after the player came, may be a long one. Where several workers run,
 * it is the first one of the frame's thread. */
static bool is_first(struct run *run, uint32_t worker, uint32_t level) {
  if (!run->shape->first_ns) return false;
  if (run->shape->player) return level == 0 && run->level_updates++ == 0;
  return worker == 0 && run->tallies[0].updates == 0;
}

static uint64_t charge(struct run *run, uint32_t worker, uint32_t agent, uint32_t level, uint64_t elapsed_ns) {
  const struct shape *shape = run->shape;
  if (is_first(run, worker, level)) return shape->first_ns;
  if (shape->player && level == 0) return (uint64_t)shape->dear_ns;
  if (shape->player) return (uint64_t)(run->tenth_ns / (run->count * 10.0)); /* each runs ten times a second */
  return (uint64_t)cost_of(run, agent, elapsed_ns);
}

uint64_t run_taken(const struct run *run, uint64_t until_ns) {
  uint64_t every_ns = run->shape->taken_every_ns, taken_ns = run->shape->taken_ns;
  if (!every_ns) return 0;
  uint64_t into_ns = until_ns % every_ns, free_ns = every_ns - taken_ns;
  return until_ns / every_ns * taken_ns + (into_ns > free_ns ? into_ns - free_ns : 0);
}

/* The told clocks go on by own time, and by what the kernel takes within it: the last part of each stretch. */
static struct spent advance(struct run *run, uint64_t own_ns) {
  uint64_t every_ns = run->shape->taken_every_ns, free_ns = every_ns - run->shape->taken_ns, begin_ns = run->told_ns;
  run->told_cpu_ns += own_ns;
  for (uint64_t left_ns = own_ns; left_ns;) {
    uint64_t into_ns = every_ns ? run->told_ns % every_ns : 0, part_ns = left_ns;
    if (every_ns && into_ns >= free_ns) {
      run->told_ns += every_ns - into_ns;
      continue;
    }
    if (every_ns && part_ns > free_ns - into_ns) part_ns = free_ns - into_ns;
    run->told_ns += part_ns;
    left_ns -= part_ns;
  }
  return (struct spent){own_ns, run->told_ns - begin_ns};
}

static struct spent work(const struct run *run, uint64_t cost_ns) {
  uint64_t begin_ns = clock_now(&run->clock), begin_own_ns = run->setup->report_own ? clock_thread_cpu() : 0;
  busy_work_spend((uint64_t)((double)cost_ns * run->turns_per_ns));
  uint64_t wall_ns = clock_now(&run->clock) - begin_ns;
  return (struct spent){run->setup->report_own ? clock_thread_cpu() - begin_own_ns : wall_ns, wall_ns};
}

static void note_second(const struct run *run, struct tally *tally, uint32_t group) {
  uint64_t second = run->sim_ns / SECOND_NS, from = run->shape->player ? PLAYER_SECOND : 0;
  if (second >= from && second - from < BUDGET_SECONDS) tally->seconds[group][second - from]++;
}

static void note_update(const struct run *run, struct tally *tally, uint32_t agent, uint64_t elapsed_ns) {
  const struct member *member = &run->members[agent];
  tally->faults += member->updates ? elapsed_ns != run_age(run, agent) : elapsed_ns > run_age(run, agent);
  tally->at_once += elapsed_ns == 0;
  tally->repeats += member->frame == run->frame + 1;
  tally->group_updates[member->group] += run->frame >= run->from_frame;
  note_second(run, tally, member->group);
}

struct spent run_update(struct run *run, uint32_t worker, uint32_t agent, uint32_t level, uint64_t elapsed_ns) {
  struct tally *tally = &run->tallies[worker];
  uint64_t cost_ns = charge(run, worker, agent, level, elapsed_ns);
  note_update(run, tally, agent, elapsed_ns);
  run->members[agent].last_ns = run->sim_ns;
  run->members[agent].frame = run->frame + 1;
  run->members[agent].updates++;
  crowd_refresh(&run->crowd, &run->crowd.members[agent]);
  struct spent spent = run->wall ? work(run, cost_ns) : advance(run, cost_ns);
  if (spent.own_ns > tally->frame_longest_ns) tally->frame_longest_ns = spent.own_ns;
  tally->frame_inside_ns += spent.own_ns;
  tally->inside_ns += spent.own_ns;
  tally->frame_updates++;
  tally->updates++;
  return spent;
}

/* ------------------------------------------------------------------------------------------------------- the frames */

/* How many agents are to be there in the frame. */
static uint32_t wanted_now(const struct run *run) {
  if (!run->shape->joining) return run->count;
  uint64_t tenths = 1 + run->sim_ns / SECOND_NS;
  return tenths < 10 ? (uint32_t)(run->count * tenths / 10) : run->count;
}

/* A frame begins on time, or when the one before has ended; on the wall clock, at once. */
static bool begin_frame(struct run *run) {
  const struct way *way = &run_ways[run->contender];
  run->sim_ns = (uint64_t)(run->frame + 1) * run->frame_ns;
  run->crowd.now_s = (double)run->sim_ns * 1e-9;
  uint32_t wanted = wanted_now(run);
  if (way->come && !way->come(run, wanted)) return false;
  for (; run->spawned < wanted; run->spawned++) {
    run->members[run->spawned].spawned = true;
    run->members[run->spawned].last_ns = run->sim_ns;
    run->crowd.members[run->spawned].last_s = run->crowd.now_s;
  }
  if (run->frame == run->from_frame) crowd_begin_window(&run->crowd);
  for (uint32_t i = 0; i < run->workers; i++)
    run->tallies[i].frame_updates = run->tallies[i].frame_inside_ns = run->tallies[i].frame_longest_ns = 0;
  run->repaid_ns = 0;
  run->kept = false;
  if (run->told_ns < run->sim_ns) run->told_ns = run->sim_ns;
  run->begin_ns = run_now(run);
  run->deadline_ns = run->begin_ns + run->budget_ns;
  return true;
}

static bool is_waited_for(const struct run *run) {
  for (uint32_t i = 0; i < run->spawned; i++)
    if (run_is_due(run, i)) return true;
  return false;
}

/* All workers' tallies of the frame, in the first member of each kind. */
static struct tally sum_frame(const struct run *run) {
  struct tally sum = {0};
  for (uint32_t i = 0; i < run->workers; i++) {
    const struct tally *tally = &run->tallies[i];
    sum.frame_updates += tally->frame_updates;
    sum.frame_inside_ns += tally->frame_inside_ns;
    if (tally->frame_longest_ns > sum.frame_longest_ns) sum.frame_longest_ns = tally->frame_longest_ns;
  }
  return sum;
}

/* What the frame repaid of overruns that the run's own time made: not what the kernel took. */
static double take_repaid(struct run *run, uint64_t beyond_ns) {
  uint64_t repaid_ns = run->repaid_ns < run->owed_ns ? run->repaid_ns : run->owed_ns;
  run->owed_ns += beyond_ns * run->share - repaid_ns;
  return (double)repaid_ns;
}

/* The accounts of a frame; those of the window are kept. */
static void end_frame(struct run *run) {
  budget_result *result = run->result;
  struct tally sum = sum_frame(run);
  uint64_t now_ns = run_now(run), beyond_ns = now_ns > run->deadline_ns ? now_ns - run->deadline_ns : 0;
  if (beyond_ns) beyond_ns -= run_taken(run, now_ns) - run_taken(run, run->deadline_ns);
  double given_ns = (double)(run->budget_ns + run_taken(run, run->begin_ns) - run_taken(run, run->deadline_ns));
  given_ns *= run->share;
  double repaid_ns = take_repaid(run, beyond_ns);
  run->frame_updates = sum.frame_updates;
  if (run->frame < run->from_frame) return;
  result->frames++;
  run->frames_ns += (double)(now_ns - (run->deadline_ns - run->budget_ns));
  run->late_frames += beyond_ns > sum.frame_longest_ns && !(run->wall && run->kept);
  if (beyond_ns > result->longest_late_ns) result->longest_late_ns = beyond_ns;
  if (!is_waited_for(run)) return;
  double used_ns = fmin(fmin((double)sum.frame_inside_ns, given_ns) + repaid_ns, given_ns);
  run->used_ns += used_ns;
  run->given_ns += given_ns;
  result->frames_waiting++;
  result->idle_frames += used_ns < 0.2 * given_ns;
}

bool run_frames(struct run *run, uint32_t count) {
  for (uint32_t i = 0; i < count; i++, run->frame++) {
    char doing[128];
    if (!begin_frame(run) || !run_ways[run->contender].frame(run)) return false;
    end_frame(run);
    if (run->frame % 64 || !run->setup->show) continue;
    snprintf(doing, sizeof doing, "%s, %s: %u of %u frames", budget_shapes[run->shape - shape_costs][0],
             budget_contenders[run->contender][0], run->frame, run->frames);
    run->setup->show(doing, run->setup->user);
  }
  return true;
}
