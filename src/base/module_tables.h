/* base/module_tables.h - what a module gives (muster/module.h): whether its functions are there and its tables keep the
 * rules, and the values of its settings, checked. For every program that opens modules. Any thread. */
#ifndef BASE_MODULE_TABLES_H
#define BASE_MODULE_TABLES_H

#include <muster/module.h>

enum { MODULE_VALUES_MAX = MUSTER_MODULE_ROWS_MAX, MODULE_RANGE_BYTES = 96, MODULE_NAMES_BYTES = 240 };

/* Whether the module's tables keep the rules of muster/module.h, and have the functions that they need. Else
 * MUSTER_E_INPUT with the table, the row and the rule. */
muster_result module_tables_check(const muster_module *module);

/* The module of a shared object, which dlopen() returned as `handle`, in this program's layout: members that an older
 * header did not have are null. `what` begins messages. MUSTER_E_INPUT with the reason when it is none for this
 * program. */
muster_result module_take(void *handle, const char *what, muster_module *module);

/* A setting as it was given. */
typedef struct module_given {
  const char *name, *text;
  const char *shown; /* how messages name it; null = by its name */
} module_given;

/* Fills one value for each row of the module's settings: what was given, else the preset. The texts are those of
 * `given`. On failure `at_fault` is the number of the one that is wrong, and muster_last_error() says what to give
 * instead; nothing is filled. `module` has passed module_tables_check. */
muster_result module_settings_read(const muster_module *module, const module_given *given, uint32_t count,
                                   muster_module_value values[MODULE_VALUES_MAX], uint32_t *at_fault);

/* The number of rows of each table; 0 without it. */
uint32_t module_settings_count(const muster_module *module);
uint32_t module_commands_count(const muster_module *module);
uint32_t module_metrics_count(const muster_module *module);

/* What a setting may be, such as "a number from 0 to 20". Returns `words`. */
const char *module_setting_range(const muster_module_setting *row, char words[MODULE_RANGE_BYTES]);

/* Puts a name behind those in `words`, with a comma between. Cut where it does not fit. */
void module_add_name(char words[MODULE_NAMES_BYTES], const char *name);

/* The names of the commands, with commas between; "none" without any. Cut where they do not fit. Returns `words`. */
const char *module_command_names(const muster_module *module, char words[MODULE_NAMES_BYTES]);

/* The command's row, or null. */
const muster_module_command *module_command_find(const muster_module *module, const char *name);

#endif
