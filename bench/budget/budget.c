#include "budget_run.h"
#include "noise_load.h"

#include "scenarios/busy_work.h"

#include <math.h>
#include <muster/jobs.h>
#include <stdlib.h>
#include <string.h>

const char *const budget_contenders[BUDGET_CONTENDERS][2] = {
    {"plan", "a planner's host that plans once in a frame"},
    {"replan", "the same, which plans again with the rest of its budget"},
    {"library", "muster_frame_run() on the calling thread"},
    {"library-2", "muster_frame_run() on two workers, on the wall clock alone"},
    {"sorted", "a loop that keeps agents sorted by staleness x weight (sorting is not charged), runs the first until "
               "the clock ends the frame, and knows costs by a mean of each agent"},
    {"sorted-2", "two such loops on two threads, each with every other agent, on the wall clock alone"},
    {"robin", "a loop over the agents in turn that ends by the clock"},
};

enum { IMPORTANCES = 16, OCTAVES = 12, TURN_FRAMES = 10, NOISE_TIMES = 4 };

/* --------------------------------------------------------------------------------------------------------- a result */

static uint32_t group_of(const struct shape *shape, uint32_t agent, bool is_near) {
  return shape->groups && (is_near || run_is_dear(shape, agent));
}

/* Importance is drawn from sixteen values, as floors; in a shape with a player it comes from the player alone, and
 * counts from the beginning. The NPCs of a file have theirs, and periods, from there. */
static void draw_members(struct run *run) {
  bool of_file = run->shape->cost == COST_KINDS;
  for (uint32_t i = 0; i < run->count; i++) {
    crowd_member *member = &run->crowd.members[i];
    uint64_t random = crowd_random(run->setup->seed, 2, i);
    run->members[i].period_ns = of_file ? run->crowd.types[member->type].period_ns : PERIOD_NS;
    if (!of_file)
      member->importance = run->shape->player ? run_is_near(run, i) : (double)(random % IMPORTANCES) / IMPORTANCES;
    run->members[i].group = (uint8_t)group_of(run->shape, i, run_is_near(run, i));
    run->result->groups[run->members[i].group].agents++;
  }
  crowd_weigh(&run->crowd, OCTAVES);
}

static double group_staleness(struct run *run, uint32_t group) {
  for (uint32_t i = 0; i < run->count; i++) run->crowd.members[i].weight = run->members[i].group == group;
  return crowd_staleness(&run->crowd);
}

static void judge_groups(struct run *run, const struct tally *sum) {
  double window_ms = (run->crowd.now_s - run->crowd.window_s) * 1e3;
  for (uint32_t i = 0; i < BUDGET_GROUPS; i++) {
    budget_group *group = &run->result->groups[i];
    if (group->agents == 0) continue;
    group->rates_from = run->shape->player ? PLAYER_SECOND : 0;
    for (uint32_t second = 0; second < BUDGET_SECONDS; second++)
      group->rates[second] = (double)sum->seconds[i][second] / group->agents;
    group->staleness_ms = group_staleness(run, i);
    if (sum->group_updates[i]) group->interval_ms = window_ms * group->agents / (double)sum->group_updates[i];
  }
}

static struct tally sum_run(const struct run *run) {
  struct tally sum = {0};
  for (const struct tally *tally = run->tallies; tally < run->tallies + run->workers; tally++) {
    sum.updates += tally->updates;
    sum.inside_ns += tally->inside_ns;
    sum.repeats += tally->repeats;
    sum.at_once += tally->at_once;
    sum.faults += tally->faults;
    for (uint32_t i = 0; i < BUDGET_GROUPS; i++) {
      sum.group_updates[i] += tally->group_updates[i];
      for (uint32_t second = 0; second < BUDGET_SECONDS; second++) sum.seconds[i][second] += tally->seconds[i][second];
    }
  }
  return sum;
}

static void judge(struct run *run) {
  budget_result *result = run->result;
  struct tally sum = sum_run(run);
  double frames = fmax(result->frames, 1);
  result->measured = true;
  result->updates = sum.updates;
  result->inside_ns = sum.inside_ns;
  result->repeats = sum.repeats;
  result->at_once = sum.at_once;
  result->faults += sum.faults;
  result->used = run->given_ns > 0 ? run->used_ns / run->given_ns : 0;
  result->late_share = run->late_frames / frames;
  result->updates_per_frame = (double)(sum.group_updates[0] + sum.group_updates[1]) / frames;
  if (run->frames_ns > 0) result->updates_per_second = result->updates_per_frame * frames / run->frames_ns * 1e9;
  result->staleness_ms = crowd_staleness(&run->crowd);
  crowd_weigh(&run->crowd, 0);
  result->mean_staleness_ms = crowd_staleness(&run->crowd);
  judge_groups(run, &sum);
}

/* ------------------------------------------------------------------------------------------------------------- a run
 */

static void set_times(struct run *run) {
  const budget_setup *setup = run->setup;
  const struct shape *shape = run->shape;
  run->hz = shape->hz ? shape->hz : setup->hz;
  run->budget_ns = setup->budget_ns;
  run->frame_ns = SECOND_NS / run->hz;
  run->tenth_ns = 0.1 * (double)run->budget_ns * run->hz;
  uint32_t seconds = shape->seconds && shape->seconds < setup->seconds ? shape->seconds : setup->seconds;
  run->frames = run->wall ? setup->wall_frames * (shape->noise ? NOISE_TIMES : 1) : seconds * run->hz;
  if (!shape->from_start) run->from_frame = (shape->player ? PLAYER_SECOND : 2) * run->hz;
  if (run->from_frame > run->frames / 3) run->from_frame = run->frames / 3;
  run->count = shape->agents ? shape->agents : setup->agents;
  run->share = budget_threads(run->contender);
  run->workers = run->share == 1 ? 1 : MUSTER_WORKERS_MAX + MUSTER_EXTERNAL_MAX;
}

