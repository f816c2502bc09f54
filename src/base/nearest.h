/* nearest.h - which known name was probably meant, and options by their exact names. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <getopt.h>
#include <stddef.h>

/* The name of `names` that is the fewest edits away from `typed`, or null when none is near enough to be meant. If just
 * one name begins with `typed`, it is preferred to names that take more than one edit. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* Finds the next argument from *at on that looks like a long option but is no option's exact name (without its value);
 * null when there is no further one. getopt_long also accepts the unambiguous beginning of an option's name, so that
 * `--agent 5` would make five agents of `--agents`. Ends at --help and at --. *at is behind the argument afterwards;
 * begin with 1. */
const char *nearest_unknown_option(const struct option *known, int count, char *const *arguments, int *at);

/* The name, without dashes, of the option that is nearest to an unknown argument; null when none is near. */
const char *nearest_option(const struct option *known, const char *argument);

#endif
