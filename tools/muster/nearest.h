/* nearest.h - which known name was probably meant. */
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

#include <stddef.h>

/* The one of `names` that the fewest edits turn `typed` into, or null when none is near enough to be meant. */
const char *nearest_name(const char *typed, const char *const *names, size_t count);

#endif
