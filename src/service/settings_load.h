/* service/settings_load.h - loads all settings of musterd from their sources: at the start, and again for a reload. */
#ifndef SERVICE_SETTINGS_LOAD_H
#define SERVICE_SETTINGS_LOAD_H

#include "service/settings_flags.h"

/* Takes the defaults, then the file of --config, then the flags, which override it; then checks the whole. Complains of
 * every mistake, and with --check also of what would keep a single world from being hosted; true when there was none.
 * With --help or --version nothing is read beyond the flags. Loop's thread. */
bool settings_load(struct settings *settings, settings_call *call, int count, char *const *arguments,
                   settings_complaint complain, void *user);

/* Restores settings that cannot change while the service runs to the values in force, and complains of each such
 * difference; worlds are neither added nor removed, either. Loop's thread. */
void settings_keep_fixed(struct settings *next, const struct settings *now, settings_complaint complain, void *user);

#endif
