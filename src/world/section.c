#include "world/section.h"

#include "base/assert.h"
#include "run/runner.h"
#include "world/serial.h"
#include "world/workers.h"
#include "world/world_teams.h"

/* Where a worker begins: an even share of the parts for each. */
static uint32_t own_part(const struct section *section, uint32_t worker) {
  return (uint32_t)((uint64_t)worker * section->count / section->workers) % SECTION_PARTS_MAX;
}

/* A team's work: takes parts until there are none. */
static void section_help(void *argument, uint32_t worker) {
  struct muster_world *world = argument;
  struct section *section = &world->teams->section;
  serial_help help = serial_begin_help(world, worker);
  uint32_t part, own = own_part(section, worker);
  while ((part = work_partitions_take(&section->parts, own)) != PARTITION_NONE) section->work(world, part, worker);
  serial_end_help(world, worker, &help);
}

void section_run(struct muster_world *world, section_work work, uint32_t parts, uint64_t work_ns) {
  struct section *section = &world->teams->section;
  uint32_t helpers = parts > 1 ? serial_helpers_for(world, work_ns) : 0;
  ASSERT(parts <= SECTION_PARTS_MAX);
  if (!helpers) {
    for (uint32_t part = 0; part < parts; part++) work(world, part, world->runner->caller);
    return;
  }
  section->work = work;
  section->count = parts;
  section->workers = muster_pool_workers(world->pool);
  work_partitions_open(&section->parts, parts);
  serial_run_team(world, section_help, helpers < parts ? helpers : parts - 1);
}
