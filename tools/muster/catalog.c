#include "catalog.h"

#include "complaint.h"
#include "scenarios/scenarios.h"

#include "base/module_tables.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const muster_module_get_function scenarios[] = {
    muster_module_wildlife,  muster_module_population,      muster_module_tan_wong, muster_module_rankin,
    muster_module_fixed,     muster_module_flashcrowd,      muster_module_empty,    muster_module_hostile,
    muster_module_pathstorm, muster_module_pathstorm_whole, muster_module_pursuit,  muster_module_townsfolk,
    muster_module_herd,      muster_module_siege,
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

static bool names_file(const char *argument) {
  size_t length = strlen(argument);
  return strchr(argument, '/') || (length > 4 && strcmp(argument + length - 4, ".csv") == 0);
}

static bool can_be_read(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0 || access(path, R_OK) != 0) return false;
  if (S_ISDIR(status.st_mode)) errno = EISDIR;
  return !S_ISDIR(status.st_mode);
}

static int unknown_scenario(const char *argument) {
  const char *names[SCENARIOS];
  for (size_t i = 0; i < SCENARIOS; i++) names[i] = scenarios[i]()->name;
  return complain_unknown("scenario", argument, names, SCENARIOS, ", or a population file ending in .csv");
}

const muster_module *catalog_find(const char *argument, const char **path, int *status) {
  *path = NULL;
  if (names_file(argument)) {
    *path = argument;
    if (can_be_read(argument)) return muster_module_population();
    *status = complain_failure("cannot read the population '%s': %s", argument, strerror(errno));
    return NULL;
  }
  for (size_t i = 0; i < SCENARIOS; i++)
    if (strcmp(argument, scenarios[i]()->name) == 0) return scenarios[i]();
  *status = unknown_scenario(argument);
  return NULL;
}

void catalog_list_settings(FILE *stream, const muster_module *module) {
  char range[MODULE_RANGE_BYTES];
  uint32_t count = module_settings_count(module);
  if (count == 0) fprintf(stream, "'%s' has no settings\n", module->name);
  for (uint32_t i = 0; i < count; i++) {
    const muster_module_setting *row = &module->settings[i];
    fprintf(stream, "  --set %s=%-*s  %s (%s)\n", row->name, 20 - (int)strlen(row->name), row->preset, row->help,
            module_setting_range(row, range));
  }
}

void catalog_list(FILE *stream) {
  for (size_t i = 0; i < SCENARIOS; i++) {
    const muster_module *module = scenarios[i]();
    fprintf(stream, "  %-15s  %s\n", module->name, module->summary);
  }
}
