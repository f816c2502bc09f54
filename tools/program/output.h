/* output.h - a result file that is never incomplete: once the result is known it is written beside its place and
 * renamed into it, and signals in between wait. Before that there is no file that could be left behind. */
#ifndef TOOLS_OUTPUT_H
#define TOOLS_OUTPUT_H

#include "base/json.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct output {
  int descriptor;                /* -1: nothing was written yet */
  char path[PATH_MAX];           /* where the result belongs; empty when it goes to its place directly */
  char temporary[PATH_MAX + 16]; /* where it is written; empty while it is not */
  sigset_t signals;              /* that were held back before it was written */
};

/* Makes sure that `path` can be written, before the work whose result it will hold. "-" is standard output. What
 * exists and is not a plain file (a pipe, a device) is written directly, a symbolic link is followed. Complains and
 * returns false when it cannot be written; nothing is left behind then. */
bool output_open(struct output *output, const char *path);

/* Whether two results would be one file, or both standard output. A path that is no plain file may be named twice. */
bool output_is_same(const char *path, const char *other);

/* Writes all of a text to a descriptor. False with errno when it cannot. */
bool output_put(int descriptor, const char *text, size_t length);

/* Writes a part of a result that comes in parts; output_commit ends it with the last. Complains and returns false on
 * failure; the output is closed then. */
bool output_write(struct output *output, const char *text, size_t length);

/* Writes the result and puts it in its place. Complains and returns false on failure; an older file there is kept then.
 * Closes either way. */
bool output_commit(struct output *output, const char *text, size_t length);

/* Ends the document and commits it. Complains and returns false also when the document did not fit its buffer; the
 * output is open then. */
bool output_commit_json(struct output *output, json_writer *writer);

/* Closes without a result; nothing is left behind. Does nothing when not open. */
void output_discard(struct output *output);

/* Makes sure that a folder of plots and a result can be written, each null where none is wanted: then the output is not
 * open. False after a complaint. */
bool output_begin(struct output *output, const char *plots, const char *path);

#endif
