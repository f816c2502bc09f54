/* nearest.h - which known name was probably meant, and options by their exact names. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <getopt.h>
#include <stddef.h>

/* The one of `names` that the fewest edits turn `typed` into, or null when none is near enough to be meant. The only
 * name that begins with what was typed comes before those that take more than one edit. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

/* The next argument from *at on that looks like a long option and is none by its exact name, its value left out; null
 * when there is no further one. getopt_long takes whatever is the begin of one option alone, so that `--agent 5` would
 * make five agents of `--agents`. Ends at --help and at --. *at is behind the argument afterwards; begin with 1. */
const char *nearest_unknown_option(const struct option *known, int count, char *const *arguments, int *at);

/* The option, without its dashes, that the argument of an unknown one is nearest to; null when none is near. */
const char *nearest_option(const struct option *known, const char *argument);

#endif
