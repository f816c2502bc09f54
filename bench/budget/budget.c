#include "budget_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const budget_contenders[BUDGET_CONTENDERS][2] = {
    {"plan", "a planner's host that plans once in a frame"},
    {"replan", "the same, which plans again with the rest of its budget"},
    {"library", "muster_frame_run() on the calling thread"},
    {"sorted", "a loop that keeps agents sorted by staleness x weight (sorting is not charged), runs the first until "
               "the clock ends the frame, and knows costs by a mean of each agent"},
    {"robin", "a loop over the agents in turn that ends by the clock"},
};

/* How a contender runs. */
static const struct way {
  bool (*open)(struct run *run), (*come)(struct run *run, uint32_t wanted), (*frame)(struct run *run);
  void (*close)(struct run *run);
} ways[BUDGET_CONTENDERS] = {
    {world_open, world_come, world_plan_frame, world_close},
    {world_open, world_come, world_plan_frame, world_close},
    {world_open, world_come, world_run_frame, world_close},
    {sorted_open, NULL, sorted_frame, sequence_close},
    {robin_open, NULL, robin_frame, sequence_close},
};

enum { IMPORTANCES = 16, OCTAVES = 12 };

/* ------------------------------------------------------------------------------------------------------ the updates */

/* Two uniform numbers give a normal one (Box and Muller). */
static double normal_of(uint64_t random) {
  double u = ((double)(random >> 32) + 1.0) / 4294967297.0, v = (double)(uint32_t)random / 4294967296.0;
  return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

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
    return shape->cost_ns * exp(sigma * normal_of(random) - sigma * sigma / 2);
  case COST_ELAPSED:
    return shape->cost_ns + shape->dear_ns * (double)elapsed_ns * 1e-9;
  default:
    return shape->cost_ns;
  }
}

/* The first update of all, or the first at level 0 after the player came, may be a long one. */
static uint64_t charge(struct run *run, uint32_t agent, uint32_t level, uint64_t elapsed_ns) {
  const struct shape *shape = run->shape;
  if (shape->player && level) return (uint64_t)shape->cost_ns;
  uint64_t before = shape->player ? run->level_updates++ : run->updates;
  if (before == 0 && shape->first_ns) return shape->first_ns;
  return (uint64_t)(shape->player ? shape->dear_ns : cost_of(run, agent, elapsed_ns));
}

static void note_second(struct run *run, const struct member *member) {
  uint64_t second = run->sim_ns / SECOND_NS, from = run->shape->player ? PLAYER_SECOND : 0;
  if (second < from || second - from >= BUDGET_SECONDS) return;
  run->result->groups[member->group].rates[second - from] += 1.0;
}

uint64_t run_update(struct run *run, uint32_t agent, uint32_t level, uint64_t elapsed_ns) {
  struct member *member = &run->members[agent];
  uint64_t cost_ns = charge(run, agent, level, elapsed_ns);
  run->result->faults += member->updates ? elapsed_ns != run_age(run, agent) : elapsed_ns > run_age(run, agent);
  run->result->at_once += elapsed_ns == 0;
  run->result->repeats += member->frame == run->frame + 1;
  member->last_ns = run->sim_ns;
  member->frame = run->frame + 1;
  member->updates++;
  crowd_update(&run->crowd, &run->crowd.members[agent]);
  note_second(run, member);
  run->told_ns += cost_ns;
  if (cost_ns > run->longest_ns) run->longest_ns = cost_ns;
  run->result->inside_ns += cost_ns;
  run->updates++;
  run->frame_updates++;
  if (run->frame >= run->from_frame) run->group_updates[member->group]++;
  return cost_ns;
}

/* ------------------------------------------------------------------------------------------------------- the frames */

/* How many agents are to be there in the frame. */
static uint32_t wanted_now(const struct run *run) {
  if (!run->shape->joining) return run->count;
  uint64_t tenths = 1 + run->sim_ns / SECOND_NS;
  return tenths < 10 ? (uint32_t)(run->count * tenths / 10) : run->count;
}

/* A frame begins on time, or when the one before has ended. */
static bool begin_frame(struct run *run) {
  run->sim_ns = (uint64_t)(run->frame + 1) * run->frame_ns;
  if (run->told_ns < run->sim_ns) run->told_ns = run->sim_ns;
  run->begin_ns = run->told_ns;
  run->deadline_ns = run->begin_ns + run->budget_ns;
  run->longest_ns = run->repaid_ns = run->frame_updates = 0;
  run->crowd.now_s = (double)run->sim_ns * 1e-9;
  uint32_t wanted = wanted_now(run);
  if (ways[run->contender].come && !ways[run->contender].come(run, wanted)) return false;
  for (; run->spawned < wanted; run->spawned++) {
    run->members[run->spawned].spawned = true;
    run->members[run->spawned].last_ns = run->sim_ns;
    run->crowd.members[run->spawned].last_s = run->crowd.now_s;
  }
  if (run->frame == run->from_frame) crowd_begin_window(&run->crowd);
  return true;
}

static bool is_waited_for(const struct run *run) {
  for (uint32_t i = 0; i < run->spawned; i++)
    if (run_is_due(run, i)) return true;
  return false;
}

