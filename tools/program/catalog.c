#include "catalog.h"

#include "complaint.h"
#include "lua/lua_module.h"
#include "scenarios/scenarios.h"

#include "base/module_tables.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const muster_module_get_function scenarios[] = {
    muster_module_wildlife,  muster_module_population,      muster_module_tan_wong, muster_module_rankin,
    muster_module_fixed,     muster_module_flashcrowd,      muster_module_empty,    muster_module_hostile,
    muster_module_pathstorm, muster_module_pathstorm_whole, muster_module_pursuit,  muster_module_townsfolk,
    muster_module_herd,      muster_module_siege,
};

/* Worlds in Lua that ship with Muster: files to read, and to copy. */
typedef struct script_world {
  const char *name, *summary;
} script_world;

static const script_world script_worlds[] = {
    {"village.lua", "villages in Lua: people work, a baker bakes, sheep graze, wolves hunt, guards watch"},
    {"wildlife.lua", "wildlife in Lua, update by update what the scenario wildlife does in C"},
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios, SCRIPT_WORLDS = sizeof script_worlds / sizeof *script_worlds };

/* A folder, or a file NAME.lua. */
static bool names_scripts(const char *argument) {
  struct stat status;
  size_t length = strlen(argument);
  if (length > 4 && strcmp(argument + length - 4, ".lua") == 0) return true;
  return strchr(argument, '/') && stat(argument, &status) == 0 && S_ISDIR(status.st_mode);
}

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
  const char *names[SCENARIOS + SCRIPT_WORLDS];
  for (size_t i = 0; i < SCENARIOS; i++) names[i] = scenarios[i]()->name;
  for (size_t i = 0; i < SCRIPT_WORLDS; i++) names[SCENARIOS + i] = script_worlds[i].name;
  return complain_unknown("scenario", argument, names, SCENARIOS + SCRIPT_WORLDS,
                          ", scripts (a folder with a slash, or NAME.lua), or a population file ending in .csv");
}

/* The path of a world in Lua that ships with Muster: beside the program where it was built, and where it is installed.
 * A file of one's own with that name comes first, so null when there is one, or none of both. */
static const char *shipped_scripts(const char *name) {
  static const char *const folders[] = {"scripts", MUSTER_SCRIPTS_FOLDER};
  static char path[PATH_MAX + 128];
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  bool ships = false;
  for (size_t i = 0; i < SCRIPT_WORLDS; i++) ships = ships || strcmp(name, script_worlds[i].name) == 0;
  if (!ships || length <= 0 || access(name, F_OK) == 0) return NULL;
  program[length] = '\0';
  *strrchr(program, '/') = '\0';
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    snprintf(path, sizeof path, "%s/%s/%s", program, folders[i], name);
    if (access(path, R_OK) == 0) return path;
  }
  return NULL;
}

const muster_module *catalog_find(const char *argument, const char **path, int *status) {
  *path = NULL;
  if (names_scripts(argument)) {
    const char *shipped = shipped_scripts(argument);
    *path = shipped ? shipped : argument;
    return muster_module_lua();
  }
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
  for (size_t i = 0; i < SCRIPT_WORLDS; i++)
    fprintf(stream, "  %-15s  %s\n", script_worlds[i].name, script_worlds[i].summary);
}
