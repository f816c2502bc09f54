/* service/module_parts.h - the modules of one world: one instance, or several with names. To the rest of the service
 * they are one module, the `face`, whose functions call those of all parts in their order.
 *
 * Types belong to the part that registered them. A world's snapshot holds what one instance without a name saves, as it
 * is; of named ones the parts, each behind its names and its length. Frames' thread. */
#ifndef SERVICE_MODULE_PARTS_H
#define SERVICE_MODULE_PARTS_H

#include "service/modules.h"
#include "service/settings_modules.h"

#include "base/module_tables.h"

/* One instance of a module. */
typedef struct module_part {
  module_name name;
  const muster_module *module; /* null = not open */
  void *instance;
  muster_module_needs needs;
  uint32_t value_count;
  muster_module_value values[MODULE_VALUES_MAX]; /* settings in force; texts stand in the world's settings */
  double metrics[MODULE_VALUES_MAX];             /* as module_parts_measure left them */
  uint32_t types_end;                            /* the index of the first type that a later part registered */
} module_part;

typedef struct module_parts {
  char world[NAME_BYTES];
  uint32_t count;
  bool named;
  module_part parts[PARTS_MAX];
  muster_module face; /* its instance is the module_parts; null functions are those that no part has */
} module_parts;

/* Loads the modules of a world and opens an instance of each, after all settings were checked. `needs` are those of all
 * parts together. On failure nothing is open, and muster_last_error() says where the wrong setting stands. `settings`
 * must outlive the parts. */
muster_result module_parts_open(module_parts *parts, struct modules *modules, const world_settings *settings,
                                muster_module_needs *needs);

/* The part of that name, or null. */
module_part *module_parts_find(module_parts *parts, const char *instance);

/* Reads the metrics of all parts; those that a module does not know are NaN. */
void module_parts_measure(module_parts *parts, const muster_world *world);

/* What goes wrong in the modules' own code, such as errors of scripts. */
typedef struct module_problem {
  uint32_t places; /* that failed lately; 0 = nothing did */
  uint32_t agents;
  uint64_t count, last_ns; /* of the place that failed most often: since it is known, and simulation time */
  char where[80], what[160];
} module_problem;

/* What has failed since that simulation time: of a null agent in all, of another one where that one failed last. */
void module_parts_find_problem(module_parts *parts, const muster_world *world, muster_agent agent, uint64_t since_ns,
                               module_problem *found);

/* Whether the host can save a module: it has both functions, or leaves that to the host. */
bool module_part_is_saved(const muster_module *module);

#endif
