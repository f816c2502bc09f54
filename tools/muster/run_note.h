/* run_note.h - the options of a run as the note of its record or its journal: lines of NAME=VALUE. The journals of
 * musterd have such a note, too. */
#ifndef TOOLS_RUN_NOTE_H
#define TOOLS_RUN_NOTE_H

#include "run_options.h"

#include <limits.h>

/* Room for the lines of any run. */
enum { RUN_NOTE_BYTES = 2 * PATH_MAX + MODULE_VALUES_MAX * (MUSTER_MODULE_NAME_MAX + MUSTER_MODULE_TEXT_MAX + 8) };

/* Writes the lines, and a NUL behind them. False with the reason in muster_last_error(). */
bool run_note_write(const run_options *options, uint64_t skipped_ns, FILE *stream);

/* Reads the lines where they stand: the options' texts point into them. False: it is no note of a run. */
bool run_note_read(run_options *options, uint64_t *skipped_ns, char *note);

#endif
