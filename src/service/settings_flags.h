/* service/settings_flags.h - the command line of musterd. */
#ifndef SERVICE_SETTINGS_FLAGS_H
#define SERVICE_SETTINGS_FLAGS_H

#include "service/settings.h"

#include <stdio.h>

/* What the command line asks for besides settings. */
typedef struct settings_call {
  const char *file; /* of --config; null = none */
  bool check, help, version;
} settings_call;

/* Lays the flags over the settings; complains of every mistake. Not two calls at a time, because of getopt_long. */
void settings_read_flags(struct settings *settings, settings_call *call, int count, char *const *arguments,
                         settings_complaint complain, void *user);

/* Writes the text of --help; lines are wrapped when they are printed. */
void settings_show_help(FILE *stream);

#endif
