/* service/settings_modules.h - what [world NAME] says of its modules: which instances there are, and their settings.
 *
 *     module = walkers                         one instance; its settings are module.KEY = VALUE
 *     module = towns:walkers guards:walkers    named ones; their settings are towns.KEY, guards.KEY
 *
 * Whether a module has such a setting, and what it may be, is known once the module is loaded (base/module_tables.h);
 * here each must belong to an instance. */
#ifndef SERVICE_SETTINGS_MODULES_H
#define SERVICE_SETTINGS_MODULES_H

#include "service/settings.h"

enum { SETTINGS_WHERE_BYTES = PATH_BYTES + 32 };

/* One module of a world. */
typedef struct module_name {
  char instance[NAME_BYTES]; /* "module" for one without a name */
  char module[NAME_BYTES];   /* by bare name */
} module_name;

typedef struct module_list {
  uint32_t count;
  bool named; /* the instances have names of their own */
  module_name names[PARTS_MAX];
} module_list;

/* Reads the value of `module =`. MUSTER_E_ARGUMENT with what to give. Any thread. */
muster_result module_list_read(const char *text, module_list *list);

/* A name for the value of `module =` where only a name fits: the module's, or "several". Any thread. */
const char *module_list_label(const char *text);

/* Whether a key of a section is a module's setting, as INSTANCE.KEY. */
bool settings_is_of_module(const char *key);

/* The setting of that key, or null. */
module_setting *settings_module_find(const world_settings *world, const char *key);

/* Sets one; `file` (null = a flag) must outlive the settings. MUSTER_E_ARGUMENT with what to do. */
muster_result settings_module_set(world_settings *world, const char *key, const char *text, const char *file,
                                  uint32_t line);

/* Where it was given: "FILE:LINE", or "--set". Returns `where`. */
const char *settings_module_where(const module_setting *setting, char where[SETTINGS_WHERE_BYTES]);

/* Complains of settings of instances that the world does not have. */
void settings_check_modules(const world_settings *world, settings_complaint complain, void *user);

/* For a reload: puts the settings in force back, and complains of each difference. */
void settings_keep_modules(world_settings *next, const world_settings *now, settings_complaint complain, void *user);

#endif
