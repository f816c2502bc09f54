/* catalog.h - the scenarios that `muster run` knows by name. */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include <muster/module.h>
#include <stdio.h>

/* Finds the module for the argument of `muster run`: the name of a scenario that is part of the program, or a module
 * that ships with it; NAME.so, a module of one's own; scripts, which are a folder with a slash in its path, or
 * NAME.lua, one's own or one that ships with Muster; or a file of a population, which is what else ends in .csv or
 * holds a slash. `path` is the folder of the scripts, or the file of the population, else null; it is valid until the
 * next call. What is loaded stays so. Returns null after a complaint, and the exit status in `status`, when there is no
 * such scenario or file, or it cannot be loaded. */
const muster_module *catalog_find(const char *argument, const char **path, int *status);

/* How catalog_find() finds this module again, from any folder: the whole path of the file of one's own, else its
 * name. It is valid as long as the program runs. */
const char *catalog_name(const muster_module *module);

/* The settings of a module, one line each; says so when it has none. */
void catalog_list_settings(FILE *stream, const muster_module *module);

/* One line per scenario, and per world in Lua that ships with Muster. */
void catalog_list(FILE *stream);

#endif