static bool open_crowd(struct run *run) {
  if (run->shape->cost != COST_KINDS) return crowd_reserve(&run->crowd, run->count, 1);
  if (!crowd_open_spawns(&run->crowd, run->setup->spawns, 1, run->setup->seed)) return false;
  run->count = run->crowd.count;
  return true;
}

static bool open_run(struct run *run) {
  set_times(run);
  if (!open_crowd(run)) return false;
  run->members = calloc(run->count, sizeof *run->members);
  run->tallies = aligned_alloc(_Alignof(struct tally), run->workers * sizeof *run->tallies);
  if (!run->members || !run->tallies) return false;
  memset(run->tallies, 0, run->workers * sizeof *run->tallies);
  draw_members(run);
  return run_ways[run->contender].open(run);
}

static void close_run(struct run *run) {
  if (run->tallies) run_ways[run->contender].close(run);
  crowd_close(&run->crowd);
  free(run->members);
  free(run->tallies);
}

/* ------------------------------------------------------------------------------------------------------ all of them */

static bool lists(const char *list, const char *name) {
  size_t length = strlen(name);
  if (!list) return true;
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) return true;
  return false;
}

static bool takes_part(const budget_setup *setup, const budget_row *row, uint32_t contender) {
  return lists(setup->contenders, budget_contenders[contender][0]) && (row->wall || budget_threads(contender) == 1);
}

/* By accounting one after the other: the told thread clock is one world's at a time. */
static bool run_told(struct run runs[BUDGET_CONTENDERS], uint32_t count) {
  bool ran = true;
  for (uint32_t i = 0; i < count && ran; i++) {
    ran = open_run(&runs[i]) && run_frames(&runs[i], runs[i].frames);
    if (ran) judge(&runs[i]);
    close_run(&runs[i]);
  }
  return ran;
}

static bool take_turns(struct run runs[BUDGET_CONTENDERS], uint32_t count) {
  bool ran = true;
  for (uint32_t frame = 0; frame < runs->frames && ran; frame += TURN_FRAMES)
    for (uint32_t i = 0; i < count && ran; i++)
      ran = run_frames(&runs[i], runs->frames - frame < TURN_FRAMES ? runs->frames - frame : TURN_FRAMES);
  return ran;
}

/* On the wall clock in turns. The load starts before any thread. */
static bool run_wall(struct run runs[BUDGET_CONTENDERS], uint32_t count) {
  struct noise_load load = {0};
  uint32_t opened = 0;
  bool ran = !runs->shape->noise || noise_load_start(&load);
  for (; opened < count && ran; opened++) ran = open_run(&runs[opened]);
  ran = ran && take_turns(runs, count);
  for (uint32_t i = 0; i < opened; i++) {
    if (ran) judge(&runs[i]);
    close_run(&runs[i]);
  }
  noise_load_stop(&load);
  return ran;
}

static void compare(budget_row *row) {
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    const budget_result *sorted = &row->results[budget_threads(i) == 1 ? BUDGET_SORTED : BUDGET_SORTED_2];
    budget_result *result = &row->results[i];
    if (!sorted->measured) continue;
    if (sorted->staleness_ms > 0) result->ratio = result->staleness_ms / sorted->staleness_ms;
    if (sorted->updates_per_second > 0) result->updates_ratio = result->updates_per_second / sorted->updates_per_second;
  }
}

static bool measure_row(const budget_setup *setup, uint32_t shape, const struct run *model, budget_row *row) {
  struct run runs[BUDGET_CONTENDERS];
  uint32_t count = 0;
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    if (!takes_part(setup, row, i)) continue;
    runs[count] = *model;
    runs[count].shape = &shape_costs[shape];
    runs[count].contender = (budget_contender)i;
    runs[count++].result = &row->results[i];
  }
  if (count && !(row->wall ? run_wall(runs, count) : run_told(runs, count))) return false;
  row->agents = count ? runs->count : 0;
  row->hz = count ? runs->hz : 0;
  row->budget_ns = setup->budget_ns;
  compare(row);
  return true;
}

static bool is_wanted(const budget_setup *setup, uint32_t shape, bool wall) {
  bool possible = wall ? !shape_costs[shape].told_only && setup->wall_frames : !shape_costs[shape].noise;
  possible = possible && (shape_costs[shape].cost != COST_KINDS || setup->spawns);
  return possible && lists(setup->only, budget_shapes[shape][0]);
}

static const char *measure_rows(const budget_setup *setup, const struct run *model, budget_row rows[BUDGET_ROWS],
                                uint32_t *count) {
  for (uint32_t i = 0; i < BUDGET_SHAPES; i++) {
    if (!is_wanted(setup, i, model->wall)) continue;
    budget_row *row = &rows[(*count)++];
    *row = (budget_row){.shape = budget_shapes[i][0], .wall = model->wall};
    if (!measure_row(setup, i, model, row)) return *muster_last_error() ? muster_last_error() : "out of memory";
  }
  return NULL;
}

const char *budget_measure(const budget_setup *setup, budget_row rows[BUDGET_ROWS], uint32_t *count) {
  struct run model = {.setup = setup};
  *count = 0;
  const char *wrong = measure_rows(setup, &model, rows, count);
  if (wrong || !setup->wall_frames) return wrong;
  model.wall = true;
  model.clock = clock_calibrate();
  if (busy_work_calibrate("bench budget", &model.turns_per_ns)) return muster_last_error();
  return measure_rows(setup, &model, rows, count);
}
