/* The crowd of a spawn file: its rows, with what the population module makes of each kind. */
#include "crowd.h"

#include "scenarios/population_observers.h"
#include "scenarios/population_roles.h"

#include <muster/module.h>
#include <stdlib.h>

_Static_assert(CROWD_TYPES_MAX >= (int)POPULATION_FAMILIES, "a type for each family");

/* An update costs what its atoms do in the mean. */
static void take_types(struct crowd *crowd) {
  for (uint32_t i = 0; i < POPULATION_FAMILIES; i++) {
    const population_role *role = population_roles[i];
    crowd->types[i] =
        (crowd_type){.atoms = role->atom_count, .period_ns = role->period_ns, .period_max_ns = role->period_max_ns};
    for (uint32_t atom = 0; atom < role->atom_count; atom++) crowd->types[i].cost_ns += role->atoms[atom].model_ns;
  }
  crowd->type_count = POPULATION_FAMILIES;
}

/* The state while rows become the crowd. */
struct casting {
  population_rows rows;
  population_observers observers;
  uint8_t *families;
};

static void casting_free(struct casting *casting) {
  population_rows_free(&casting->rows);
  population_observers_free(&casting->observers);
  free(casting->families);
}

static bool cast(struct casting *casting, uint64_t seed) {
  population_rows *rows = &casting->rows;
  casting->families = calloc(rows->kind_count, sizeof *casting->families);
  return casting->families && population_cast(rows, seed, casting->families) &&
         population_observers_begin(&casting->observers, rows, 0, seed);
}

static bool fill(struct crowd *crowd, const struct casting *casting, uint32_t copies) {
  const population_rows *rows = &casting->rows;
  uint32_t observers = casting->observers.count;
  take_types(crowd);
  if (!crowd_reserve(crowd, copies * rows->count, copies * observers)) return false;
  for (uint32_t i = 0; i < crowd->observer_count; i++) {
    const population_walker *walker = &casting->observers.walkers[i % observers];
    crowd->observers[i] = (crowd_place){walker->place, walker->world + i / observers * rows->world_count};
  }
  for (uint32_t i = 0; i < crowd->count; i++) {
    const population_row *row = &rows->rows[i % rows->count];
    crowd_place place = {row->position, row->world + i / rows->count * rows->world_count};
    crowd_put(crowd, i, place, casting->families[row->kind]);
  }
  return true;
}

bool crowd_open_spawns(struct crowd *crowd, const char *path, uint32_t agents_least, uint64_t seed) {
  struct casting casting = {0};
  *crowd = (struct crowd){.seed = seed};
  if (population_file_read(path, 'y', &casting.rows) != MUSTER_OK) return false;
  uint32_t copies = casting.rows.count < agents_least ? (agents_least - 1) / casting.rows.count + 1 : 1;
  bool filled = cast(&casting, seed) && fill(crowd, &casting, copies);
  casting_free(&casting);
  if (!filled) muster_module_fail(MUSTER_E_MEMORY, "out of memory");
  return filled;
}
