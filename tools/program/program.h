/* program.h - a program of commands, `muster` or `muster-lab`. Each command takes its own name as arguments[0] and
 * returns the exit status. */
#ifndef PROGRAM_PROGRAM_H
#define PROGRAM_PROGRAM_H

#include <limits.h>
#include <stddef.h>

typedef struct program_command {
  const char *name, *summary;
  int (*run)(int count, char **arguments);
} program_command;

typedef struct program_def {
  const char *name, *purpose; /* "muster", and what stands behind its name in its help */
  const program_command *commands;
  size_t count;
} program_def;

/* Runs the command that was asked for, or says which there are. For main(). Returns the exit status, which is that of a
 * failure when something that was printed could not be written. */
int program_run(const program_def *program, int count, char **arguments);

/* Where another program of Muster's is: beside this one, or else by its name alone, which PATH may know. */
const char *program_beside(const char *name, char path[PATH_MAX]);

#endif
