/* How many NPCs a second go through the calls that a planner host uses, one by one and in batches, from C: what
 * Calls.cs and Calls.java are held against. Each figure is the median of 200 rounds over 2,000 agents. */
#include <muster/bulk.h>
#include <muster/muster.h>
#include <muster/planner.h>
#include <muster/replicate.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { AGENTS = 2000, ROUNDS = 200, WARM = 300 };

static muster_world *world;
static muster_agent agents[AGENTS];
static muster_position places[AGENTS];
static muster_plan_entry entries[AGENTS];
static muster_plan_result results[AGENTS];
static uint64_t now_ns, taken;

static void must(bool holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "calls: %s: %s\n", what, muster_last_error());
  exit(EXIT_FAILURE);
}

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* All agents run, and nothing is done for them. */
static void plan_and_report(void) {
  muster_plan_summary plan = muster_plan_summary_default();
  muster_frame frame = {now_ns += 100000000, 1000000000};
  must(muster_plan(world, &frame, entries, AGENTS, &plan) == MUSTER_OK, "a plan");
  for (uint32_t i = 0; i < plan.count; i++)
    results[i] = (muster_plan_result){
        .agent = entries[i].agent, .position = places[i], .outcome = MUSTER_PLAN_FINISHED, .moved = 1};
  must(muster_plan_report(world, results, plan.count) == MUSTER_OK, "a report");
}

static void exists_each(void) {
  for (uint32_t i = 0; i < AGENTS; i++) taken += muster_agent_exists(world, agents[i]);
}

static void move_each(void) {
  for (uint32_t i = 0; i < AGENTS; i++) must(muster_agent_move(world, agents[i], places[i]) == MUSTER_OK, "a move");
}

static void move_batch(void) {
  must(muster_agents_move(world, agents, places, AGENTS) == AGENTS, "moves");
}

static void read_each(void) {
  muster_agent_info info = muster_agent_info_default();
  for (uint32_t i = 0; i < AGENTS; i++) {
    must(muster_agent_read(world, agents[i], &info) == MUSTER_OK, "a read");
    taken += (uint64_t)info.position.x;
  }
}

static void read_batch(void) {
  muster_agent_columns columns = muster_agent_columns_default();
  columns.positions = places;
  must(muster_agents_read(world, agents, AGENTS, &columns) == AGENTS, "reads");
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measure(const char *name, void (*round)(void)) {
  double rates[ROUNDS];
  for (int i = -WARM; i < ROUNDS; i++) {
    uint64_t begin_ns = clock_ns();
    round();
    uint64_t end_ns = clock_ns();
    if (i >= 0) rates[i] = AGENTS * 1e3 / (double)(end_ns - begin_ns);
    plan_and_report(); /* takes what was queued */
  }
  qsort(rates, ROUNDS, sizeof *rates, ascending);
  printf("C %-17s %8.2f million NPCs/s\n", name, rates[ROUNDS / 2]);
}

int main(void) {
  muster_world_def def = muster_world_def_default();
  def.planner_workers = 1;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world = muster_world_create(&def);
  must(world, "a world");
  muster_type_def type_def = muster_type_def_default();
  muster_agent_def agent_def = muster_agent_def_default();
  agent_def.type = muster_type_register(world, &type_def);
  for (uint32_t i = 0; i < AGENTS; i++) {
    agent_def.position = places[i] = (muster_position){i % 50, i / 50, 0};
    agents[i] = muster_agent_spawn(world, &agent_def);
    must(!muster_agent_is_null(agents[i]), "an agent");
  }
  plan_and_report();
  measure("exists, each", exists_each);
  measure("move, each", move_each);
  measure("move, batch", move_batch);
  measure("read, each", read_each);
  measure("read, batch", read_batch);
  measure("plan and report", plan_and_report);
  muster_world_destroy(world);
  return taken == 0;
}
