/* service/settings_paths.h - what the settings name on disk: whether it is there and is what it must be. */
#ifndef SERVICE_SETTINGS_PATHS_H
#define SERVICE_SETTINGS_PATHS_H

#include "service/settings.h"

/* Complains of the token when it cannot be read, and of every name that a snapshot or the flight recorder would be
 * written to or renamed, when something else than a regular file bears it. Loop's thread. */
void settings_check_paths(const struct settings *settings, settings_complaint complain, void *user);

/* Complains of each world whose module, or file for the module, would be refused. Such a world keeps no service from
 * starting: this is for --check. Loop's thread. */
void settings_check_world_paths(const struct settings *settings, settings_complaint complain, void *user);

#endif
