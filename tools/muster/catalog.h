/* catalog.h - the scenarios that `muster run` knows by name. */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include <muster/module.h>
#include <stdio.h>

/* Finds the module for the argument of `muster run`: the name of a scenario, or a file of a population, which is what
 * ends in .csv or holds a slash; `path` is then the file, else null. Returns null after a complaint, and the exit
 * status in `status`, when there is no such scenario or file. */
const muster_module *catalog_find(const char *argument, const char **path, int *status);

/* The settings of a module, one line each; says so when it has none. */
void catalog_list_settings(FILE *stream, const muster_module *module);

/* One line per scenario. */
void catalog_list(FILE *stream);

#endif