/* The accounts of a frame of the window. */
static void end_frame(struct run *run) {
  budget_result *result = run->result;
  uint64_t inside_ns = run->told_ns - run->begin_ns;
  uint64_t beyond_ns = run->told_ns > run->deadline_ns ? run->told_ns - run->deadline_ns : 0;
  if (run->frame < run->from_frame) return;
  result->frames++;
  run->late_frames += beyond_ns > run->longest_ns;
  if (beyond_ns > result->longest_late_ns) result->longest_late_ns = beyond_ns;
  if (!is_waited_for(run)) return;
  double used_ns = (double)(inside_ns < run->budget_ns ? inside_ns : run->budget_ns) + (double)run->repaid_ns;
  run->used_ns += fmin(used_ns, (double)run->budget_ns);
  run->given_ns += (double)run->budget_ns;
  result->frames_waiting++;
  result->idle_frames += used_ns < 0.2 * (double)run->budget_ns;
}

static bool run_frames(struct run *run) {
  for (run->frame = 0; run->frame < run->frames; run->frame++) {
    char doing[128];
    if (!begin_frame(run) || !ways[run->contender].frame(run)) return false;
    end_frame(run);
    if (run->frame % 64 || !run->setup->show) continue;
    snprintf(doing, sizeof doing, "%s, %s: %u of %u frames", budget_shapes[run->shape - shape_costs][0],
             budget_contenders[run->contender][0], run->frame, run->frames);
    run->setup->show(doing, run->setup->user);
  }
  return true;
}

/* --------------------------------------------------------------------------------------------------------- a result */

static uint32_t group_of(const struct shape *shape, uint32_t agent, bool is_near) {
  return shape->groups && (is_near || run_is_dear(shape, agent));
}

/* Importance is drawn from sixteen values, as floors; in a shape with a player it comes from the player alone, and
 * counts from the beginning. */
static void draw_members(struct run *run) {
  for (uint32_t i = 0; i < run->count; i++) {
    crowd_member *member = &run->crowd.members[i];
    uint64_t random = crowd_random(run->setup->seed, 2, i);
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

static void judge_groups(struct run *run) {
  double window_ms = (run->crowd.now_s - run->crowd.window_s) * 1e3;
  for (uint32_t i = 0; i < BUDGET_GROUPS; i++) {
    budget_group *group = &run->result->groups[i];
    if (group->agents == 0) continue;
    group->rates_from = run->shape->player ? PLAYER_SECOND : 0;
    for (uint32_t second = 0; second < BUDGET_SECONDS; second++) group->rates[second] /= group->agents;
    group->staleness_ms = group_staleness(run, i);
    if (run->group_updates[i]) group->interval_ms = window_ms * group->agents / (double)run->group_updates[i];
  }
}

static void judge(struct run *run) {
  budget_result *result = run->result;
  uint64_t updates = run->group_updates[0] + run->group_updates[1];
  result->measured = true;
  result->updates = run->updates;
  result->used = run->given_ns > 0 ? run->used_ns / run->given_ns : 0;
  result->late_share = result->frames ? (double)run->late_frames / result->frames : 0;
  result->updates_per_frame = result->frames ? (double)updates / result->frames : 0;
  result->staleness_ms = crowd_staleness(&run->crowd);
  crowd_weigh(&run->crowd, 0);
  result->mean_staleness_ms = crowd_staleness(&run->crowd);
  judge_groups(run);
}

static void set_times(struct run *run) {
  const budget_setup *setup = run->setup;
  const struct shape *shape = run->shape;
  run->hz = shape->hz ? shape->hz : setup->hz;
  run->budget_ns = shape->budget_ns ? shape->budget_ns : setup->budget_ns;
  run->frame_ns = SECOND_NS / run->hz;
  run->frames = setup->seconds * run->hz;
  if (!shape->from_start) run->from_frame = (shape->player ? PLAYER_SECOND : 2) * run->hz;
  run->count = shape->agents ? shape->agents : setup->agents;
}

static bool run_contender(struct run *run) {
  const struct way *way = &ways[run->contender];
  set_times(run);
  run->members = calloc(run->count, sizeof *run->members);
  bool ran = crowd_reserve(&run->crowd, run->count, 1) && run->members;
  if (ran) {
    draw_members(run);
    ran = way->open(run) && run_frames(run);
    if (ran) judge(run);
    way->close(run);
  }
  crowd_close(&run->crowd);
  free(run->members);
  return ran;
}

/* ------------------------------------------------------------------------------------------------------ all of them */

static bool lists(const char *list, const char *name) {
  size_t length = strlen(name);
  if (!list) return true;
  for (const char *at = list; (at = strstr(at, name)); at += length)
    if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0)) return true;
  return false;
}

static const char *measure_row(const budget_setup *setup, uint32_t number, budget_row *row) {
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++) {
    if (!lists(setup->contenders, budget_contenders[i][0])) continue;
    struct run run = {
        .setup = setup, .shape = &shape_costs[number], .contender = (budget_contender)i, .result = &row->results[i]};
    if (!run_contender(&run)) return *muster_last_error() ? muster_last_error() : "out of memory";
    row->agents = run.count;
    row->hz = run.hz;
    row->budget_ns = run.budget_ns;
  }
  const budget_result *sorted = &row->results[BUDGET_SORTED];
  for (uint32_t i = 0; i < BUDGET_CONTENDERS; i++)
    if (sorted->measured && sorted->staleness_ms > 0)
      row->results[i].ratio = row->results[i].staleness_ms / sorted->staleness_ms;
  return NULL;
}

const char *budget_measure(const budget_setup *setup, budget_row rows[BUDGET_SHAPES]) {
  for (uint32_t i = 0; i < BUDGET_SHAPES; i++) {
    rows[i] = (budget_row){.shape = budget_shapes[i][0], .summary = budget_shapes[i][1]};
    if (!(rows[i].measured = lists(setup->only, rows[i].shape))) continue;
    const char *wrong = measure_row(setup, i, &rows[i]);
    if (wrong) return wrong;
  }
  return NULL;
}
