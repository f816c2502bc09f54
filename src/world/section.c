#include "world/section.h"

#include "base/assert.h"
#include "run/runner.h"
#include "run/timeline.h"
#include "world/serial.h"
#include "world/world_teams.h"

static void do_run(const struct section *section, uint32_t run, uint32_t worker) {
  uint32_t first = run ? section_end_of_run(section->items, section->runs, run - 1) : 0;
  section->work(section->argument, first, section_end_of_run(section->items, section->runs, run), worker);
}

/* A team's work: takes runs until there are none. */
static void section_help(void *argument, uint32_t worker) {
  struct muster_world *world = argument;
  struct section *section = &world->teams->section;
  serial_help help = serial_begin_help(world, worker);
  uint32_t run, own = section_own_run(section->runs, worker, section->workers);
  while ((run = work_partitions_take(&section->partitions, own)) != PARTITION_NONE) do_run(section, run, worker);
  serial_end_help(world, worker, &help);
}

/* The caller does all runs, cut as for as many helpers as there can be, so that each is noted. */
static void section_alone(struct muster_world *world, part_work work, void *argument, uint32_t items,
                          uint64_t work_ns) {
  struct section *section = &world->teams->section;
  ASSERT(world->runner->timeline && world->runner->workers == 1);
  *section = (struct section){work, argument, items, section_runs(items, PARTITIONS_MAX), 1, section->partitions};
  uint64_t worth_ns = serial_help_worth_ns(world);
  timeline_section(world->runner->timeline, work, work_ns, worth_ns);
  bool shared = serial_worth(work_ns, worth_ns, 1) > 0; /* a second worker would begin in their middle */
  for (uint32_t run = 0; run < section->runs; run++) {
    timeline_place(world->runner->timeline, shared && 2 * run >= section->runs);
    do_run(section, run, world->runner->caller);
    timeline_run(world->runner->timeline);
  }
  timeline_place(world->runner->timeline, false);
}

static void section_share_out(void *owner, part_work work, void *argument, uint32_t items, uint64_t work_ns) {
  struct muster_world *world = owner;
  struct section *section = &world->teams->section;
  if (items && world->runner->timeline) {
    section_alone(world, work, argument, items, work_ns);
    return;
  }
  uint32_t helpers = items > 1 ? serial_helpers_for(world, work_ns) : 0;
  if (!helpers) {
    if (items) work(argument, 0, items, world->runner->caller);
    return;
  }
  uint32_t runs = section_runs(items, helpers);
  *section = (struct section){work, argument, items, runs, muster_pool_workers(world->pool), section->partitions};
  work_partitions_open(&section->partitions, runs);
  serial_run_team(world, section_help, helpers < runs ? helpers : runs - 1);
}

struct parts section_parts(struct muster_world *world) {
  return (struct parts){section_share_out, world};
}

void section_run(struct muster_world *world, part_work work, uint32_t items, uint64_t work_ns) {
  section_share_out(world, work, world, items, work_ns);
}
