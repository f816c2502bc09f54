#include "world/section.h"

#include "base/assert.h"
#include "run/runner.h"
#include "world/serial.h"
#include "world/world_teams.h"

_Static_assert((int)PARTS_MAX == (int)PARTITIONS_MAX, "each part is a partition");

/* Where a worker begins: each at an even share of the parts. */
static uint32_t own_part(const struct section *section, uint32_t worker) {
  return (uint32_t)((uint64_t)worker * section->count / section->workers) % PARTS_MAX;
}

/* A team's work: takes parts until there are none. */
static void section_help(void *argument, uint32_t worker) {
  struct muster_world *world = argument;
  struct section *section = &world->teams->section;
  serial_help help = serial_begin_help(world, worker);
  uint32_t part, own = own_part(section, worker);
  while ((part = work_partitions_take(&section->parts, own)) != PARTITION_NONE)
    section->work(section->argument, part, worker);
  serial_end_help(world, worker, &help);
}

static void run_parts(void *owner, part_work work, void *argument, uint32_t count, uint64_t work_ns) {
  struct muster_world *world = owner;
  struct section *section = &world->teams->section;
  uint32_t helpers = count > 1 ? serial_helpers_for(world, work_ns) : 0;
  ASSERT(count <= PARTS_MAX);
  if (!helpers) {
    for (uint32_t part = 0; part < count; part++) work(argument, part, world->runner->caller);
    return;
  }
  section->work = work;
  section->argument = argument;
  section->count = count;
  section->workers = muster_pool_workers(world->pool);
  work_partitions_open(&section->parts, count);
  serial_run_team(world, section_help, helpers < count ? helpers : count - 1);
}

struct parts section_parts(struct muster_world *world) {
  return (struct parts){run_parts, world};
}

void section_run(struct muster_world *world, part_work work, uint32_t count, uint64_t work_ns) {
  run_parts(world, work, world, count, work_ns);
}
