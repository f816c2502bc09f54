#include "catalog.h"

#include "complaint.h"
#include "lua/lua_module.h"
#include "scenarios/scenarios.h"

#include "base/module_tables.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const muster_module_get_function scenarios[] = {
    muster_module_wildlife, muster_module_population, muster_module_tan_wong, muster_module_rankin,
    muster_module_fixed,    muster_module_pursuit,    muster_module_herd,
};

/* Modules that ship with Muster: examples of one's own (tests/examples/worlds). */
static const char *const module_worlds[] = {"flashcrowd",      "empty",     "hostile", "pathstorm",
                                            "pathstorm-whole", "townsfolk", "siege"};

/* Worlds in Lua that ship with Muster: files to read, and to copy. */
typedef struct script_world {
  const char *name, *summary;
} script_world;

static const script_world script_worlds[] = {
    {"village.lua", "villages in Lua: people work, a baker bakes, sheep graze, wolves hunt, guards watch"},
    {"wildlife.lua", "wildlife in Lua, update by update what the scenario wildlife does in C"},
};

enum {
  SCENARIOS = sizeof scenarios / sizeof *scenarios,
  MODULE_WORLDS = sizeof module_worlds / sizeof *module_worlds,
  SCRIPT_WORLDS = sizeof script_worlds / sizeof *script_worlds
};

/* The folders of what ships with Muster, seen from the program: where it was built, and where it is installed. */
static const char *const scripts_folders[] = {"scripts", MUSTER_SCRIPTS_FOLDER};
static const char *const modules_folders[] = {"modules", MUSTER_MODULES_FOLDER};

/* A module that was loaded: it stays so, and is the same one when it is asked for again. */
typedef struct taken_module {
  muster_module module;
  struct taken_module *next;
  bool ships;
  char file[]; /* its whole path */
} taken_module;

static taken_module *taken_modules;

static bool ends_in(const char *argument, const char *ending) {
  size_t length = strlen(argument), part = strlen(ending);
  return length > part && strcmp(argument + length - part, ending) == 0;
}

/* A folder, or a file NAME.lua. */
static bool names_scripts(const char *argument) {
  struct stat status;
  if (ends_in(argument, ".lua")) return true;
  return strchr(argument, '/') && stat(argument, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool names_file(const char *argument) {
  return strchr(argument, '/') || ends_in(argument, ".csv");
}

static bool can_be_read(const char *path) {
  struct stat status;
  if (stat(path, &status) != 0 || access(path, R_OK) != 0) return false;
  if (S_ISDIR(status.st_mode)) errno = EISDIR;
  return !S_ISDIR(status.st_mode);
}

/* The path of what ships with Muster, or null. */
static const char *shipped(const char *const folders[2], const char *name, const char *ending) {
  static char path[PATH_MAX + 128];
  char program[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return NULL;
  program[length] = '\0';
  *strrchr(program, '/') = '\0';
  for (size_t i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s/%s%s", program, folders[i], name, ending);
    if (access(path, R_OK) == 0) return path;
  }
  return NULL;
}

/* The same of a world in Lua. A file of one's own with that name comes first: null when there is one. */
static const char *shipped_scripts(const char *name) {
  bool ships = false;
  for (size_t i = 0; i < SCRIPT_WORLDS; i++) ships = ships || strcmp(name, script_worlds[i].name) == 0;
  return ships && access(name, F_OK) != 0 ? shipped(scripts_folders, name, "") : NULL;
}

static taken_module *find_taken(const char *file) {
  taken_module *taken = taken_modules;
  while (taken && strcmp(taken->file, file) != 0) taken = taken->next;
  return taken;
}

static const muster_module *take_module(const char *path, bool ships, int *status) {
  char file[PATH_MAX];
  void *handle = realpath(path, file) ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL;
  taken_module *taken = handle ? find_taken(file) : NULL;
  if (taken) return &taken->module;
  if (handle) taken = malloc(sizeof *taken + strlen(file) + 1);
  if (taken && module_take(handle, path, &taken->module) == MUSTER_OK) {
    strcpy(taken->file, file);
    taken->ships = ships;
    taken->next = taken_modules;
    taken_modules = taken;
    return &taken->module;
  }
  if (taken) {
    *status = complain_failure("cannot load the module %s", muster_last_error());
  } else {
    const char *refused = dlerror(); /* null where the file was not found, or there is no memory */
    *status = complain_failure("cannot load the module %s: %s", path, refused ? refused : strerror(errno));
  }
  free(taken);
  if (handle) dlclose(handle);
  return NULL;
}

const char *catalog_name(const muster_module *module) {
  for (const taken_module *taken = taken_modules; taken; taken = taken->next)
    if (module == &taken->module && !taken->ships) return taken->file;
  return module->name;
}

static int unknown_scenario(const char *argument) {
  const char *names[SCENARIOS + MODULE_WORLDS + SCRIPT_WORLDS];
  for (size_t i = 0; i < SCENARIOS; i++) names[i] = scenarios[i]()->name;
  for (size_t i = 0; i < MODULE_WORLDS; i++) names[SCENARIOS + i] = module_worlds[i];
  for (size_t i = 0; i < SCRIPT_WORLDS; i++) names[SCENARIOS + MODULE_WORLDS + i] = script_worlds[i].name;
  return complain_unknown("scenario", argument, names, SCENARIOS + MODULE_WORLDS + SCRIPT_WORLDS,
                          ", a module (NAME.so), scripts (a folder with a slash, or NAME.lua), or a population file "
                          "ending in .csv");
}

/* One that is part of the program, or lies in a folder of modules. */
static const muster_module *find_named(const char *name, int *status) {
  for (size_t i = 0; i < SCENARIOS; i++)
    if (strcmp(name, scenarios[i]()->name) == 0) return scenarios[i]();
  const char *path = shipped(modules_folders, name, ".so");
  if (path) return take_module(path, true, status);
  for (size_t i = 0; i < MODULE_WORLDS; i++) {
    if (strcmp(name, module_worlds[i]) != 0) continue;
    *status = complain_failure("the world '%s' is a module, and there is no %s.so in the folder of modules beside this "
                               "program, nor where they are installed",
                               name, name);
    return NULL;
  }
  *status = unknown_scenario(name);
  return NULL;
}

const muster_module *catalog_find(const char *argument, const char **path, int *status) {
  *path = NULL;
  if (names_scripts(argument)) {
    const char *ours = shipped_scripts(argument);
    *path = ours ? ours : argument;
    return muster_module_lua();
  }
  if (ends_in(argument, ".so")) return take_module(argument, false, status);
  if (names_file(argument)) {
    *path = argument;
    if (can_be_read(argument)) return muster_module_population();
    *status = complain_failure("cannot read the population '%s': %s", argument, strerror(errno));
    return NULL;
  }
  return find_named(argument, status);
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

static void list_module(FILE *stream, const muster_module *module) {
  if (module) fprintf(stream, "  %-15s  %s\n", module->name, module->summary);
}

void catalog_list(FILE *stream) {
  int status;
  for (size_t i = 0; i < SCENARIOS; i++) list_module(stream, scenarios[i]());
  for (size_t i = 0; i < MODULE_WORLDS; i++) {
    const char *path = shipped(modules_folders, module_worlds[i], ".so");
    if (path) list_module(stream, take_module(path, true, &status));
  }
  for (size_t i = 0; i < SCRIPT_WORLDS; i++)
    fprintf(stream, "  %-15s  %s\n", script_worlds[i].name, script_worlds[i].summary);
}
