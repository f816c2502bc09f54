/* options.h - how every command reads its options: by a table of them, and by their exact names. One that is not in the
 * table, that lacks its value or has one too many is complained of. --help or -h shows the help and ends there;
 * --help-options prints the names of the table, with = behind those that take a value, for programs. */
#ifndef TOOLS_OPTIONS_H
#define TOOLS_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What follows an option, and as what it is kept. */
typedef enum option_kind {
  OPTION_ON = 0,   /* nothing: a bool becomes true, */
  OPTION_OFF,      /* or false */
  OPTION_TEXT,     /* const char *; the last one given counts */
  OPTION_COUNT,    /* uint64_t, a whole number */
  OPTION_COUNT32,  /* uint32_t, likewise */
  OPTION_DURATION, /* uint64_t, in ns */
  OPTION_RATE,     /* uint64_t, in thousandths per second */
  OPTION_READ      /* what a function of its own makes of it */
} option_kind;

typedef struct option_def {
  const char *name; /* without dashes */
  option_kind kind;
  size_t at;                                     /* offset of its value */
  uint64_t least, most;                          /* of numbers */
  bool (*read)(void *options, const char *text); /* of OPTION_READ; false: bad usage, it has complained */
} option_def;

/* Rows of a table: an option of a kind whose value is a member of a type, with the bounds of a number; or with a
 * function of its own. */
#define OPTION(its_name, its_kind, type, member)                                                                       \
  { .name = its_name, .kind = OPTION_##its_kind, .at = offsetof(type, member) }
#define OPTION_WITHIN(its_name, its_kind, type, member, at_least, at_most)                                             \
  { .name = its_name, .kind = OPTION_##its_kind, .at = offsetof(type, member), .least = at_least, .most = at_most }
#define OPTION_BY(its_name, function)                                                                                  \
  { .name = its_name, .kind = OPTION_READ, .read = function }

typedef struct option_reader {
  const char *command;     /* as in `muster COMMAND --help` */
  const option_def *known; /* ends with an empty one; --help and --help-options are understood */
  void (*show_help)(FILE *stream);
} option_reader;

/* Reads the options of a command line into `options`. True: go on, what is no option begins at `optind`. False:
 * `status` is the exit status; help or a complaint was written. */
bool options_read(const option_reader *reader, void *options, int count, char **arguments, int *status);

/* The same for a command line whose arguments stand between its options and may be places such as -5,3: these arguments
 * are moved to the front in their order, from arguments[0] on, and `count` becomes their number. */
bool options_read_mixed(const option_reader *reader, void *options, int *count, char **arguments, int *status);

enum { OPTION_WORD_BYTES = 64 };

/* Takes the first word off a list with commas, which is null behind the last. False: there is none. */
bool options_list_next(const char **list, char word[OPTION_WORD_BYTES]);

/* Whether `key` stands in such a list; a missing list has everything. */
bool options_list_has(const char *list, const char *key);

#endif
