/* options.h - how every command reads its options, by their exact names: one that it does not know, that lacks its
 * value or has one too many is complained of, and --help or -h shows the help and ends there. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/* The options that several commands have. A command numbers those that only it has from OPTION_OWN. */
enum {
  OPTION_HELP = 256,
  OPTION_JSON,
  OPTION_PLOTS,
  OPTION_QUICK,
  OPTION_SEED,
  OPTION_ROUNDS,
  OPTION_WORKERS,
  OPTION_AGENTS,
  OPTION_OBSERVERS,
  OPTION_OWN
};

typedef struct option_reader {
  const char *command;        /* as in `muster COMMAND --help` */
  const struct option *known; /* ends with an empty one */
  void (*show_help)(FILE *stream);
  bool (*read)(void *options, int option, const char *text); /* false: bad usage, it has complained */
} option_reader;

/* Reads the options of a command line into `options`. True: go on, what is no option begins at `optind`. False:
 * `status` is the exit status; help or a complaint was written. */
bool options_read(const option_reader *reader, void *options, int count, char **arguments, int *status);

#endif
