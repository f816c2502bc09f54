/* service/settings_paths.h - checks that the files that the settings name exist and are of the right kind. */
#ifndef SERVICE_SETTINGS_PATHS_H
#define SERVICE_SETTINGS_PATHS_H

#include "service/settings.h"

/* Complains of the token when it cannot be read, and of every name that a snapshot or the flight recorder would be
 * written to or renamed, when something other than a regular file has that name. Loop's thread. */
void settings_check_paths(const struct settings *settings, settings_complaint complain, void *user);

/* Complains of each world whose module, or file for the module, would be refused. Such a world does not keep the
 * service from starting: this is for --check. Loop's thread. */
void settings_check_world_paths(const struct settings *settings, settings_complaint complain, void *user);

#endif
