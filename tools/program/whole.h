/* whole.h - files read and written as one text, for sources that include jansson.h and so cannot include output.h. */
#ifndef TOOLS_WHOLE_H
#define TOOLS_WHOLE_H

#include <stdbool.h>
#include <stddef.h>

/* The text of a file, which the caller frees. Complains and returns null when it cannot be read. */
char *whole_read(const char *path);

/* Puts a text into its place, as output.h does. Complains and returns false on failure. */
bool whole_write(const char *path, const char *text, size_t length);

#endif
