#include "world/section.h"

#include "base/assert.h"
#include "run/runner.h"
#include "world/serial.h"
#include "world/world_teams.h"

enum { RUNS_EACH = 4 /* for each worker: so that one that comes late, or has more to do, is helped by the others */ };

static uint32_t end_of_run(const struct section *section, uint32_t run) {
  return (uint32_t)((uint64_t)(run + 1) * section->items / section->runs);
}

/* A team's work: takes runs until there are none. Each worker begins at an even share of them. */
static void section_help(void *argument, uint32_t worker) {
  struct muster_world *world = argument;
  struct section *section = &world->teams->section;
  serial_help help = serial_begin_help(world, worker);
  uint32_t run, own = (uint32_t)((uint64_t)worker * section->runs / section->workers) % PARTITIONS_MAX;
  while ((run = work_partitions_take(&section->partitions, own)) != PARTITION_NONE)
    section->work(section->argument, run ? end_of_run(section, run - 1) : 0, end_of_run(section, run), worker);
  serial_end_help(world, worker, &help);
}

static void section_share_out(void *owner, part_work work, void *argument, uint32_t items, uint64_t work_ns) {
  struct muster_world *world = owner;
  struct section *section = &world->teams->section;
  uint32_t helpers = items > 1 ? serial_helpers_for(world, work_ns) : 0;
  if (!helpers) {
    if (items) work(argument, 0, items, world->runner->caller);
    return;
  }
  uint32_t runs = RUNS_EACH * (helpers + 1);
  if (runs > items) runs = items;
  if (runs > PARTITIONS_MAX) runs = PARTITIONS_MAX;
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
