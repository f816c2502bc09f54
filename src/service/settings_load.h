/* service/settings_load.h - all that musterd is told, put together: at the start, and again when it is to reload. */
#ifndef SERVICE_SETTINGS_LOAD_H
#define SERVICE_SETTINGS_LOAD_H

#include "service/settings_flags.h"

/* The defaults, over them the file of --config, over that the flags; then the whole is checked. Every mistake is
 * complained of, and with --check also what would keep a single world from being hosted; true when there was none. With
 * --help or --version nothing is read beyond the flags. Loop's thread. */
bool settings_load(struct settings *settings, settings_call *call, int count, char *const *arguments,
                   settings_complaint complain, void *user);

/* Gives what cannot change while the service runs the value that is in force, and complains of each such difference;
 * worlds that came or went are left as they are, too. Loop's thread. */
void settings_keep_fixed(struct settings *next, const struct settings *now, settings_complaint complain, void *user);

#endif
